"""From a paper's files to a checked paper."""
