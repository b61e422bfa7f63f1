"""How well a network values the boards that only a search visits, beside those of its own play.

A network learns from the afterstates that its own play at 1-ply leads to.  A search asks it about
others, too, and takes the action whose leaves it praises most.  Three actions after a state of the
network's own games stands one leaf of a 3-ply search, of a kind of `KINDS`:

played     all three actions are those of play at 1-ply
searched   at least one is another one, each legal action being as likely as the others
preferred  the search chooses all three, the first two at 3-ply and 2-ply, and one is another one

What such a board is truly worth is the mean of what play at 1-ply still makes of it.
"""

import numpy as np
import pandas as pd

from lib2048.course.recorded import read_table
from lib2048.game.board import afterstates, next_state, slide
from lib2048.game.rng import stream
from lib2048.play.evaluation import TEST_SEED
from lib2048.play.experience import rollouts
from lib2048.play.players import NetworkPlayer, SearchPlayer
from lib2048.play.statistics import mean_ci95
from lib2048.search.expectimax import Search, value_of

KINDS = ("played", "searched", "preferred")
PLIES = 3
EVERY = 20_000  # actions of all games from one state to the next: most games give one, or none
TRIES = 100  # to draw a leaf of a kind behind a state
AT_ONCE = 10  # boards from which games are played before Ctrl-C is heard


def leaves(network, states, seed=TEST_SEED, every=EVERY):
    """Return leaves of 3-ply searches behind states of a network's own games at 1-ply.

    The games are played one after the other, and a state is taken every so many actions, so that
    each state that is visited is as likely as any other.  (Of each game one, wherever it stands,
    would be too many of those that soon end.)  Behind it is drawn a leaf of each kind.  Where the
    game ends before, or the search chooses as play at 1-ply does, there is none.

    Args:
        network: `Network` of afterstates of 2048.
        states: how many.
        seed: the n-th game has the luck of (seed, n).
        every: actions.

    Returns:
        DataFrame: number and board of the state, kind, board (the leaf); a row a leaf, boards are
        uint64.
    """
    greedy, random = NetworkPlayer(network), np.random.default_rng(seed)
    deep = [SearchPlayer(network, plies, halve=False) for plies in range(PLIES, 1, -1)]
    ways = {
        "played": [greedy.choose] * PLIES,
        "searched": [lambda board: _any_action(board, network.game, random)] * PLIES,
        "preferred": [*(who.choose for who in deep), greedy.choose],
    }
    rows = []
    for number, state in enumerate(_states(greedy, states, seed, every)):
        for kind in KINDS:
            leaf = _leaf(state, kind, ways[kind], greedy, (seed, number))
            rows += [] if leaf is None else [(number, state, kind, leaf)]
    found = pd.DataFrame(rows, columns=["number", "state", "kind", "board"])
    return found.astype({"state": np.uint64, "board": np.uint64})


def _states(greedy, count, seed, every):
    """Yield so many states of a player's games, one every so many actions."""
    left, game = every // 2, 0  # actions up to the next one
    while count:
        boards, words, actions = greedy.recorded(seed, game)
        while count and left < len(actions):
            if not words[left]:  # of a board with a 65536 leaves are not asked
                yield boards[left]
                count -= 1
            left += every
        left, game = left - len(actions), game + 1


def _any_action(board, game, random):
    legal = [action for action, _, _ in afterstates(board, game)]
    return int(random.choice(legal)) if legal else None


def _leaf(state, kind, ways, greedy, number):
    """Return the afterstate to which three actions lead, None where there is none of the kind."""
    luck = stream(*number)
    for _ in range(TRIES if kind == "searched" else 1):
        board, last, differs = state, None, False
        for choose in ways:
            if last is not None:
                board, _, _, luck = next_state(board, 0, last, luck, greedy.game)
            if (last := choose(board)) is None:
                return None
            differs |= last != greedy.choose(board)
        if differs == (kind != "played"):
            return slide(board, last, greedy.game)[0]
    return None


def errors(network, leaves, times=8, seed=TEST_SEED):
    """Return what a network is wrong by, leaf by leaf: `leaves` with more columns, in points.

    value is the network's; truth is the mean of so many times two games at 1-ply from there on;
    error is value − truth; squared is the product of both errors by one half of the games each, so
    that its mean holds nothing of their luck; surprise is value − the mean over spawns of the best
    reward + value after it, the TD error to be expected, with its sign turned.

    Args:
        network: `Network` of afterstates of 2048.
        leaves: DataFrame with a column board, as `leaves` returns it.
        times: games of each half.
    """
    boards = leaves["board"].to_numpy(np.uint64, copy=True)  # that may be written to
    value = network.values(boards).astype(np.float64)
    first, second = (_played_on(network, boards, times, (seed, half)) for half in (0, 1))
    search = Search(network, 1)
    context, ahead = search.context(), network.game.bind(value_of)()
    expected = np.array([ahead(context, board, 1) for board in boards], np.float64)
    truth = (first + second) / 2
    told = {"value": value, "truth": truth, "error": value - truth}
    told |= {"squared": (value - first) * (value - second), "surprise": value - expected}
    return leaves.assign(**told)


def _played_on(network, boards, times, luck):
    """Return the mean points of games from each board on: float64[n]."""
    seed, half = luck
    parts = [boards[at : at + AT_ONCE] for at in range(0, len(boards), AT_ONCE)]
    seeds = (seed + 1 + 2 * number + half for number in range(len(parts)))
    found = [rollouts(network, part, times, one) for part, one in zip(parts, seeds)]
    return np.concatenate([np.zeros(0), *found])


def summed_errors(rows):
    """Return the errors of `errors` by kind, with 95 % intervals: a DataFrame, a row a kind.

    Columns: leaves, value and truth (means), error (mean: above 0 the network praises too much),
    rms (the root of the mean square), surprise (mean) and surprise_rms; half_… of each of the last
    four is half the width of its interval, with the leaves as the sample.
    """
    groups = rows.groupby("kind", sort=False)
    return pd.DataFrame({kind: _summed(group) for kind, group in groups}).T.rename_axis("kind")


def _summed(group):
    told = {"leaves": len(group), "value": group["value"].mean(), "truth": group["truth"].mean()}
    squares = {"rms": group["squared"], "surprise_rms": group["surprise"] ** 2}
    for name in ("error", "rms", "surprise", "surprise_rms"):
        mean, half = mean_ci95(squares.get(name, group.get(name)))
        if name in squares:  # of the root, to first order; below 0 nothing is left but luck
            upper, mean = max(mean + half, 0.0) ** 0.5, max(mean, 0.0) ** 0.5
            half = half / (2 * mean) if mean else upper
        told |= {name: mean, f"half_{name}": half}
    return told


def recorded_errors():
    """Return what is recorded of networks, as `summed_errors` has it: data/curves/search_errors."""
    return read_table("curves/search_errors")
