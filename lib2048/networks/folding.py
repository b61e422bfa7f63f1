"""Folding: a network without its contained tuples that gives every board the same value."""

import numpy as np

from lib2048.game.bits import NUMBERED
from lib2048.game.board import symmetries, to_exponents
from lib2048.machine.kernels import kernel
from lib2048.networks.names import SHAPES, parse_network, word

FOLD_BITS = 12  # of a position are looked up together


def fold(network):
    """Return a network without the tuples that are contained in longer ones; see `Network.folded`.

    network: `Network`.  Raises ValueError, in one line, when nothing can be folded.
    """
    if network.form == "q":
        raise ValueError(f"network {network.name}: folding is for values of boards, not of actions")
    hosts = _hosts(network)
    kept = [number for number in range(len(network.tuples)) if number not in hosts]
    changed = {"name": _name_of(network, kept), "promotion": False}
    folded = type(network)(**network.arguments() | changed)
    for block in range(network.blocks):
        if _is_empty(network, block):
            continue
        for new, old in enumerate(kept):  # and what is stored as a pair with it
            weights, (_, start) = _read(network, old, block), folded.region(new, block)
            folded.weights[start:][: len(weights)] = weights
        for number, (host, cells) in hosts.items():
            region, (_, first) = _read(network, number, block), network.region(number)
            small = region[network.positions(number) - first]
            _add_table(folded, kept.index(host), block, cells, small)
    return folded


def _hosts(network):
    """Find, for each tuple shorter than the longest, {number: (longer tuple, its cells there)}."""
    longest = max(map(len, network.tuples))
    hosts = {
        number: _host(network, cells, longest)
        for number, cells in enumerate(network.tuples)
        if len(cells) < longest
    }
    if not hosts:
        raise ValueError(f"network {network.name}: no tuple is contained in a longer one")
    return hosts


def _host(network, cells, longest):
    for image in symmetries(NUMBERED, network.game):
        turned = to_exponents(image)[list(cells)].tolist()
        for host, others in enumerate(network.tuples):
            if len(others) == longest and set(turned) <= set(others):
                return host, turned
    raise ValueError(
        f"network {network.name}: tuple {word(cells)} is in no longer one: it cannot be folded"
    )


def _name_of(network, kept):
    """Return the name of a network of some of the tuples, by shapes where it had shapes."""
    tuples = tuple(network.tuples[number] for number in kept)
    name, at, game = network.name.partition("@")
    shapes = [shape for shape in name.split("-") if shape in SHAPES]
    longest = max((len(SHAPES[shape]) for shape in shapes), default=0)
    name = "-".join(shape for shape in shapes if len(SHAPES[shape]) == longest)
    if name and parse_network(name + at + game) == tuples:
        return name + at + game
    return "cells:" + ",".join(map(word, tuples)) + at + game


def _is_empty(network, block):
    """Say whether a stage, and the one that it reads through to, has no weights at all."""
    first = max(block - 1, 0) if network.promotes else block
    return not network.weights[first * network.block : (block + 1) * network.block].any()


def _read(network, number, block):
    """Return a tuple's region of weights in a stage, those never accessed from the one below."""
    bits, start = network.region(number, block)
    weights = network.weights[start : start + (1 << len(bits))]
    if not network.promotes or block == 0:
        return weights
    earlier = network.weights[start - network.block :][: len(weights)]
    return np.where(weights == 0, earlier, weights)


def _add_table(network, number, block, cells, small):
    """Add a contained tuple's weights, in plain order, to those of the tuple that holds it.

    cells: where the contained tuple stands, so that it lies within the other.
    """
    bits, start = network.region(number, block)
    index = {(cell, bit): 1 << 4 * j + bit for j, cell in enumerate(cells) for bit in range(4)}
    low, high = _indices(bits[:FOLD_BITS], index), _indices(bits[FOLD_BITS:], index)
    _add_kernel(network.weights, start, low, high, small)


def _indices(bits, index):
    """Return, for every value of some bits of a position, its part of the contained tuple's index.

    −1 where a constant bit says that the position belongs to another tuple.
    """
    values = np.arange(1 << len(bits))
    found, ours = np.zeros(len(values), np.int64), np.ones(len(values), bool)
    for place, source in enumerate(bits):
        bit = values >> place & 1
        if isinstance(source, int):
            ours &= bit == source
        else:
            found += bit * index.get(source, 0)
    return np.where(ours, found, -1)


@kernel
def _add_kernel(weights, at, low, high, small):
    """Add small[low | high] to the weights from `at` on, the low bits running fastest."""
    for above in high:
        for below in low:
            if above >= 0 and below >= 0:
                weights[at] += small[above | below]
            at += 1
