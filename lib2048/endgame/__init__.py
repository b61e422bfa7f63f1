"""Narrow endgames solved exactly: large tiles that stand, and a few free cells that decide."""

from lib2048.endgame.formation import Formation
from lib2048.endgame.known import Endgames
from lib2048.endgame.solving import solve
from lib2048.endgame.table import Table, load

__all__ = ["Endgames", "Formation", "Table", "load", "solve"]
