"""Approximate dynamic programming over four features of a tidy board (Amar & Dedieu 2017, 4.2).

J~(x) = Σ_k θ_k φ_k(x).  It plays the action u with the largest E[J~(x_{t+1}) | x_t, u], over all
tiles that may spawn, and fits J~ of the states it visited to what their games returned.

What the source leaves open, and what is chosen here:

* The features are 1 where cells do not increase along a line that leaves a corner with the
  largest tile of the four corners: the edge up or down, the edge across, the diagonal.  Empty
  cells count as 0.  Where several corners hold that tile, one of them is enough.
* The return y is the sum of the tiles on the last board, the reward of its policy network; there
  is no feature that is always 1.
* The printed update of θ has lost its signs.  'gradient' is one step of the mean squared error's
  gradient, θ ← θ − η · mean 2 φ (θ·φ − y); 'least squares' moves to the batch's exact minimum by
  a share, θ ← (1 − η) θ + η θ*, which is what the printed (1 − η) θ + η … looks like.
* Four numbers of 0 or 1 leave many actions equal.  One of the best is drawn.
"""

import numpy as np

from lib2048.deep.moves import (
    GameBatch,
    StepPlayer,
    decision,
    draw_actions,
    legal_actions,
    luck_of,
    without_a_next_card,
)
from lib2048.game import rules_2048 as rules
from lib2048.game.batch import ILLEGAL, as_boards
from lib2048.game.bits import WHOLE, largest_exponent
from lib2048.game.turn import next_states
from lib2048.learn.lockstep import FOREVER
from lib2048.machine.kernels import kernel, part

FEATURES = ("corner", "vertical", "horizontal", "diagonal")
FITS = ("gradient", "least squares")
SIDE, FOUR = 4, np.uint64(4)
ZERO, FIFTEEN = np.uint64(0), np.uint64(15)
TIE = 1e-9  # of the best value: actions that are worth as much are equal


class ADP(StepPlayer):
    """A player by J~: the weights θ of FEATURES, how it plays by them, and how it learns them.

    Args:
        game: what is played.

    Attributes:
        theta: float64[4], 1 at first, as in the source.
    """

    def __init__(self, game=WHOLE):
        super().__init__("ADP", without_a_next_card("ADP", game))
        self.theta = np.ones(len(FEATURES))

    # ------------------------------------------------------------ values

    def values(self, boards):
        """Return J~ of states: uint64[n] → float64[n]."""
        return features(boards, self.game) @ self.theta

    def expected(self, boards):
        """Return E[J~(next state)] of each action: uint64[n] → float64[n, 4], −∞ if illegal."""
        boards = as_boards(boards)
        out = np.empty((len(boards), 4))
        self.game.bind(_expected)(boards, self.theta, self.game, out)
        return out

    # ------------------------------------------------------------ playing

    def choose(self, board, word=0):
        """Return the action (0..3) on a board, the first of equals, or None if none is legal."""
        worths = self.expected([board])
        worths[~legal_actions([board], self.game, [word])] = -np.inf
        return int(_best(worths).argmax()) if np.isfinite(worths).any() else None

    def pick(self, boards, legal, *luck):
        """Return the action on each board, drawn from the best; see `StepPlayer`."""
        return draw_actions(_best(self.expected(boards)), luck_of(*luck))

    # ------------------------------------------------------------ learning

    def learn(self, batches, games=10, rate=0.05, fit="gradient", seed=1):
        """Play batches of games, and fit θ after each.

        Game n has the luck of (seed, n).

        Args:
            rate: η, above 0 and up to 1.
            fit: 'gradient' or 'least squares'.

        Returns:
            list of dicts: a row for each batch: games, actions, mean score, length, tile_sum, root
            mean squared error before the fit, and theta after it.

        Raises:
            ValueError: for numbers without sense.
        """
        if fit not in FITS or batches < 1 or games < 1 or not 0 < rate <= 1:
            raise ValueError(
                f"fit {fit!r}, batches {batches}, games {games}, rate {rate}: use "
                f"{' or '.join(FITS)}, 1 or more, and a rate up to 1"
            )
        rows, actions, decide = [], 0, decision(self, seed)
        for number in range(batches):
            batch = GameBatch(games, seed, number * games, self.game)
            while not batch.over:
                batch.turn(decide, FOREVER, games)
            actions += batch.games.actions
            row = {"games": batch.first + games, "actions": actions}
            row |= {"tile_sum": batch.tile_sums.mean(), "score": batch.results[:, 1].mean()}
            row |= {"length": batch.results[:, 2].mean(), "error": self._fit(batch, rate, fit)}
            row = {name: float(x) for name, x in row.items()}
            rows.append(row | {"theta": self.theta.tolist()})
        return rows

    def _fit(self, batch, rate, fit):
        """Fit θ to a batch; return the error before."""
        boards, _, rewards = batch.moves()
        live = rewards != ILLEGAL
        phi = features(boards[live], self.game).astype(np.float64)
        returns = np.broadcast_to(batch.tile_sums, live.shape)[live]
        error = phi @ self.theta - returns
        if fit == "gradient":
            self.theta = self.theta - rate * 2 * (error @ phi) / len(phi)
        else:
            best = np.linalg.lstsq(phi, returns.astype(np.float64), rcond=None)[0]
            self.theta = (1 - rate) * self.theta + rate * best
        return float(np.sqrt(np.mean(error**2)))

    def __repr__(self):
        weights = ", ".join(f"{name} {x:.3g}" for name, x in zip(FEATURES, self.theta))
        return f"<player {self.name}: {weights}>"


def features(boards, game=WHOLE):
    """Return the four features of boards: uint64[n] → uint8[n, 4], in the order of FEATURES."""
    boards = as_boards(boards)
    out = np.zeros((len(boards), len(FEATURES)), np.uint8)
    game.bind(_features_all)(boards, game, out)
    return out


def _best(worths):
    """Return 1 for each action that is worth as much as the best, else 0: float64[n, 4]."""
    best = worths.max(axis=1, keepdims=True)
    return np.isfinite(worths) & (worths >= best - TIE * np.abs(best))


# ---------------------------------------------------------------- kernels


@part
def _cell(board, at):
    return (board >> (FOUR * np.uint64(at))) & FIFTEEN


@part
def _falls(board, at, step, steps):
    """Say whether cells do not increase in so many steps from one on."""
    falls, before = True, _cell(board, at)
    for _ in range(steps):
        at += step
        here = _cell(board, at)
        falls = falls and here <= before
        before = here
    return falls


@kernel
def _features(board, game):
    """Return the four features as the lowest bits of an int64, corner first."""
    rows, columns = SIDE - np.int64(game.down) // 16, SIDE - np.int64(game.right) // 4
    largest = ZERO
    for row in (0, rows - 1):
        for column in (0, columns - 1):
            largest = max(largest, _cell(board, SIDE * row + column))
    found = np.int64(largest == largest_exponent(board))
    for row in (0, rows - 1):
        for column in (0, columns - 1):
            at = SIDE * row + column
            if _cell(board, at) == largest:
                down, across = SIDE if row == 0 else -SIDE, 1 if column == 0 else -1
                both = min(rows, columns) - 1
                found |= np.int64(_falls(board, at, down, rows - 1)) << 1
                found |= np.int64(_falls(board, at, across, columns - 1)) << 2
                found |= np.int64(_falls(board, at, down + across, both)) << 3
    return found


@kernel
def _features_all(boards, game, out):
    for i in range(len(boards)):
        found = _features(boards[i], game)
        for k in range(4):
            out[i, k] = (found >> k) & 1


@kernel
def _expected(boards, theta, game, out):
    """Average J~ over the spawns on each afterstate: a 2 or a 4, in each empty cell."""
    values = np.zeros(16)  # J~ by the four features
    for found in range(16):
        for k in range(4):
            values[found] += theta[k] * ((found >> k) & 1)
    space = np.zeros((2, rules.MOST_OUTCOMES), np.uint64)
    chances = np.zeros(rules.MOST_OUTCOMES)
    for i in range(len(boards)):
        slid = rules.slide(boards[i], game)
        for action in range(4):
            out[i, action] = -np.inf
            if slid[action] != boards[i]:
                by, after = np.uint64(action), slid[action]
                count, total = next_states(
                    boards[i], ZERO, by, after, game, space[0], space[1], chances
                )
                points = 0.0
                for k in range(count):
                    points += chances[k] * values[_features(space[0, k], game)]
                out[i, action] = points / total
