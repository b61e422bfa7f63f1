"""What people touch: a game to play, recorded games, training to watch, searches to open."""
