"""Learning: what a run is, what weights make of an error, where an episode begins, the one loop."""
