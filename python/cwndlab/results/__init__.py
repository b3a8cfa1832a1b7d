"""Results as plain values, and what is computed from them."""
