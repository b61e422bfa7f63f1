"""The game: the rules, once to be read and once to be fast, and many boards one step on."""

from lib2048.game import rules_2048, rules_threes
from lib2048.game.game import register

for _rules in (rules_2048, rules_threes):  # 2048 first: a board without a name is one of it
    register(_rules)
