"""The commands of `cwndlab`, one module each. A command imports what it needs when it is called."""
