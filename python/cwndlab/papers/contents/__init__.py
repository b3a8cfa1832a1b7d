"""What a paper has: experiments, numbers, claims, figures, and the cells that they need."""
