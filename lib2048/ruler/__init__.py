"""What judges a player by endgames: what it makes of positions whose optimum a table knows."""
