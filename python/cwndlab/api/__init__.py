"""The interface for programs: the functions, and results with methods that draw and save them."""
