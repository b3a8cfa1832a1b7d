"""What is asked for: a scenario, its seeds, and a grid of its variants."""
