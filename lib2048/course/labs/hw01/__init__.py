"""hw01, the rules: slide a row, slide a board, legal actions, spawn, play a game."""

import copy
import random as luck

from lib2048.course.labs.exercise import Exercise, Wrong
from lib2048.game import spec
from lib2048.game.spec import FOUR_CHANCE, LARGEST_TILE

MOST_TURNS = 5000  # of a game whose player takes the first legal action; it has some 150

# ---------------------------------------------------------------- boards to try


def some_rows(random):
    """Return rows of four tiles, small ones first: [(row,), …]."""
    drawn = [[int(2**e) if e else 0 for e in random.integers(0, 4, 4)] for _ in range(30)]
    return [(row,) for row in drawn]


def plain_rows(random):
    """Return rows in which nothing merges."""
    return [([0, 0, 0, 0],), ([0, 2, 0, 4],), ([2, 4, 2, 4],), ([0, 0, 0, 8],), ([2, 0, 4, 0],)]


def merging_rows(random):
    """Return rows with merges: pairs, threes, fours, gaps, and the largest tile."""
    known = [[2, 2, 0, 0], [2, 0, 0, 2], [2, 2, 2, 0], [2, 2, 2, 2], [4, 2, 2, 0], [2, 2, 4, 0],
             [4, 4, 8, 0], [LARGEST_TILE, LARGEST_TILE, 0, 0]]  # fmt: skip
    return [(row,) for row in known] + some_rows(random)


def some_boards(random, count=20):
    """Return boards of random games, and of random tiles, as lists of rows."""
    play = luck.Random(int(random.integers(1 << 31)))
    boards = [spec.initial(play) for _ in range(4)]
    while len(boards) < count:
        board = spec.initial(play)
        while legal := spec.legal_actions(board):
            board = spec.spawn(spec.slide(board, play.choice(legal))[0], play)
            boards += [board] * (play.random() < 0.02)
        boards.append(board)  # a lost one
    return boards[:count]


def boards_alone(random):
    """Return cases of one board."""
    return [(board,) for board in some_boards(random)]


def along(*actions):
    """Return a function that draws boards for some of the actions."""
    return lambda random: [(board, a) for board in some_boards(random) for a in actions]


# ---------------------------------------------------------------- typical mistakes


def _slides(merge):
    """Return a slide_row that packs a row, lets `merge` work on its tiles, and fills it up."""

    def slide_row(row):
        tiles, reward = merge([tile for tile in row if tile])
        return tiles + [0] * (len(row) - len(tiles)), reward

    return slide_row


def _merged_again(tiles):
    reward, at = 0, 0
    while at < len(tiles) - 1:
        if tiles[at] == tiles[at + 1]:
            tiles[at : at + 2] = [2 * tiles[at]]
            reward, at = reward + tiles[at], max(at - 1, 0)
        else:
            at += 1
    return tiles, reward


def _merged_once(tiles, reward_of=lambda tile: tile, largest=LARGEST_TILE):
    new, reward = [], 0
    while tiles:
        tile, *tiles = tiles
        if tiles and tiles[0] == tile and tile < largest:
            tile, tiles = 2 * tile, tiles[1:]
            reward += reward_of(tile)
        new.append(tile)
    return new, reward


def _merged_from_the_right(tiles):
    new, reward = _merged_once(tiles[::-1])
    return new[::-1], reward


def _merged_before_packing(row):
    row, reward = list(row), 0
    for at in range(len(row) - 1):
        if row[at] and row[at] == row[at + 1] and row[at] < LARGEST_TILE:
            row[at], row[at + 1] = 2 * row[at], 0
            reward += row[at]
    tiles = [tile for tile in row if tile]
    return tiles + [0] * (len(row) - len(tiles)), reward


def _first_reward(board, action):
    after, _ = spec.slide(board, action)
    turned = spec._turned(board, (1, 2, 3, 0)[action])
    return after, spec.slide_row(turned[0])[1]


# ---------------------------------------------------------------- chance


def spawned(spawn, board, rng):
    """Try a spawn 2000 times; raise Wrong for what it should not do.  Returns True."""
    before, fours, cells = [row[:] for row in board], 0, {}
    if any(spawn(board, luck.Random(n)) != spawn(board, luck.Random(n)) for n in range(20)):
        raise Wrong("own_luck")
    for _ in range(2000):
        after = spawn(board, rng)
        if board != before:
            raise Wrong("mutated")
        cell, tile = _new_tile(before, after)
        fours += tile == 4
        cells[cell] = cells.get(cell, 0) + 1
    _check_shares(fours, cells, len(spec.empty_cells(board)))
    return True


def _new_tile(before, after):
    if not isinstance(after, list) or [len(row) for row in after] != [len(row) for row in before]:
        raise Wrong("no_board", {"got": repr(after)[:80]})
    changed = [
        (r, c) for r, row in enumerate(before) for c, tile in enumerate(row) if after[r][c] != tile
    ]
    if len(changed) != 1:
        raise Wrong("not_one", {"count": len(changed)})
    (r, c), tile = changed[0], after[changed[0][0]][changed[0][1]]
    if before[r][c]:
        raise Wrong("occupied")
    if tile not in (2, 4):
        raise Wrong("tile", {"got": tile})
    return (r, c), tile


def _check_shares(fours, cells, empty):
    """Compare shares of 2000 draws with the true ones, six standard deviations wide."""
    if abs(fours / 2000 - FOUR_CHANCE) > 6 * (FOUR_CHANCE * (1 - FOUR_CHANCE) / 2000) ** 0.5:
        raise Wrong("fours", {"share": f"{fours / 20:.1f} %"})
    wide = 6 * (1 / empty * (1 - 1 / empty) / 2000) ** 0.5
    shares = [count / 2000 for count in cells.values()] + [0.0] * (empty - len(cells))
    if max(abs(share - 1 / empty) for share in shares) > wide:
        words = {"most": max(shares), "least": min(shares), "fair": 1 / empty}
        raise Wrong("cells", {name: f"{share:.0%}" for name, share in words.items()})


def spawn_cases(random):
    """Return boards with many, few and one empty cell, each with a random generator."""
    one = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 0]]
    boards = [one, [[0, 0], [0, 2]], [[0] * 4 for _ in range(4)], *some_boards(random)[:3]]
    return [(board, luck.Random(7)) for board in boards if spec.empty_cells(board)]


def _first_legal(board, legal):
    return legal[0]


def played(play, choose, rng):
    """Watch a game by the boards that `choose` sees; raise Wrong for what is against the rules.

    Returns True.  A spawn may draw its random numbers in any order, so no board is compared.
    """
    first, again = (_game(play, choose, luck.Random(rng)) for _ in range(2))
    if first != again:
        raise Wrong("own_luck")
    turns, answer = first
    if not isinstance(answer, tuple) or len(answer) != 3:
        raise Wrong("no_triple", {"got": repr(answer)[:60]})
    _check_turns(turns, *answer)
    return True


def _game(play, choose, rng):
    """Return what `choose` saw and did, [(board, action)], and what `play` returned."""
    turns = []

    def watched(board, legal):
        if len(turns) == MOST_TURNS:
            raise Wrong("endless")
        if list(legal) != spec.legal_actions(board):
            raise Wrong("legal", {"got": legal, "legal": spec.legal_actions(board)})
        turns.append((copy.deepcopy(board), choose(board, legal)))
        return turns[-1][1]

    return turns, play(watched, rng)


def _check_turns(turns, last, score, actions):
    """Raise Wrong where turns, a last board, a score and a number of actions make no game."""
    tiles = sorted(sum(turns[0][0], [])) if turns else []
    if tiles[:-2] != [0] * 14 or not {2, 4}.issuperset(tiles[-2:]):
        raise Wrong("start")
    rewards = 0
    for (board, action), after in zip(turns, [*(board for board, _ in turns[1:]), last]):
        slid, reward = spec.slide(board, action)
        rewards += reward
        if not _one_tile_more(slid, after):
            raise Wrong("turn")
    if spec.legal_actions(last):
        raise Wrong("not_over")
    if score != rewards:
        raise Wrong("score", {"score": score, "right": rewards})
    if actions != len(turns):
        raise Wrong("actions", {"actions": actions, "right": len(turns)})


def _one_tile_more(before, after):
    try:
        _new_tile(before, after)
    except (Wrong, TypeError):
        return False
    return True


# ---------------------------------------------------------------- the exercises

EXERCISES = [
    Exercise(
        "hw01.slide_row", "slide_row(row)", spec.slide_row,
        parts={"no merge": plain_rows, "merges": merging_rows},
        mistakes={
            "merged_twice": _slides(_merged_again),
            "from_the_right": _slides(_merged_from_the_right),
            "gap": _merged_before_packing,
            "old_tile": _slides(lambda tiles: _merged_once(tiles, lambda tile: tile // 2)),
            "no_reward": _slides(lambda tiles: _merged_once(tiles, lambda tile: 0)),
            "count": _slides(lambda tiles: _merged_once(tiles, lambda tile: 1)),
            "largest": _slides(lambda tiles: _merged_once(tiles, largest=1 << 30)),
        },
        show={"row": "row"}, result={"row": "row", "reward": "text"},
    ),
    Exercise(
        "hw01.slide", "slide(board, action)", spec.slide, uses=("slide_row",),
        parts={"rows": along(spec.LEFT, spec.RIGHT), "columns": along(spec.UP, spec.DOWN)},
        mistakes={
            "up_and_down": lambda board, action: spec.slide(board, (2, 1, 0, 3)[action]),
            "left_and_right": lambda board, action: spec.slide(board, (0, 3, 2, 1)[action]),
            "all_left": lambda board, action: spec.slide(board, spec.LEFT),
            "first_reward": _first_reward,
        },
        show={"board": "rows"}, result={"afterstate": "rows", "reward": "text"},
    ),
    Exercise(
        "hw01.legal_actions", "legal_actions(board)", spec.legal_actions, boards_alone,
        uses=("slide_row", "slide"),
        mistakes={
            "all": lambda board: [0, 1, 2, 3],
            "reward_only": lambda board: [a for a in range(4) if spec.slide(board, a)[1] > 0],
            "empty_only": lambda board: [0, 1, 2, 3] if spec.empty_cells(board) else [],
        },
        show={"board": "rows"},
    ),
    Exercise(
        "hw01.spawn", "spawn(board, rng)", spec.spawn, spawn_cases, outcome=spawned,
        show={"board": "rows", "rng": "hidden"},
    ),
    Exercise(
        "hw01.play", "play(choose, rng)", spec.play,
        lambda random: [(_first_legal, int(seed)) for seed in random.integers(0, 1000, 4)],
        uses=("slide_row", "slide", "legal_actions", "spawn"), outcome=played,
        show={"choose": "hidden", "rng": "hidden"},
    ),
]  # fmt: skip
