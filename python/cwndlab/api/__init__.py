"""What programs use: the functions, and results that can draw and save themselves."""
