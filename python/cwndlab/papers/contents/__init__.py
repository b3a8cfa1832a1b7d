"""The contents of a paper: experiments, numbers, claims, figures, and the cells that they need."""
