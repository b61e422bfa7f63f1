"""The game: the rules, once to be read and once to be fast, and many boards one step on."""
