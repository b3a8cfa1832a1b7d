"""Environments for agents that learn; `cwndlab.gym` is the door to them."""
