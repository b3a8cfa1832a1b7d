"""From scenarios to results: threads and other executors, finished runs, memory."""
