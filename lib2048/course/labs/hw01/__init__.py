"""hw01, the rules: slide a row, slide a board, legal actions, spawn, play a game.

Board and odds are those of the class.
"""

import copy
import random as luck

from lib2048.course.labs.exercise import Exercise, Wrong, changed, wrong_if
from lib2048.course.labs.seeds import class_game
from lib2048.game import spec
from lib2048.game.spec import LARGEST_TILE

PLAYED = class_game()
FOUR = float(PLAYED.four)
SPAWNS, MANY = 2000, 20_000  # of one board, to see how often which tile comes where
MOST_TURNS = 5000  # of a game whose player takes the first legal action; it has some 150

# ---------------------------------------------------------------- by the rules of the class


def spawn(board, rng):
    """Return the board with one more tile, a 4 as often as the class's game says."""
    return spec.spawn(board, rng, FOUR)


def initial(rng, rows=PLAYED.rows):
    """Return a start of the class's game."""
    return spec.initial(rng, rows, PLAYED.columns, FOUR)


play = changed(spec.play, initial=initial, spawn=spawn, __name__=__name__)

# ---------------------------------------------------------------- boards to try


def plain_rows(random):
    """Return rows in which nothing merges."""
    return [([0, 0, 0, 0],), ([0, 2, 0, 4],), ([2, 4, 2, 4],), ([0, 0, 0, 8],), ([2, 0, 4, 0],)]


def merging_rows(random):
    """Return rows with merges: pairs, threes, fours, gaps, and the largest tile."""
    known = [[2, 2, 0, 0], [2, 0, 0, 2], [2, 2, 2, 0], [2, 2, 2, 2], [4, 2, 2, 0], [2, 2, 4, 0],
             [4, 4, 8, 0], [LARGEST_TILE, LARGEST_TILE, 0, 0]]  # fmt: skip
    drawn = [[int(2**e) if e else 0 for e in random.integers(0, 4, 4)] for _ in range(30)]
    return [(row,) for row in known + drawn]


def some_boards(random, count=20, rows=PLAYED.rows):
    """Return boards of random games, and of random tiles, as lists of rows."""
    rng = luck.Random(int(random.integers(1 << 31)))
    boards = [initial(rng, rows) for _ in range(4)]
    while len(boards) < count:
        board = initial(rng, rows)
        while legal := spec.legal_actions(board):
            board = spawn(spec.slide(board, rng.choice(legal))[0], rng)
            boards += [board] * (rng.random() < 0.02)
        boards.append(board)  # a lost one
    return boards[:count]


def along(*actions):
    """Return a function that draws boards for some of the actions."""
    return lambda random: [(board, a) for board in some_boards(random) for a in actions]


# ---------------------------------------------------------------- chance


def spawned(spawn, board, rng):
    """Try a spawn; raise Wrong for what it should not do.  Returns True."""
    before, seeds = copy.deepcopy(board), range(20)
    again = [[spawn(board, luck.Random(seed)) for seed in seeds] for _ in range(2)]
    wrong_if(again[0] != again[1], "own_luck")

    def after():
        found = spawn(board, rng)
        wrong_if(board != before, "mutated")
        return found

    check_spawns(before, after, MANY if before == SMALL else SPAWNS)
    return True


def check_spawns(before, spawn, times, tiles=(2, 4)):
    """Call spawn() so often; raise Wrong for what it should not do to a board.

    Shares may be six standard deviations wide of the true ones: with 20 000 spawns, the odds of no
    other class are as near as that.
    """
    cells, new = zip(*(_new_tile(before, spawn(), tiles) for _ in range(times)))

    def is_off(share, chance):
        return abs(share - chance) > 6 * (chance * (1 - chance) / times) ** 0.5

    share, count = new.count(tiles[1]) / times, f"{times:,}"
    wrong_if(is_off(share, FOUR), "fours", share=f"{100 * share:.1f} %", count=count)
    empty = spec.empty_cells(before)
    shares, fair = [cells.count(cell) / times for cell in empty], 1 / len(empty)
    words = {"most": max(shares), "least": min(shares), "fair": fair}
    words = {name: f"{share:.0%}" for name, share in words.items()}
    wrong_if(any(is_off(share, fair) for share in shares), "cells", count=count, **words)


def _new_tile(before, after, tiles=(2, 4)):
    """Return ((row, column), tile) of what came into a board; raise Wrong for all else."""
    is_board = isinstance(after, list) and [*map(len, after)] == [*map(len, before)]
    wrong_if(not is_board, "no_board", got=repr(after)[:80])
    changed = [
        (r, c) for r, row in enumerate(before) for c, tile in enumerate(row) if after[r][c] != tile
    ]
    wrong_if(len(changed) != 1, "not_one", count=len(changed))
    [(r, c)] = changed
    wrong_if(before[r][c], "occupied")
    wrong_if(after[r][c] not in tiles, "tile", got=after[r][c])
    return (r, c), after[r][c]


SMALL = [[0, 0], [0, 2]]


def spawn_cases(random):
    """Return boards with many, few and one empty cell, each with a random generator."""
    one = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 0]]
    boards = [one, SMALL, [[0] * 4 for _ in range(4)], *some_boards(random)[:3]]
    return [(board, luck.Random(7)) for board in boards if spec.empty_cells(board)]


def _first_legal(board, legal):
    return legal[0]


def played(play, choose, rng):
    """Watch a game by the boards that `choose` sees; raise Wrong for what is against the rules.

    Returns True.  A spawn may draw its random numbers in any order, so no board is compared.
    """
    first, again = (_game(play, choose, luck.Random(rng)) for _ in range(2))
    wrong_if(first != again, "own_luck")
    turns, answer = first
    is_triple = isinstance(answer, tuple) and len(answer) == 3
    wrong_if(not is_triple, "no_triple", got=repr(answer)[:60])
    _check_turns(turns, *answer)
    return True


def _game(play, choose, rng):
    """Return what `choose` saw and did, [(board, action)], and what `play` returned."""
    turns = []

    def watched(board, legal):
        wrong_if(len(turns) == MOST_TURNS, "endless")
        right = spec.legal_actions(board)
        wrong_if(list(legal) != right, "legal", got=legal, legal=right)
        turns.append((copy.deepcopy(board), choose(board, legal)))
        return turns[-1][1]

    return turns, play(watched, rng)


def _check_turns(turns, last, score, actions):
    """Raise Wrong where turns, a last board, a score and a number of actions make no game."""
    board = turns[0][0] if turns else []
    tiles = sorted(sum(board, []))
    size = [*map(len, board)] == [PLAYED.columns] * PLAYED.rows
    wrong_if(not size or any(tiles[:-2]) or not {2, 4}.issuperset(tiles[-2:]), "start")
    rewards = 0
    for (board, action), after in zip(turns, [*(board for board, _ in turns[1:]), last]):
        slid, reward = spec.slide(board, action)
        rewards += reward
        wrong_if(not _one_tile_more(slid, after), "turn")
    wrong_if(spec.legal_actions(last), "not_over")
    wrong_if(score != rewards, "score", score=score, right=rewards)
    wrong_if(actions != len(turns), "actions", actions=actions, right=len(turns))


def _one_tile_more(before, after):
    try:
        _new_tile(before, after)
    except (Wrong, TypeError):
        return False
    return True


# ---------------------------------------------------------------- the exercises

AGAIN = """            tiles[:0], new = [*new[-1:], tile], new[:-1]
            continue
        new.append(tile)"""
merged_twice = changed(
    spec.slide_row, " and tile < LARGEST_TILE", "", "        new.append(tile)", AGAIN
)
from_the_right = changed(
    spec.slide_row, "pop(0)", "pop()", "tiles[0]", "tiles[-1]", "append(", "insert(0, "
)
gap = changed(
    spec.slide_row, "[tile for tile in row if tile]", "list(row)",
    "    return", "    new = [tile for tile in new if tile]\n    return",
)  # fmt: skip

EXERCISES = [
    Exercise(
        "hw01", spec.slide_row, parts={"no merge": plain_rows, "merges": merging_rows},
        mistakes={
            "merged_twice": merged_twice,
            "from_the_right": from_the_right,
            "gap": gap,
            "old_tile": ("reward += tile", "reward += tile // 2"),
            "no_reward": ("reward += tile", "reward += 0"),
            "count": ("reward += tile", "reward += 1"),
            "largest": (" and tile < LARGEST_TILE", ""),
        },
        show={"row": "row"}, result={"row": "row", "reward": "text"},
    ),
    Exercise(
        "hw01", spec.slide,
        parts={"rows": along(spec.LEFT, spec.RIGHT), "columns": along(spec.UP, spec.DOWN)},
        mistakes={
            "up_and_down": lambda board, action: spec.slide(board, (2, 1, 0, 3)[action]),
            "left_and_right": lambda board, action: spec.slide(board, (0, 3, 2, 1)[action]),
            "all_left": lambda board, action: spec.slide(board, spec.LEFT),
            "first_reward": ("sum(rewards)", "rewards[0]"),
        },
        show={"board": "rows"}, result={"afterstate": "rows", "reward": "text"},
    ),
    Exercise(
        "hw01", spec.legal_actions, lambda random: [(board,) for board in some_boards(random)],
        mistakes={
            "all": lambda board: [0, 1, 2, 3],
            "reward_only": lambda board: [a for a in range(4) if spec.slide(board, a)[1] > 0],
            "empty_only": lambda board: [0, 1, 2, 3] if spec.empty_cells(board) else [],
        },
        show={"board": "rows"},
    ),
    Exercise(
        "hw01", spawn, spawn_cases, outcome=spawned, show={"board": "rows", "rng": "hidden"},
    ),
    Exercise(
        "hw01", play,
        lambda random: [(_first_legal, int(seed)) for seed in random.integers(0, 1000, 4)],
        outcome=played, show={"choose": "hidden", "rng": "hidden"},
    ),
]  # fmt: skip
