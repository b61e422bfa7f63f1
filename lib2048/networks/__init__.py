"""Networks: from a board to a value, and the tables behind it on disk."""
