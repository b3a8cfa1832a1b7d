"""The question of a study, and one or two sentences that answer it."""
