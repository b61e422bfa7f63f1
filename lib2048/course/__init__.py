"""The course above the engine: what lessons, labs and their reader need, and nothing else does."""
