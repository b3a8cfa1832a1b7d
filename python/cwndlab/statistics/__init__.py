"""Means with their intervals, effects, Pareto fronts, and the format of numbers."""
