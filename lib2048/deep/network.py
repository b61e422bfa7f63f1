"""A torch module as a network of this library: boards in, values out."""

import copy
from contextlib import nullcontext

import numpy as np
import torch

from lib2048.deep.architectures import SIDE, make, weight_count
from lib2048.deep.modules import check_kind, check_module, check_name
from lib2048.deep.policy import in_parts
from lib2048.deep.replay import Replayed
from lib2048.game.batch import CELLS, KINDS, as_boards, images, one_hot
from lib2048.networks.neural import OWN, check_choices
from lib2048.play.players import ValuePlayer


class ValueNetwork:
    """A neural network that values afterstates.

    Args:
        what: a name, see `make`, or a torch module of your own that takes (n, 16, 4, 4) and returns
            n numbers.
        name: what your own is called.
        seed: of the initial weights.
        symmetry: 'simple' asks for the board as it is, 'ave', 'max' and 'min' take that of its
            eight images' values (Matsuzaki 2021, section 3.2).
        device: 'cpu', 'cuda', …
        precision: 'float32', or 'bfloat16' for the layers before the last one.

    Raises:
        ValueError: for what does not exist here.
    """

    def __init__(
        self, what, name=None, seed=0, symmetry="simple", device="cpu", precision="float32"
    ):
        check_choices(symmetry=symmetry, precision=precision)
        check_device(device)
        own = not isinstance(what, str)
        if own:
            name = type(what).__name__ if name is None else name
            check_name(name)
        self.name = OWN + name.removeprefix(OWN) if own else what.lower()
        self.symmetry, self.precision, self.device = symmetry, precision, torch.device(device)
        module = what if own else make(what, seed)
        if own:
            check_kind(module, self.name)
        self._replayed = {}  # by the number of boards
        self.module = module.to(self.device)
        if own:
            check_module(module, lambda boards: self._answer(self.encode(boards)), self.name)

    def with_module(self, module):
        """Return the same network with other weights, those of a module of the same kind."""
        other = copy.copy(self)
        other.module, other._replayed = module, {}
        return other

    @property
    def replays(self):
        """Whether a GPU replays what it is asked; a module of your own may be another each time."""
        return self.device.type == "cuda" and not self.name.startswith(OWN)

    def arguments(self):
        """Return what decides it beside its weights, by name; see `neural.Outline`."""
        return {"name": self.name, "symmetry": self.symmetry}

    def player(self, depth=None, seconds=None):
        """Return the player that looks ahead so far, in plies or in seconds a move, or one ply."""
        symmetric = self.symmetry != "simple"
        return ValuePlayer(self.values, depth, seconds, self.name, symmetric=symmetric)

    @property
    def size(self):
        """The number of weights."""
        return weight_count(self.module)

    def encode(self, boards):
        """Encode boards, uint64[n] or as `sent`, as a float tensor (n, 16, 4, 4) on the device."""
        sent = torch.is_tensor(boards)
        planes = _one_hot_there(boards) if sent else torch.from_numpy(one_hot(boards))
        return planes.permute(0, 3, 1, 2).to(self.device).to(getattr(torch, self.precision))

    def sent(self, boards):
        """Return boards, uint64[n], as a tensor int64[n] of the same bits on the device."""
        return torch.from_numpy(as_boards(boards).view(np.int64)).to(self.device)

    def forward(self, boards):
        """Return the module's values of boards as a float32 tensor through which gradients flow."""
        return self.pass_through(self.encode(boards))

    def pass_through(self, planes):
        """Return the module's values of encoded boards (n, 16, 4, 4): see `forward`."""
        return self._answer(planes).reshape(-1).float()

    def _answer(self, planes):
        half = self.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16) if half else nullcontext():
            return self.module(planes)

    def values(self, boards):
        """Return the values of afterstates: uint64[n] → float32[n], in points."""
        boards = np.asarray(boards, np.uint64)
        if self.symmetry == "simple":
            return self._ask(boards)
        found = self._ask(images(boards).reshape(-1)).reshape(-1, 8)
        return {"ave": np.mean, "max": np.max, "min": np.min}[self.symmetry](found, axis=1)

    def value(self, board):
        """Return the value of one afterstate, in points."""
        return float(self.values([board])[0])

    @torch.inference_mode()
    def _ask(self, boards):
        if not len(boards):  # a module of one's own need not know what to do with none
            return np.zeros(0, np.float32)
        answer = self._replay if self.replays else self.forward
        return in_parts(lambda part: answer(part).cpu().numpy(), boards)

    def _replay(self, boards):
        """Return what `forward` does, asked for as many boards as the next power of two."""
        count = 1 << (len(boards) - 1).bit_length()
        padded = np.zeros(count, np.uint64)
        padded[: len(boards)] = boards
        if count not in self._replayed:
            self._replayed[count] = Replayed(self.forward)
        return self._replayed[count](self.sent(padded))[: len(boards)]

    def __repr__(self):
        return f"<network {self.name}: {self.size:,} weights>"


def _one_hot_there(bits):
    """Return what `one_hot` does, on the device: int64[n] → bool (n, 4, 4, 16)."""
    shifts = torch.arange(0, 4 * CELLS, 4, device=bits.device)
    exponents = bits[:, None] >> shifts & KINDS - 1
    kinds = torch.arange(KINDS, device=bits.device)
    return (exponents[:, :, None] == kinds).unflatten(1, (SIDE, SIDE))


def check_device(device):
    """Raise ValueError, in one line, for a device that torch does not have here."""
    try:
        torch.zeros(1, device=torch.device(device)).item()  # 'meta' has no numbers
    except (RuntimeError, AssertionError, ImportError, TypeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"device {device!r}: torch has none here ({reason}); use cpu") from None
