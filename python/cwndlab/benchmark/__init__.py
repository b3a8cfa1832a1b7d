"""The measurements of `cwndlab bench`."""
