"""The explorers of tuples and rates, on the kernel's side: their numbers are the library's."""

import itertools
import json

import numpy as np
import pytest

pytest.importorskip("ipywidgets")
pytest.importorskip("anywidget")

from learners import scattered  # noqa: E402
from test_rule_of_ones_own import counting  # noqa: E402
from test_widgets import Browser  # noqa: E402

from lib2048 import Network, NetworkExplorer, Run, Settings  # noqa: E402
from lib2048.course import collect  # noqa: E402
from lib2048.course.explorers import rates, tuples  # noqa: E402
from lib2048.game import board as rules  # noqa: E402
from lib2048.learn.examples import places  # noqa: E402
from lib2048.networks.storage import save  # noqa: E402
from lib2048.play.evaluation import record_game  # noqa: E402
from lib2048.show.widgets.game import to_hex  # noqa: E402

pytestmark = pytest.mark.ci

GAME = record_game("greedy", seed=1)[:-1]
FORMS = {
    "afterstates": {"name": "4-22"},
    "states": {"name": "cells:012,456", "form": "state"},
    "actions": {"name": "cells:012,456", "form": "q"},
    "stages": {"name": "cells:012,456", "stages": 2, "top": 32},
    "no promotion": {"name": "cells:012,456", "stages": 2, "top": 32, "promotion": False},
    "optimistic": {"name": "cells:0123", "optimistic": 100.0},
}


def random_network(share=0.5, **how):
    """Return a network of random weights, a share of them 0."""
    return scattered(Network(**how), share=share, spread=1)


# ---------------------------------------------------------------- indices, weights, values


@pytest.mark.parametrize("form", FORMS)
def test_weights_and_values_are_those_of_the_network(form):
    network = random_network(**FORMS[form])
    explorer = NetworkExplorer(network, GAME)
    kind = "afterstate" if network.form == "afterstate" else "board"
    assert explorer.boards == [getattr(step, kind) for step in GAME]
    for action in range(network.heads):
        for board in explorer.boards[::40]:
            for table, first in enumerate(network.tuples):
                expected = network.lookups(board, action)[8 * table : 8 * table + 8]
                found = explorer.look(first, board, action)
                told = zip(found["cells"], found["index"], found["weights"])
                assert [(table, *entry) for entry in told] == expected
                assert (found["table"], found["place"]) == (table, 0)
                assert found["value"] == network.values([board], action)[0]


def test_a_placement_is_found_in_any_order_of_its_cells():
    network = random_network(name="cells:01245,4567")
    explorer, random = NetworkExplorer(network, GAME), np.random.default_rng(3)
    expected = network.lookups(explorer.boards[50])
    for table, cells, index, weight in expected:
        exact = explorer.look(cells, explorer.boards[50])
        place = exact["place"]
        told = [exact[name][place] for name in ("cells", "index", "weights")]
        assert [exact["table"], *told] == [table, cells, index, weight]
        found = explorer.look(random.permutation(cells), explorer.boards[50])
        assert found["table"] == table and set(found["cells"][found["place"]]) == set(cells)


def test_cells_of_ones_own_have_indices_and_no_weights():
    board = rules.from_tiles([[2, 16, 8, 4], [4, 8, 0, 0], [32, 2, 0, 0], [64, 4, 2, 0]])
    for explorer in (NetworkExplorer(), NetworkExplorer(Network("4-22"))):
        found = explorer.look((0, 1, 2, 3, 4, 5), board)
        assert found["index"][0] == 3285825  # lesson 05 works it out by hand
        assert found["cells"][1] == (3, 2, 1, 0, 7, 6)
        assert found["table"] is found["weights"] is found["value"] is found["visits"] is None
    whole = NetworkExplorer().look(range(16), board)
    assert whole["index"][0] == int(board)


def test_smaller_boards_stay_within_their_cells(refused):
    network = random_network(name="cells:01,04,014@2x3")
    explorer = NetworkExplorer(network, [0x120011])
    expected = network.lookups(explorer.boards[0])[16:]
    found = explorer.look((0, 1, 4))
    assert list(zip(found["cells"], found["weights"])) == [(c, w) for _, c, _, w in expected]
    assert explorer.tuples["game"]["name"] == "2048@2x3"
    refused(lambda: NetworkExplorer(network, [0x1000]), "larger than those of network")


def test_an_entry_belongs_to_the_card_that_is_shown(refused):
    network = random_network(name="cells:012,45@threes@2x3")
    steps = record_game(network, 3)
    explorer = NetworkExplorer(network, steps)
    assert {step.word & 3 for step in steps[:-1]} == {*explorer.tuples["words"]} >= {0, 1, 2}
    for step in steps[:-1]:
        found = explorer.look((0, 1, 2), step.afterstate, word=step.word)
        assert found["value"] == network.values([step.afterstate], words=[step.word])[0]
        looked = network.lookups(step.afterstate, word=step.word)
        assert found["weights"] == [weight for *_, weight in looked][:8]
    refused(lambda: NetworkExplorer(network, seen=[1]), "belongs to the card that is shown")
    refused(lambda: explorer.look((0, 3)), "cells of the board")


def test_what_makes_no_sense_is_refused(refused):
    for cells in ((), (1, 1), (16,), (-1,)):
        refused(lambda cells=cells: NetworkExplorer(cells=cells), "one or more cells of the board")
    refused(lambda: NetworkExplorer(boards=[]), "no boards to look at")
    refused(lambda: NetworkExplorer(boards=[[[3] * 4] * 4]), "3 is not a tile")
    q = Network("cells:01", form="q")
    refused(lambda: NetworkExplorer(q, seen=[1]), "belongs to an action")


def test_files_that_cannot_be_read_are_told_in_the_widget(tmp_path, monkeypatch):
    network = random_network(name="cells:0123")
    save(network, tmp_path / "net.npz")
    found = NetworkExplorer(tmp_path / "net.npz").look()
    assert found["weights"] == NetworkExplorer(network).look()["weights"]
    (tmp_path / "broken.npz").write_bytes((tmp_path / "net.npz").read_bytes()[:100])
    for name, says in (("gone.npz", "gone.npz"), ("broken.npz", "broken.npz")):
        explorer = NetworkExplorer(tmp_path / name)
        told = explorer.tuples["trouble"]
        assert told.startswith("Without weights") and says in told and explorer.network is None
        assert explorer.look()["weights"] is None
    assert "no n-tuple network" in NetworkExplorer(object()).tuples["trouble"]

    def too_large(path):
        raise MemoryError("network 9x9 needs 900 GiB")

    monkeypatch.setattr(tuples, "load", too_large)
    assert "network 9x9 needs 900 GiB." in NetworkExplorer("large.npz").tuples["trouble"]


# ---------------------------------------------------------------- visits


def test_visits_are_how_often_all_boards_look_an_entry_up():
    games, network = collect("random", 60, seed=1), Network("4-22")
    times = np.bincount(places(network, games.afterstates).ravel(), minlength=network.size)
    explorer = NetworkExplorer(network, games.afterstates[::400], seen=games)
    for board in explorer.boards:
        expected = times[network.places(board)].reshape(-1, 8)
        for table, cells in enumerate(network.tuples):
            assert explorer.look(cells, board)["visits"] == expected[table].tolist()
    assert f"{len(games.afterstates)}" in explorer.tuples["counted"]["words"].replace("\u202f", "")


def test_visits_of_a_stage_are_those_of_its_boards():
    games = collect("random", 60, seed=1).afterstates
    network = Network("cells:0123", stages=2, top=32)
    read = np.concatenate([network.places(board) for board in games])
    times = np.bincount(read, minlength=network.size)
    explorer = NetworkExplorer(network, games[[5, 60, 100]], seen=games)
    assert len({network.stage(board) for board in explorer.boards}) > 1
    for board in explorer.boards:
        assert explorer.look(board=board)["visits"] == times[network.places(board)].tolist()
    assert NetworkExplorer(network, seen=games[:1]).look()["visits"] == [0] * 8


# ---------------------------------------------------------------- the browser


@pytest.fixture
def browser(monkeypatch):
    return lambda widget: Browser(widget, monkeypatch)


def question(board, cells, action=0):
    return {"kind": "look", "id": "1", "board": to_hex(board), "cells": cells, "action": action}


def test_a_question_is_answered_in_plain_numbers(browser):
    games = collect("random", 5, seed=1)
    network = random_network(name="cells:0123", stages=1, top=64)
    explorer = NetworkExplorer(network, games.afterstates[-3:], seen=games)
    found = explorer.look(board=games.afterstates[-1])
    answer = browser(explorer).say(**question(games.afterstates[-1], [0, 1, 2, 3]))
    assert answer == {
        "kind": "answer",
        "id": "1",
        "stage": "64",
        "rates": None,
        "curve": found["curve"],
        "weights": found["weights"],
        "visits": found["visits"],
        "value": found["value"],
    }
    json.dumps(explorer.tuples, allow_nan=False)


def test_what_cannot_be_looked_up_is_answered_in_words(browser):
    def mine(board, positions):
        for i in range(8):
            positions[i] = (board >> np.uint64(4 * i)) & np.uint64(15)

    network = Network("cells:01").with_functions(index=mine)
    answer = browser(NetworkExplorer(network)).say(**question(17, [0, 1]))
    assert "your own index decides" in answer["error"] and answer["id"] == "1"
    answer = browser(NetworkExplorer(Network("cells:01"))).say(**question(17, [0, 16]))
    assert "cells of the board" in answer["error"]


def test_the_picture_shows_the_tuple_and_its_eight_entries():
    network = random_network(name="cells:01245,4567", share=1)
    explorer = NetworkExplorer(network, GAME[50:], seen=collect("random", 5))
    text, found = explorer.static().text.replace("\u202f", ""), explorer.look()
    for index, weight, count in zip(found["index"], found["weights"], found["visits"]):
        weight = f"{weight:,.1f}".replace("-", "−")
        assert f"index {index} weight {weight} look-ups {count}" in text
    assert "weight" not in NetworkExplorer().static().text


# ---------------------------------------------------------------- what lies along x


@pytest.mark.parametrize("stages", [0, 1])
def test_along_the_boards_is_what_the_network_says_of_each(stages):
    how = {"stages": stages, "top": 64} if stages else {}
    network = random_network(name="cells:0123,0145", **how)
    explorer = NetworkExplorer(network, GAME[100:110])
    for table, cells in enumerate(network.tuples):
        found = explorer.look(cells)["curve"]
        assert found["boards"] == list(range(1, 11))
        assert found["value"] == network.values(np.array(explorer.boards)).tolist()
        read = [network.lookups(board)[8 * table][-1] for board in explorer.boards]
        assert found["weight"] == pytest.approx(read)
    assert explorer.look([0, 1])["curve"] is None, "a tuple of one's own has no entry"


def test_a_lesson_says_what_is_along_the_axes(refused):
    network = random_network(name="cells:0123")
    titles = lambda explorer: [chart["lines"] for chart in explorer.tuples["charts"]]  # noqa: E731
    assert titles(NetworkExplorer(network, GAME)) == [["value"], ["weight"]]
    assert titles(NetworkExplorer(network, GAME, y="weight")) == [["weight"]]
    assert titles(NetworkExplorer(network)) == titles(NetworkExplorer()) == []
    run = new_run(network="cells:0123")
    assert titles(NetworkExplorer(run, GAME, y=["weight", "A", "E"])) == [["E", "A"], ["weight"]]
    assert titles(NetworkExplorer(run, GAME, x="boards")) == [["value"], ["weight"]]
    refused(lambda: NetworkExplorer(network, GAME, x="actions"), "'actions': give a run")
    refused(lambda: NetworkExplorer(network, x="boards"), "several boards")
    refused(lambda: NetworkExplorer(network, GAME, x="games"), "use 'boards' or 'actions'")
    refused(lambda: NetworkExplorer(network, GAME, y="rate"), "y 'rate': there is value, weight")
    refused(lambda: NetworkExplorer(network, GAME).train(10), "only a run can train")


# ---------------------------------------------------------------- rates


def new_run(**how):
    settings = Settings(**{"network": "4-22", "rule": "tc", "seed": 3} | how)
    return Run(settings)


def follow(run, boards):
    explorer = NetworkExplorer(run, boards)
    explorer.train(20_000, moments=5, progress=False)
    return explorer


@pytest.fixture(scope="module")
def followed():
    return follow(new_run(), GAME[100:110])


def test_large_networks_are_followed_where_the_boards_look(followed, monkeypatch):
    monkeypatch.setattr(rates, "FEW", 1)
    explorer = follow(new_run(), followed.boards)
    for cells, board in itertools.product(explorer.network.tuples, explorer.boards):
        assert explorer.look(cells, board)["curve"] == followed.look(cells, board)["curve"]
    strange = rules.from_tiles([[32768, 8192, 32768, 2]] * 4)
    assert explorer.look(board=strange)["curve"] is None
    assert followed.look(board=strange)["curve"]["weight"] == [None] * 6


def test_training_is_that_of_the_run_and_curves_are_its_numbers(followed):
    run = new_run()
    assert followed._followed.traces.actions == [0, 800, 3200, 7200, 12800, 20000]
    for n, actions in enumerate(followed._followed.traces.actions):
        if actions:
            run.go(actions=actions - run.actions, progress=False)
        for board in followed.boards[::3]:
            for table, cells in enumerate(run.network.tuples):
                found = followed.look(cells, board)
                assert found["curve"]["actions"][n] == actions
                told = [found["curve"][name][n] for name in ("weight", "E", "A", "rate")]
                assert told == expected(run, table, found["index"][0])
    assert np.array_equal(run.network.weights, followed.network.weights)


def expected(run, table, index):
    weight = run.network.table(table)[index]
    E, A = (run.memory[name][table][index] for name in "EA")
    untouched = not (weight or E or A)
    rate = abs(float(E)) / float(A) if A else None
    return [None] * 4 if untouched else [float(weight), float(E), float(A), rate]


def test_visits_are_those_that_a_rule_keeps(followed):
    keeps = ("E", "A", "visits")
    network = Network("4-22").with_functions(update=counting, rule="tc", keeps=keeps)
    run = Run(Settings.of(network, rule="tc", seed=3), network=network)
    explorer = NetworkExplorer(run, GAME[100:110])
    found = explorer.look()
    assert found["visits"] == [0] * 8
    explorer.train(20_000, moments=5, progress=False)
    assert np.array_equal(network.weights, followed.network.weights)
    visits = run.memory["visits"].flat
    for table, cells in enumerate(network.tuples):
        found, without = explorer.look(cells), followed.look(cells)
        assert {n: found["curve"][n] for n in without["curve"]} == without["curve"]
        counts = visits[network.places(explorer.boards[0])].astype(int)
        assert found["visits"] == counts[8 * table : 8 * table + 8].tolist()
        assert without["visits"] is None
    assert "no count" in followed.tuples["counted"]["words"]


def test_going_on_adds_to_the_curves_and_tells_the_browser(browser):
    explorer = NetworkExplorer(new_run(), GAME[100:102])
    page = browser(explorer)
    explorer.train(1_000, moments=2, progress=False)
    explorer.train(1_000, moments=2, progress=False)
    assert explorer.look()["curve"]["actions"] == [0, 250, 1000, 1250, 2000]
    assert page.answers == [{"kind": "changed"}] * 2
    answer = page.say(**question(explorer.boards[0], [0, 1, 2, 3]))
    found = explorer.look()
    assert answer["curve"] == found["curve"]
    last = found["curve"]["rate"][-1]
    assert answer["rates"] == found["rates"] and found["rates"][found["place"]] == last


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ("td", [["weight"]]),
        ("tc", [["rate"], ["E", "A"], ["weight"]]),
        ("autostep", [["weight"], ["step"], ["largest"], ["trace"]]),
    ],
)
def test_charts_are_of_what_the_rule_keeps(rule, lines):
    explorer = NetworkExplorer(new_run(rule=rule, network="cells:0123"), actions=500)
    assert [chart["lines"] for chart in explorer.tuples["charts"]] == lines
    for line in sum(lines, []):
        assert len(explorer.look()["curve"][line]) == len(explorer._followed.traces.actions)


def test_the_picture_tells_the_rate(followed):
    last = followed.look()["curve"]["rate"][-1]
    assert f"rate now {100 * last:.1f} %" in followed.static().text
    assert "rate now" not in NetworkExplorer(new_run(rule="td", network="cells:01")).static().text
