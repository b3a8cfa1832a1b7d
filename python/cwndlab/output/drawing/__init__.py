"""Figures fit for a paper: one module a kind; `style` says how all of them look.

Names given in them may be anything: what matplotlib would take for a formula is shown as it stands.
"""
