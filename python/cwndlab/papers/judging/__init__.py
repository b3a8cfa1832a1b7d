"""Computes verdicts from the runs of a paper's cells."""
