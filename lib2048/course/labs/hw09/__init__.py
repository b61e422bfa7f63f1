"""hw09, a value network: boards as planes, a batch of targets, a training step, the choice.

torch is imported only when a function is called.  The networks of the cases are small and have
exact answers.
"""

import copy
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lib2048.course.labs.exercise import Exercise, changed, wrong_if
from lib2048.course.labs.hw04 import random_game
from lib2048.course.labs.hw08 import first_of_equals
from lib2048.course.labs.hw09.selfplay import Batch
from lib2048.game.board import (
    afterstates,
    from_tiles,
    slide,  # noqa: F401  a mistake calls it
    to_exponents,
)

# ---------------------------------------------------------------- the library's version


def encode(boards):
    """Encode boards, uint64[n], as planes: float32 (n, 16, 4, 4), plane e is 1 where e stands."""
    import torch

    exponents = np.array([to_exponents(board) for board in boards], np.int64).reshape(-1, 4, 4)
    planes = torch.nn.functional.one_hot(torch.from_numpy(exponents), 16)
    return planes.permute(0, 3, 1, 2).float()


def targets(network, batch):
    """Return the TD targets of a `Batch`: float32 (n,), without a gradient."""
    import torch

    with torch.no_grad():
        after = torch.tensor(batch.next_rewards) + network(encode(batch.next_afterstates))
        return torch.where(torch.tensor(batch.over), 0.0, after)


def step(network, optimiser, planes, target):
    """Take one step against the mean squared error; return the error before it, a float."""
    import torch

    loss = torch.nn.functional.mse_loss(network(planes), target)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.item()


def choose(network, board):
    """Return the action with the largest reward + value, None where none is legal."""
    legal = afterstates(board)
    values = _values(network, [after for _, after, _ in legal])
    worth = {action: reward + value for (action, _, reward), value in zip(legal, values)}
    return max(worth, key=worth.get, default=None)


def _values(network, boards):
    import torch

    with torch.no_grad():
        return network(encode(boards)).tolist() if len(boards) else []


def careless_targets(network, batch):
    """Return the targets of a colleague who forgot `no_grad`: a gradient flows through them."""
    import torch

    after = torch.tensor(batch.next_rewards) + network(encode(batch.next_afterstates))
    return torch.where(torch.tensor(batch.over), 0.0, after)


# ---------------------------------------------------------------- networks of the cases


@dataclass(frozen=True)
class Net:
    """A small network of torch, made when it is needed, and the words that a failing case shows.

    scale: of the weights, which are drawn from `seed`; seed None: the same weight for plane 0
    alone, so that the network counts empty cells.
    """

    words: str
    seed: int = None
    scale: float = 10.0

    @property
    def weights(self):
        """The weights, one for each cell of each plane: plane 0 has the first 16."""
        if self.seed is None:
            return np.repeat([self.scale, 0.0], [16, 240])
        return np.random.default_rng(self.seed).integers(-9, 10, 256) * self.scale

    def choice(self, board, reward_counts):
        """Return the action with the largest reward_counts · reward + value, without torch."""
        weights, worth = self.weights, {}
        for action, after, reward in afterstates(board):
            value = weights[16 * to_exponents(after).astype(int) + np.arange(16)].sum()
            worth[action] = reward_counts * reward + value
        return max(worth, key=worth.get, default=None)

    def make(self):
        """Return the network: from (n, 16, 4, 4) to (n,)."""
        import torch

        layer = torch.nn.Linear(256, 1)
        with torch.no_grad():
            layer.weight[:] = torch.tensor(self.weights)
            layer.bias.fill_(0.5)
        return torch.nn.Sequential(torch.nn.Flatten(), layer, torch.nn.Flatten(0))

    def __repr__(self):
        return self.words


ROOM = Net("10 for each empty cell, and 0.5")
DRAWN = Net("drawn weights", seed=1, scale=3.0)

# ---------------------------------------------------------------- what is tried


def _turns(random, games=2):
    """Return the turns of games with random actions, as tuples of a `Batch`'s columns."""
    turns = []
    for game in range(games):
        steps = random_game(random, int(random.integers(1 << 31)), game)
        turns += [
            (a.afterstate, a.reward, b.state, b.reward, b.afterstate, False)
            for a, b in pairwise(steps)
        ]
        end = steps[-1]
        turns.append((end.afterstate, end.reward, end.next_state, 0, np.uint64(0), True))
    return turns


def _states(random, count):
    states = np.array([turn[2] for turn in _turns(random) if not turn[-1]], np.uint64)
    return random.choice(states, count, replace=False)


def boards_to_encode(random):
    """Return single boards, and a batch of three."""
    small = from_tiles([[0, 2, 4, 8], [0, 0, 0, 0], [0, 0, 0, 0], [16, 0, 0, 32768]])
    singles = [(np.array([board]),) for board in (small, *_states(random, 9))]
    return [*singles, (_states(random, 3),)]


def going_on(random):
    """Return batches in which no game ends."""
    turns = [turn for turn in _turns(random) if not turn[-1]]
    batches = [Batch.of([turns[i] for i in random.choice(len(turns), n)]) for n in (2, 3, 5, 5)]
    return [(net, batch) for batch in batches for net in (ROOM, DRAWN)]


def with_ends(random):
    """Return batches in which some games end."""
    turns = _turns(random)
    ends, others = [t for t in turns if t[-1]], [t for t in turns if not t[-1]]
    picks = [[others[random.integers(len(others))], ends[i % 2], others[i]] for i in range(4)]
    return [(net, Batch.of(rows)) for rows in picks for net in (ROOM, DRAWN)]


def batches_to_learn(random):
    """Return networks with three batches each: boards and targets."""
    cases = []
    for seed in range(3):
        boards = [_states(random, 4) for _ in range(3)]
        aims = [random.integers(0, 40, 4).astype(np.float32) for _ in range(3)]
        cases.append((Net("drawn weights", seed, 1.0), boards, aims))
    return cases


LOST = from_tiles([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])


def positions(random):
    """Return networks with states, one of them lost; in some of them the reward decides."""
    boards = [*_states(random, 40)]
    decided = [
        (net, board)
        for board in boards
        for net in (DRAWN, ROOM)
        if net.choice(board, 1) != net.choice(board, 0)
    ]
    boards = [*boards[:12], LOST]
    return [*decided[:3], *((net, board) for board in boards for net in (DRAWN, ROOM))]


# ---------------------------------------------------------------- how it is judged


def planes_of(encode, boards):
    """Return, for each board, the plane that is 1 at each cell: [[[…] × 4] × 4]."""
    import torch

    planes = encode(boards.copy())
    wrong_if(not isinstance(planes, torch.Tensor), "no_tensor", got=type(planes).__name__)
    shape, n = tuple(planes.shape), len(boards)
    wrong_if(shape == (n, 4, 4, 16), "channels_last")
    wrong_if(shape != (n, 16, 4, 4), "shape", got=str(shape), n=n)
    wrong_if(planes.dtype != torch.float32, "dtype", got=str(planes.dtype))
    wrong_if(not bool(((planes == 0) | (planes == 1)).all()), "not_one")
    return [[[_plane(cell) for cell in row] for row in board.permute(1, 2, 0)] for board in planes]


def _plane(cell):
    """Return the plane that is 1, or a text that says what is odd."""
    found = cell.nonzero().flatten().tolist()
    return found[0] if len(found) == 1 else f"{len(found)} planes"


def aimed(targets, net, batch):
    """Return the targets as a list of numbers."""
    import torch

    given = copy.deepcopy(batch)
    found = targets(net.make(), batch)
    same = (np.array_equal(vars(given)[name], array) for name, array in vars(batch).items())
    wrong_if(not all(same), "overwrote")
    wrong_if(not isinstance(found, torch.Tensor), "no_tensor", got=type(found).__name__)
    shape = tuple(found.shape)
    wrong_if(shape != batch.over.shape, "shape", got=str(shape), n=len(batch.over))
    wrong_if(found.requires_grad, "gradient")
    return found.tolist()


def learned(step, net, boards, aims):
    """Take three steps; return their errors, and what the network says of the first boards."""
    import torch

    network = net.make()
    optimiser, losses = torch.optim.Adam(network.parameters(), lr=0.1), []
    for some, aim in zip(boards, aims):
        losses.append(step(network, optimiser, encode(some), torch.tensor(aim)))
    wrong_if(isinstance(losses[0], torch.Tensor), "tensor")
    return losses, _values(network, boards[0])


def chosen(choose, net, board):
    """Return the action that was chosen; any of several equally good ones counts as the first."""
    network = net.make()
    return first_of_equals(choose(network, board), _worths(network, board))


# ---------------------------------------------------------------- the exercises

CELL_SECONDS = {"any": 40}  # torch takes long to start
BEST = "max(worth, key=worth.get, default=None)"
_worths = changed(choose, BEST, "worth")

EXERCISES = [
    Exercise(
        "hw09", encode, boards_to_encode, needs=("torch",),
        mistakes={
            "no_empty": ("exponents), 16)", "exponents), 17)[..., 1:]"),
            "shifted": (".float()", ".float().roll(1, 1)"),
            "reshaped": ("permute(0, 3, 1, 2)", "reshape(-1, 16, 4, 4)"),
            "turned": ("0, 3, 1, 2", "0, 3, 2, 1"),
            "from_the_end": (".float()", ".float().flip(2, 3)"),
        },
        outcome=planes_of, show={"boards": "boards"},
    ),
    Exercise(
        "hw09", targets, needs=("torch",), parts={"going on": going_on, "ends": with_ends},
        mistakes={
            "terminal": ("0.0, after", "network(encode(batch.next_afterstates)), after"),
            "last_reward": ("0.0, after", "torch.tensor(batch.rewards), after"),
            "reward": ("next_rewards", "rewards"),
            "no_reward": ("torch.tensor(batch.next_rewards) + ", ""),
            "no_value": (" + network(encode(batch.next_afterstates))", ""),
            "value_now": ("next_afterstates", "afterstates"),
            "state": ("next_afterstates", "states"),
        },
        outcome=aimed,
    ),
    Exercise(
        "hw09", step, batches_to_learn,
        mistakes={
            "no_zero_grad": ("    optimiser.zero_grad()\n", ""),
            "no_step": ("    optimiser.step()\n", ""),
            "sum": ("target)\n", "target, reduction='sum')\n"),
            "after_step": ("loss.item()",
                           "torch.nn.functional.mse_loss(network(planes), target).item()"),
            "absolute": ("mse_loss", "l1_loss"),
            "uphill": ("loss = ", "loss = -"),
        },
        outcome=learned, needs=("torch",),
        show={"boards": "hidden", "optimiser": "hidden", "planes": "hidden", "target": "hidden"},
        result={"errors of three steps": "text", "values after them": "text"},
    ),
    Exercise(
        "hw09", choose, positions, outcome=chosen, needs=("torch",),
        mistakes={
            "no_reward": ("reward + value", "value"),
            "state": ("[after for _, after, _ in legal]", "[board for _ in legal]"),
            "place": (f"return {BEST}",
                      f"return list(worth).index({BEST}) if worth else None"),
            "blocked": ("afterstates(board)", "[(a, *slide(board, a)) for a in range(4)]"),
        },
    ),
]  # fmt: skip
