"""What is asked for: a scenario, its seeds, and its variants."""
