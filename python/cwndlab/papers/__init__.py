"""Papers as folders: repeats their experiments and judges their numbers and claims."""
