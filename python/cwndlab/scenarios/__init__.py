"""Scenarios: their text, seeds and variants."""
