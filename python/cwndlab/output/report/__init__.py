"""The report of a run, a comparison or a sweep: its tables, charts and commands, arranged in sections."""
