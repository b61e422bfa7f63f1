"""The weights of a network that matter most, for a file that is small enough to be shipped.

The weights that have learned most matter most, by TC's A, the sum of the sizes of the errors that a
weight has met.  With promotion a weight that is left out is read from the stage below, if it is
kept there, and a copy that has hardly changed since is not missed.  So the stages of a weight are
decided together: every weight that is kept has the same price, and for each chain of stages the
cheapest choice is taken (dynamic programming, as Viterbi's).  The price follows from how many shall
be kept.
"""

import numpy as np

from lib2048.machine.kernels import kernel

SAMPLE = 1 << 22  # chains of stages that the price is found from
ROUNDS = 40
LEAST = np.finfo(np.float32).tiny  # stands for 0 where a weight that is 0 would be read from below


def prune(network, learned, keep):
    """Set all weights of a network to 0 but some `keep` of them, those that matter most.

    network: `Network`, changed in place; learned: float32[size], A of temporal coherence, the sum
    of the sizes of the errors that each weight has met; keep: about how many.  Leaving one
    out costs A, or, if the stage below is read instead, the share of A by which the two weights
    differ.  Of very many weights the number is met to a thousandth or so.  Returns how many there
    are.
    """
    step = max(1, network.block // SAMPLE)
    price = _price(network, learned, keep / step, step)
    return _pruned(network.weights, learned, *_shape(network), price, 1, True)


def _shape(network):
    if network.next == "shown":  # nothing is read from below: each weight stands for itself
        return network.size, 1, False
    return network.block, network.blocks, network.promotes


def _price(network, learned, keep, step):
    """Return the price at which so many weights of every `step`-th chain are worth theirs."""
    low, high = 1e-12, 1e18
    for _ in range(ROUNDS):
        middle = np.sqrt(low * high)
        few = _pruned(network.weights, learned, *_shape(network), middle, step, False) <= keep
        low, high = (low, middle) if few else (middle, high)
    return high


@kernel
def _pruned(weights, learned, block, blocks, promotes, price, step, change):
    """Count the weights that are worth their price; change: whether the others become 0."""
    count = 0
    for first in range(0, block, step):
        kept = _worth(weights, learned, first, block, blocks, promotes, price)
        for stage in range(blocks):
            if kept >> stage & 1:
                count += 1
            elif change and weights[first + stage * block] != 0:
                weights[first + stage * block] = 0  # a page that holds nothing is not touched
    return count


@kernel
def _worth(weights, learned, first, block, blocks, promotes, price):
    """Return which stages of a weight to keep, a bit for each.

    keep, drop: the least that the stages so far cost if the last of them is kept, or left out;
    keeping, dropping: the bits of those choices; below: the weight of the last one.
    """
    keep, drop, keeping, dropping, below = np.inf, 0.0, 0, 0, 0.0
    for stage in range(blocks):
        weight = np.float64(weights[first + stage * block])
        used = np.float64(learned[first + stage * block])
        least, chosen = (keep, keeping) if keep < drop else (drop, dropping)
        changed = min(abs(weight - below), abs(weight)) if promotes else abs(weight)
        near = keep + (used * changed / abs(weight) if weight != 0 else 0.0)
        far = drop + (used if weight != 0 else 0.0)
        drop, dropping = (near, keeping) if near < far else (far, dropping)
        keep, keeping = (least + price, chosen | 1 << stage) if weight != 0 else (np.inf, 0)
        below = weight
    return keeping if keep < drop else dropping


def round_off(network, step):
    """Round a network's weights to whole multiples of so many points, in place.

    With promotion a weight that becomes 0 would be read from the stage below: it becomes LEAST.
    """
    _round_off(network.weights, np.float32(step), LEAST if network.promotes else np.float32(0))


@kernel
def _round_off(weights, step, least):
    for i in range(len(weights)):
        if weights[i] != 0:  # a page that holds nothing is not touched
            rounded = np.rint(weights[i] / step) * step
            weights[i] = rounded if rounded != 0 else least
