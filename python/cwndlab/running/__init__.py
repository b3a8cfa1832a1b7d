"""From scenarios to results: threads, finished runs, memory."""
