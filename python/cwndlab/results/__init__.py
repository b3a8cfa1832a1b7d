"""Results as plain values, and the quantities computed from them."""
