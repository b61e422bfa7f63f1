"""Monte-Carlo tree search over any prior of actions, such as a policy network (Amar & Dedieu 2017,
section 5, of which only the idea is public; the rule of choice is that of AlphaGo, PUCT).

A tree's nodes are states.  From a node the search takes the action with the largest

    Q(s, a) + c σ P(s, a) √N(s) / (1 + N(s, a)),

where P is the prior, N counts visits, Q is the mean of the points that were made from s on, the
action's own reward among them, and σ is the deviation of the points that were made from the root
on, so that c needs no scale.  Then chance spawns a tile; a state that is new becomes a leaf, worth
what play by the prior still makes there (a rollout), or what a value function says.
"""

import numbers

import numpy as np

from lib2048.deep.moves import StepPlayer, legal_actions, turn_states, without_a_next_card
from lib2048.deep.tree import backup, new_trees, play_on, root_statistics, select
from lib2048.game.batch import as_boards, options
from lib2048.game.board import WHOLE
from lib2048.machine.schema import is_number
from lib2048.play.players import new_stop
from lib2048.search.batched import asked, check_function

SEARCHES = 0x7EE  # mixed into a seed: searches have luck that no game has


class MCTS:
    """A search with a budget of simulations a move, in many trees at once.

    Args:
        prior: a function from states uint64[n] to weights of their actions, float[n, 4], such as
            `PolicyNetwork.probabilities`; illegal actions are left out.
        simulations: a move.
        leaves: of a tree that are evaluated together, 1 to `simulations`.
        explore: the constant c of the rule by which actions are chosen.
        values: a function from states uint64[n] to what is still to come there, float[n], in place
            of rollouts.
        turns: after which a rollout is broken off, None for never.
        game: what is played.

    Attributes:
        stop: int64[1]; while another thread has set it to 1, a search raises KeyboardInterrupt.

    Raises:
        ValueError: for numbers that make no sense.
    """

    def __init__(
        self, prior, simulations=100, leaves=8, explore=1.0, values=None, turns=None, game=WHOLE
    ):
        _check("simulations", simulations, numbers.Integral, 1)
        _check("leaves", leaves, numbers.Integral, 1)
        _check("explore", explore, numbers.Real, 0)
        if turns is not None:
            _check("turns", turns, numbers.Integral, 0)
        check_function("prior", prior)
        if values is not None:
            check_function("values", values)
        self.prior, self.values_of = prior, values
        self.game = without_a_next_card("MCTS", game)
        self.simulations, self.leaves = int(simulations), int(min(leaves, simulations))
        self.explore, self.turns = float(explore), np.inf if turns is None else turns
        self.stop = new_stop()

    def search(self, boards, seed=0, numbers=None, turns=None):
        """Search the trees of states, uint64[n], on each of which an action is legal.

        Args:
            seed, numbers, turns: with the numbers of the game and of its turn, int[n], they are the
                luck of each tree.

        Returns:
            (visits int64[n, 4], whose sum is `simulations`, and Q float64[n, 4], −∞ without a
            visit).
        """
        boards = as_boards(boards)
        luck = (np.zeros(len(boards)) if x is None else x for x in (numbers, turns))
        states = turn_states(seed, SEARCHES, *luck)
        trees = new_trees(boards, states, self.priors(boards), self.simulations + 1, self.game)
        for done in range(0, self.simulations, self.leaves):
            self._simulate(trees, min(self.leaves, self.simulations - done))
        return root_statistics(trees)

    def _simulate(self, trees, together):
        """Walk down each tree so many times, evaluate what was found, and count it."""
        self._look()
        leaves = select(trees, together, self.explore, self.game)
        flat, which = np.unique(leaves.boards, return_inverse=True)
        priors = self.priors(flat)[which.reshape(-1)]
        if self.values_of is None:
            worth = self.rollouts(leaves.boards, leaves.randoms)
        else:
            worth = self._worth(flat)[which.reshape(-1)]
        backup(trees, leaves, priors, worth, self.game)

    def _look(self):
        if self.stop[0]:
            raise KeyboardInterrupt

    def priors(self, boards):
        """Return the prior of states, illegal actions at 0, rescaled: float64[n, 4]."""
        legal = legal_actions(boards, self.game)
        weights = np.asarray(self.prior(boards), np.float64)
        if weights.shape != legal.shape:
            raise ValueError(
                f"a prior returns four numbers a board: ({len(boards)}, 4) here, "
                f"not {weights.shape}"
            )
        weights = np.where(legal, weights, 0.0)
        weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, legal)
        return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)

    def _worth(self, boards):
        alive = legal_actions(boards, self.game).any(axis=1)
        return np.where(alive, asked(self.values_of, boards), 0.0)

    def rollouts(self, boards, randoms):
        """Return the points that play by the prior makes from each state on: float64[n].

        Args:
            boards: uint64[n].
            randoms: uint64[n], the random states of the games that are played.
        """
        boards, randoms, points = boards.copy(), randoms.copy(), np.zeros(len(boards))
        live, turn = np.arange(len(boards)), 0
        while turn < self.turns:
            self._look()
            after, rewards = options(boards[live], self.game)
            going = np.isfinite(rewards).any(axis=1)
            live, after, rewards = live[going], after[going], rewards[going]
            if not len(live):
                break
            weights = np.array(self.prior(boards[live]), np.float64)  # a copy, to be written over
            moves = live, weights, after, rewards
            self.game.bind(play_on)(*moves, boards, randoms, points, self.game)
            turn += 1
        return points


class MCTSPlayer(StepPlayer):
    """The player of a search: the action that it visited most, of equals that of the larger Q.

    Args:
        search: `MCTS`.
        name: what it is called.
        seed: of the searches of `choose`.
    """

    games_at_once = 32  # that `evaluate` asks for at once

    def __init__(self, search, name="MCTS", seed=0):
        super().__init__(f"{name}, {search.simulations} simulations", search.game, seed)
        self.search, self.stop = search, search.stop

    def decide(self, board, word=0):
        """Return (action or None, {action: Q, its reward included}) of a board, searched."""
        boards = np.array([board], np.uint64)
        legal = legal_actions(boards, self.game, [word])[0]
        if not legal.any():
            return None, {}
        self._asked += 1
        visits, worths = self.search.search(boards, self._seed, [-1], [self._asked])
        found = {a: float(worths[0, a]) for a in range(4) if visits[0, a] and legal[a]}
        best = int(_most_visited(visits, worths)[0])
        return best if legal[best] else int(legal.argmax()), found

    def pick(self, boards, legal, *luck):
        """Return the action on each board: int64[n]; see `StepPlayer.pick`."""
        return _most_visited(*self.search.search(boards, *luck))


def uniform(boards):
    """Return the prior that prefers no action: float64[n, 4]."""
    return np.ones((len(boards), 4))


def _most_visited(visits, worths):
    return np.lexsort((-worths, -visits), axis=1)[:, 0]


def _check(name, value, kind, lowest):
    if not (is_number(value, kind) and value >= lowest):
        what = "a whole number" if kind is numbers.Integral else "a number"
        raise ValueError(f"{name} {value!r}: use {what}, {lowest} or more")
