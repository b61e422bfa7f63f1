"""The browser's rules (games.js) and the library's are the same game: boards, points and luck."""

import random
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

pytest.importorskip("anywidget")

from on_node import address, needs_node, output  # noqa: E402

import lib2048  # noqa: E402
from lib2048 import endgame  # noqa: E402
from lib2048.game import board as rules  # noqa: E402
from lib2048.game import spec  # noqa: E402
from lib2048.game.game import parse_game  # noqa: E402
from lib2048.game.rng import stream  # noqa: E402
from lib2048.show.widgets.base import front_end  # noqa: E402
from lib2048.show.widgets.game import Game, Narrow, to_hex, told  # noqa: E402

HERE = Path(__file__).parent
GAMES = Path(lib2048.__file__).parent / "show/widgets/games.js"
MODULE = front_end(GAMES) + "\nexport const { Game, WHOLE, stream } = $game;"
RULES = address(MODULE)
SEEDS = [1, 0, -1, 2048, 2**64 - 1, 2**70 + 3, *range(90, 114)]
SIZES = [f"{rows}x{columns}" for rows in range(1, 5) for columns in range(1, 5)][1:]
EVERY = {
    "2048": ["2048"],
    "other boards": [f"2048@{size}" for size in SIZES[:-1]],
    "other odds": ["2048:four=0.2", "2048:four=0.2@3x4", "2048:four=0", "2048:four=1@2x3"],
    "Threes!": ["threes", *(f"threes@{size}" for size in SIZES[:-1])],
}

pytestmark = needs_node


def asked(*questions, game="2048"):
    """Ask game.js about a game, in one process."""
    questions = [{"rules": told(parse_game(game))} | question for question in questions]
    return output(HERE / "game.mjs", RULES, questions=questions)


def played(seed, number, actions, name="2048"):
    """Play a game by the library; return the actions that were legal and what each turn came to."""
    game = Game(seed, number, game=parse_game(name))
    turns = [game.here]
    for action in actions:
        if game.act(action) is not None:
            turns.append(game.here)
    return game.actions, [
        (to_hex(t.board), int(t.word), t.score, int(t.state), legal(t.board, game.game))
        for t in turns
    ]


def legal(board, game):
    return [action for action, _, _ in rules.afterstates(board, game)]


def random_actions(seed, count):
    return random.Random(seed).choices(range(4), k=count)


@pytest.mark.parametrize("names", EVERY.values(), ids=EVERY)
def test_the_same_actions_from_the_same_seed_are_the_same_game(names):
    games = [(seed, n % 5, random_actions(n, 150 if n else 2400)) for n, seed in enumerate(SEEDS)]
    games = [(name, *game) for name in names for game in (games if "@" not in name else games[:3])]
    answers = asked(*(
        {"ask": "game", "rules": told(parse_game(name)),
         "game": {"seed": str(s), "number": n, "actions": "".join(map(str, acts))}}
        for name, s, n, acts in games
    ))  # fmt: skip
    seen, words = 0, set()
    for (name, *game), answer in zip(games, answers):
        taken, turns = played(*game, name)
        assert answer["actions"] == taken, name  # an action that is not legal is not taken
        found = [
            (t["board"], int(t["word"]), t["score"], int(t["state"]), t["legal"])
            for t in answer["turns"]
        ]
        assert found == turns, name
        seen += len(turns) * ("@" not in name)
        words |= {word & 3 for _, word, *_ in turns}
    assert seen > 1000 or "@" in names[0]
    assert words == ({0, 1, 2, 3} if names[0] == "threes" else {0})


@pytest.mark.parametrize("name", ["2048", "threes"])
def test_any_board_slides_alike_the_largest_tiles_too(name):
    rng = np.random.default_rng(3)
    boards = rng.integers(0, 16, (400, 16)) * (rng.random((400, 16)) < 0.8)
    boards[200:] = rng.integers(13, 16, (200, 16))  # the largest do not merge
    boards = [np.uint64(sum(int(e) << 4 * i for i, e in enumerate(cells))) for cells in boards]
    answers = asked(*({"ask": "slides", "board": to_hex(board)} for board in boards), game=name)
    game = parse_game(name)
    for board, answer in zip(boards, answers):
        found = [
            (to_hex(a), r) for a, r in (rules.slide(board, action, game) for action in range(4))
        ]
        assert [tuple(slid) for slid in answer] == found


def test_streams_are_those_of_any_integer():
    pairs = [(seed, number) for seed in SEEDS for number in (0, 1, -1, 10**9)]
    answers = asked(*({"ask": "stream", "seed": str(s), "number": n} for s, n in pairs))
    assert [int(answer) for answer in answers] == [int(stream(s, n)) for s, n in pairs]


def test_luck_repeats_after_an_undo():
    game = {"seed": "9", "number": 0, "actions": played(9, 0, random_actions(1, 40))[0]}
    for_ever = {"ask": "undone", "game": game, "times": 99, "again": game["actions"]}
    some = {"ask": "undone", "game": game, "times": 5, "again": game["actions"][-5:]}
    boards = [turn[0] for turn in played(9, 0, map(int, game["actions"]))[1]]
    assert asked(for_ever, some) == [boards, boards]


def test_a_game_may_begin_on_any_board():
    board = rules.from_tiles([[2, 4, 8, 16], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]])
    game = {"seed": "3", "number": 1, "start": to_hex(board), "actions": "2"}
    [answer] = asked({"ask": "game", "game": game})
    after, _ = rules.slide(board, 2)
    assert answer["turns"][0]["board"] == to_hex(board)
    assert answer["turns"][1]["board"] == to_hex(rules.spawn(after, stream(3, 1))[0])


def test_an_endgame_is_played_alike_until_it_is_over():
    narrow, ends = Narrow(endgame.solve("411", 16, progress=False)), set()
    games = [(str(seed), 0, random_actions(seed, 200)) for seed in range(40)]
    answers = asked(*(
        {"ask": "game", "rules": narrow.told(),
         "game": {"seed": s, "number": n, "actions": "".join(map(str, acts))}}
        for s, n, acts in games
    ))  # fmt: skip
    for (seed, number, actions), answer in zip(games, answers):
        game = Game(seed, number, None, narrow.game, narrow)
        for action in actions:
            game.act(action)
        assert answer["actions"] == game.actions
        for turn, found in zip(game.turns, answer["turns"], strict=True):
            assert (found["board"], int(found["state"])) == (to_hex(turn.board), int(turn.state))
            assert found["legal"] == [a for a in range(4) if narrow.allows(turn.board, a)]
        assert narrow.table.is_over(game.here.board)
        ends.add(narrow.table.has_won(game.here.board))
    assert ends == {True, False}
    ask = {"ask": "position", "rules": narrow.told()}
    walls = rules.to_tiles(narrow.walls)
    texts = [str(walls), str(walls[::-1])]
    answers = asked(*(ask | {"text": text.replace("0, 0", "2, 2", 1)} for text in texts))
    assert "large tiles of this endgame stand where they are" in answers[1]
    assert int(answers[0], 16) & int(narrow.walls) == int(narrow.walls)


BOARD = rules.from_tiles([[2, 2, 0, 8], [0, 4, 0, 4], [2, 0, 0, 0], [16, 8, 8, 2]])


WRITTEN = [
    "[[2, 2, 0, 8], [0, 4, 0, 4], [2, 0, 0, 0], [16, 8, 8, 2]]", "2 2 0 8 0 4 0 4 2 0 0 0 16 8 8 2",
    rules.to_text(BOARD), "2 2 . 8 / . 4 . 4 / 2 . . . / 16 8 8 2",
    "2\t2\t0\t8\n0\t4\t0\t4\n2\t0\t0\t0\n16\t8\t8\t2\n", str(int(BOARD)), hex(BOARD), repr(BOARD),
]  # fmt: skip


def test_a_position_may_be_written_in_many_ways():
    answers = asked(*({"ask": "position", "text": text} for text in WRITTEN))
    assert answers == [to_hex(BOARD)] * len(WRITTEN)


def test_positions_of_other_games_are_read_at_their_size():
    [read] = asked({"ask": "position", "text": "2 2 0 / 0 4 2"}, game="2048@2x3")
    assert read == to_hex(rules.from_tiles([[2, 2, 0], [0, 4, 2]], "2048@2x3"))
    assert asked({"ask": "position", "text": str(int(read, 16))}, game="2048@2x3") == [read]
    [wide] = asked({"ask": "position", "text": "0x1234"}, game="2048@2x3")
    assert wide == "0x1234 is no board of 2×3 cells"
    full = {"ask": "position", "text": "128 64 32 16 8 4"}
    [all_four, no_four] = [asked(full, game=f"2048{odds}@2x3")[0] for odds in ("", ":four=0")]
    assert len(all_four) == 16 and no_four.startswith("128 is not a tile")


@pytest.mark.parametrize("count", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["2048", "2048:four=0.2", "2048:four=0.2@3x4"])
def test_spawns_have_the_frequencies_of_the_game(name, count):
    """Kernels, plain Python and JavaScript: each cell as likely, and 4s by the odds."""
    game = parse_game(name)
    tiles = [[2, 0, 4, 8], [0, 0, 2, 0], [8, 0, 0, 2], [0, 0, 0, 0]]
    board = int(rules.from_tiles(tiles[: game.rows], game))
    empty = [4 * r + c for r, c in spec.empty_cells(rules.to_tiles(board, game))]
    [script] = asked({"ask": "spawns", "board": to_hex(board), "seed": "5", "count": count},
                     game=name)  # fmt: skip
    ways = [kernel_spawns(board, game, count), plain_spawns(board, game, count), np.array(script)]
    chances = np.array([list(game.chances.values())] * len(empty)) / len(empty)
    for came in ways:
        assert came.sum() == count == came[empty].sum()
        assert chisquare(came[empty].ravel(), chances.ravel() * count).pvalue > 1e-5
        fours = came[:, 1].sum()
        assert binomtest(int(fours), count, float(game.four)).pvalue > 1e-5


def kernel_spawns(board, game, count):
    """Return how often the kernel puts a 2 and a 4 in each cell: int[16, 2]."""
    bits = np.random.default_rng(7).integers(0, 1 << 64, count, np.uint64)
    put = np.array([int(rules.spawn_with(np.uint64(board), b, game)) ^ board for b in bits])
    return np.array([[(put == e << 4 * cell).sum() for e in (1, 2)] for cell in range(16)])


@pytest.mark.parametrize("large", [[32768, 32768], [65536, 32768], [65536, 16384, 16384]])
def test_games_beyond_two_32768s_are_the_same(large):
    games, questions = [], []
    for seed in range(10):
        luck = random.Random(seed)
        cells = large + luck.choices([0, 0, 2, 4, 8], k=16 - len(large))
        luck.shuffle(cells)
        game = Game(seed, start=rules.from_tiles([cells[at : at + 4] for at in range(0, 16, 4)]))
        while legal := rules.afterstates(game.here.board, word=game.here.word):
            game.act(luck.choice(legal)[0])
        games.append(game)
        questions.append({"ask": "game", "game": game.as_dict()})
    for game, answer in zip(games, asked(*questions), strict=True):
        assert answer["actions"] == game.actions
        assert [
            (int(turn["board"], 16), int(turn["word"]), turn["score"]) for turn in answer["turns"]
        ] == [(int(board), int(word), score) for board, word, score, _ in game.turns]
        assert answer["turns"][-1]["legal"] == []
    assert any(game.here.word for game in games)


def plain_spawns(board, game, count):
    """Return the same of `spec.spawn`."""
    tiles, rng, came = rules.to_tiles(board, game), random.Random(7), np.zeros((16, 2), int)
    for _ in range(count):
        new = spec.spawn(tiles, rng, float(game.four))
        [(cell, tile)] = [
            (4 * r + c, new[r][c])
            for r, row in enumerate(tiles)
            for c, old in enumerate(row)
            if old != new[r][c]
        ]
        came[cell, tile // 4] += 1
    return came


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "16 cells, and here are 0: 16 too few"),
        ("2 2 0", "16 cells, and here are 3: 13 too few"),
        ("2 " * 17, "16 cells, and here are 17: 1 too many"),
        ("3 " + "0 " * 15, "3 is not a tile (row 1, column 1): tiles are 2, 4, 8 … 65536"),
        ("0 " * 6 + "2b " + "0 " * 9, "2b is not a tile (row 2, column 3): b is no digit"),
        ("1 " * 16, "1 is not a tile"),
        ("-2 " + "0 " * 15, "-2 is not a tile"),
        ("2.5 " + "0 " * 15, "2.5 is not a tile"),
        ("131072 " + "2 " * 15, "the largest on a board of 16 cells is 65536"),
        ("65536 65536 " + "2 " * 14, "a board holds one 65536 at most"),
        ("two " + "2 " * 15, "two is not a tile"),
        ("0 " * 16, "at least two tiles"),
        ("2 " + "0 " * 15, "at least two tiles"),
        ("8 " * 4 + "0 " * 12, "no 2 and no 4"),
        ("32768 " * 4 + "2 " * 12, "beside 3 as large, there was no room to make another 32768"),
        ("16 " * 15 + "2", "beside 14 as large, there was no room to make another 16"),
        (str(2**64), "is no board of 4×4 cells"),
        (str(2**70), "not a tile"),
        ("2 2 0 0 0 256", "256 is not a tile (row 2, column 3): the largest on a board of 6 cells"),
        ("128 64 32 16 8 8", "no 2 and no 4"),
        ("128 128 0 0 0 2", "too many large tiles"),
        ("2 2 0 0 0 x", "x is not a tile (row 2, column 3): x is no digit"),
    ],
)
def test_impossible_positions_are_refused_in_words(text, says):
    game = "2048@2x3" if len(text.split()) == 6 else "2048"
    [answer] = asked({"ask": "position", "text": text}, game=game)
    assert says in answer


def test_the_fullest_board_that_can_be_is_not_refused():
    tiles = [min(17 - i, 15) for i in range(16)]
    text = " ".join(str(1 << e) for e in tiles)
    # 15, 15, 15, 14, 13 … 3, 2: three of the largest do not merge here
    assert len(asked({"ask": "position", "text": text})[0]) == 16
