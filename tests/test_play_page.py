"""The board of the book's front page plays by the library's rules, numbers and luck, exactly."""

import base64
import json
import random
import zlib
from pathlib import Path

import numpy as np
import play_page
import pytest
from on_node import needs_node, output
from test_game_js import RULES

from lib2048 import load
from lib2048.game import board as rules
from lib2048.game.rng import stream
from lib2048.networks.storage import info
from lib2048.play.evaluation import evaluate, record_game
from lib2048.play.players import network_player
from lib2048.play.review import review
from lib2048.show.widgets.game import to_hex

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def player():
    return network_player(load(play_page.WEIGHTS))


def asked(*questions):
    """Ask the files that a page loads, in one process."""
    files = [str(play_page.written() / name) for name in ("network.js", "play.js")]
    return output(HERE / "play_page.mjs", *files, RULES, questions=questions)


# ---------------------------------------------------------------- values, moves, rules


@needs_node
def test_values_and_moves_are_the_library_s_on_boards_from_games(player):
    boards = [step.board for step in record_game(player, seed=5)]
    boards = [*boards[:: max(1, len(boards) // 500)], boards[-1]]
    boards += [step.board for n in range(20) for step in record_game("random", seed=6, number=n)]
    boards += [
        rules.from_tiles(tiles) for tiles in SYMMETRIC
    ]  # of equal actions the first is taken
    assert len(boards) > 1000
    answers = asked(*({"ask": "board", "board": to_hex(board)} for board in boards))
    for board, answer in zip(boards, answers):
        action, worth = player.decide(board)
        assert answer["action"] == (-1 if action is None else action)
        legal = {a: (to_hex(after), reward) for a, after, reward in rules.afterstates(board)}
        assert answer["over"] == (not legal)
        for a in range(4):
            found = answer["worth"][a], answer["rewards"][a], answer["after"][a]
            after, reward = legal.get(a, (to_hex(board), -1))
            assert found == (float(worth[a]) if a in legal else None, reward, after)


SYMMETRIC = [  # all four actions are equal on two of them, two on the others
    [[0, 0, 0, 0], [0, 2, 2, 0], [0, 2, 2, 0], [0, 0, 0, 0]],
    [[2, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0], [2, 0, 0, 2]],
    [[0, 0, 0, 0], [2, 2, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0]],
    [[0, 0, 2, 0], [0, 0, 2, 0], [0, 0, 2, 0], [0, 0, 2, 0]],
]


@needs_node
def test_every_row_slides_as_the_rules_say_and_no_32768_merges_beside_a_65536():
    full = rules.from_tiles([[32768, 32768, 0, 0], [2, 4, 8, 16], [4, 8, 16, 2], [8, 16, 2, 4]])
    board = {"ask": "board", "board": to_hex(full)}
    different, answer, beside = asked({"ask": "rows"}, board, board | {"top": 1})
    assert different == 0
    assert answer["rewards"] == [0, 65536, -1, 65536]
    assert beside["rewards"] == [0, 0, -1, -1]  # Left would merge them
    for found, word in ((answer, 0), (beside, 2)):
        assert found["after"][1] == to_hex(rules.slide(full, 1, word=word)[0])


@needs_node
def test_the_page_plays_on_beyond_two_32768s():
    start = rules.from_tiles([[2, 4, 2, 0], [0] * 4, [32768, 0, 0, 2], [32768, 8, 0, 0]])
    [answer] = asked({"ask": "large", "board": to_hex(start)})
    (board, word), score = rules.parts(start), 0
    luck = rules.initial(stream(1, 0))[1]
    for expected in answer["boards"][:-1]:
        assert to_hex(rules.whole(board, word)) == expected
        action, _, reward = rules.afterstates(board, word=word)[0]
        board, word, _, luck = rules.next_state(board, word, action, luck)
        score += reward
    assert to_hex(rules.whole(board, word)) == answer["boards"][-1] and word
    assert rules.is_over(board, word=word)
    assert (answer["score"], answer["largest"], answer["same"]) == (score, 65536, True)


@needs_node
def test_whole_games_are_the_library_s(player):
    """Every spawn, action and reward of a game would have to be another for its score to be."""
    games = 20
    answers = asked(*({"ask": "game", "seed": "2048", "number": n} for n in range(games)))
    assert [score for score, _, _ in answers] == evaluate(player, games, 2048).scores.tolist()
    steps = record_game(player, 2048, 3)
    assert answers[3][1] == len(steps) - 1
    assert answers[3][2] == max(map(max, rules.to_tiles(steps[-1].board)))


@needs_node
@pytest.mark.parametrize("seed", [1, -1, 2**64 - 1, 2**70 + 3])
def test_an_undo_brings_back_board_score_and_luck(seed):
    actions = random.Random(seed).choices(range(4), k=120)
    [answer] = asked({"ask": "undone", "seed": str(seed), "number": 2, "actions": actions})
    board, state = rules.initial(stream(seed, 2))
    boards = [to_hex(board)]
    for action in actions:
        after, _ = rules.slide(board, action)
        if after != board:
            board, state = rules.spawn(after, state)
            boards.append(to_hex(board))
    assert answer["there"] == answer["again"] == boards
    assert answer["same"] and answer["begun"] == 0 and answer["length"] == len(boards) - 1


@needs_node
def test_a_game_is_reviewed_as_the_library_does(player):
    steps = record_game("greedy", seed=5, number=1)
    truth = review(steps, player)
    actions = truth.taken.tolist()
    [found] = asked({"ask": "review", "seed": "5", "number": 1, "actions": actions})
    assert found["boards"] == "".join(to_hex(step.board) for step in steps)
    assert found["actions"] == "".join(map(str, actions))
    worths = np.array(found["worths"], float)  # null is nan
    np.testing.assert_array_equal(worths, truth.worths)
    np.testing.assert_array_equal(found["scores"][:-1], truth.scores)
    middle = len(actions) // 2
    there = [to_hex(steps[middle].board), truth.scores[middle], middle]
    assert found["half"] == there and found["same"]


# ---------------------------------------------------------------- the files


def unpacked(data, count):
    """Return what `play_page.packed` has packed: int64[count]."""
    numbers = np.frombuffer(data, np.uint8).astype(np.int64)
    mask, halves = numbers[: count // 8].astype(np.uint8), numbers[count // 8 :].reshape(2, -1)
    folded, weights = halves[0] | halves[1] << 8, np.zeros(count, np.int64)
    weights[np.unpackbits(mask, bitorder="little") == 1] = (folded >> 1) ^ -(folded & 1)
    return weights


def test_the_page_has_the_numbers_of_the_shipped_network():
    page = load(play_page.WEIGHTS)
    told = json.loads(play_page.made()["network.js"].partition(" = ")[2].removesuffix(";\n"))
    assert told["tuples"] == ["".join(f"{cell:x}" for cell in cells) for cells in page.tuples]
    tables = np.concatenate([page.table(number) for number in range(len(page.tuples))])
    data = zlib.decompress(base64.b64decode(told["weights"]))
    assert (unpacked(data, len(tables)) * told["unit"] == tables).all()
    whole = page.weights / info(play_page.WEIGHTS)["info"]["step"]
    assert (whole == np.rint(whole)).all() and np.abs(whole).max() < 1 << 15
    lookups = page.lookups_per_board
    assert lookups * np.abs(page.weights).max() < 1 << 24  # so that no sum of float32 is rounded


def test_packing_keeps_every_number():
    weights = np.random.default_rng(1).integers(-(1 << 15) + 1, 1 << 15, 4096)
    weights[::3] = 0
    assert (unpacked(play_page.packed(weights), 4096) == weights).all()
    with pytest.raises(ValueError, match="no whole numbers"):
        play_page.packed(np.array([0.5] * 8))


@pytest.mark.parametrize(
    "what, most", [("play", 200_000), ("network", 900_000), ("train", 200_000)]
)
def test_all_that_a_page_loads_is_small_and_names_no_other_machine(what, most):
    made = play_page.made().items()
    texts = [text for name, text in made if name.startswith(what)]
    assert sum(len(text.encode()) for text in texts) <= most
    for text in texts:
        text = text.replace("https://github.com/leeoniya/uPlot", "")  # who wrote it
        assert "http" not in text and "fetch(" not in text and "url(" not in text
