"""The language of claims: quantities, units and expressions."""
