"""The commands of `cwndlab`, one module each; each imports what it works with when it is called."""
