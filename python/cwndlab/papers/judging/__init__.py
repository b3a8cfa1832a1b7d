"""From the runs of a paper's cells to verdicts."""
