"""Repeats papers: their runs, reading by reading, and what follows from them."""
