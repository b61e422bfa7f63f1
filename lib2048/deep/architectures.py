"""The seven value networks of Matsuzaki (2021, Table 2, Fig. 3): from an encoded board to a number.

Every module takes boards encoded as float (n, 16, 4, 4), a plane for each exponent, and returns
n values in points, without scaling.
"""

from itertools import chain, pairwise

import torch
from torch import nn

DEVIATION = 0.1  # of the initial weights, cut off at two deviations
PLANES, SIDE = 16, 4


class Patches(nn.Module):
    """A layer of convolutions whose filters look at `height` × `width` cells: no padding, stride 1.

    It takes and returns (n, rows, columns, channels).  It computes what torch's Conv2d does, as one
    product of matrices over all patches: in bfloat16 a step of training takes two thirds of the
    time (`benchmarks/README.md`), in float32 about the same.  weights:
    linear.weight, (filters, height · width · channels).
    """

    def __init__(self, channels, filters, height=2, width=2):
        super().__init__()
        self.height, self.width = height, width
        self.linear = nn.Linear(height * width * channels, filters)

    def forward(self, x):
        """Return relu(filters of each patch)."""
        rows, columns = x.shape[1] - self.height + 1, x.shape[2] - self.width + 1
        corners = [(r, c) for r in range(self.height) for c in range(self.width)]
        patches = [x[:, r : r + rows, c : c + columns] for r, c in corners]
        return torch.relu(self.linear(torch.cat(patches, -1)))


class Head(nn.Sequential):
    """Full-connect layers with ReLU, and one number at the end, always computed in float32.

    In bfloat16 a value of 20 000 points would be known to the next 128.
    """

    def __init__(self, inputs, *units):
        pairs = [(nn.Linear(*sizes), nn.ReLU()) for sizes in pairwise([inputs, *units])]
        super().__init__(*chain(*pairs))
        self.value = nn.Linear(units[-1], 1)

    def forward(self, x):
        """Return n values in float32."""
        for layer in list(self)[:-1]:
            x = layer(x)
        with torch.autocast(x.device.type, enabled=False):
            return self.value(x.float()).squeeze(-1)


def cells_last(planes):
    """Turn planes (n, 16, 4, 4) into what stands in each cell (n, 4, 4, 16)."""
    return planes.permute(0, 2, 3, 1)


class CNN22(nn.Module):
    """Two layers of 2×2 filters, then full-connect layers."""

    def __init__(self, first, second, *units):
        super().__init__()
        self.first, self.second = Patches(PLANES, first), Patches(first, second)
        self.head = Head(4 * second, *units)

    def forward(self, planes):
        """planes: (n, 16, 4, 4) → n values."""
        return self.head(self.second(self.first(cells_last(planes))).flatten(1))


class CNN12(nn.Module):
    """Three layers of 1×2 filters, each applied along the rows and, transposed, along the columns.

    Every result of a layer is looked at in both directions by filters of its own (b to g of
    Fig. 3b), and what a path of directions makes of a board, the mirrored path, with the same
    filters, makes of the transposed board.  So it is one tower of seven sets of filters for the
    board and for its transposed image.
    """

    def __init__(self, filters=256, units=256):
        super().__init__()
        wide = [Patches(PLANES if n == 0 else filters, filters, 1, 2) for n in range(4)]
        high = [Patches(filters, filters, 2, 1) for _ in range(3)]
        self.wide, self.high = nn.ModuleList(wide), nn.ModuleList(high)
        self.head = Head(2 * (4 + 3 * 6) * filters, units)

    def _tower(self, cells):
        first = self.wide[0](cells)
        second = [self.wide[1](first), self.high[0](first)]
        filters = zip(second, self.wide[2:], self.high[1:])
        third = [layer(x) for x, *pair in filters for layer in pair]
        return torch.cat([x.flatten(1) for x in third], 1)

    def forward(self, planes):
        """planes: (n, 16, 4, 4) → n values."""
        cells = cells_last(planes)
        return self.head(torch.cat([self._tower(cells), self._tower(cells.transpose(1, 2))], 1))


class MLP(nn.Module):
    """Full-connect layers only: the table says 512 units in the last, its weights say 256."""

    def __init__(self, *units):
        super().__init__()
        self.head = Head(PLANES * SIDE * SIDE, *units)

    def forward(self, planes):
        """planes: (n, 16, 4, 4) → n values."""
        return self.head(cells_last(planes).flatten(1))


ARCHITECTURES = {
    "cnn22": lambda: CNN22(256, 512, 1024, 256),
    "cnn22s": lambda: CNN22(192, 384, 768, 192),
    "cnn22ss": lambda: CNN22(128, 256, 512, 128),
    "cnn22sss": lambda: CNN22(64, 128, 256, 64),
    "cnn22acg": lambda: CNN22(160, 320, 2048, 256),
    "cnn12": CNN12,
    "mlp": lambda: MLP(512, 1024, 2048, 256),
}


@torch.no_grad()
def make(name, seed=0):
    """Return a new value network of Table 2 as a torch module on boards encoded (n, 16, 4, 4).

    The weights come from a normal distribution of deviation 0.1, cut off at ± 0.2, as in the paper;
    the biases are 0.

    Args:
        name: 'cnn22', 'cnn22s', 'cnn22ss', 'cnn22sss', 'cnn22acg', 'cnn12' or 'mlp', in either
            case.
        seed: any int.

    Raises:
        ValueError: for another name.
    """
    if name.lower() not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise ValueError(f"unknown neural network {name!r}: use one of {known}")
    module = ARCHITECTURES[name.lower()]()
    luck = torch.Generator().manual_seed(int(seed) % (1 << 63))
    for weights in module.parameters():
        if weights.dim() > 1:
            nn.init.trunc_normal_(weights, 0.0, DEVIATION, -2 * DEVIATION, 2 * DEVIATION, luck)
        else:
            weights.zero_()
    return module


def weight_count(module):
    """Return the number of a module's weights, biases included."""
    return sum(weights.numel() for weights in module.parameters())
