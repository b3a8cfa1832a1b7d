"""Papers as folders: their experiments, numbers and claims, run again and judged."""
