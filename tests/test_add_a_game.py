"""A game in one file: what docs/add_a_game.md builds, and what a rules module must hold."""

import functools
import importlib
import random
import sys
import types
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pages
import pytest

from lib2048 import (
    Network,
    NetworkPlayer,
    Run,
    SearchPlayer,
    Settings,
    ValuePlayer,
    draw,
    evaluate,
    load,
    record_game,
    save,
    stream,
)
from lib2048.exact import SmallGame
from lib2048.game import by_rules, rules_2048
from lib2048.game.board import afterstates, begin, from_tiles, next_state, to_tiles
from lib2048.game.game import FAMILIES, parse_game, register

PAGE = "docs/add_a_game.md"
VALUE = Fraction(118, 9)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The page's file as a game that is known: it, on one row of four."""
    folder, before = tmp_path_factory.mktemp("mine"), len(FAMILIES)
    (folder / "places.py").write_text(pages.code_of(PAGE)[0])
    sys.path.insert(0, str(folder))
    register(importlib.import_module("places"))
    yield parse_game("places@1x4")
    sys.path.remove(str(folder))
    del FAMILIES[before:], sys.modules["places"]


# ---------------------------------------------------------------- the rules, plain


def choices(row):
    """Return {action: (the row, what it pays)}; a row: three places, 0 if empty, and the card."""
    *places, card = row
    laid = {a: [*places[:a], card, *places[a + 1 :], 4] for a in range(3) if not places[a]}
    return {action: (new, card * (action + 1)) for action, new in laid.items()}


def dealt(row):
    return [[*row[:3], card] for card in (1, 2, 3)]


@functools.cache
def worth(row):
    """Return what a row is worth, exactly."""
    return max((pays + after(tuple(new)) for new, pays in choices(row).values()), default=0)


@functools.cache
def after(row):
    return sum(worth(tuple(new)) for new in dealt(row)) / Fraction(3)


def test_its_value_is_what_the_page_derives(places):
    solved = by_rules.solve(places)
    assert after((0, 0, 0, 4)) == VALUE
    assert solved.value == pytest.approx(float(VALUE), rel=1e-14) and solved.moves == 3
    text = pages.text_of(PAGE)
    assert "118/9 = 13.11" in text
    for card, place, said in ((1, 0, "34/3"), (2, 1, "38/3"), (3, 2, "46/3")):
        row = [0, 0, 0, 4]
        row[place] = card
        assert card * (place + 1) + after(tuple(row)) == Fraction(said) and said in text


@pytest.mark.parametrize("four", [0, 1])
def test_what_cannot_be_spawned_is_not_counted(four):
    exact = SmallGame(2, 2, progress=False, four=four).optimal()
    solved = by_rules.solve(f"2048:four={four}@2x2")
    assert solved.value == pytest.approx(exact.start)
    board = from_tiles([[2, 4], [8, 0]], "2048@2x2")
    assert [chance for chance, _ in parse_game(f"2048:four={four}@2x2").outcomes(board)] == [1]


def test_its_kernels_keep_to_the_rules(places):
    rng, luck = random.Random(1), stream(1, 1)
    for _ in range(100):
        row = [*(rng.choice([0, 1, 2, 3]) for _ in range(3)), rng.choice([1, 2, 3])]
        board = from_tiles([row], places)
        found = {a: (to_tiles(x, places)[0], pays) for a, x, pays in afterstates(board, places)}
        assert found == choices(row)
        for action, (new, _) in found.items():
            listed = places.outcomes(from_tiles([new], places), 0, action)
            assert [p for p, _ in listed] == pytest.approx([1 / 3] * 3)
            assert [to_tiles(state, places)[0] for _, state in listed] == dealt(new)
            state, word, points, luck = next_state(board, 0, action, luck, places)
            assert to_tiles(state, places)[0] in dealt(new) and (word, points) == (0, 0)


def test_no_tile_beyond_fifteen_is_asked_for(places):
    assert list(draw.palette(places)) == list(range(1, 16))


def test_its_cards_come_as_often_as_the_others(places):
    cards = Counter(int(begin(stream(2, n), places)[0]) >> 12 for n in range(3000))
    assert set(cards) == {1, 2, 3} and all(abs(n - 1000) < 150 for n in cards.values())


def test_an_optimal_player_makes_it_and_a_greedy_one_less(places):
    def values(boards):
        return np.array([float(after(tuple(to_tiles(x, places)[0]))) for x in boards])

    games = evaluate(ValuePlayer(values, game=places), 10_000)
    greedy = evaluate("greedy", 10_000, game=places)
    assert games.moves == greedy.moves == 30_000
    for result, value in ((games, float(VALUE)), (greedy, 12)):
        assert abs(result.mean - value) < 5 * result.scores.std() / 100


# ---------------------------------------------------------------- by the code of all games


@pytest.mark.slow
def test_the_program_of_the_page_runs(places):
    small = {"register(places)\n": "", "10_000": "100", "100_000": "1_000"}
    assert "13.11 points" in pages.run(pages.code_of(PAGE)[1], small)


def test_the_rules_of_its_task_are_right():
    code, printed = pages.code_of(PAGE)[2], pages.printed_of(PAGE)[2]
    assert pages.run(code) == printed


@pytest.mark.slow
def test_it_is_learned_searched_kept_and_drawn(places, tmp_path):
    how = {"network": "cells:0123@places@1x4", "rule": "tc", "epsilon": 0.1, "actions": 30_000}
    Run(Settings(**how), tmp_path / "once").go(progress=False)
    Run(Settings(**how | {"actions": 9000}), tmp_path / "twice").go(progress=False)
    Run(Settings(**how), tmp_path / "twice", resume=True).go(progress=False)
    network, other = (load(tmp_path / x / "weights.npz") for x in ("once", "twice"))
    assert (network.weights == other.weights).all() and network.game == places
    for who in (NetworkPlayer(network), SearchPlayer(network, 2)):
        result = evaluate(who, 2000)
        assert abs(result.mean - float(VALUE)) < 6 * result.scores.std() / 2000**0.5
        steps = record_game(who, 3)
        assert sum(step.reward for step in steps) == evaluate(who, 1, 3).mean
    searched = SearchPlayer(Network("cells:0@places@1x4"), 4).decide(steps[0].board)[1]
    row = tuple(to_tiles(steps[0].board, places)[0])
    exact = {a: float(pays + after(tuple(new))) for a, (new, pays) in choices(row).items()}
    assert searched == pytest.approx(exact, rel=1e-6)
    save(network, tmp_path / "a.npz")
    assert (load(tmp_path / "a.npz").weights == network.weights).all()
    assert "svg" in draw.board(steps[-1].board, game=places)._repr_html_()


# ---------------------------------------------------------------- what rules must hold


def edited(**changes):
    """Return the rules of 2048 as another module, with changes; a name that is None is left out."""
    module = types.ModuleType("odd")
    vars(module).update({k: x for k, x in vars(rules_2048).items() if k[0] != "_"})
    vars(module).update({"NAME": "odd"} | changes)
    for name in [name for name, thing in changes.items() if thing is None]:
        delattr(module, name)
    return module


ODD = [
    ({"NAME": None}, "NAME has to be str"),
    ({"NAME": "2048"}, "known already"),
    ({"NAME": "My Game"}, "small letters"),
    ({"NAME": "3x4"}, "not as a size"),
    ({"OPTIONS": "four"}, "OPTIONS has to be tuple"),
    ({"OPTIONS": ("six",)}, "a game has ('four',)"),
    ({"SEEN": 0}, "SEEN has to be uint64"),
    ({"SHOWN": ("a", "b")}, "SHOWN says 2 things"),
    ({"MOST_OUTCOMES": np.uint64(0)}, "from 1 to 1024"),
    ({"MOST_WORD": 7}, "0 where nothing is shown"),
    ({"slide": None}, "no function slide(board, game)"),
    ({"tile": 5}, "no function tile(exponent)"),
    ({"spawn": lambda board: board}, "write spawn(afterstate, word, action, moved, luck, game)"),
    ({"points": lambda board: board}, "points is not compiled"),
]


@pytest.mark.parametrize(("changes", "said"), ODD, ids=[said for _, said in ODD])
def test_rules_that_lack_something_are_refused(changes, said, refused):
    before = list(FAMILIES)
    refused(lambda: register(edited(**changes)), said)
    assert before == FAMILIES


def test_complete_rules_are_a_game():
    register(edited())
    try:
        assert parse_game("odd@3x4").name == "odd@3x4"
    finally:
        FAMILIES.pop()


def test_every_module_of_rules_is_in_the_list():
    files = {path.stem for path in Path(rules_2048.__file__).parent.glob("rules_*.py")}
    named = {rules.__name__.removeprefix("lib2048.game.") for rules in FAMILIES}
    assert named - {"places"} == files and FAMILIES[0] is rules_2048
