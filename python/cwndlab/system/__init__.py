"""The interface to the operating system: files, standard streams, memory limits."""
