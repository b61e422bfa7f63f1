"""The 64-bit board against the plain rules: every row, random boards, and its luck."""

from collections import Counter

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from lib2048 import Network, evaluate, record_game
from lib2048.game import bits as bits_of
from lib2048.game import board as fast
from lib2048.game import rules_2048, spec
from lib2048.game.batch import as_boards
from lib2048.game.board import from_tiles, slide, spawn, symmetries, to_exponents, to_tiles
from lib2048.game.rules_2048 import MERGING, SLIDES
from lib2048.search.tree import SearchTree

CELLS = st.one_of(st.just(0), st.integers(0, 4), st.integers(0, 15))
EXPONENTS = st.lists(CELLS, min_size=16, max_size=16)
BOARDS = EXPONENTS.map(lambda cells: sum(e << 4 * i for i, e in enumerate(cells)))
HARDER = settings(max_examples=400)
LARGE = from_tiles([[65536, 2, 0, 0], *[[0] * 4] * 3])


@pytest.mark.parametrize("table, largest", [(MERGING, 65536), (SLIDES, 32768)])
def test_every_row_slides_as_in_spec(table, largest, monkeypatch):
    monkeypatch.setattr(spec, "LARGEST_TILE", largest)
    tiles, rest = [1 << e if e else 0 for e in range(16)], ((0,) * 4,) * 3
    assert table.shape == (65536,)
    for row, entry in enumerate(table.tolist()):
        line = [tiles[row >> shift & 15] for shift in (0, 4, 8, 12)]
        left, reward = spec.slide_row(line)
        right, same_reward = spec.slide_row(line[::-1])
        moved = reference.number((left, *rest)) | reference.number((right[::-1], *rest)) << 16
        assert reward == same_reward and entry == moved | reward << 32, line


@HARDER
@given(BOARDS)
def test_boards_slide_as_in_spec(packed):
    tiles = reference.tiles(packed)
    for action in range(4):
        after, reward = reference.slide(tiles, action)
        assert slide(packed, action) == (reference.number(after), reward)


@given(BOARDS)
def test_all_four_slides_agree_with_each_alone(packed):
    up, right, down, left, along, across, *others = map(int, rules_2048.slide(np.uint64(packed)))
    found = [(up, along), (right, across), (down, along), (left, across)]
    assert found == [slide(packed, action) for action in range(4)]


@given(BOARDS)
def test_afterstates_are_the_legal_actions(packed):
    plain = reference.outcomes(reference.tiles(packed))
    expected = [(a, reference.number(after), pay) for a, (after, pay) in plain.items()]
    assert fast.afterstates(packed) == expected
    assert fast.is_over(packed) == (not expected)


@pytest.mark.parametrize("action", [-1, 4, 1.5, None, "Up"])
def test_another_action_is_refused(action):
    with pytest.raises(ValueError, match="use 0 Up"):
        slide(0x12, action)


NUMBERED = 0xFEDCBA9876543210  # each cell holds its own number


def test_symmetries_are_those_of_the_square():
    found = [tuple(to_exponents(image)) for image in symmetries(NUMBERED)]
    plain = [sum(image, ()) for image in reference.images(tuple(zip(*[iter(range(16))] * 4)))]
    assert found == plain
    assert found[0] == tuple(range(16)) and len(set(found)) == 8


@given(BOARDS)
def test_mirrors_and_turns_are_the_plain_ones(packed):
    rows = reference.tiles(packed)
    plain = [reference.number(image) for image in reference.images(rows)]
    assert list(map(int, symmetries(packed))) == plain
    for turn in (bits_of.transpose, bits_of.mirror, bits_of.flip):
        assert np.uint64(turn(np.uint64(turn(np.uint64(packed))))) == packed


@given(EXPONENTS)
def test_tiles_there_and_back(cells):
    tiles = [[1 << e if e else 0 for e in cells[row : row + 4]] for row in range(0, 16, 4)]
    packed = from_tiles(tiles)
    assert isinstance(packed, np.uint64)
    assert to_tiles(packed) == tiles
    assert to_exponents(packed).tolist() == cells
    assert packed == from_tiles(np.array(tiles)) == from_tiles(np.array(tiles, float))
    assert fast.tile_sum(packed) == sum(map(sum, tiles))
    assert fast.max_exponent(packed) == max(cells)
    assert fast.count_empty(packed) == cells.count(0)


def test_the_first_cell_is_the_lowest():
    assert from_tiles([[2, 4, 8, 16], [0] * 4, [0] * 4, [0, 0, 0, 32768]]) == 0xF000000000004321


EMPTY_ROWS = [[0] * 4] * 3
NO_BOARDS = {
    "no rows": [],
    "three rows": EMPTY_ROWS,
    "five rows": [[0] * 4] * 5,
    "short row": [*EMPTY_ROWS, [2, 2, 2]],
    "long row": [*EMPTY_ROWS, [2] * 5],
    "sixteen tiles": [0] * 16,
    "one row": [2, 4, 8, 16],
    "a number": 5,
    "nothing": None,
}
NO_TILES = [
    1, 3, 6, -2, 131072, 2**70, 2.5, float("nan"), float("inf"), -float("inf"),
    None, "2", "x", [2], 1j,
]  # fmt: skip


@pytest.mark.parametrize("rows", NO_BOARDS.values(), ids=NO_BOARDS)
def test_another_size_is_refused(rows):
    with pytest.raises(ValueError, match="4 rows of 4 tiles"):
        from_tiles(rows)


@pytest.mark.parametrize("tile", NO_TILES, ids=repr)
def test_another_number_is_refused(tile, refused):
    refused(lambda: from_tiles([*EMPTY_ROWS, [2, 4, tile, 0]]), "is not a tile")


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: from_tiles([[2, 4], [8, 0]]), "2048 has 4 rows of 4 tiles; for one of another"),
        (lambda: from_tiles(EMPTY_ROWS, "2048@2x3"), "2048@2x3 has 2 rows of 3 tiles"),
        (lambda: from_tiles([[2, 3], [0, 0]], "2048@2x2"), "3 is not a tile: use 0"),
        (lambda: from_tiles([[4, 0], [0, 0]], "threes@2x2"), "or 1, 2, 3 … 12288"),
        (lambda: from_tiles([[2]], 3), "a game is written as its name"),
        (
            lambda: to_tiles(1 << 8, "2048@2x2"),
            "board 0x100 has tiles outside of those of 2048@2x2",
        ),
        (lambda: fast.to_text(1 << 8, "2049"), "unknown game '2049'"),
        (lambda: slide(1 << 8, 0, "2048@2x2"), "board 0x100 has tiles outside"),
        (lambda: fast.is_over(1 << 8, "2048@2x2"), "board 0x100 has tiles outside"),
        (lambda: spawn(1 << 8, 1, "2048@2x2"), "board 0x100 has tiles outside"),
        (lambda: slide(1.5, 0), "boards are whole numbers of 64 bits, not 1.5"),
        (lambda: slide(-1, 0), "-0x1 is no board"),
        (lambda: as_boards(np.array([1, -1])), "-0x1 is no board"),
        (lambda: as_boards([1, -1]), "-0x1 is no board"),
        (lambda: spawn(LARGE, 1), "`board.parts`"),
        (lambda: fast.symmetries(LARGE), "`board.parts`"),
        (lambda: Network("cells:01").lookups(LARGE), "`board.parts`"),
        (lambda: Network("cells:01").places(LARGE), "`board.parts`"),
        (lambda: SearchTree(Network("cells:01"), LARGE), "`board.parts`"),
    ],
)
def test_what_is_no_board_of_a_game_is_told_in_one_line(call, says, refused):
    refused(call, says)


def test_a_smaller_board_is_written_at_its_own_size():
    assert fast.to_text(from_tiles([[2, 0, 4], [0, 8, 0]], "2048@2x3"), "2048@2x3") == (
        "     2     .     4\n     .     8     ."
    )


def random_board(random, empties):
    cells = random.integers(1, 16, 16)
    cells[random.choice(16, empties, replace=False)] = 0
    return sum(int(e) << 4 * i for i, e in enumerate(cells))


@HARDER
@given(BOARDS.filter(lambda packed: fast.count_empty(packed)), st.integers(0, 2**64 - 1))
def test_spawn_is_the_plain_one(packed, bits):
    plain = reference.spawn_by(reference.tiles(packed), bits)
    assert int(rules_2048.spawn_with(np.uint64(packed), np.uint64(bits))) == reference.number(plain)
    board, state = spawn(packed, bits)
    plain, plain_state = reference.spawn(reference.tiles(packed), bits)
    assert (board, state) == (reference.number(plain), plain_state)


@pytest.mark.parametrize("low, exponent", [(0, 2), (429496729, 2), (429496730, 1), (2**32 - 1, 1)])
def test_a_tenth_of_the_spawns_are_fours(low, exponent):
    spawned = rules_2048.spawn_with(np.uint64(0), np.uint64(5 << 60 | low))
    assert int(spawned) == exponent << 20
    assert abs(429496730 / 2**32 - 0.1) < 1e-9


@pytest.mark.parametrize("state", [0, 1, 2**64 - 1])
def test_a_full_board_takes_no_spawn(state):
    with pytest.raises(ValueError, match="full"):
        spawn(from_tiles([[2, 4, 2, 4]] * 4), state)


@pytest.mark.parametrize("empties", [1, 2, 3, 7, 11, 15, 16])
def test_spawns_are_uniform_and_a_tenth_are_fours(empties):
    """Cells and tiles together, so that they are independent too."""
    packed, state, draws = random_board(np.random.default_rng(9), empties), 2048, 8000
    counts = Counter()
    for _ in range(draws):
        board, state = spawn(packed, state)
        counts[int(board) ^ packed] += 1
    cells = [cell for cell in range(16) if packed >> 4 * cell & 15 == 0]
    expected = {1 << 4 * cell: 0.9 * draws / empties for cell in cells}
    expected |= {2 << 4 * cell: 0.1 * draws / empties for cell in cells}
    assert set(counts) <= set(expected)
    assert chisquare([counts[new] for new in expected], [*expected.values()]).pvalue > 0.001


PLAIN = {"greedy": reference.greedy, "first-legal": reference.first_legal}
PINNED = {
    ("greedy", 1): (3820, 4693055660569671794),
    ("first-legal", 1): (2804, 4837240050196644449),
}


@pytest.mark.parametrize("player, seed", PINNED)
def test_a_seed_gives_the_same_game_everywhere(player, seed):
    steps = record_game(player, seed=seed)
    score = sum(step.reward for step in steps)
    assert (score, int(steps[-1].board)) == PINNED[player, seed]
    assert evaluate(player, 1, seed=seed).scores.tolist() == [score]


@pytest.mark.parametrize("player", PLAIN)
@pytest.mark.parametrize("seed", [1, 2, 2**40])
def test_games_are_the_plain_ones(player, seed):
    result = evaluate(player, 4, seed=seed)
    plain = [reference.play(PLAIN[player], seed, game) for game in range(4)]
    assert result.scores.tolist() == [score for _, score, _ in plain]
    assert result.moves == sum(actions for _, _, actions in plain)
    assert [1 << e for e in result.largest] == [max(map(max, board)) for board, _, _ in plain]
    last = record_game(player, seed, 3)[-1].board
    assert reference.tiles(last) == plain[3][0]
