"""The output of results: tables, figures, reports, files."""
