"""The interface for programs: the functions, and results that can draw and save themselves."""
