"""What results leave: tables, figures, reports, files."""
