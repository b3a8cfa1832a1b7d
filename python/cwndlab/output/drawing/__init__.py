"""Figures for papers, one module for each kind. `style` sets the look of all of them.

Names in a figure may contain any characters: matplotlib's formula syntax is escaped.
"""
