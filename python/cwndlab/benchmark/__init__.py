"""What `cwndlab bench` measures."""
