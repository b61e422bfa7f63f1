"""Play: from a board to an action, from games to a result, from seeds to a verdict."""
