"""Explains the numbers of a paper by the answers to what it leaves open."""
