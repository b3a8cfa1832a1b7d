"""Measurements of other tools, converted to traces."""
