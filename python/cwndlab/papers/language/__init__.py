"""What a claim may say: quantities, units and expressions."""
