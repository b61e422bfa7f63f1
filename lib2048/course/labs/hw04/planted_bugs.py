"""The museum of mistakes: learners of hw04 with one mistake each, as students of the lab made them.

Each is the lab's program with a little of its text changed.  tools/record_hw04.py records their
curves in data/curves/hw04_bugs.csv; appendix A6 shows them, and hw04's autopsy draws from them.
"""

from functools import cache
from types import SimpleNamespace

from numba.extending import register_jitable

from lib2048.course.labs.exercise import changed, find
from lib2048.course.labs.hw04 import program
from lib2048.networks.names import parse_network

NETWORK = "4x6"
FUNCTIONS = ("indexof", "estimate", "update", "select_best_move", "update_episode")


@cache  # a kernel turns the boards: nothing compiles when this module is imported
def in_rising_order():
    """Return the cells of each image in rising order, as a set of cells would give them."""
    networks = program.isomorphic(parse_network(NETWORK))
    return tuple(tuple(tuple(sorted(image)) for image in images) for images in networks)


@register_jitable
def sampled(board):
    """Return a board with one new tile, a 2 or a 4: which, and where, is drawn by the board."""
    luck = (int(board) ^ (int(board) >> 29)) % 1_000_003
    cell = luck % 16
    while program.at(board, cell) != 0:
        cell = (cell + 1) % 16
    return program.put(board, cell, 2 if luck // 16 % 10 == 0 else 1)


@register_jitable
def slide_once(board, action):
    """Return (afterstate, reward) of a slide that packs, merges, and does not pack again."""
    after, reward = 0, 0
    for line in range(4):
        place, last = 0, 0  # where the next tile goes; the last tile, while it may merge
        for step in range(4):
            tile = program.at(board, cell_of(action, line, step))
            if tile == 0:
                continue
            if tile == last:
                after += 1 << (4 * cell_of(action, line, place - 1))
                reward, last = reward + (2 << tile), 0
            else:
                after += tile << (4 * cell_of(action, line, place))
                last = tile
            place += 1
    return after, reward


@register_jitable
def cell_of(action, line, step):
    """Return the cell that is `step` away from where the tiles of a line slide to."""
    along = step if action in (0, 3) else 3 - step
    return 4 * line + along if action in (1, 3) else 4 * along + line


HELPERS = {"sampled": sampled, "slide_once": slide_once}
# {bug: {function: which of its mistakes in the lab's table it has, or (old, new, …), in the text
# of the functions in `program`}}.
MISTAKES = {
    "none": {},
    "one_image": {"estimate": "no_symmetry", "update": "no_symmetry"},
    "seven_images": {"estimate": "seven_images", "update": "seven_images"},
    "sorted_cells": {
        "estimate": ("network.isomorphic", "SORTED"),
        "update": ("network.isomorphic", "SORTED"),
    },
    "base_15": {"indexof": "base 15"},
    "by_eight": {"update": "by_eight"},
    "divided_twice": {"update": "divided_twice"},
    "first_tuple": {"update": "first_tuple"},
    "nan_to_zero": {
        "update": ("amount / (8 * len(network.weights))",
                   "amount\n    share = 0.0 if np.isnan(share) else share"),
        "select_best_move": ("value > best", "best < 0 or value > best"),
    },
    "last_not_taught": {"update_episode": "last_not_taught"},
    "last_is_minus_1": {"update_episode": "last_minus_1"},
    "own_reward": {"update_episode": "own_reward"},
    "reward_twice": {"update_episode": "reward_twice"},
    "no_reward_in_target": {"update_episode": "no_reward"},
    "no_reward_in_choice": {"select_best_move": "no_reward"},
    "value_added": {"update_episode": "adds_value"},
    "discounted": {"update_episode": "discounted"},
    "clipped": {"update_episode": "clipped"},
    "old_values": {"update_episode": "saved_own"},
    "learns_states": {"update_episode": "of_states"},
    "illegal_is_minus_1": {
        "select_best_move": (
            "if after", "if after == board and -1 > best_value:\n            best, best_value = "
            "-1, -1.0\n        if after"),
    },
    "one_spawn": {
        "select_best_move": ("estimate(network, after)", "estimate(network, sampled(after))"),
    },
    "not_packed": {
        "select_best_move": ("reward / UNIT + estimate(network, after)",
                             "reward / UNIT + estimate(network, slide_once(board, action)[0])"),
    },
    "more_fours": {},  # the mistake is in the game itself
}  # fmt: skip
GAMES = {"more_fours": "2048:four=0.2"}
BUGS = tuple(MISTAKES)


def made(bug):
    """Return the lab's five functions, each with the mistake or built upon those that have it.

    Args:
        bug: a name in `MISTAKES`.

    Returns:
        A namespace: a function for each name in `FUNCTIONS`, and the game's name, `game`.
    """
    found, helpers = {}, HELPERS | {"SORTED": in_rising_order()}
    for name in FUNCTIONS:
        edits = MISTAKES[bug].get(name, ())
        if isinstance(edits, str):
            edits = find(f"hw04.{name}").mistakes[edits]
        found[name] = changed(getattr(program, name), *edits, **helpers, **found)
    return SimpleNamespace(game=GAMES.get(bug, program.PLAYED.name), **found)
