"""Threes!: its kernels against its plain rules, exact values, and the library's other rooms."""

import functools
import itertools
import json
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners import scattered

from lib2048 import (
    Network,
    NetworkPlayer,
    Run,
    SearchPlayer,
    Settings,
    SmallGame,
    cli,
    evaluate,
    load,
    player,
    race,
    record_game,
    save,
    stream,
)
from lib2048.game import by_rules
from lib2048.game import spec_threes as spec
from lib2048.game.bits import moved_lines
from lib2048.game.board import from_tiles, next_state, to_tiles
from lib2048.game.game import parse_game
from lib2048.networks.pruning import prune
from lib2048.play.experience import collect, rollouts

THREES = parse_game("threes")
GAMES = [parse_game(name) for name in ("threes", "threes@3x4", "threes@2x3", "threes@1x4")]
ZERO = np.uint64(0)
SMALL = "cells:0123,0145"

# ---------------------------------------------------------------- a word, and the plain luck


def word_of(shown, deck):
    """Return the word of what is shown and a deck."""
    seen = 3 if shown == spec.BONUS else shown - 1
    return np.uint64(seen | sum(deck.count(card) << 3 * card - 1 for card in (1, 2, 3)))


def answers(board, action, shown, deck):
    """Return [(chance, (board, what is shown next, deck))] of what luck can answer to an action."""
    after, _ = spec.slide(board, action)
    cards = spec.bonus_cards(after) if shown == spec.BONUS else [shown]
    cells = spec.entries(board, after, action)
    found = []
    for (row, column), card in itertools.product(cells, cards):
        new = [list(tiles) for tiles in after]
        new[row][column] = card
        for following, chance in spec.next_cards(new, deck).items():
            state = new, following, without(deck, following)
            found.append((chance / len(cells) / len(cards), state))
    return found


def without(deck, card):
    """Return a deck, sorted, without a card; a bonus card is in none, and deals none anew."""
    left = list(deck) if card == spec.BONUS else sorted(deck or spec.DECK)
    if card != spec.BONUS:
        left.remove(card)
    return left


TILES = [0, 0, 0, *(THREES.tile(e) for e in range(1, 16))]
TILES += [1, 2, 3, 3, 12288]


@st.composite
def states(draw):
    """A game, and a state of it: tiles, what is shown, a deck."""
    game = draw(st.sampled_from(GAMES))
    row = st.lists(st.sampled_from(TILES), min_size=game.columns, max_size=game.columns)
    board = draw(st.lists(row, min_size=game.rows, max_size=game.rows))
    counts = draw(st.tuples(*[st.integers(0, 4)] * 3))
    deck = [card for card, count in zip((1, 2, 3), counts) for _ in range(count)]
    cards = [1, 2, 3, *([spec.BONUS] if spec.bonus_cards(board) else [])]
    return game, board, draw(st.sampled_from(cards)), deck


@settings(max_examples=300)
@given(states())
def test_slides_and_rewards_are_those_of_the_rules(state):
    game, tiles, _, _ = state
    board = from_tiles(tiles, game)
    assert to_tiles(board, game) == tiles and game.rules.points(board) == spec.score(tiles)
    slid = game.rules.slide(board, game)
    for action in range(4):
        after, reward = spec.slide(tiles, action)
        assert to_tiles(slid[action], game) == after and slid[4 + action] == reward
        assert game.rules.slide_one(board, np.uint64(action), game) == (slid[action], reward)
        assert spec.score(after) == spec.score(tiles) + reward
    assert [a for a in range(4) if slid[a] != board] == spec.legal_actions(tiles)


@settings(max_examples=200)
@given(states(), st.integers(0, 2**63))
def test_luck_answers_as_the_rules_say(state, luck):
    """Every outcome with its chance, and nothing else comes."""
    game, tiles, shown, deck = state
    board, word, luck = from_tiles(tiles, game), word_of(shown, deck), stream(1, luck)
    for action in spec.legal_actions(tiles):
        wanted, found = Counter(), Counter()
        for chance, (new, following, left) in answers(tiles, action, shown, deck):
            wanted[int(from_tiles(new, game)), int(word_of(following, left))] += chance
        for key, chance in outcomes(game, board, word, action):
            found[key] += chance
        assert dict(found) == pytest.approx(dict(wanted), rel=1e-12)
        assert sum(found.values()) == pytest.approx(1, abs=1e-12)
        new, told, points, luck = next_state(board, word, action, luck, game)
        assert (int(new), int(told)) in wanted
        after = np.uint64(game.rules.slide_one(board, np.uint64(action), game)[0])
        assert game.rules.points(new) == game.rules.points(after) + points


def outcomes(game, board, word, action):
    """Return [((board, word), chance)] as the kernels list them."""
    action, rules = np.uint64(action), game.rules
    after = np.uint64(rules.slide_one(board, action, game)[0])
    moved = np.uint64(moved_lines(board, after, action))
    boards, words = np.zeros((2, int(THREES.rules.MOST_OUTCOMES)), np.uint64)
    weights = np.zeros(int(THREES.rules.MOST_OUTCOMES))
    state = after, word, action, moved
    count, total = rules.outcomes(*state, game, boards, words, weights, ZERO)
    keys = zip(boards[:count].tolist(), words[:count].tolist())
    return list(zip(keys, (weights[:count] / total).tolist()))


SPAWNS = [  # tiles, an action, what is shown, the deck
    ("threes", [[1, 0, 0, 3], [0, 2, 0, 0], [3, 3, 0, 0], [0, 0, 0, 0]], 1, 2, [1, 3, 3]),
    ("threes@3x4", [[384, 0, 0, 3], [0, 2, 0, 0], [3, 3, 0, 0]], 0, spec.BONUS, []),
    ("threes@1x4", [[0, 48, 1, 3]], 3, 1, [2]),
]


@pytest.mark.parametrize("case", SPAWNS, ids=[name for name, *_ in SPAWNS])
def test_spawns_come_as_often_as_the_outcomes_say(case):
    name, tiles, action, shown, deck = case
    game, count, found, luck = parse_game(name), 12_000, Counter(), stream(7, 7)
    board, word = from_tiles(tiles, game), word_of(shown, deck)
    wanted = Counter()
    for key, chance in outcomes(game, board, word, action):
        wanted[key] += chance
    after = np.uint64(game.rules.slide_one(board, np.uint64(action), game)[0])
    args = after, word, np.uint64(action), moved_lines(board, after, np.uint64(action))
    for _ in range(count):
        new, told, _, luck = game.rules.spawn(*map(np.uint64, args), np.uint64(luck), game)
        found[int(new), int(told)] += 1
    assert set(found) <= set(wanted)
    for key, chance in wanted.items():
        assert abs(found[key] - count * chance) < 5 * (count * chance) ** 0.5 + 1


def test_a_deck_of_twelve_has_four_of_each_card():
    """Nine cards of the first deck lie on the board, one is shown, and so on: twelve by twelve."""
    after, action, moved = from_tiles([[1, 0, 0, 0], *[[0] * 4] * 3], THREES), np.uint64(3), ZERO
    for number in range(20):
        board, word, luck = THREES.rules.begin(stream(3, number), THREES)
        cards = [tile for row in to_tiles(board, THREES) for tile in row if tile]
        assert len(cards) == 9
        for _ in range(12 * 5 - 9):
            cards.append(int(word & np.uint64(3)) + 1)
            args = after, np.uint64(word), action, moved + np.uint64(1), np.uint64(luck)
            _, word, _, luck = THREES.rules.spawn(*args, THREES)
        for start in range(0, len(cards), 12):
            assert Counter(cards[start : start + 12]) == {1: 4, 2: 4, 3: 4}


@pytest.mark.parametrize(("largest", "kinds"), [(24, 0), (48, 1), (768, 5), (12288, 9)])
def test_bonus_cards_come_once_in_21_and_are_all_as_likely(largest, kinds):
    assert len(spec.bonus_cards([[largest]])) == kinds
    after = from_tiles([[largest, 0, 0, 0], *[[0] * 4] * 3], THREES)
    word, luck, count, bonus, values = ZERO, stream(5, 1), 21_000, 0, Counter()
    for _ in range(count):
        was = THREES.shown(np.uint64(word))
        args = after, np.uint64(word), np.uint64(3), np.uint64(1), np.uint64(luck)
        board, word, _, luck = THREES.rules.spawn(*args, THREES)
        bonus += was == spec.BONUS
        if was == spec.BONUS:
            values[int(board ^ after) >> 12] += 1
    share = 1 / 21 if kinds else 0
    assert abs(bonus - share * count) <= 5 * (share * count) ** 0.5
    assert set(values) == set(range(4, 4 + kinds))
    assert all(abs(n - bonus / kinds) < 5 * (bonus / kinds) ** 0.5 for n in values.values())


# ---------------------------------------------------------------- exact values


@pytest.fixture
def deep():
    """Let plain functions call themselves for as long as a game is."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10 * limit)
    yield
    sys.setrecursionlimit(limit)


@functools.cache
def worth(board, shown, deck):
    """Return what a state is worth by the plain rules, who plays knowing the deck."""
    board, best = [list(tiles) for tiles in board], 0.0
    for action in spec.legal_actions(board):
        states, before = answers(board, action, shown, deck), spec.score(board)
        raised = sum(p * (spec.score(new) - before) for p, (new, *_) in states)  # by cards, too
        best = max(best, raised + mean_worth(states))
    return best


def mean_worth(states):
    found = ((p, tuple(map(tuple, board)), card, tuple(deck)) for p, (board, card, deck) in states)
    return sum(p * worth(*state) for p, *state in found)


def dealt(rows, columns):
    """Return {(board, deck): chance} before the first card is shown; a board as a tuple."""
    cells = list(itertools.product(range(rows), range(columns)))
    found = {(((0,) * columns,) * rows, ()): 1.0}
    for _ in range(int(spec.DEALT * len(cells))):
        before, found = found, Counter()
        for (board, deck), chance in before.items():
            free = [(r, c) for r, c in cells if not board[r][c]]
            for (card, share), (row, column) in itertools.product(
                spec.next_cards(board, list(deck)).items(), free
            ):
                new = [list(tiles) for tiles in board]
                new[row][column] = card
                key = tuple(map(tuple, new)), tuple(without(deck, card))
                found[key] += chance * share / len(free)
    return found


@pytest.mark.parametrize("size", ["1x2", "1x3", "2x2"])
def test_small_boards_are_worth_what_the_plain_rules_say(size, deep):
    rows, columns = map(int, size.split("x"))
    value = 0.0
    for (board, deck), chance in dealt(rows, columns).items():
        shown = spec.next_cards(board, list(deck)).items()
        states = [(p, (board, card, without(deck, card))) for card, p in shown]
        value += chance * (spec.score(board) + mean_worth(states))
    solved = by_rules.solve(f"threes@{size}")
    assert solved.value == pytest.approx(value, rel=1e-12)
    assert 0 < solved.terminal < solved.states


@pytest.mark.parametrize("name", ["2048@2x2", "2048@1x3", "2048:four=0.2@1x4", "2048@2x3"])
def test_2048_is_solved_by_its_rules_alone_too(name):
    solved, values = by_rules.solve(name), SmallGame.of(parse_game(name), progress=False).optimal()
    assert solved.value == pytest.approx(values.start, rel=1e-12)
    assert solved.moves == pytest.approx(values.moves, rel=1e-12)


# ---------------------------------------------------------------- players


@functools.cache
def learned(network="4-22@threes", following="shown"):
    """Return a network that has played a little, and random weights beside."""
    network = scattered(Network(network, next=following), share=0.5, spread=5)
    how = Settings.of(network, rule="tc", actions=30_000, next=following)
    run = Run(how)
    run.network.weights[:] = network.weights
    run.go(progress=False)
    return run.network


def players(network):
    return [NetworkPlayer(network), SearchPlayer(network, 2), SearchPlayer(network, 3)]


@pytest.mark.parametrize("following", ["shown", "hidden"])
def test_a_player_never_sees_the_deck(following):
    network = learned(following=following)
    steps = record_game(NetworkPlayer(network), 5)[20:110:30]
    for who, step in itertools.product(players(network), steps):
        seen = step.word & np.uint64(3)
        decks = [[], [1], [2, 2, 3], [1, 1, 1, 1, 3, 3]]
        words = [seen | word_of(1, deck) for deck in decks]
        told = [who.decide(step.board, word) for word in words]
        assert all(one == told[0] for one in told), who
        assert who.choose(step.board, words[-1]) == told[0][0]


def test_what_is_shown_matters():
    network = learned()
    steps = record_game(NetworkPlayer(network), 5)[10:100]
    for who in (NetworkPlayer(network), SearchPlayer(network, 2)):
        told = [[who.values(step.board, np.uint64(s)) for s in range(3)] for step in steps]
        assert any(one != other for one, other, _ in told)
    hidden = NetworkPlayer(learned(following="hidden"))
    told = [[hidden.values(step.board, np.uint64(s)) for s in range(4)] for step in steps]
    assert all(one == other for one, *others in told for other in others)


@pytest.mark.parametrize("plies", [1, 2, 3])
def test_games_are_the_same_in_the_loop_and_slowly(plies):
    """The score is what the tiles of the last board are worth; the loop does not see the deck."""
    who = players(learned("22-3@threes@2x3"))[plies - 1]
    scores = evaluate(who, 4, seed=3).scores.tolist()
    for number, score in enumerate(scores):
        last = record_game(who, 3, number)[-1]
        assert who.game.rules.points(last.board) == score


@pytest.mark.parametrize("who", ["random", "greedy", "first-legal"])
def test_players_without_a_network(who):
    result = evaluate(who, 30, seed=3, game="threes")
    last = [record_game(who, 3, n, "threes")[-1].board for n in range(30)]
    if who != "random":
        assert [THREES.rules.points(board) for board in last] == result.scores.tolist()
    assert 50 < result.mean < 1000 and set(result.reached()) >= {1, 2, 3, 6, 12}


# ---------------------------------------------------------------- learning


@pytest.mark.parametrize("starts", ["initial", "restart"])
@pytest.mark.parametrize("following", ["shown", "hidden"])
def test_a_run_goes_on_as_if_it_had_never_stopped(starts, following, tmp_path):
    how = {"network": f"{SMALL}@threes", "rule": "tc", "lam": 0.5, "actions": 9000}
    how |= {"starts": starts, "next": following}
    Run(Settings(**how), tmp_path / "once").go(progress=False)
    for part in (2000, 5000, 9000):
        go_on = Run(Settings(**how | {"actions": part}), tmp_path / "thrice", resume=part > 2000)
        go_on.go(progress=False)
    once, thrice = (load(tmp_path / name / "weights.npz") for name in ("once", "thrice"))
    assert (once.weights == thrice.weights).all() and once.weights.any()
    assert once.next == thrice.next == following and once.game == THREES
    runs = (Run(Settings(**how), tmp_path / name, resume=True) for name in ("once", "thrice"))
    np.testing.assert_array_equal(*(run.history.last(99)[:, :3] for run in runs))


@pytest.mark.parametrize("following", ["shown", "hidden"])
def test_a_network_is_saved_and_loaded(following, tmp_path):
    network = learned(following=following)
    save(network, tmp_path / "a.npz")
    again = load(tmp_path / "a.npz")
    assert (again.weights == network.weights).all()
    assert again.arguments() == network.arguments() and again.next == following
    assert evaluate(again, 3).scores.tolist() == evaluate(network, 3).scores.tolist()


def test_a_file_of_another_game_is_refused(tmp_path, refused):
    for name, other in (("4-22", "4-22@threes"), ("4-22@threes", "4-22")):
        save(Network(name), tmp_path / "a.npz")
        refused(lambda other=other: load(tmp_path / "a.npz", other), other)


def test_the_mean_of_training_is_that_of_the_scores():
    run = Run(Settings(network=f"{SMALL}@threes", games=200))
    history = run.go(progress=False)
    scores = history.last(200)[:, 0]
    assert history.mean_last() == pytest.approx(scores.mean()) and 50 < scores.mean() < 1000
    assert set((scores % 3).tolist()) == {0.0}


def test_a_race():
    runs = {"shown": {"next": "shown"}, "hidden": {"next": "hidden"}}
    found = race(runs, (1, 2), 50, network=f"{SMALL}@threes", actions=3000, progress=False)
    assert (found.tests["score"] > 50).all() and len(found.tests) == 4


# ---------------------------------------------------------------- the command


@pytest.fixture
def answer(capsys):
    """Return what the command says with --json."""

    def run(*arguments):
        status = cli.main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert status == 0, said.err
        return json.loads(said.out)

    return run


def test_the_command_line(answer, tmp_path):
    assert answer(*TRAIN, "--out", tmp_path / "r")["network"] == f"{SMALL}@threes"
    weights = tmp_path / "r" / "weights.npz"
    about = answer("info", weights)
    assert about["network"] == f"{SMALL}@threes" and about["next"] == "shown"
    for who in ("random", "greedy", weights):
        assert answer("play", who, "--game", "threes", "--games", 20)["mean"] > 50
    assert answer("play", weights, "--depth", 2, "--games", 3)["mean"] > 50
    solved = answer("solve", "--game", "threes@1x3")
    assert solved["value"] == pytest.approx(by_rules.solve("threes@1x3").value)
    (tmp_path / "all").mkdir()
    weights.rename(tmp_path / "all" / "ours.npz")
    (tmp_path / "all" / "mine.py").write_text(GUEST)
    contest = "tournament", tmp_path / "all", "--game", "threes", "--games", 5
    board = answer(*contest, "--out", tmp_path / "board")
    assert {row["file"]: row["games"] for row in board["players"]} == {"ours.npz": 5, "mine.py": 0}


GUEST = "def choose(board, legal):\n    return legal[-1]\n"
TRAIN = "train", "--network", SMALL, "--game", "threes", "--actions", "2000"
ODD = {
    "next of 2048": ("train", "--network", SMALL, "--actions", "2000", "--next", "shown"),
    "next maybe": (*TRAIN, "--next", "maybe"),
    "stages": (*TRAIN, "--stages", "4"),
    "form q": (*TRAIN, "--form", "q"),
    "form state": (*TRAIN, "--form", "state"),
    "carousel": (*TRAIN, "--starts", "carousel"),
    "jump": (*TRAIN, "--starts", "s-jump"),
    "restart jump": (*TRAIN, "--starts", "restart-l-jump"),
    "odds": ("play", "random", "--game", "threes:four=0.2"),
    "heuristic": ("play", "heuristic", "--game", "threes"),
    "another game": ("play", "FILE", "--game", "2048"),
    "reduce": ("play", "FILE", "--depth", "3", "--reduce", "--games", "1"),
    "solve": ("solve", "--game", "threes"),
    "size": ("solve", "2x2", "--game", "threes@1x3"),
    "to .w": ("convert", "FILE", "OUT.w"),
    "fold": ("fold", "FILE", "OUT.npz"),
    "to .bin": ("convert", "FILE", "OUT.bin"),
    "neural": ("train", "--network", "cnn", "--game", "threes", "--actions", "2000"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_threes_has_not_is_one_line(name, one_line_error, tmp_path):
    save(Network(f"{SMALL}@threes"), tmp_path / "w.npz")
    here = {"FILE": tmp_path / "w.npz", "OUT.w": tmp_path / "o.w", "OUT.bin": tmp_path / "o.bin"}
    here |= {"OUT.npz": tmp_path / "o.npz"}
    words = [here.get(word, word) for word in ODD[name]]
    one_line_error(*words, *(("--out", tmp_path / "run") if words[0] == "train" else ()))
    assert [path.name for path in tmp_path.iterdir()] == ["w.npz"]


def test_a_network_is_folded(answer, tmp_path):
    network = scattered(Network("cells:0123,01@threes", next="hidden"), spread=10)
    save(network, tmp_path / "w.npz")
    answer("fold", tmp_path / "w.npz", tmp_path / "folded.npz")
    folded = load(tmp_path / "folded.npz")
    boards = [step.board for step in record_game("random", 1, 0, "threes")]
    assert folded.values(boards) == pytest.approx(network.values(boards), abs=1e-2)
    assert folded.next == "hidden"


def test_a_network_is_pruned():
    network = scattered(Network("cells:0123,0145@threes"), share=0.01)
    assert prune(network, np.abs(network.weights), 500) == np.count_nonzero(network.weights) <= 500


def test_what_follows_an_afterstate_alone_nobody_knows(refused):
    refused(lambda: rollouts(player("random", "threes"), [0x11], 1), "more than the board")
    assert collect(player("random", "threes"), 3).rewards.sum() > 0
