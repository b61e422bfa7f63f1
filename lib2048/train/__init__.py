"""Training: a run that begins, goes, stops, changes and goes on, and what is kept of it."""
