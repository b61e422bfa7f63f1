"""Functions of a student's own: tried first, checked always, and never the end of the process."""

import signal
import threading
import time

import numba
import numpy as np
import pytest
import wrong_functions
from learners import SMALL, same_run, train_or_stop
from test_learning import plain_parts
from tiers import one_in

from lib2048 import Network, NetworkPlayer, Run, Settings, load, save, train
from lib2048.learn import own
from lib2048.train.watching import Stopped

NETWORK = Network(SMALL)  # 16 look-ups a board, 131 072 weights
N = 16


# ---------------------------------------------------------------- wrong ones


def returns_something(board, positions):
    positions[:] = 1
    return 7


def writes_too_few(board, positions):
    for i in range(N - 1):
        positions[i] = 1


def writes_past_the_end(board, positions):
    for i in range(N + 1):
        positions[i] = 1


def writes_far_past_the_end(board, positions):
    positions[:] = 1
    positions[1000] = 1


def writes_before_the_beginning(board, positions):
    for i in range(N):
        positions[i - N] = 1


def points_outside(board, positions):
    positions[:] = 131_072


def points_far_outside(board, positions):
    positions[:] = 1 << 31


def points_before_the_tables(board, positions):
    for i in range(N):
        positions[i] = np.uint32(i) - np.uint32(20)


def forgets_the_mask(board, positions):
    for i in range(N):
        positions[i] = np.uint32(np.uint64(board) >> np.uint64(4 * i))


def loops_for_ever(board, positions):
    while True:
        positions[0] = 1


def calls_itself(board, positions):
    calls_itself(board, positions)


def raises(board, positions):
    positions[0] = 1 // 0


def knows_a_name_that_is_not_there(board, positions):
    positions[:] = missing_name  # noqa: F821


def is_python_only(board, positions):
    positions[:] = int(str(board)[:3]) if len(f"{board}") else 0


def takes_one_argument(board):
    return 1


def is_text(weights, positions):
    return "much"


def is_nothing(weights, positions):
    weights[positions[0]] + 1


def is_not_finite(weights, positions):
    return np.inf


def changes_the_weights(weights, positions):
    weights[positions[0]] += 1
    return 0.0


def changes_the_positions(weights, positions, amount):
    positions[0] = 0


def reads_past_the_tables(weights, positions):
    return weights[positions[0] + 131_072]


def learns_past_the_tables(weights, positions, amount):
    for p in positions:
        weights[p + 131_072] += amount


def learns_from_the_end(weights, positions, amount):
    for p in positions:
        weights[-1 - np.int64(p)] += amount


def learns_somewhere_else(weights, positions, amount):
    weights[(positions[0] + np.uint32(1)) % np.uint32(65536)] += amount


def learns_without_bound(weights, positions, amount):
    for p in positions:
        weights[p] = np.inf


def has_no_end(weights, positions, amount):
    while amount:
        weights[positions[0]] += amount


def learns_elsewhere_from_bad_news(weights, positions, amount):
    if amount < 0:
        weights[(positions[0] + np.uint32(1)) % np.uint32(65536)] += amount


def has_no_end_after_bad_news(weights, positions, amount):
    while amount < 0:
        weights[positions[0]] += amount


@numba.njit(boundscheck=False)
def unchecked(weights, place):
    weights[place] = 1


def writes_by_a_helper(weights, positions, amount):
    if amount < 0:
        unchecked(weights, 10**9)


def shifts_by_a_plain_number(board, positions):
    for i in range(N):
        positions[i] = np.right_shift(board, 4 * i) & 15


WRONG = {
    "index": {
        shifts_by_a_plain_number: r"np.uint64\(…\) for the plain one",
        returns_something: "returned 7",
        writes_too_few: r"positions\[15\] unwritten",
        writes_past_the_end: "IndexError: index 16",
        writes_far_past_the_end: "index 1000",
        writes_before_the_beginning: "index -16 is negative",
        points_outside: "131072",
        points_far_outside: "negative number",
        points_before_the_tables: "tables hold",
        forgets_the_mask: "tables hold",
        calls_itself: "calls itself",
        raises: "ZeroDivisionError",
        knows_a_name_that_is_not_there: "missing_name",
        is_python_only: "numba cannot compile",
        takes_one_argument: r"called as index\(board, positions\)",
    },
    "value": {
        is_text: "return a number",
        is_nothing: "return a number",
        is_not_finite: "finite",
        changes_the_weights: "changed its argument weights",
        reads_past_the_tables: "IndexError",
    },
    "update": {
        changes_the_positions: "changed its argument positions",
        learns_past_the_tables: "IndexError",
        learns_from_the_end: "negative",
        learns_elsewhere_from_bad_news: "does not belong to the board.* for the error -",
        has_no_end_after_bad_news: "has not come to an end .* for the error -",
        writes_by_a_helper: "IndexError.* for the error -",
        learns_somewhere_else: "does not belong to the board",
        learns_without_bound: "not finite",
        takes_one_argument: "called as update",
    },
}
CASES = [(part, function, words) for part in WRONG for function, words in WRONG[part].items()]


@pytest.mark.parametrize(
    "part, function, words", one_in(5, CASES), ids=lambda x: getattr(x, "__name__", "")
)
def test_a_wrong_function_is_refused_in_words(part, function, words):
    with pytest.raises(ValueError, match=f"(?s){words}") as error:
        NETWORK.with_functions(**{part: function})
    text = str(error.value)
    assert "Traceback" not in text and "numba.core" not in text and len(text) < 1500
    assert f"`{part}`" in text or "your functions were tried" in text or "calls itself" in text


@pytest.mark.parametrize("part, function", [("index", loops_for_ever), ("update", has_no_end)])
def test_a_function_without_an_end_is_stopped_and_named(part, function):
    with pytest.raises(ValueError, match="(?s)has not come to an end .*on this board"):
        NETWORK.with_functions(**{part: function})


@pytest.mark.parametrize("thing", [7, "index", type(None)], ids=str)
def test_what_is_no_function_is_refused(thing, refused):
    refused(lambda: NETWORK.with_functions(index=thing), "")


def rarely_outside(board, positions):
    """Right until a 64, a 32 and a 16 stand side by side in the first three cells."""
    three = board & np.uint64(0xFFF)
    positions[:] = 200_000 if three == np.uint64(0x456) else 5


def test_a_mistake_that_no_trial_met_ends_the_run_with_its_board(tmp_path):
    network = Network(SMALL)
    run = Run(
        Settings(network=SMALL, alpha=0.001), tmp_path, network.with_functions(index=rarely_outside)
    )
    with pytest.raises(ValueError, match="outside the tables") as error:
        run.go(actions=10_000_000, progress=False)
    first = str(error.value).split("\n")[2].split()
    assert first[:3] == ["64", "32", "16"]  # the drawn board is the one that it happened on
    assert (tmp_path / "checkpoint.npz").exists() and run.history.stopped
    with pytest.raises(ValueError, match="has ended"):
        run.go(actions=1)


@pytest.fixture
def untried(monkeypatch):
    """Functions that no trial has seen."""
    monkeypatch.setattr(own.child, "ask", lambda *_: {"answer": {"problem": None}})


def later_endless(weights, positions, amount):
    for p in positions:
        weights[p] += amount
    while weights[positions[0]] > 20:
        weights[positions[0]] += 0


def later_outside(weights, positions, amount, by=(unchecked,)):
    for p in positions:
        weights[p] += amount
        if weights[p] > 20:
            by[0](weights, len(weights) + 5)


@pytest.mark.parametrize(
    "update, words",
    [(later_endless, "10 million turns"), (later_outside, "index is out of bounds")],
)
def test_an_update_that_goes_wrong_later_ends_the_run_in_words(untried, tmp_path, update, words):
    run = Run(Settings(network=SMALL), tmp_path, Network(SMALL).with_functions(update=update))
    run.go(actions=10, progress=False)
    before = (tmp_path / "checkpoint.npz").read_bytes()
    with pytest.raises(
        ValueError, match=f"(?s)`update`: .*{words}.*, for the error .*on this board"
    ):
        run.go(actions=1_000_000, progress=False)
    assert run.history.stopped and (tmp_path / "checkpoint.npz").read_bytes() == before


def slow(weights, positions):
    return 0.0 * np.sort(weights)[0]


def slower(weights, positions):
    for _ in range(200):
        positions[0] = np.uint32(np.argsort(weights)[0])
    return 0.0


def interrupt_when_heard(usual):
    """Press Ctrl-C a second after the run listens to it: before, it would end the tests."""
    while signal.getsignal(signal.SIGINT) is usual:
        time.sleep(0.01)
    time.sleep(1)
    if signal.getsignal(signal.SIGINT) is not usual:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("value, how", one_in(2, [(slow, Stopped), (slower, ValueError)]))
def test_stop_is_heard_while_a_slow_function_plays(untried, value, how):
    run = Run(Settings(network=SMALL), network=Network(SMALL).with_functions(value=value))
    usual = signal.getsignal(signal.SIGINT)
    presses = threading.Thread(target=interrupt_when_heard, args=[usual], daemon=True)
    run.learner.prepare()  # a signal while it compiles ends the run in another way
    presses.start()
    with pytest.raises(how, match="stopped"):
        run.go(actions=10**9, progress=False)
    run.learner._pool.submit(int).result()  # nobody else waits for the call that was left behind


def test_wrong_functions_end_in_words(tmp_path):
    """More of them: python tests/wrong_functions.py --rounds 100."""
    assert wrong_functions.rounds([5, 10], tmp_path)[1] == []


# ---------------------------------------------------------------- right ones


def test_helpers_and_constants_travel_and_are_compiled():
    scale, table = np.float32(0.5), np.arange(4, dtype=np.float32)

    def half(amount):
        return scale * amount

    @numba.njit
    def first(values):
        return values[0]

    def update(weights, positions, amount):
        for p in positions:
            weights[p] += half(amount) + first(table)

    ours, theirs = Network(SMALL), Network(SMALL)
    one = train_or_stop(ours.with_functions(update=update), alpha=0.1, actions=2000)
    same_run(one, train_or_stop(theirs, alpha=0.05, actions=2000))


def test_the_tables_are_shared_and_the_library_stays_as_it_was():
    network = Network(SMALL)
    mine = network.with_functions(value=lambda weights, positions: weights[positions[0]] * 2.0)
    assert mine.weights is network.weights and network.own is None
    network.weights[:] = 3
    board = np.uint64(0x1234)
    assert (mine.value(board), network.value(board)) == (6.0, 48.0)
    assert NetworkPlayer(mine).values(board) != NetworkPlayer(network).values(board)


def td(weights, positions, amount):
    for p in positions:
        weights[p] += amount


def test_an_update_of_another_rule_is_refused(refused):
    said = "memory, positions, error, rate)"
    refused(lambda: NETWORK.with_functions(update=td, rule="tc"), said)
    mine = NETWORK.with_functions(update=td)
    for rule in ("tc", "autostep"):
        with pytest.raises(ValueError, match=f"stands for the rule td.*learns by {rule}"):
            train(mine, rule=rule, actions=100, progress=False)
    refused(lambda: NETWORK.with_functions(update=td, rule="magic"), "unknown rule")
    assert not NETWORK.weights.any()


def test_an_index_of_ones_own_has_no_plain_order_and_says_so(tmp_path, refused):
    mine = Network(SMALL).with_functions(index=plain_parts(NETWORK)[0])
    for ask in (
        lambda: mine.table(0),
        lambda: mine.set_table(0, np.zeros(65536)),
        lambda: mine.lookups(0),
        lambda: mine.folded(),
        lambda: save(mine, tmp_path / "w.npz"),
    ):
        refused(ask, "your own index decides that")
    assert not list(tmp_path.iterdir())
    value_alone = Network(SMALL).with_functions(value=lambda weights, positions: 0.0)
    assert value_alone.table(0).shape == (65536,)


def test_a_run_with_functions_goes_on_with_the_same_ones_only(tmp_path):
    index, value, update = plain_parts(Network(SMALL))

    def mine(network=None):
        return (network or Network(SMALL)).with_functions(index, value, update)

    settings = {"actions": 1000, "progress": False}
    train(mine(), out=tmp_path, **settings)
    longer, straight = Network(SMALL), Network(SMALL)
    settings["actions"] = 3000
    one = train(mine(longer), out=tmp_path, resume=True, **settings)
    same_run((longer, one), (straight, train(mine(straight), **settings)))
    with pytest.raises(ValueError, match="functions of your own .* instead of the library's"):
        train(Network(SMALL), out=tmp_path, resume=True, **settings)
    with pytest.raises(ValueError, match="index of somebody's own"):
        load(tmp_path / "weights.npz")


@pytest.mark.parametrize("parts", [("index",), ("value", "update")], ids=str)
def test_functions_of_ones_own_learn_a_game_that_shows_the_next_card(parts):
    library = Network(f"{SMALL}@threes", next="hidden")
    mine = dict(zip(("index", "value", "update"), plain_parts(library)))
    own = library.with_functions(**{name: mine[name] for name in parts})
    assert train(own, actions=2000, progress=False).count > 5
    assert own.weights.any()
