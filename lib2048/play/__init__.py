"""Play: from a board to an action, and from games to a result with its interval."""
