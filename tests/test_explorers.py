"""The kernel's side of the explorers: what they tell the browser is what the library says."""

from functools import partial

import numpy as np
import pytest

pytest.importorskip("ipywidgets")
pytest.importorskip("anywidget")

from test_widgets import Browser  # noqa: E402

from lib2048 import Network, SearchPlayer, SmallGame, ValuePlayer, record_game, save  # noqa: E402
from lib2048.course.explorers import small  # noqa: E402
from lib2048.course.explorers.credit import CreditWidget  # noqa: E402
from lib2048.course.explorers.small import SmallBoardWidget  # noqa: E402
from lib2048.game import board as rules  # noqa: E402
from lib2048.game import mdp  # noqa: E402
from lib2048.game.game import new_game  # noqa: E402
from lib2048.show.widgets.game import from_hex, to_hex  # noqa: E402
from lib2048.show.widgets.tree import TreeWidget  # noqa: E402

BOARD = rules.from_tiles([[4, 32, 128, 512], [2, 16, 8, 64], [0, 2, 4, 0], [0, 0, 2, 0]])
FULL = rules.from_tiles([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
TRAP = ((32, 16, 4), (8, 0, 4))


def drawn(name):
    made = Network(name)
    made.weights[:] = 100 * np.random.default_rng(1).standard_normal(made.size, np.float32)
    return made


@pytest.fixture(scope="module")
def network():
    return drawn("cells:0123,4567,0145")


@pytest.fixture
def talking(monkeypatch):
    """Return a function that opens nodes of a widget, as the browser does."""

    return lambda widget: partial(Browser(widget, monkeypatch).say, kind="open", id="1")


@pytest.mark.parametrize(
    "name, tiles",
    [
        ("cells:0123,4567,0145", rules.to_tiles(BOARD)),
        ("cells:012,456@2048:four=0.2@2x3", [[2, 4, 0], [16, 0, 8]]),
        ("cells:01,45,89@2048:four=1@3x2", [[4, 0], [16, 8], [0, 4]]),
    ],
)
def test_what_the_tree_tells_is_what_the_player_thinks(name, tiles, talking):
    network = drawn(name)
    player, board = SearchPlayer(network, 3, reduce=True), rules.from_tiles(tiles, network.game)
    widget = TreeWidget(player, tiles)
    assert (widget.tree["plies"], widget.tree["reduce"], widget.board) == (3, True, board)
    ask, first = talking(widget), rules.to_text(board, network.game).split()[0]
    assert widget.static().text.startswith(f"{first} ")
    for plies, reduce in ((2, False), (3, False), (3, True)):
        here = {"board": to_hex(board), "plies": plies, "reduce": reduce}
        action, values = SearchPlayer(network, plies, reduce=reduce).decide(board)
        found = ask(**here, path="")
        assert {o["action"]: o["worth"] for o in found["options"]} == values
        assert [o["action"] for o in found["options"] if o["best"]] == [action]
        outcomes = ask(**here, path=str(action))["outcomes"]
        assert sum(o["chance"] for o in outcomes) == pytest.approx(1)
        first = outcomes[0]
        below = ask(**here, path=f"{action}/{first['cell']}:{first['exponent']}")["options"]
        assert max(o["worth"] for o in below) == first["worth"]
        state = from_hex(first["board"])
        legal = {a for a, _, _ in rules.afterstates(state, network.game)}
        assert {o["action"] for o in below} == legal


def test_positions_come_from_a_recorded_game_and_from_the_reader(network, monkeypatch, refused):
    steps = record_game(network, seed=1)
    widget = TreeWidget(network, game=steps)
    assert widget.board == steps[0].board
    assert widget.tree["boards"][16:32] == to_hex(steps[1].board)
    Browser(widget, monkeypatch).say(kind="position", position=to_hex(BOARD))
    assert widget.board == BOARD
    widget.board = [[2, 2, 0, 0], *[[0] * 4] * 3]
    assert widget.position == to_hex(rules.from_tiles([[2, 2, 0, 0], *[[0] * 4] * 3]))
    refused(lambda: setattr(widget, "board", [[0] * 4] * 4), "two tiles")


def test_a_tree_of_another_game_says_so_in_its_place(talking):
    widget = TreeWidget(drawn("cells:0123@threes"))
    for answer in (talking(widget)(board=widget.position, plies=2, reduce=False, path="")["error"],
                   widget.static().text):  # fmt: skip
        assert "A tree shows what luck does in 2048, and cells:0123@threes plays threes" in answer


def test_who_does_not_search_is_refused_in_one_line(network, refused):
    refused(lambda: TreeWidget("random"), "random does not search a network")
    refused(lambda: TreeWidget(ValuePlayer(network.values)), "does not search a network")
    refused(lambda: TreeWidget(Network("cells:0123", "state")), "values of afterstates")
    refused(lambda: TreeWidget(network, plies=4), "a tree of 4 plies: use 1 to 3")
    refused(lambda: TreeWidget(network, [[3] * 4] * 4), "3")


def test_a_file_that_is_gone_and_a_wrong_path_are_answered_in_words(network, tmp_path, talking):
    path, here = tmp_path / "mine.npz", {"board": to_hex(BOARD), "plies": 2, "reduce": False}
    save(network, path)
    widget = TreeWidget(path, BOARD, plies=2)
    path.unlink()
    assert "The weights of mine.npz are gone" in talking(widget)(**here, path="")["error"]
    assert widget.static().text.startswith("4 32 128 512")
    save(network, path)
    assert "options" in talking(widget)(**here, path="")
    assert "come in turn" in talking(widget)(**here, path="5:1")["error"]


def test_the_picture_is_the_decision(network):
    widget = TreeWidget(network, BOARD, plies=2)
    values = SearchPlayer(network, 2).values(BOARD)
    text = widget.static().text.replace("\u202f", "")
    best = max(values.values())
    assert f"= {best:.0f}".replace("-", "−") in text or f"= {best:.1f}" in text
    assert TreeWidget(network, FULL).static().text.startswith("2 4 2 4")


# ---- exact small boards --------------------------------------------------------------------------


def first_legal(state):
    return min(mdp.choices(state))


def seen(widget, talking, board):
    return talking(widget)(board=to_hex(widget.game.pack(board)))


def test_a_state_is_worth_what_the_solver_says(talking):
    small = SmallGame(2, 3, progress=False)
    widget = SmallBoardWidget("greedy", TRAP, small)
    optimal, own, found = small.optimal(), small.follow("greedy"), seen(widget, talking, TRAP)
    assert (found["best"], found["own"]) == (optimal.of(TRAP), own.of(TRAP))
    totals = {o["action"]: o["reward"] + o["best"] for o in found["actions"]}
    assert totals == optimal.actions(TRAP)
    assert {o["action"]: o["chance"] for o in found["actions"]} == own.chances(TRAP)
    assert [o["action"] for o in found["actions"] if o["optimal"]] == [1]
    tiles = widget.small["tiles"]
    assert found["odds"]["best"] == [optimal.odds(tile).of(TRAP) for tile in tiles]
    assert found["odds"]["own"][0] == 1.0 and tiles == [8, 16, 32, 64, 128]


@pytest.mark.parametrize("game", [(2, 2), "2048:four=0.3@2x2", "2048:four=1@2x2"])
def test_spawns_add_up_and_lead_on(talking, game):
    widget = SmallBoardWidget(first_legal, game=game)
    board = widget.board
    for option in seen(widget, talking, board)["actions"]:
        for kind in ("best", "own"):
            mean = sum(s["chance"] * s[kind] for s in option["spawns"])
            assert mean == pytest.approx(option[kind], abs=1e-12)
            shares = [s["chance"] for s in option["spawns"]]
            assert sum(shares) == pytest.approx(1)
        after = from_hex(option["board"])
        for spawn in option["spawns"]:
            cell = 4 * (spawn["cell"] // 2) + spawn["cell"] % 2
            state = int(after) | spawn["exponent"] << 4 * cell
            assert to_hex(state) == spawn["board"]
            assert talking(widget)(board=spawn["board"])["best"] == spawn["best"]


class Chooser:
    name = "chooser"

    def choose(self, board):
        return rules.afterstates(board, new_game(2, 2))[0][0]


def test_any_way_to_play_is_evaluated():
    first = SmallBoardWidget(first_legal, game=(2, 2)).own
    assert first.start == pytest.approx(mdp.worth(lambda s: {first_legal(s): 1}, 2, 2))
    chooser = SmallBoardWidget(Chooser(), game=(2, 2)).own
    assert chooser.start == first.start and chooser.name == "play by chooser"
    blind = SmallGame(2, 2, progress=False).follow("random")
    assert SmallBoardWidget(blind).own is blind
    network = Network("cells:01@2x2")
    exact = SmallGame(2, 2, progress=False).follow(network)
    assert SmallBoardWidget(network, game=(2, 2)).own.start == exact.start


def test_what_is_no_state_is_said_in_words(talking, refused):
    widget = SmallBoardWidget("random", game=(2, 2))
    assert "no state of 2x2" in seen(widget, talking, [[4, 4], [4, 4096]])["error"]
    refused(lambda: SmallBoardWidget("random", [[2, 0], [0, 0]], (2, 2)), "no state of 2x2")
    refused(lambda: SmallBoardWidget(game=(4, 4)), "4x4 board has up to")
    refused(lambda: SmallBoardWidget(game="threes@2x2"), "a small board here is one of 2048")
    refused(lambda: SmallBoardWidget(lambda state: 9, game=(2, 2)), "legal action")
    widget.board = [[8, 8], [2, 32]]
    assert widget.position == to_hex(widget.game.pack([[8, 8], [2, 32]]))


def test_both_bests_are_marked(talking):
    """A policy's own values may point elsewhere than the optimal ones, and than the policy."""
    widget = SmallBoardWidget(first_legal, game=(2, 2))
    own, optimal, apart = widget.own, widget.best, 0
    for state in (((2, 0), (0, 4)), ((4, 0), (2, 4)), ((8, 2), (0, 4)), ((2, 4), (16, 0))):
        worth = {name: play.actions(state) for name, play in (("own", own), ("best", optimal))}
        options = seen(widget, talking, state)["actions"]
        marked = {
            name: {o["action"] for o in options if o[key]}
            for name, key in (("own", "own_best"), ("best", "optimal"))
        }
        for name, values in worth.items():
            assert marked[name] == {a for a in values if values[a] > max(values.values()) - 1e-9}
        apart += marked["own"] != marked["best"]
    assert apart, "else this test sees nothing"


def test_the_picture_is_the_choice():
    assert small._digits([1.0, 2.0]) == 1 and small._digits([1.001, 1.004, 9]) == 3
    assert small._digits([5.0, 5.0 + 1e-15, 7.0]) == 1, "equal but for rounding"
    text = SmallBoardWidget("greedy", [[8, 8], [2, 32]], (2, 2)).static().text
    assert "Right ★ ◆ V* 20.3 greedy 20.3" in text and "Left V* 16.0" in text
    assert SmallBoardWidget("greedy", [[2, 4], [4, 2]], (2, 2)).static().text.startswith("2 4")


# ---------------------------------------------------------------- who has heard of a surprise


def test_the_picture_says_who_has_heard_of_a_surprise(monkeypatch):
    heard = {"TD(0)": [[0, 0.0, 1], [0, 1, 1.0]], "Monte Carlo": [[1, 1, 1], [1, 1, 1]]}
    widget = CreditWidget([BOARD, FULL, BOARD], heard)
    picture = widget.static()
    assert "after 1, 2 games: TD(0): 1, 2; Monte Carlo: 3, 3" in picture.text
    assert picture.svg.count(">100</text>") == 9 and picture.svg.count(">0</text>") == 0
    widget.game = 7
    assert widget.game == 2
    Browser(widget, monkeypatch).say(kind="game", game=1)
    assert widget.game == 1


@pytest.mark.parametrize(
    "heard, words",
    [
        ({}, "one or more"),
        ({"TD(0)": []}, "one or more"),
        ({"TD(0)": [[0, 1]], "Monte Carlo": [[1, 1], [1, 1]]}, "as many games"),
        ({"TD(0)": [[0, 0, 1]]}, "a share of each of 2 boards"),
    ],
)
def test_lights_that_do_not_fit_their_boards_are_refused(heard, words, refused):
    refused(lambda: CreditWidget([BOARD, FULL], heard), words)
