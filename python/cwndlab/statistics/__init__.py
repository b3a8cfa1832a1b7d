"""Means with their intervals, effects, Pareto fronts, and how numbers are written."""
