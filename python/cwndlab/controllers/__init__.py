"""Controllers written in Python: how they are declared, found, and told of when they fail."""
