"""hw01, the rules: slide a row, slide a board, legal actions, spawn, play a game.

Board, odds and largest tile are those of the class.
"""

import contextlib
import inspect
import itertools
import math
import random as luck
from collections import Counter
from numbers import Integral
from unittest import mock

import numpy as np

from lib2048.course.labs.exercise import Exercise, Wrong, changed, wrong_if
from lib2048.course.labs.outcomes import described, text_of
from lib2048.course.labs.seeds import rules_of
from lib2048.game import spec

RULES = rules_of("hw01")
PLAYED, LARGEST = RULES.game, RULES.more["largest"]
FOUR = float(PLAYED.four)

# ---------------------------------------------------------------- by the rules of the class


slide_row = changed(spec.slide_row, LARGEST_TILE=LARGEST, __name__=__name__)
slide = changed(spec.slide, slide_row=slide_row, __name__=__name__)
legal_actions = changed(spec.legal_actions, slide=slide, __name__=__name__)


def spawn(board, rng):
    """Return the board with one more tile, a 4 as often as the class's game says."""
    row, column = rng.choice(spec.empty_cells(board))
    board = [list(tiles) for tiles in board]
    board[row][column] = 4 if rng.random() < FOUR else 2
    return board


def initial(rng, rows=PLAYED.rows):
    """Return a start of the class's game."""
    return spawn(spawn([[0] * PLAYED.columns for _ in range(rows)], rng), rng)


play = changed(
    spec.play, initial=initial, spawn=spawn, slide=slide, legal_actions=legal_actions,
    __name__=__name__,
)  # fmt: skip

# ---------------------------------------------------------------- boards to try


def plain_rows(random, largest=LARGEST):
    """Return rows in which nothing merges, also such of other lengths than four."""
    known = [[0, 0, 0, 0], [0, 2, 0, 4], [2, 4, 2, 4], [0, 0, 0, 8], [2, 0, 4, 0], [0, 4, 2],
             [0, 2, 0, 8, 4], [largest, largest, 0, 0], [largest, 0, 0, largest],
             [0, largest, largest // 2, largest]]  # fmt: skip
    drawn = [[int(2**e) for e in random.permutation(range(1, 9))[:4]] for _ in range(4)]
    return [(row,) for row in known + drawn]


def merging_rows(random, largest=LARGEST):
    """Return rows with merges: pairs of each tile, threes, fours, gaps, other lengths."""
    half = largest // 2
    known = [[2, 2, 0, 0], [2, 0, 0, 2], [2, 2, 2, 0], [2, 2, 2, 2], [4, 2, 2, 0], [2, 2, 4, 0],
             [4, 4, 8, 0], [2, 2], [0, 4, 4], [2, 2, 0, 8, 8], [half, 0, half, largest],
             [half, half, half, half], [largest, 2, 2, largest], [2, 2, largest, largest],
             [4, 2, 4, 4], [2, 4, 8, 16, 16]]  # fmt: skip
    pairs = [[0, 2**e, 2**e, 0] for e in range(1, half.bit_length())]
    drawn = [[int(2**e) if e else 0 for e in random.integers(0, 4, 4)] for _ in range(24)]
    return [(row,) for row in known + pairs + drawn]


def known_boards(rows=PLAYED.rows, largest=LARGEST):
    """Return boards that every seed has: full and stuck ones, merges in several rows, ends."""
    half = largest // 2

    def full(*cells, tile=largest):
        """Return a full board on which nothing merges but, perhaps, this tile in these cells."""
        board = [[2, 4, 2, 4] if r % 2 else [4, 2, 4, 2] for r in range(rows)]
        for r, c in cells:
            board[r][c] = tile
        return board

    many = [[2, 2, 4, 4], [2, 2, 4, 4], [8, 8, 16, 16], [0, 8, half, half]]
    threes = [[2, 2, 4, 0], [2, 0, 0, 4], [4, 0, 4, 4], [half, 0, largest, largest]]
    corner = [[2, 4, 8, 0], [16, 2, 0, 0], [0] * 4, [0] * 4]
    high = [[0, 0, 0, largest], [0, half, 0, largest], [2, half, 0, 0], [2, 0, 0, largest]]
    twice = [[half, half, 2, 4], [half, half, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]
    across, down = [(0, 1), (0, 2)], [(0, 3), (1, 3)]
    return [
        *([list(row) for row in board[:rows]] for board in (many, threes, corner, high, twice)),
        [[0] * 4 for _ in range(rows)], full(), full(*across), full(*down),
        full(*across, tile=half), full(*down, tile=half), full((0, 1), (0, 3), (1, 1), tile=0),
        full((rows - 1, 0), tile=0),
    ]  # fmt: skip


def some_boards(random, count=20, rows=PLAYED.rows, largest=LARGEST):
    """Return boards as lists of rows: known ones, those of random games, some with large tiles."""
    rng = luck.Random(int(random.integers(1 << 31)))
    boards = known_boards(rows, largest)
    count += len(boards)
    while len(boards) < count:
        board = initial(rng, rows)
        while legal := spec.legal_actions(board):
            board = spawn(spec.slide(board, rng.choice(legal))[0], rng)
            times = rng.choice([1, largest // max(map(max, board))])
            boards += [[[times * tile for tile in row] for row in board]] * (rng.random() < 0.02)
        boards.append(board)  # a lost one
    return boards[:count]


def along(*actions):
    """Return a function that draws boards for some of the actions."""
    return lambda random: [(board, a) for board in some_boards(random) for a in actions]


# ---------------------------------------------------------------- chance

# A share of chances is off where the truth gives one as far away less than once in 10^12 times,
# by Chernoff's bound.
RARE = 28


def is_off(count, times, chance):
    """Say whether a count of so many times is out of reach of a chance."""
    return _distance((count, times - count), (chance, 1 - chance)) > RARE


def are_off(counts, chances):
    """Say whether several rows of counts, together, are out of reach of their rows of chances."""
    free, found = sum(len(row) - 1 for row in counts), sum(map(_distance, counts, chances))
    return found > free > 0 and found - free - free * math.log(found / free) > RARE


MANY, MORE = 20_000, 100_000  # spawns, and how many more where the share of 4s is in doubt then
DOUBT = 2


def rounds(times, fours):
    """Yield how often to spawn: so often, and MORE where MANY spawns leave the share in doubt.

    fours(): the number of 4s so far.
    """
    yield times
    if times >= MANY and _distance((fours(), times - fours()), (FOUR, 1 - FOUR)) > DOUBT:
        yield MORE


def _distance(counts, chances):
    times = sum(counts)
    return sum(n * math.log(n / times / q) for n, q in zip(counts, chances) if n)


def spawn_cases(random):
    """Return boards with many, few and one empty cell, each with a seed, and how many spawns."""
    some = [board for board in some_boards(random, 4)[-4:] if spec.empty_cells(board)]
    empty = [[0] * PLAYED.columns for _ in range(PLAYED.rows)]
    uneven, one = known_boards()[-2:]
    boards = (uneven, 3000), (one, 300), (empty, 2000), (uneven, MANY)
    cases = [*boards, *((board, 300) for board in some)]
    return [(board, int(random.integers(1 << 31)), times) for board, times in cases]


def spawned(spawn, board, seed, times):
    """Spawn so often; return what came out how often, and whether the board given was changed.

    again: what the same generators give twice; stuck: whether a generator stays where it is.
    """
    rng, found = luck.Random(seed), Counter()

    def once(rng):
        given = [row[:] for row in board]
        after = spawn(given, rng)
        return _frozen(after), given != board

    again = [[once(luck.Random(seed + k))[0] for k in range(10)] for _ in range(2)]
    states = []
    fours = lambda: sum(n for after, n in found.items() if _more(board, after) == 4)  # noqa: E731
    for several in rounds(times, fours):
        for _ in range(several):
            after, changed = once(rng)
            if changed:
                return {"changed": True, "boards": [], "again": again, "stuck": False}
            found[after] += 1
            states += [rng.getstate()] * (len(states) < 2)
    boards = [[after, count] for after, count in found.items()]
    stuck = states[0] == states[1]
    return {"changed": False, "boards": boards[:500], "again": again, "stuck": stuck}


def _more(before, after):
    """Return by how much the tiles add up to more than before, 0 for what is no board."""
    return 0 if isinstance(after, str) else sum(map(sum, after)) - sum(map(sum, before))


def _frozen(board):
    """Return a board as tuples, and what is no list of lists of whole numbers as text."""
    rows = board if isinstance(board, list) and all(isinstance(r, list) for r in board) else [[""]]
    whole = all(isinstance(tile, Integral) for row in rows for tile in row)
    return tuple(map(tuple, board)) if whole else repr(board)[:80]


def judge_spawns(case, found):
    """Raise Wrong for what spawns should not do; return None."""
    wrong_if(found["changed"], "mutated")
    wrong_if(found["again"][0] != found["again"][1], "own_luck")
    for after, _ in found["boards"]:
        _new_tile(case[0], after)
    wrong_if(found["stuck"], "no_luck")
    check_spawns(case[0], found["boards"])


def check_spawns(before, boards, tiles=(2, 4)):
    """Raise Wrong for what should not come out of a board.  boards: [[after, how often], …]."""
    new = Counter()
    for after, count in boards:
        new[_new_tile(before, after, tiles)] += count
    times, count = new.total(), f"{new.total():,}"
    fours = sum(n for (_, tile), n in new.items() if tile == tiles[1])
    wrong_if(is_off(fours, times, FOUR), "fours", share=f"{100 * fours / times:.1f} %", count=count)
    cells = spec.empty_cells(before)
    found = [sum(new[cell, tile] for tile in tiles) for cell in cells]
    words = {"most": max(found) / times, "least": min(found) / times, "fair": 1 / len(cells)}
    words = {name: f"{share:.0%}" for name, share in words.items()}
    unfair = any(is_off(n, times, 1 / len(cells)) for n in found)
    if unfair and found.count(0) == 1:
        row, column = cells[found.index(0)]
        raise Wrong("never", {"row": row, "column": column, "cell": 4 * row + column})
    wrong_if(unfair, "cells", count=count, **words)
    of_cells = [(new[cell, tiles[1]], n) for cell, n in zip(cells, found) if n]
    shares = [fours / n for fours, n in of_cells]
    both = [(fours, n - fours) for fours, n in of_cells]
    apart = any(is_off(*of_cell, FOUR) for of_cell in of_cells)
    apart = apart or are_off(both, [(FOUR, 1 - FOUR)] * len(both))
    wrong_if(apart, "apart", most=f"{max(shares):.0%}", least=f"{min(shares):.0%}")


def _new_tile(before, after, tiles=(2, 4)):
    """Return ((row, column), tile) of what came into a board; raise Wrong for all else."""
    is_board = not isinstance(after, str) and [*map(len, after)] == [*map(len, before)]
    wrong_if(not is_board, "no_board", got=after if isinstance(after, str) else repr(after)[:80])
    changed = [
        (r, c) for r, row in enumerate(before) for c, tile in enumerate(row) if after[r][c] != tile
    ]
    wrong_if(len(changed) != 1, "not_one", count=len(changed))
    [(r, c)] = changed
    wrong_if(before[r][c], "occupied")
    wrong_if(after[r][c] not in tiles, "tile", got=after[r][c])
    return (r, c), int(after[r][c])


# ---------------------------------------------------------------- games

MOST_TURNS = 2000  # of a game by one of these players; they have some 150 to 500
AGAIN = 20  # turns that are played twice
STARTS = 300  # of games that are begun
SECONDS = 60  # of these, that have a second turn
LARGE = min(512, LARGEST // 8)  # so many times its size has a tile of the game with large tiles


def _first(board, legal):
    return legal[0]


def _last(board, legal):
    return legal[-1]


def _any(board, legal):
    return luck.Random(repr(board)).choice(legal)


def _best(board, legal):
    return max(legal, key=lambda action: slide(board, action)[1])


def games(random):
    """Return cases: a player, a seed, whether tiles are large, how many starts are looked at."""
    players = (_last, False, 0), (_first, True, STARTS), (_any, False, 0), (_best, False, 0)
    return [(choose, int(random.integers(1 << 31)), *more) for choose, *more in players]


class _Enough(BaseException):
    """Ends a game; no `except Exception` of the student's catches it."""


def played(play, choose, seed, large, starts):
    """Play; return a game, its first turns again, and some starts.

    Of a game: its turns, (the board that `choose` saw, the legal actions it was given, its action),
    and what `play` returned.  untouched: whether its generator was never asked.
    """
    room = getattr(play, "__globals__", {})
    own = {"spawn": _enlarged(room["spawn"])} if large and "spawn" in room else {}
    with mock.patch.dict(room, own):
        rng = luck.Random(seed)
        turns, answer = _game(play, choose, rng, MOST_TURNS)
        again, _ = _game(play, choose, luck.Random(seed), AGAIN)
    starts = [
        _game(play, choose, luck.Random(seed + k), 1 + (k < SECONDS))[0] for k in range(starts)
    ]
    is_triple = isinstance(answer, tuple) and len(answer) == 3 and _plain(answer[0])
    answer = (_plain(answer[0]), *answer[1:]) if is_triple else _short(answer)
    untouched = rng.getstate() == luck.Random(seed).getstate()
    found = {"turns": turns, "answer": answer, "again": again, "starts": starts}
    return found | {"untouched": untouched}


def _short(value):
    """Write what was returned, a board by its name: (692, a board, 91)."""
    if type(value) is tuple:
        return f"({', '.join(map(_short, value))})"
    is_board = isinstance(value, list) and value and all(isinstance(row, list) for row in value)
    if type(value) is list and not is_board:
        return f"[{', '.join(map(_short, value[:20]))}]"
    return "a board" if is_board else text_of(value)[:60]


def _enlarged(spawn):
    """Return a spawn whose tiles are many times as large."""

    def enlarged(*given, **named):
        after = [list(row) for row in spawn(*given, **named)]
        board = next(iter(inspect.signature(spawn).bind(*given, **named).arguments.values()))
        for r, row in enumerate(board):
            after[r] = [LARGE * new if new != old else new for new, old in zip(after[r], row)]
        return after

    return enlarged


def _game(play, choose, rng, most):
    """Return what `choose` saw and did in so many turns at most, and what `play` returned."""
    turns = []

    def watched(board=None, legal=None):
        if len(turns) == most:
            raise _Enough
        is_list = isinstance(legal, (list, tuple))
        turns.append([_plain(board), list(legal) if is_list else _short(legal), None])
        if not turns[-1][0] or not turns[-1][1] or not is_list:
            raise _Enough
        turns[-1][2] = choose(turns[-1][0], turns[-1][1])
        return turns[-1][2]

    try:
        return turns, play(watched, rng)
    except _Enough:
        return turns, None
    except Exception:  # what went wrong before explains it
        with contextlib.suppress(Wrong):
            _check_turns(turns)
            raise
        return turns, None


def _plain(board):
    """Return a board as lists of whole numbers, None for what is none."""
    try:
        return [[int(tile) for tile in row] for row in board]
    except (TypeError, ValueError):
        return None


def judge_games(case, found):
    """Raise Wrong for what is against the rules; return None.

    A spawn may draw its random numbers in any order, so no board is compared.
    """
    _, _, large, count = case
    turns, answer, starts = found["turns"], found["answer"], found["starts"]
    wrong_if(turns[:AGAIN] != found["again"], "own_luck")
    wrong_if(not turns, "never_asked")
    wrong_if(not turns[0][0], "no_board")
    _check_start(turns, large)
    is_triple = isinstance(answer, tuple)
    _check_turns(turns, [answer[0]] if is_triple else [])
    wrong_if(len(turns) == MOST_TURNS, "endless")
    wrong_if(found["untouched"], "no_luck")
    wrong_if(not is_triple, "no_triple", got=str(answer))
    _check_answer(turns, *answer)
    if count:
        _check_starts([start[0][0] for start in starts if start])
        _check_seconds([start[:2] for start in starts if len(start) > 1])


def _check_start(turns, large):
    board = turns[0][0] if turns and turns[0][0] else []
    tiles = [tile for row in board for tile in row if tile]
    size = [*map(len, board)] == [PLAYED.columns] * PLAYED.rows
    small = [tile // LARGE if large and tile > 4 else tile for tile in tiles]
    wrong_if(not size or len(tiles) != 2 or not {2, 4}.issuperset(small), "start")


def _check_starts(boards):
    """Raise Wrong where the two first tiles of many games are not spawned by chance."""
    wrong_if(len(boards) != STARTS, "start")
    cells = [(r, c) for r in range(PLAYED.rows) for c in range(PLAYED.columns)]
    here = [sum(board[r][c] > 0 for board in boards) for r, c in cells]
    wrong_if(any(is_off(n, STARTS, 2 / len(cells)) for n in here), "start_cells", count=STARTS)
    fours = sum(any(4 in row for row in board) for board in boards)
    wrong_if(is_off(fours, STARTS, 1 - (1 - FOUR) ** 2), "start_tiles", fours=fours, count=STARTS)


def _check_turns(turns, last=()):
    """Raise Wrong where turns do not follow each other.  last: the last board, in a list."""
    boards = [*(board for board, *_ in turns[1:]), *last]
    for at, ((board, legal, action), after) in enumerate(itertools.zip_longest(turns, boards)):
        wrong_if(not board, "no_board")
        right, drawn = legal_actions(board), _drawn(board)
        wrong_if(not right, "dead_end", board=drawn)
        wrong_if(legal != right, "legal", got=legal, legal=right, board=drawn)
        slid = slide(board, action)[0] if after else None
        if after and not _one_tile_more(slid, after):
            wrong_if(after == slid and at == len(turns) - 1, "last_afterstate")
            wrong_if(after == slid, "no_spawn")
            wrong_if(after == board, "endless")
            others = [slide(board, other)[0] for other in legal if other != action]
            wrong_if(any(_one_tile_more(other, after) for other in others), "other_action")
            raise Wrong("turn", {"board": drawn, "after": _drawn(after)})


def _check_seconds(starts):
    """Raise Wrong where the tile after the first turn comes into the same cell again and again."""
    found = Counter()
    for (board, _, action), (after, *_) in starts:
        if _one_tile_more(slid := slide(board, action)[0], after):
            cells = spec.empty_cells(slid)
            [at] = [at for at, (r, c) in enumerate(cells) if after[r][c]]
            found[len(cells), at] += 1
    for (cells, _), most in found.items():
        count = sum(n for (others, _), n in found.items() if others == cells)
        wrong_if(is_off(most, count, 1 / cells), "turn_cells", most=most, count=count)


def _drawn(board):
    """Write a board in one line: 2 · · 4 / …"""
    return " / ".join(" ".join(str(tile or "·") for tile in row) for row in board)


def _one_tile_more(before, after):
    try:
        _new_tile(before, after, (2, 4, 2 * LARGE, 4 * LARGE))
    except (Wrong, TypeError):
        return False
    return True


def _check_answer(turns, last, score, actions):
    """Raise Wrong where a last board, a score and a number of actions are not those of turns."""
    rewards = sum(slide(board, action)[1] for board, _, action in turns)
    wrong_if(legal_actions(last), "not_over", board=_drawn(last))
    got = _short((last, score, actions))
    wrong_if((score, actions) == (len(turns), rewards), "no_triple", got=got)
    wrong_if(score == sum(map(sum, last)) != rewards, "score_tiles")
    wrong_if(score == rewards / 2, "score_half")
    wrong_if(score != rewards, "score", score=_short(score), right=rewards)
    wrong_if(actions != len(turns), "actions", actions=_short(actions), right=len(turns))


# ---------------------------------------------------------------- the exercises

UNTIL_NONE = """            tiles[:0], new = [*new[-1:], tile], new[:-1]
            continue
        new.append(tile)"""
FILLED = "[0] * (len(row) - len(new))"
MERGES = "tiles[0] == tile and tile < LARGEST_TILE"
AGAIN_TILE = "            tiles[:0] = [tile]\n            continue\n        new.append(tile)"
IN_PAIRS = """        elif tiles:
            new.append(tile)
            tile = tiles.pop(0)
        new.append(tile)"""
MERGED_TWICE = "        new.append(tile)", AGAIN_TILE
SKIPPED = "(tiles := list(row), [tiles.remove(0) for tile in tiles if not tile])[0]"
PAIR = "tile += tiles.pop(0)"
FROM_THE_RIGHT = "pop(0)", "pop()", "tiles[0]", "tiles[-1]", "append(", "insert(0, "
GAP = (
    "[tile for tile in row if tile]", "list(row)",
    "    return", "    new = [tile for tile in new if tile]\n    return",
)  # fmt: skip
EARLY_ENDS = [1 << k for k in range(9, LARGEST.bit_length() - 1)]  # those of other classes, too
HOLE = "tile += tiles.pop(0)", "tile += tiles.pop(0)\n            tiles[:0] = [0]"
ROW_SLIPS = {
    "reward_twice": ("reward += tile", "reward += 2 * tile"),
    "ends_at_512": ("tile < LARGEST_TILE", "tile < LARGEST_TILE and tile != 256"),
    "pays_the_row": ("    return", "    reward = sum(new) if reward else 0\n    return"),
    "any_pair": (
        "tiles[0] == tile and tile < LARGEST_TILE", "tile in tiles and tile < LARGEST_TILE",
        "tile += tiles.pop(0)", "tiles.remove(tile)\n            tile *= 2",
    ),
    "adds_all": ("tiles[0] == tile", "True"),
    "sorts": ("[tile for tile in row if tile]", "sorted(tile for tile in row if tile)"),
    "only_twos": (MERGES, f"{MERGES} and tile < 8"),
}  # fmt: skip


def _tuples(case, answer):
    """Raise Wrong where the rows of an afterstate are no lists; return the answer."""
    board = answer[0] if isinstance(answer, tuple) and answer else None
    odd = [row for row in board if not isinstance(row, list)] if isinstance(board, list) else []
    wrong_if(odd, "rows", got=described(odd[0])[:60] if odd else "")
    return answer


def _neighbours(board):
    """Return the actions along which two neighbours are equal: what moves is not seen."""
    rows, columns = board, [*zip(*board)]
    across, down = (
        any(a == b > 0 for line in lines for a, b in itertools.pairwise(line))
        for lines in (rows, columns)
    )
    return [action for action in range(4) if (across if action % 2 else down)]


def _actions(case, answer):
    """Raise Wrong where actions are not told by their numbers; return the answer."""
    some = answer if isinstance(answer, list) and answer else [None]
    wrong_if(all(isinstance(one, (bool, np.bool_)) for one in some), "booleans")
    wrong_if(all(isinstance(one, str) for one in some), "names", got=repr(some[0])[:20])
    return answer


CELL, COPY = "rng.choice(spec.empty_cells(board))", "    board = [list(tiles) for tiles in board]\n"
BY_ROW = """(row := rng.choice([r for r, line in enumerate(board) if 0 in line]),
        rng.choice([c for c, tile in enumerate(board[row]) if not tile]))"""
BY_COLUMN = """(lambda found: (rng.choice([r for r, c in spec.empty_cells(board) if c == found]),
        found))(rng.choice(sorted({c for _, c in spec.empty_cells(board)})))"""
AT_ONCE = "(free := spec.empty_cells(board))[int((x := rng.random()) * len(free))]"
DIGITS = "(free := spec.empty_cells(board))[(k := rng.randrange(100_000)) % len(free)]"
SPAWNS = {  # what is said is the message of the first word
    "mutated": (COPY, ""),
    "mutated rows": ("[list(tiles) for tiles in board]", "list(board)"),
    "fours twice": ("< FOUR", "< 2 * FOUR"),
    "fours never": ("< FOUR", "< 0"),
    "fours turned": ("< FOUR", "> FOUR"),
    "tile 8": ("= 4 if", "= 8 if"),
    "tile exponent": ("4 if", "2 if", "else 2", "else 1"),
    "cells first": (CELL, "spec.empty_cells(board)[0]"),
    "never last": (CELL, "rng.choice((free := spec.empty_cells(board))[:-1] or free)"),
    "cells by_row": (CELL, BY_ROW),
    "cells by_column": (CELL, BY_COLUMN),
    "apart first": (CELL, AT_ONCE, "if rng.random() <", "if x <"),
    "apart last": (CELL, AT_ONCE, "if rng.random() <", "if 1 - x <"),
    **({"apart digits": (CELL, DIGITS, "rng.random() <", "k % 10 / 10 <")} if FOUR == 0.1 else {}),
    "own_luck": ("rng.", "__import__('random')."),
    "no_luck": ("rng.", "__import__('random').Random(0)."),
    "no_luck seeded": ("    row,", "    rng.seed(0)\n    row,"),
    "not_one": ("    return board", "    board[row][column] = 0\n    return board"),
    "no_board rows": ("return board", "return tuple(board)"),
    "no_board none": ("    return board", "    pass"),
    "anywhere": (CELL, "rng.randrange(len(board)), rng.randrange(len(board[0]))"),
}
OWN = "rng = __import__('random').Random(1)"
LEGAL, ASKED = "while legal := legal_actions(board)", "choose(board, legal)"
WHILE = "while (legal := legal_actions(board)) and"
SIZE = f"[[0] * {PLAYED.columns} for _ in range({PLAYED.rows})]"
GAMES = {
    "start one_tile": ("initial(rng)", f"spawn({SIZE}, rng)"),
    "start_tiles": ("initial(rng)", "[[2 * (tile > 0) for tile in row] for row in initial(rng)]"),
    "start_cells": ("initial(rng)", f"spawn([*{SIZE}[1:], [2, *[0] * {PLAYED.columns - 1}]], rng)"),
    "legal all": (ASKED, "choose(board, [0, 1, 2, 3])"),
    "dead_end": (LEGAL, f"while (legal := legal_actions(board)) or {ASKED}"),
    "other_action first": (ASKED, f"({ASKED}, legal[0])[1]"),
    "other_action last": (ASKED, f"({ASKED}, legal[-1])[1]"),
    "turn": ("spawn(afterstate, rng)", "spawn([row[::-1] for row in afterstate], rng)"),
    "no_spawn": ("spawn(afterstate, rng)", "rng.choice([spawn(afterstate, rng), afterstate])"),
    "not_over 2048": (LEGAL, f"{WHILE} max(map(max, board)) < {min(2048, LARGEST)}"),
    "not_over largest": (LEGAL, f"{WHILE} max(map(max, board)) < {LARGEST}"),
    "not_over full": (LEGAL, f"{WHILE} any(0 in row for row in board)"),
    "not_over once": ("while legal", "if legal"),
    "own_luck": ("spawn(afterstate, rng)", "spawn(afterstate, __import__('random'))"),
    "score last": ("score + reward", "reward"),
    "score_tiles": ("return board, score", "return board, sum(map(sum, board))"),
    "score_half": ("score + reward", "score + reward // 2"),
    "never_asked": (LEGAL, "while not (legal := legal_actions(board))"),
    "no_luck": ("    board, score, actions = i", f"    {OWN}\n    board, score, actions = i"),
    "turn_cells": ("spawn(afterstate, rng)", "spawn(afterstate, __import__('random').Random(1))"),
    "no_board swapped": (ASKED, "choose(legal, board)"),
    "last_afterstate": ("return board,", "return afterstate,"),
    "no_triple": ("return board, score, actions", "return board, score"),
    "no_triple exchanged": ("return board, score, actions", "return board, actions, score"),
    "no_triple order": ("return board, score,", "return score, board,"),
    "actions": ("initial(rng), 0, 0", "initial(rng), 0, 2"),
}

EXERCISES = [
    Exercise(
        "hw01", slide_row, parts={"no merge": plain_rows, "merges": merging_rows},
        mistakes={
            "merged_twice": MERGED_TWICE,
            "merged_twice until_none": ("        new.append(tile)", UNTIL_NONE),
            "from_the_right": FROM_THE_RIGHT,
            "gap": GAP,
            "skips": ("[tile for tile in row if tile]", SKIPPED),
            "hole": HOLE,
            "squared": ("reward += tile", "reward += tile * tile"),
            "squared old": ("reward += tile", "reward += (tile // 2) ** 2"),
            "squared tile": (PAIR, "tile *= tiles.pop(0)"),
            "dropped": (PAIR, "tiles.pop(0)", "reward += tile", "reward += 2 * tile"),
            "dropped old_tile": (PAIR, "tiles.pop(0)"),
            "dropped unpaid": (PAIR, "tiles.pop(0)", "reward += tile", "reward += 0"),
            "dropped both": (PAIR, PAIR, "reward += tile", "reward += tile\n            continue"),
            "last_lost": ("while tiles", "while tiles[1:]"),
            "returns_early": ("new.append(tile)", "new.append(tile)\n        break"),
            "returns_early bare": (
                "new.append(tile)", "new.append(tile)\n        return new, reward"
            ),
            "old_tile": ("reward += tile", "reward += tile // 2"),
            "no_reward": ("reward += tile", "reward += 0"),
            "count": ("reward += tile", "reward += 1"),
            "last_reward": ("reward += tile", "reward = tile"),
            "one_merge": (MERGES, f"{MERGES} and not reward"),
            "largest": (" and tile < LARGEST_TILE", ""),
            **{f"ends_early {end}": ("< LARGEST_TILE", f"< {end}") for end in EARLY_ENDS},
            "length": (FILLED, "[0] * (4 - len(new))"),
            "not_filled": (FILLED, "[]"),
            "zeros_first": (f"new + {FILLED}", f"{FILLED} + new"),
            "any_pair": ROW_SLIPS["any_pair"],
            "in_pairs": ("        new.append(tile)", IN_PAIRS),
            "sorts": ROW_SLIPS["sorts"],
            "sorts down": ("[tile for tile in row if tile]", "sorted(filter(None, row))[::-1]"),
        },
        slips=ROW_SLIPS | {"three_merges": ("if tiles and", "if len(new) < 3 and tiles and")},
        show={"row": "row"}, result={"row": "row", "reward": "text"},
    ),
    Exercise(
        "hw01", slide,
        parts={"rows": along(spec.LEFT, spec.RIGHT), "columns": along(spec.UP, spec.DOWN)},
        mistakes={
            "up_and_down": lambda board, action: slide(board, (2, 1, 0, 3)[action]),
            "left_and_right": lambda board, action: slide(board, (0, 3, 2, 1)[action]),
            "all_left": lambda board, action: slide(board, spec.LEFT),
            "order": lambda board, action: slide(board, (0, 2, 3, 1)[action]),
            "order left_first": lambda board, action: slide(board, (3, 1, 0, 2)[action]),
            "order from_one": lambda board, action: slide(board, action - 1),
            "order none": lambda board, action: slide(board, action - 1) if action else (board, 0),
            "first_reward": ("sum(rewards)", "rewards[0]"),
            "last_reward": ("sum(rewards)", "rewards[-1]"),
            "not_back": ("4 - turns", "0"),
            "merged_twice": changed(
                slide, slide_row=changed(slide_row, "        new.append(tile)", UNTIL_NONE)
            ),
        },
        slips={
            "largest_reward": ("sum(rewards)", "max(rewards)"),
            "reward_by_or": ("sum(rewards)", "__import__('functools').reduce(int.__or__, rewards)"),
            "equal_rewards_once": ("sum(rewards)", "sum({*rewards})"),
            "turned_on": ("4 - turns", "turns"),
            "up_is_left": ("(1, 2, 3, 0)", "(0, 2, 3, 0)"),
            "down_is_up": ("(1, 2, 3, 0)", "(1, 2, 1, 0)"),
            "slides_twice": ("(slide_row(row) for", "(slide_row(slide_row(row)[0]) for"),
            "rows of tuples": ("turned(rows, 4 - turns)", "[*map(tuple, turned(rows, 4 - turns))]"),
            "rows of tuples if upright": (
                "turned(rows, 4 - turns)",
                "[*map((tuple if turns % 2 else list), turned(rows, -turns))]",
            ),
        },
        verdict=_tuples, show={"board": "rows"}, result={"afterstate": "rows", "reward": "text"},
    ),
    Exercise(
        "hw01", legal_actions, lambda random: [(board,) for board in some_boards(random)],
        mistakes={
            "all": lambda board: [0, 1, 2, 3],
            "reward_only": lambda board: [a for a in range(4) if slide(board, a)[1] > 0],
            "reward_only neighbours": _neighbours,
            "illegal": ("[0] != board", "[0] == board"),
            "from_one": ("return [action", "return [action + 1"),
            "from_one up": ("range(4)", "range(1, 5)", "(board, action)", "(board, action % 4)"),
            "from_one range": (
                "range(4)", "range(1, 5)", "slide(board, action)", "slide(board, min(action, 3))"
            ),
            "empty_only": lambda board: [0, 1, 2, 3] if spec.empty_cells(board) else [],
            "empty_only room": lambda board: (
                [0, 1, 2, 3] if spec.empty_cells(board) else legal_actions(board)
            ),
            "largest": changed(
                legal_actions,
                slide=changed(slide, slide_row=changed(slide_row, " and tile < LARGEST_TILE", "")),
            ),
            "stopped": ("!= board]", "!= board][:1]"),
            "ends_early": ("(4)", f"(4 * (max(map(max, board)) < {min(2048, LARGEST)}))"),
            "ends_early tile": ("(4)", f"(4 - 4 * any({min(2048, LARGEST)} in r for r in board))"),
        },
        slips={
            "no_left": ("range(4)", "range(3)"),
            "no_up": ("range(4)", "range(1, 4)"),
            "first_cell": ("[0] != board", "[0][0][0] != board[0][0]"),
            "first_row": ("[0] != board", "[0][0] != board[0]"),
            "last_row": ("[0] != board", "[0][-1] != board[-1]"),
            "any_then_all": lambda board: [0, 1, 2, 3] if legal_actions(board) else [],
            "across_only": lambda board: [a for a in legal_actions(board) if a % 2],
            "booleans": ("[action for action in range(4) if slide(board, action)[0] != board]",
                         "[slide(board, action)[0] != board for action in range(4)]"),
            "raised names": ("return [action", "return [spec.ACTIONS[action]"),
            "moves_only": lambda board: legal_actions(board) if spec.empty_cells(board) else [],
            "reversed": ("range(4)", "range(3, -1, -1)"),
        },
        verdict=_actions, show={"board": "rows"},
    ),
    Exercise(
        "hw01", spawn, spawn_cases, slips=SPAWNS, outcome=spawned, verdict=judge_spawns,
        show={"board": "rows", "rng": "hidden"},
    ),
    Exercise(
        "hw01", play, games, slips=GAMES, outcome=played, verdict=judge_games,
        show={"choose": "hidden", "rng": "hidden"},
    ),
]  # fmt: skip
