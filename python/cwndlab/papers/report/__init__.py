"""The report of `cwndlab reproduce`."""
