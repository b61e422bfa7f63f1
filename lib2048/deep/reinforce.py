"""REINFORCE for a policy network: play a batch of games, then make what led to the better ones
likelier (Amar & Dedieu 2017, section 3), and, as options, what goes beyond the source.

The gradient of R · log p_a with respect to the logits is R · (A − P), where P = softmax(logits)
and A is 1 for the action taken and 0 elsewhere: log p_a = logit_a − log Σ exp(logit_i), and the
derivative of the sum's logarithm is P.  It is the same for actions that were drawn and for those
of ε-greedy.  The source has A − log P for drawn ones (section 3.2.3), which is no gradient: it
does not sum to 0 over the actions, though adding a number to all logits changes nothing.
"""

import contextlib
import copy

import numpy as np
import torch

from lib2048.deep.batches import parse
from lib2048.deep.critic import TINY, Critic, standardised, to_go
from lib2048.deep.moves import GameBatch, decision
from lib2048.deep.neural_learner import Interrupted, NeuralLearner
from lib2048.deep.policy import AT_ONCE, ProbabilityPlayer, distance_to_certainty
from lib2048.game.batch import ILLEGAL
from lib2048.game.rng import seed_bits
from lib2048.learn.games import MOST
from lib2048.learn.records import joined
from lib2048.machine.arrays import Form, check_arrays

OPTIMISERS = {
    "rmsprop": lambda weights, rate: torch.optim.RMSprop(weights, rate, alpha=0.99, eps=1e-5),
    "adam": torch.optim.Adam,
}
BATCH_COLUMNS = ("games", "actions", "score", "length", "tile_sum", "distance", "entropy")


class PolicyLearner(NeuralLearner):
    """What a `Run` trains a policy network by: games in step, and a step of learning a batch.

    network: `PolicyNetwork`, which learns in place; settings: `Settings`.

    batches: float64[k, 7], a row of BATCH_COLUMNS for each batch: games and actions so far, and
    the means over its games of score, length, tiles on the last board, distance to certainty
    and entropy (in nats); the last two are first averaged over each game.
    """

    batch_columns = BATCH_COLUMNS
    first_chunk = 500  # actions, before the run knows how many take a tenth of a second

    def __init__(self, network, settings):
        self.network = self.tested = network
        self.settings, self.games = settings, parse(settings.batch, settings.kind).size
        self.optimiser = OPTIMISERS[settings.optimiser](network.module.parameters(), settings.rate)
        self.parts, self.critic = {"weights.": network.module, "optimiser.": self.optimiser}, None
        if settings.returns == "critic":
            self.critic = Critic(settings.seed, settings.discount, settings.lam)
            self.parts["critic.weights."] = self.critic.module
            self.parts["critic.optimiser."] = self.critic.optimiser
        self.batches = np.zeros((0, len(BATCH_COLUMNS)))
        self.set_rate(settings.rate)
        self._decide = decision(ProbabilityPlayer(self._weights, explore=True), settings.seed)
        self._before = 0  # actions of the batches that are over
        self._batch = self._new_batch(0)

    # ------------------------------------------------------------ what a run asks

    @property
    def actions(self):
        """The number of actions so far."""
        return self._before + self._batch.games.actions

    @property
    def finite(self):
        """Whether all weights are numbers."""
        return all(bool(weights.isfinite().all()) for weights in self.network.module.parameters())

    def set_rate(self, rate):
        """Let the learning rate be this, for the first batch, from now on; see half_life."""
        half_life, self._rate = self.settings.half_life, float(rate)
        share = 0.5 ** (len(self.batches) / half_life) if half_life else 1.0
        self.optimiser.param_groups[0]["lr"] = self._rate * share

    def play(self, last_action, rows):
        """Play and learn until `actions` is last_action, or so many rows of games are over.

        Returns their results, int64[k, 5]; see records.RESULT_COLUMNS.
        """
        found = []
        with contextlib.suppress(Interrupted):
            self._learn_if_over()
            while self.actions < last_action and rows and not self.stop.is_set():
                found.append(self._batch.turn(self._decide, last_action - self._before, rows))
                rows -= len(found[-1])
                self._learn_if_over()
        return joined(found)

    def _new_batch(self, number):
        count = self.games
        return GameBatch(count, self.settings.seed, number * count, self.network.game)

    def _weights(self, boards, legal):
        """Return how likely each action is taken: float[n, 4]."""
        ask, epsilon = self.network.probabilities, self.settings.epsilon
        found = self.ask(lambda: ask(boards, legal), len(boards))
        return epsilon_greedy(found, legal, epsilon) if epsilon else found

    # ------------------------------------------------------------ learning from a batch

    def _learn_if_over(self):
        """Learn from a batch whose games are over: all of it, or, when stopped, nothing."""
        if not self._batch.over:
            return
        parts = self.parts.values()
        before = copy.deepcopy([part.state_dict() for part in parts])
        try:
            self._learn()
        except Interrupted:
            for part, state in zip(parts, before):
                part.load_state_dict(state)

    def _look(self):
        """Look at the Stop button between two calls of torch."""
        if self.stop.is_set():
            raise Interrupted

    def _learn(self):
        """Take the steps of a batch, write its row of `batches`, and begin the next."""
        boards, actions, rewards = self._batch.moves()
        live = rewards != ILLEGAL
        moves = boards[live], actions[live], self._advantages(boards, rewards, live)[live]
        sure = np.zeros((len(moves[0]), 2))
        for part in self._parts(len(sure)):
            sure[part] = self.step(*(array[part] for array in moves))
        self._note(sure, np.nonzero(live)[1])
        self._before += self._batch.games.actions
        self._batch = self._new_batch(len(self.batches))
        self.set_rate(self._rate)

    def _advantages(self, boards, rewards, live):
        """Return what each move counts: float64[turns, games]."""
        if self.settings.returns == "sum":
            return np.broadcast_to(standardised(self._batch.tile_sums), live.shape)
        if self.critic:
            found = self.critic.learn(boards, rewards, live, len(self.batches), self._look)
            return (found - found[live].mean()) / (found[live].std() + TINY)
        return standardised(to_go(rewards, self.settings.discount), live)

    def _parts(self, count):
        """Return the moves of each step: all, or a share of them, shuffled."""
        if self.settings.steps == 1:
            return [np.arange(count)]
        shuffle = np.random.default_rng([int(seed_bits(self.settings.seed)), len(self.batches)])
        return np.array_split(shuffle.permutation(count), self.settings.steps)

    def step(self, boards, actions, advantages):
        """Take one step of the optimiser.

        boards: uint64[n]; actions: int[n], taken there; advantages: float[n], what each counts.
        Returns each move's distance to certainty and entropy before the step: float64[n, 2].
        """
        self._settle()  # or its gradients would come to those of this step
        self.optimiser.zero_grad()
        sure = np.zeros((len(boards), 2))
        for at in range(0, len(boards), AT_ONCE):
            self._look()
            part = slice(at, at + AT_ONCE)
            moves = boards[part], actions[part], advantages[part]
            sure[part] = self.ask(lambda moves=moves: self._gradients(*moves), len(moves[0]))
        self.optimiser.step()
        return sure

    def _gradients(self, boards, actions, advantages):
        """Add to the gradients what moves call for; return what `step` does."""
        policy = self.network.distribution(boards)
        surrogate(policy, actions, advantages, self.settings.entropy).backward()
        with torch.no_grad():
            certainty = distance_to_certainty(policy.probs.numpy())
            return np.stack([certainty, policy.entropy().numpy()], axis=1)

    def _note(self, sure, games):
        """Write the row of a batch; games: int64[n], which of its games each move belongs to."""
        results, count = self._batch.results, self.games
        moves = np.bincount(games, minlength=count)
        sure = [np.mean(np.bincount(games, column, count) / moves) for column in sure.T]
        done = (len(self.batches) + 1) * count, self._before + results[:, 2].sum()
        row = *done, results[:, 1].mean(), results[:, 2].mean(), self._batch.tile_sums.mean(), *sure
        self.batches = np.vstack([self.batches, row])

    # ------------------------------------------------------------ on disk

    def state(self):
        """Return what a resume needs beside `parts`, as a dict of arrays."""
        return {
            **self._batch.state(),
            "batches": self.batches.copy(),
            "batch_before": np.array(self._before),
            "batch_rate": np.array([self._rate]),
            **({"critic.network": np.array("critic")} if self.critic else {}),
        }

    def check_state(self, arrays, path):
        """Raise ValueError, in one line, where arrays are not what `state` returns."""
        forms = {
            "batch_tile_sums": Form("int64", (None,), 0),
            "batches": Form("float64", (None, len(BATCH_COLUMNS)), [0] * 5 + [-1] * 2),
            "batch_before": Form("i u", (), 0, MOST),
            "batch_rate": Form("f", (1,), 0, 1),
        }
        check_arrays(arrays, forms, path)
        kept, count = len(arrays["batch_tile_sums"]), self.games
        if kept != count:
            raise ValueError(f"{path}: holds a batch of {kept} games, not of {count}")
        self._new_batch(len(arrays["batches"])).check(arrays, path)

    def take_up(self, arrays):
        """Take up what `state` returned, and `check_state` has seen."""
        self.batches, self._before = np.array(arrays["batches"]), int(arrays["batch_before"])
        self._batch = self._new_batch(len(self.batches))
        self._batch.restore(arrays)
        self.set_rate(arrays["batch_rate"][0])


# ---------------------------------------------------------------- the formulas


def epsilon_greedy(probabilities, legal, epsilon):
    """Return how likely ε-greedy takes each action: float[n, 4].

    probabilities: float[n, 4]; legal: bool[n, 4].  The most likely one with 1 − ε, and any legal
    one, itself among them, with ε.
    """
    best = probabilities.argmax(axis=1)[:, None] == np.arange(probabilities.shape[1])
    return (1 - epsilon) * best + epsilon * legal / legal.sum(axis=1, keepdims=True)


def surrogate(policy, actions, advantages, entropy=0.0):
    """Return −Σ (advantage · log p(action) + entropy · H), whose descent is policy gradient.

    policy: a Categorical of n rows; actions: int[n]; advantages: float[n].  The sum is over all
    moves, as the source's matrices have it; both optimisers divide by its size anyway.
    """
    taken = policy.log_prob(torch.as_tensor(actions))
    gain = torch.as_tensor(advantages).to(taken) * taken
    if entropy:
        gain = gain + entropy * policy.entropy()
    return -gain.sum()
