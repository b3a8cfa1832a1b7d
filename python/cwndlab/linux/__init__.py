"""The Linux backend: a kernel that is built once, and runs of scenarios in it."""
