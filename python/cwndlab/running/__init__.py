"""Runs scenarios: threads and other executors, the cache of finished runs, memory."""
