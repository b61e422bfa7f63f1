"""The cases of hw04: all kinds of boards and paths, and choices that hang by little."""

import functools
from functools import partial

import numpy as np

from lib2048.course.labs.hw04 import program
from lib2048.course.labs.hw04.program import CELLS, PLAYED, SLID, UNIT, Step, Tables
from lib2048.game import board as boards
from lib2048.game.board import initial, spawn, to_exponents
from lib2048.game.rng import stream
from lib2048.networks.names import with_game

NETWORK = with_game("cells:0125,4569,0123", PLAYED)  # small enough for a check
ONE = with_game("cells:015", PLAYED)  # smaller still, and of another shape
ALPHA, LARGEST = 0.25, 15
afterstates = partial(boards.afterstates, game=SLID)

# ---------------------------------------------------------------- networks


def a_network(random, name=NETWORK, spread=100.0):
    """Return small `Tables` with random weights."""
    tables = program.new_tables(name)
    tables.weights[:] = random.normal(0, spread, tables.weights.shape)
    return tables


def spawns(afterstate):
    """Return [(chance, state), …] of what may follow an afterstate."""
    empty = [cell for cell in range(CELLS) if program.at(afterstate, cell) == 0]
    chances = {1: 1 - program.FOUR, 2: program.FOUR}
    return [
        (chance / len(empty), program.put(afterstate, cell, e))
        for cell in empty
        for e, chance in chances.items()
    ]


def look_ups(isomorphic, board):
    """Return the places of a board's weights, counted through all rows of the table."""
    sizes = [16 ** len(images[0]) for images in isomorphic]
    return [
        k * sizes[k] + program.indexof(pattern, board)
        for k, images in enumerate(isomorphic)
        for pattern in images
    ]


@functools.lru_cache(200)
def shares(isomorphic, mixtures):
    """Return (places, float64[mixtures, places]): how much of each weight is in some values.

    mixtures: (((share, board), …), …), of which each is a value: Σ share · V(board).
    """
    rows = [
        [(place, share) for share, board in mixture for place in look_ups(isomorphic, board)]
        for mixture in mixtures
    ]
    places = np.unique([place for row in rows for place, _ in row])
    found = np.zeros((len(rows), len(places)))
    for row, parts in zip(found, rows):
        for place, share in parts:
            row[np.searchsorted(places, place)] += share
    return places, found


def with_values(network, wanted):
    """Return the network with other weights, as near as can be: {mixture: its value, …}.

    Returns None where these values do not go together.
    """
    weights = network.weights.copy()
    places, parts = shares(network.isomorphic, tuple(wanted))
    values = np.array([*wanted.values()])
    flat = weights.reshape(-1)
    flat[places] += np.linalg.lstsq(parts, values - parts @ flat[places])[0].astype(np.float32)
    near = np.abs(parts @ flat[places] - values) < 0.02
    return Tables(weights, network.isomorphic) if near.all() else None


# ---------------------------------------------------------------- boards


def packed(exponents):
    """Return the board of these exponents, cell by cell."""
    return np.uint64(sum(int(e) << 4 * cell for cell, e in enumerate(exponents)))


def random_game(random, *seeds):
    """Return the `Step`s of a game by random actions.  seeds: of the spawns."""
    board, luck = initial(stream(*seeds), PLAYED)
    steps = []
    while options := afterstates(board):
        action, after, reward = options[random.integers(len(options))]
        following, luck = spawn(after, luck, PLAYED)
        steps.append(Step(board, action, float(reward), after, following))
        board = following
    return steps


def a_game(random, turns=10_000):
    """Return the last steps of a random game, at most so many."""
    return random_game(random, 2048, int(random.integers(1 << 31)))[-turns:]


def larger(random, board):
    """Return the board with larger tiles in its cells, up to 32768; equal ones stay equal."""
    exponents = to_exponents(board)
    kinds = np.unique(exponents[exponents > 0])
    new = np.zeros(16, int)
    new[kinds] = [*np.sort(random.choice(np.arange(1, LARGEST), len(kinds) - 1, False)), LARGEST]
    return packed(new[exponents])


def shifted(path):
    """Return a path with larger tiles, up to 32768, and so larger rewards; mergers stay mergers."""
    by = LARGEST - int(max(to_exponents(step.next_state).max() for step in path))

    def moved(board):
        return packed([e and e + by for e in to_exponents(board).tolist()])

    return [
        Step(moved(s.state), s.action, s.reward * 2**by, moved(s.afterstate), moved(s.next_state))
        for s in path
    ]


def some_boards(random, plain=4, large=4):
    """Return afterstates of a random game, the later ones with larger tiles."""
    steps = a_game(random)
    chosen = [steps[i].afterstate for i in sorted(random.choice(len(steps), plain + large, False))]
    return [*chosen[:plain], *(larger(random, board) for board in chosen[plain:])]


def mirrored(random):
    """Return a board that is its own mirror image: its weights are looked up twice."""
    half = random.permutation([0, LARGEST, *random.choice(np.arange(1, LARGEST), 6, False)])
    half = half.reshape(4, 2)[: PLAYED.rows]
    return packed(np.hstack([half, half[:, ::-1]]).ravel())


def stuck(random, empty=0, beside=0):
    """Return a board on which nothing merges, with so many empty cells.

    beside: an exponent for a neighbour of the last of these.  Two 32768s lie side by side.
    """
    low, high = random.permutation(np.arange(3, 9)), random.permutation(np.arange(9, LARGEST))
    cells = [(low, high)[(c + c // 4) % 2][c // 2 % 6] for c in range(CELLS)]
    row = 4 * int(random.integers(PLAYED.rows))
    cells[row : row + 2] = LARGEST, LARGEST
    hole = (row + 6) % CELLS
    for cell in [hole, (row + 10) % CELLS][:empty]:
        cells[cell] = 0
    if beside:
        cells[hole + 1] = beside
    return packed(cells)


def full_with_a_pair(random):
    """Return a full board on which two tiles can merge."""
    cells = to_exponents(stuck(random)).ravel()[:CELLS]
    pairs = [c for c in range(CELLS) if c % 4 < 3 and max(cells[c : c + 2]) < LARGEST]
    at = int(random.choice(pairs))
    cells[at + 1] = cells[at]
    return packed(cells)


def index_cases(random):
    """Return (pattern, board) pairs: cells in and out of order, and all exponents there are."""
    patterns = [(0, 1, 2, 3), (3, 2, 1, 0), (0, 1, 2, 4, 5, 6), (9, 10, 8, 5, 6, 4)]
    exponents = np.arange(16)
    exponents[1:] = random.permutation(exponents[1:])  # a place may not hold 0 and be missed
    all_of_them = packed(exponents[:CELLS]), packed([*exponents[::-1][: CELLS - 1], exponents[0]])
    cells = random.permutation(CELLS).tolist()
    large = [(tuple(cells[at : at + 6]), board) for board in all_of_them for at in (0, 3, 6)]
    return [
        *((pattern, board) for board in some_boards(random, 3, 2) for pattern in patterns),
        *large,
    ]


def value_cases(random):
    """Return (network, board) pairs; boards come again with other weights."""
    one, other, network = (a_network(random, name) for name in (ONE, ONE, NETWORK))
    some = [*some_boards(random, 3, 3), mirrored(random), mirrored(random)]
    return [
        *((one, board) for board in some),
        *((other, board) for board in some[2:4]),
        *((network, board) for board in some[1:]),
    ]


def update_cases(random):
    """Return (network, board, amount) triples, the last amounts no numbers to learn from."""
    one, network = a_network(random, ONE), a_network(random)
    some = [*some_boards(random, 3, 3), mirrored(random), mirrored(random)]
    amounts = [100.0, -32.0, 1000.5, 60.0, -4096.0, 250.0, 320.0, -75.0]
    few = [8.0, -16.0, *amounts[2:]]
    return [
        *((one, board, amount) for board, amount in zip(some, few)),
        *((network, board, amount) for board, amount in zip(some, amounts)),
        (one, some[1], np.inf), (one, some[2], np.nan),
        *((a_network(random, ONE, 1.0), some[-1], amount) for amount in (0.0, 0.25, -0.25)),
    ]  # fmt: skip


def expected_cases(random):
    """Return (network, afterstate) pairs: few tiles, many, and where the game may end."""
    one, network = a_network(random, ONE), a_network(random)
    some = some_boards(random, 3, 3)
    few, _ = initial(stream(2048, int(random.integers(1 << 31))), PLAYED)
    ends = stuck(random, 1), stuck(random, 1, beside=1), stuck(random, 2)
    return [(one, board) for board in (few, *some, *ends)] + [(network, b) for b in some[-2:]]


# ---------------------------------------------------------------- choices

# What four actions are worth, in steps of 4: the best is the first, the last, one in the middle.
ORDERS = (3, 1, 2, 0), (1, 2, 0, 3), (0, 3, 1, 2), (2, 0, 3, 1)
NARROW, PAID = 0.005, 8192  # so much of a reward decides, of so large a one


def choice_cases(random, mean=False):
    """Return (network, board) pairs whose choice hangs by little: by rewards, order, signs.

    mean: whether an action is worth the mean over the spawns, and not the value of its afterstate.
    """
    states, found = _states(random), []
    small, wide = (a_network(random, name, 5.0) for name in (ONE, ONE if mean else NETWORK))

    def add(worths_of, network=small, **wanted):
        for board in states:
            options = afterstates(board)
            if not _fits(options, **wanted):
                continue
            made = _decided(network, board, options, worths_of(options), mean)
            if made is not None:
                return found.append((made, board))

    for at, order in enumerate(ORDERS):
        add(partial(_ordered, order, (20, -4000, 900, -60)[at]), (small, wide)[at % 2], legal=[4])
    for level in (-50, -30_000, 40):
        add(partial(_ordered, (0, 2, 1), level), wide, legal=[2, 3], up=False)
    alike = partial(_ordered, (0.025, 0.1, -9, -9), 0)  # as whole numbers
    add(alike, legal=[3, 4], paid=0)
    for part in (-0.5, 0.01, 0.7, 1 - NARROW, 1 + NARROW, 1.5):
        add(partial(_narrow, part), wide, legal=[2, 3, 4], paid=PAID)
    nothing = program.new_tables(ONE)
    alone = next(b for b in states if _fits(afterstates(b), legal=[1], up=False, paid=0))
    equal = next(b for b in states if _fits(afterstates(b), legal=[3, 4], paid=0))
    found += [
        (nothing, alone),
        (nothing, equal),
        next(filter(None, map(_first_is_0(mean), states))),
    ]
    found += [(small, full_with_a_pair(random)) for _ in range(2)]
    return [*found, (small, stuck(random)), (wide, stuck(random))]


def _first_is_0(mean):
    """Return a function from a board to a case in which the first action is worth exactly 0, and
    all others less; None where there is none."""

    def case(board):
        (_, first, reward), *others = options = afterstates(board)
        boards_of = lambda after: [s for _, s in spawns(after)] if mean else [after]  # noqa: E731
        network = program.new_tables(ONE)
        seen = [{p for b in boards_of(a) for p in look_ups(network.isomorphic, b)}
                for _, a, _ in options]  # fmt: skip
        own = [places - seen[0] for places in seen[1:]]
        if reward or not others or not all(own):
            return None
        most = max(reward for _, _, reward in options)
        network.weights.reshape(-1)[list(set.union(*own))] = -1000.0 * (1 + most)
        return network, board

    return case


def _states(random):
    """Yield states of random games without end, every other one with larger tiles."""
    while True:
        steps = a_game(random)
        for i in random.permutation(len(steps)):
            yield steps[i].state
            yield larger(random, steps[i].state)


def _fits(options, legal, up=True, paid=None):
    """Say whether a board's options are of a number, and their rewards differ by so much."""
    rewards = [reward for _, _, reward in options]
    if len(options) not in legal or (not up and options[0][0] == 0):
        return False
    return paid is None or (min(rewards) == 0 and max(rewards) - paid in range(paid * 3 + 1))


def _ordered(order, level, options):
    """Return worths in an order."""
    return [level + 4 * place for place, _ in zip(order, options)]


def _narrow(part, options):
    """Return worths where one action has a reward, and another a value larger by a part of it."""
    rewards = [reward for _, _, reward in options]
    paid, unpaid = int(np.argmax(rewards)), rewards.index(0)
    most = rewards[paid] / UNIT
    worths = [-900.0 - 3 * most] * len(options)
    worths[paid], worths[unpaid] = -40.0, -40.0 - (1 - part) * most
    return worths


def _decided(network, board, options, worths, mean):
    """Return the network with values by which the options have these worths, None for none."""
    wanted = {}
    for (_, after, reward), worth in zip(options, worths):
        mixture = tuple(spawns(after)) if mean else ((1.0, after),)
        wanted[mixture] = worth - reward / UNIT
    if not mean:  # to slide without effect has to be worth more than what is legal
        wanted[((1.0, board),)] = max(worths) + 500.0
    return with_values(network, wanted) if len(wanted) == len(options) + (not mean) else None


# ---------------------------------------------------------------- paths


def path_cases(random):
    """Return (network, path, alpha) triples: the ends of games, one with a weight that is none."""
    one, network, steep = a_network(random, ONE), a_network(random), a_network(random, ONE, 3000.0)
    broken = a_network(random, ONE)
    path = a_game(random, 3)
    for board in (path[-1].afterstate, path[-1].state):
        broken.weights.reshape(-1)[look_ups(one.isomorphic, board)[0]] = np.nan
    return [
        (one, a_game(random, 2), ALPHA),
        (one, shifted(a_game(random, 4)), 0.5),
        (network, a_game(random, 3), ALPHA),
        (network, shifted(a_game(random, 3)), ALPHA),
        (one, a_game(random, 8), ALPHA),
        (steep, shifted(a_game(random, 3)), 0.125),
        (broken, path, ALPHA),
        (program.new_tables(ONE), a_game(random, 12), ALPHA),
    ]


def last_cases(random):
    """Return the last steps of games, alone; some of them paid a reward."""
    paths = {True: [], False: []}  # by whether a reward was paid
    while min(map(len, paths.values())) < 2:
        path = a_game(random, 1)
        paths[path[0].reward > 0].append(path)
    (one, other), (paid, more) = paths[False][:2], paths[True][:2]
    small, network = a_network(random, ONE), a_network(random)
    wanted = [(small, one, 50.0), (small, paid, -80.0), (network, shifted(more), 90.0),
              (small, shifted(other), 5000.0), (small, shifted(paid), -3000.0)]  # fmt: skip
    return [
        (with_values(tables, {((1.0, path[0].afterstate),): value}), path, 2.0 ** -(2 - at % 2))
        for at, (tables, path, value) in enumerate(wanted)
    ]
