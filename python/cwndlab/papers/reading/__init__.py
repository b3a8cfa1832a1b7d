"""Reads a paper from its files and checks it."""
