"""hw09, a value network: boards as planes, a batch of targets, a training step, the choice.

torch is imported only when a function is called.  The networks of the cases are small and have
exact answers.
"""

import contextlib
import copy
from dataclasses import dataclass
from itertools import islice, pairwise, product
from numbers import Number
from unittest import mock

import numpy as np

from lib2048.course.labs.exercise import Exercise, wrong_if
from lib2048.course.labs.hw04 import random_game
from lib2048.course.labs.hw09.selfplay import Batch
from lib2048.course.labs.outcomes import described, equal, first_of_equals
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
    import torch

    legal = afterstates(board)
    if not legal:
        return None
    with torch.no_grad():
        values = network(encode([after for _, after, _ in legal])).tolist()
    worth = {action: reward + value for (action, _, reward), value in zip(legal, values)}
    return max(worth, key=worth.get)


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

    def worths(self, board, reward_counts=1):
        """Return {legal action: reward_counts · reward + value}, without torch."""
        weights, worth = self.weights, {}
        for action, after, reward in afterstates(board):
            value = weights[16 * to_exponents(after).astype(int) + np.arange(16)].sum()
            worth[action] = reward_counts * reward + value + 0.5
        return worth

    def make(self):
        """Return the network: from (n, 16, 4, 4) to (n,)."""
        import torch

        torch.set_grad_enabled(True)  # whatever an answer has left behind
        layer = torch.nn.Linear(256, 1)
        with torch.no_grad():
            layer.weight[:] = torch.tensor(self.weights)
            layer.bias.fill_(0.5)
        return torch.nn.Sequential(torch.nn.Flatten(), layer, torch.nn.Flatten(0))

    def __repr__(self):
        return self.words


@dataclass(frozen=True)
class Optimiser:
    """An optimiser of torch, made when it is needed."""

    name: str
    rate: float

    def make(self, network):
        """Return it, for the weights of a network."""
        import torch

        return getattr(torch.optim, self.name)(network.parameters(), lr=self.rate)

    def __repr__(self):
        return f"{self.name}, rate {self.rate}"


SGD, ADAM = Optimiser("SGD", 0.01), Optimiser("Adam", 0.1)
ROOM = Net("10 for each empty cell, and 0.5")
DRAWN = Net("drawn weights", seed=1, scale=3.0)
# All values are below 0, and a merge of two 2s is worse or better by a hair, or plainly worse.
FULL = Net("-4.02 for each empty cell, and 0.5", scale=-4.02)
MERGE = Net("-3.98 for each empty cell, and 0.5", scale=-3.98)
WORSE = Net("-6 for each empty cell, and 0.5", scale=-6.0)
NETS = ROOM, DRAWN, FULL, MERGE, WORSE
FAR = Net("-2 000 for each empty cell, and 0.5", scale=-2000.0)
LARGER = Net("drawn weights, large ones", seed=2, scale=301.0)

# ---------------------------------------------------------------- what is tried

ALWAYS = 5  # the seed of cases that are the same for every class


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
    states = []
    while len(states) < count:  # a game on a small board may be short
        states += [turn[2] for turn in _turns(random, 1) if not turn[-1]]
    return random.choice(np.array(states, np.uint64), count, replace=False)


SMALL = from_tiles([[0, 2, 4, 8], [0, 0, 0, 0], [0, 0, 0, 0], [16, 0, 0, 32768]])
EVERY = from_tiles([[0, 2, 4, 8], [16, 32, 64, 128], [256, 512, 1024, 2048],
                    [4096, 8192, 16384, 32768]])  # fmt: skip
ROW = from_tiles([[0, 0, 0, 0], [2, 2, 4, 0], [0, 0, 0, 0], [0, 0, 0, 0]])


def boards_to_encode(random):
    """Return single boards, batches of three, and one that is a list."""
    singles = [(np.array([board]),) for board in (SMALL, EVERY, *_states(random, 4))]
    mixed = np.array([ROW, EVERY, SMALL])
    twice = np.array([ROW, SMALL, ROW])  # so do batches of games that are over
    return [*singles, ([ROW, SMALL],), (mixed,), (twice,), (_states(random, 3),)]


def going_on(random):
    """Return batches in which no game ends."""
    cases = []
    for luck, sizes in ((np.random.default_rng(ALWAYS), (2, 5)), (random, (3, 5))):
        turns = [turn for turn in _turns(luck) if not turn[-1]]
        batches = [Batch.of([turns[i] for i in luck.choice(len(turns), n)]) for n in sizes]
        cases += [(net, batch) for batch in batches for net in (ROOM, DRAWN)]
    large = [(*turn[:3], pays, *turn[4:]) for turn, pays in zip(turns, (12_292, 300, 0))]
    return [*cases, (LARGER, Batch.of(large))]


def with_ends(random):
    """Return batches in which some games end, not all: no answer has to encode no board at all."""
    cases = []
    for luck in (np.random.default_rng(ALWAYS), random):
        turns = _turns(luck)
        ends, others = [t for t in turns if t[-1]], [t for t in turns if not t[-1]]
        picks = [[others[luck.integers(len(others))], ends[i], others[i]] for i in range(2)]
        picks += [[ends[0], others[0], ends[1]], [ends[1], ends[0], others[1]]]
        cases += [(net, Batch.of(rows)) for rows in picks for net in (ROOM, DRAWN)]
    return cases


def batches_to_learn(random):
    """Return networks with an optimiser and three batches each: boards and targets."""
    cases = []
    for seed, optimiser in enumerate((SGD, ADAM, SGD)):
        boards = [_states(random, n) for n in (4, 3, 5)]
        aims = [random.integers(0, 40, len(some)).astype(np.float32) for some in boards]
        cases.append((Net("drawn weights", seed, 1.0), optimiser, boards, aims))
    return cases


LOST = from_tiles([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
LARGE = from_tiles([[16384, 32768, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
PAIR = from_tiles([[16384, 32768, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 0]])
ONE_WAY = from_tiles([[2, 2, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 128]])
TWO_WAYS = from_tiles([[2, 4, 8, 16], [2, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 64]])
BIG = from_tiles([[512, 512, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 64]])
TIE = from_tiles([[2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])


def positions(random):
    """Return networks with states, among them lost ones; in some of them the reward decides."""
    some = ROW, TIE, PAIR, LOST, LARGE, ONE_WAY, TWO_WAYS, BIG
    cases = [(net, board) for board in some for net in NETS] + [(FAR, ROW), (FAR, TIE)]
    for luck in (np.random.default_rng(ALWAYS), random):
        boards = [*_states(luck, 30)]
        for net, counts in product((ROOM, DRAWN), (0, 2)):  # how often the reward would count
            decided = (
                (net, board)
                for board in boards
                if _first(net.worths(board)) != _first(net.worths(board, counts))
            )
            cases += islice(decided, 2)
        cases.append(_first_is_0(boards))
    return cases + [(net, board) for board in boards[:3] for net in NETS]


def _first(worth):
    return max(worth, key=worth.get)


def _first_is_0(boards):
    """Return a network and a board whose first action is worth exactly 0, and all others less."""
    for net, board in product((Net("drawn halves", seed, 0.5) for seed in range(100)), boards):
        first, *others = net.worths(board).values()
        if first == 0 and others and max(others) < 0:
            return net, board
    raise ValueError("no board has a first action that is worth 0")


# ---------------------------------------------------------------- what is seen of an answer


def _seen(answer, alone):
    """Return what is seen of an answer: its type, and of a tensor its form and its numbers.

    alone: whether the arguments were left alone.
    """
    import torch

    seen = {"type": type(answer).__name__, "left alone": alone}
    if isinstance(answer, torch.Tensor):
        with contextlib.suppress(Exception):  # some kinds hold no plain numbers
            seen |= {
                "dtype": str(answer.dtype), "shape": tuple(answer.shape),
                "gradient": answer.requires_grad,
                "numbers": answer.detach().to(torch.float64).numpy(),
            }  # fmt: skip
    return seen


def encoded(encode, boards):
    """Return what is seen of the planes."""
    before = copy.deepcopy(boards)
    return _seen(encode(boards), equal(before, boards, 0))


@contextlib.contextmanager
def _watched(network):
    """Yield a dict that says, in the end, what became of a network: {"taught", "frozen", "off"}."""
    import torch

    before, found = copy.deepcopy(network.state_dict()), {}
    yield found
    numbers = network.state_dict().items()
    found["taught"] = not all(number.equal(before[name]) for name, number in numbers)
    found["frozen"] = not all(weight.requires_grad for weight in network.parameters())
    found["off"] = not torch.is_grad_enabled()


def aimed(targets, net, batch):
    """Return what is seen of the targets."""
    before, network = copy.deepcopy(vars(batch)), net.make()
    with _watched(network) as found:
        seen = _seen(targets(network, batch), equal(before, vars(batch), 0))
    return seen | found


def learned(step, net, optimiser, boards, aims):
    """Take three steps; return what they returned, how often the optimiser's step was called, and
    what the network says of the first boards."""
    import torch

    network, calls, alone = net.make(), [], True
    optimiser = optimiser.make(network)
    optimiser.register_step_post_hook(lambda *_: calls.append(None))
    losses, kinds = [], []
    for some, aim in zip(boards, aims):
        planes, target = encode(some), torch.tensor(aim)
        losses.append(step(network, optimiser, planes, target))
        kinds.append(type(losses[-1]).__name__)
        alone &= torch.equal(planes, encode(some)) and torch.equal(target, torch.tensor(aim))
    with torch.no_grad():
        values = network(encode(boards[0])).tolist()
    return {
        "losses": losses,
        "kinds": kinds,
        "values": values,
        "calls": len(calls),
        "left alone": alone,
    }


def asked(choose, net, board):
    """Return the choice, and whether gradients were kept in each call of the network.

    Whoever takes the values away from them (`detach`) has thought of them.
    """
    import torch

    network, calls = net.make(), []
    network[0].register_forward_pre_hook(
        lambda *_: calls.append(torch.is_grad_enabled() and network[1].weight.requires_grad)
    )
    own, detached = torch.Tensor.detach, []

    def detach(tensor):
        detached.append(True)
        return own(tensor)

    with _watched(network) as found, mock.patch.object(torch.Tensor, "detach", detach):
        action = choose(network, board)
    calls = [kept and not detached for kept in calls]
    return {"action": action, "calls": calls} | found


# ---------------------------------------------------------------- how it is judged


def _numbers(seen, *shapes):
    """Return the numbers of a tensor.  shapes: {shape: message} of known wrong ones, the right
    one."""
    known, right = shapes
    wrong_if(seen["type"] == "NoneType", "nothing")
    wrong_if("numbers" not in seen, "no_tensor", got=seen["type"])
    wrong_if(not seen["left alone"], "overwrote")
    shape = seen["shape"]
    wrong_if(shape in known, known.get(shape))
    wrong_if(shape != right, "shape", got=str(shape), n=right[0])
    wrong_if(seen["dtype"] != "torch.float32", "dtype", got=seen["dtype"])
    return seen["numbers"]


def planes_of(case, seen):
    """Return, for each board, the plane that is 1 at each cell: [[[…] × 4] × 4]."""
    n = len(case[0])
    planes = _numbers(seen, {(n, 4, 4, 16): "channels_last"}, (n, 16, 4, 4))
    wrong_if(not np.isin(planes, (0, 1)).all(), "not_one")
    return [
        [[_plane(cell) for cell in row] for row in board.transpose(1, 2, 0)] for board in planes
    ]


def _plane(cell):
    """Return the plane that is 1, or a text that says what is odd."""
    found = np.flatnonzero(cell).tolist()
    return found[0] if len(found) == 1 else f"{len(found)} planes"


def standing(case, seen):
    """Return (the targets where the game goes on, those where it is over)."""
    over = case[1].over
    n = len(over)
    found = _numbers(seen, {(n, n): "broadcast"}, (n,))
    wrong_if(seen["gradient"], "gradient")
    wrong_if(seen["taught"], "taught")
    wrong_if(seen["frozen"] or seen["off"], "frozen")  # `step` comes next
    return found[~over].tolist(), found[over].tolist()


def three_steps(case, seen):
    """Return (the errors, the values after them, how often the optimiser's step was called)."""
    for loss, kind in zip(seen["losses"], seen["kinds"]):
        wrong_if(kind == "NoneType", "nothing")
        wrong_if(kind == "Tensor", "tensor")
        wrong_if(not isinstance(loss, Number), "no_number", got=described(loss))
    wrong_if(not seen["left alone"], "overwrote")
    return seen["losses"], seen["values"], seen["calls"]


def chosen(case, seen):
    """Return the action that was chosen; any of several equally good ones counts as the first."""
    net, board = case
    worth, calls, action = net.worths(board), seen["calls"], seen["action"]
    wrong_if(calls and not worth, "asked_in_vain")
    wrong_if(len(calls) > 1, "one_by_one")
    wrong_if(seen["frozen"], "frozen")
    wrong_if(any(calls), "gradient")
    wrong_if(seen["taught"], "taught")
    wrong_if(action is None and worth, "nothing")
    number = action is None or isinstance(action, Number)
    wrong_if(not number, "no_number", got=described(action))
    wrong_if(worth and not calls, "not_asked")
    return first_of_equals(action, worth)


def about_boards(case):
    """Return what else wrong cases may have in common."""
    largest = max(int(to_exponents(board).max()) for board in case[0])
    return {"the number of boards": len(case[0]), "the largest exponent": largest}


def about_optimiser(case):
    """Return what else wrong cases may have in common."""
    return {"yes the optimiser is SGD": case[1] is SGD}


# ---------------------------------------------------------------- the exercises

CELL_SECONDS = {"any": 40}  # torch takes long to start
VALUES = "network(encode([after for _, after, _ in legal])).tolist()"
NEXT = "network(encode(batch.next_afterstates))"
MSE = "torch.nn.functional.mse_loss(network(planes), target)"
ZERO, BACKWARD, STEP = (
    f"    {call}()\n" for call in ("optimiser.zero_grad", "loss.backward", "optimiser.step")
)
GUARD = "    if not legal:\n        return None\n"
BEST = "max(worth, key=worth.get)"


def running(top, better):
    """Return the text of a loop for the best action; better: what is asked of the best so far."""
    return (
        f"best, top = None, {top}\n    for action in worth:\n        if {better}:\n"
        "            best, top = action, worth[action]\n    return best"
    )


EXERCISES = [
    Exercise(
        "hw09", encode, boards_to_encode, needs=("torch",),
        mistakes={
            "no_empty": ("exponents), 16)", "exponents), 17)[..., 1:]"),
            "empty_left_out": (".float()", ".float() * torch.arange(16).gt(0).view(-1, 1, 1)"),
            "shifted": (".float()", ".float().roll(1, 1)"),
            "planes_reversed": (".float()", ".float().flip(1)"),
            "large": (", np.int64)", ", np.int64).clip(max=11)"),
            "large eleven": (".float()", ".float() * torch.arange(16).lt(12).view(-1, 1, 1)"),
            "large seven": ("reshape(-1, 4, 4)", "reshape(-1, 4, 4) % 8"),
            "no_32768": (".float()", ".float() * torch.arange(16).lt(15).view(-1, 1, 1)"),
            "reshaped": ("permute(0, 3, 1, 2)", "reshape(-1, 16, 4, 4)"),
            "turned": ("0, 3, 1, 2", "0, 3, 2, 1"),
            "from_the_end": (".float()", ".float().flip(2, 3)"),
            "upside_down": (".float()", ".float().flip(2)"),
            "mirrored": (".float()", ".float().flip(3)"),
            "mixed": (".float()", ".float().flip(0)"),
            "mixed cells": ("reshape(-1, 4, 4)", "reshape(4, 4, -1).transpose(2, 0, 1)"),
            "first_only": ("in boards]", "in [boards[0]] * len(boards)]"),
            "channels_last": (".permute(0, 3, 1, 2)", ""),
            "not_one": (".float()", ".float() * torch.arange(16).view(-1, 1, 1)"),
            "overwrote": ("    planes", "    boards[0] = boards[0] // np.uint64(16)\n    planes"),
            "nothing": ("return ", ""),
            "bytes": (", np.int64)", ", np.uint8)"),
        },
        slips={
            "dtype whole": (".float()", ""),
            "dtype doubles": (".float()", ".double()"),
            "no_tensor array": (".float()", ".float().numpy()"),
            "no_tensor list": (".float()", ".float().tolist()"),
            "shape more": ("exponents), 16)", "exponents), 17)"),
            "shape flat": (".float()", ".float().flatten(2)"),
            "shape one": (".float()", ".float()[0]"),
            "shape equal": ("in boards]", "in dict.fromkeys(map(int, boards))]"),
            "last_board": ("in boards]", "in [boards[-1]] * len(boards)]"),
        },
        outcome=encoded, verdict=planes_of, show={"boards": "boards"}, features=about_boards,
    ),
    Exercise(
        "hw09", targets, needs=("torch",), parts={"going on": going_on, "ends": with_ends},
        mistakes={
            "terminal": ("0.0, after", f"{NEXT}, after"),
            "last_reward": ("0.0, after", "torch.tensor(batch.rewards), after"),
            "minus_one": ("0.0, after", "-1.0, after"),
            "turned_round": ("0.0, after", "after, 0.0"),
            "reward": ("next_rewards", "rewards"),
            "no_reward": ("torch.tensor(batch.next_rewards) + ", ""),
            "twice": ("batch.next_rewards", "2 * batch.next_rewards"),
            "both_rewards": ("batch.next_rewards", "batch.rewards + batch.next_rewards"),
            "no_value": (f" + {NEXT}", ""),
            "value_now": ("next_afterstates", "afterstates"),
            "state": ("next_afterstates", "states"),
            "gamma 0.9": (NEXT, f"0.9 * {NEXT}"),
            "gamma": (NEXT, f"0.99 * {NEXT}"),
            "difference": (" + network", " - network"),
            "error": ("0.0, after)", "0.0, after) - network(encode(batch.afterstates))"),
            "mixed": ("next_afterstates", "next_afterstates[::-1]"),
            "broadcast": (NEXT, f"{NEXT}[:, None]"),
            "gradient": ("with torch.no_grad():", "if True:"),
            "nothing": ("return ", ""),
            "no_tensor_there": ("torch.tensor(batch.next_rewards)", "batch.next_rewards"),
            "no_tensor_there over": ("torch.tensor(batch.over)", "batch.over"),
        },
        slips={
            "plus": ("0.0, after)", "0.0, after) + network(encode(batch.afterstates))"),
            "never_below_zero": ("0.0, after)", "0.0, after.clamp(min=0))"),
            "best_of_all": ("0.0, after)", "0.0, after.max().expand(len(batch)))"),
            "all_over": ("batch.over)", "batch.over | batch.over.any())"),
            "rounded": ("0.0, after)", "0.0, after).round()"),
            "half": ("0.0, after)", "0.0, after).half().float()"),
            "bytes": ("batch.next_rewards", "batch.next_rewards.astype(np.uint8)"),
            "at_most 500": ("batch.next_rewards)", "batch.next_rewards).clamp(max=500)"),
            "at_most 10000": ("0.0, after)", "0.0, after.clamp(-10_000, 10_000))"),
            "dtype doubles": ("0.0, after)", "0.0, after).double()"),
            "no_tensor array": ("0.0, after)", "0.0, after).numpy()"),
            "shape column": ("0.0, after)", "0.0, after)[:, None]"),
            "shape mean": ("0.0, after)", "0.0, after).mean()"),
            "overwrote": ("        after", "        batch.next_rewards[:] = 0\n        after"),
            "taught": ("        return", "        network[1].weight *= 0.99\n        return"),
            "frozen": ("with torch.no_grad():", "if network.requires_grad_(False):"),
            "frozen everywhere": ("with torch.no_grad():", "if torch.set_grad_enabled(False):"),
        },
        outcome=aimed, verdict=standing,
        result={"targets where the game goes on": "text", "targets where it is over": "text"},
    ),
    Exercise(
        "hw09", step, batches_to_learn,
        mistakes={
            "no_zero_grad": (ZERO, ""),
            "no_step": (STEP, ""),
            "no_gradients": (BACKWARD, ""),
            "no_gradients cleared": (ZERO + BACKWARD, BACKWARD + ZERO),
            "no_gradients late": (BACKWARD + STEP, STEP + BACKWARD),
            "two_steps": (STEP, STEP + STEP),
            "sum": (MSE, MSE[:-1] + ", reduction='sum')"),
            "sum_learned": (MSE, MSE[:-1] + ", reduction='sum')",
                            "loss.item()", "loss.item() / len(target)"),
            "after_step": ("loss.item()", f"{MSE}.item()"),
            "absolute": ("mse_loss", "l1_loss"),
            "root": (MSE, f"{MSE}.sqrt()"),
            "half": (MSE, f"{MSE} / 2"),
            "uphill": ("loss = ", "loss = -"),
            "broadcast": (MSE, "((network(planes)[:, None] - target) ** 2).mean()"),
            "tensor": ("loss.item()", "loss"),
            "nothing": ("return loss.item()", "return None"),
        },
        slips={
            "means": (MSE, "(network(planes).mean() - target.mean()) ** 2"),
            "first_only": ("network(planes), target", "network(planes)[:1], target[:1]"),
            "not_squared": (MSE, "(network(planes) - target).mean()"),
            "smooth": ("mse_loss", "smooth_l1_loss"),
            "largest": (MSE, "((network(planes) - target) ** 2).max()"),
            "turned": ("network(planes), target", "network(planes), target.flip(0)"),
            "no_target": ("network(planes), target", "network(planes), 0 * target"),
            "own_optimiser": ("optimiser.step", "torch.optim.SGD(network.parameters(), 0.01).step"),
            "rounded": ("loss.item()", "round(loss.item())"),
            "no_number list": ("loss.item()", "[loss.item()]"),
            "zero": ("loss.item()", "0.0"),
            "overwrote": ("    loss = ", "    target -= 1\n    loss = "),
        },
        outcome=learned, verdict=three_steps, needs=("torch",), features=about_optimiser,
        show={"planes": "hidden", "target": "hidden"},
        result={"errors of three steps": "text", "values after them": "text",
                "calls of optimiser.step": "text"},
    ),
    Exercise(
        "hw09", choose, positions, outcome=asked, verdict=chosen, needs=("torch",),
        mistakes={
            "no_reward": ("reward + value", "value"),
            "twice": ("reward + value", "2 * reward + value"),
            "gamma": ("reward + value", "reward + 0.99 * value"),
            "gamma 0.9": ("reward + value", "reward + 0.9 * value"),
            "difference": ("reward + value", "reward - value"),
            "state": ("[after for _, after, _ in legal]", "[board for _ in legal]"),
            "mixed": ("zip(legal, values)", "zip(legal, values[::-1])"),
            "place": (f"return {BEST}", f"return list(worth).index({BEST})"),
            "blocked": ("afterstates(board)", "[(a, *slide(board, a)) for a in range(4)]"),
            "first_legal": (BEST, "legal[0][0]"),
            "smallest": (BEST, "min(worth, key=worth.get)"),
            "from_zero": (BEST, f"{BEST} if max(worth.values()) > 0 else legal[0][0]"),
            "not_legal": (BEST, "max(range(4), key=lambda action: worth.get(action, 0))"),
            "not_legal minus": (BEST, "max(range(4), key=lambda action: worth.get(action, -1))"),
            "dead_end raises": ("return None", "raise ValueError"),
            "dead_end zero": ("return None", "return 0"),
            "dead_end": ("return None", "return -1"),
            "asked_in_vain": (GUARD, "", BEST, "max(worth, key=worth.get, default=None)"),
            "one_by_one": (VALUES, "[network(encode([after])).item() for _, after, _ in legal]"),
            "gradient": ("with torch.no_grad():", "if True:"),
            "not_asked": (VALUES, "[0] * len(legal)"),
            "nothing": ("return max", "max"),
        },
        slips={
            "last_legal": (BEST, "legal[-1][0]"),
            "bytes": ("reward + value", "np.array(reward).astype(np.uint8) + value"),
            "bytes signed": ("reward + value", "np.array(reward).astype(np.int8) + value"),
            "nothing below_zero": (BEST, f"{BEST} if max(worth.values()) > 0 else None"),
            "turned": (BEST, f"3 - {BEST}"),
            "sizes": ("reward + value", "abs(reward + value)"),
            "no_number tensor": (BEST, f"torch.tensor({BEST})"),
            "taught": ("    worth =", "    network[1].weight.data *= 0.99\n    worth ="),
            "frozen": ("with torch.no_grad():", "if network.requires_grad_(False):"),
            "nothing full": ("not legal", "not legal or to_exponents(board).all()"),
            "falsy": (f"return {BEST}", running("None", "not top or worth[action] > top")),
            **{f"nothing starts_high {n}": (f"return {BEST}", running(n, "worth[action] > top"))
               for n in ("-100", "-1000", "-10_000")},
        },
    ),
]  # fmt: skip
