"""The game and the learner once more, in plain Python: slow, without lib2048's kernels.

Boards are tuples of rows of tiles, as in `game.spec`, the only module taken from the library.
Values are np.float32, added in the order that `networks.lookups` documents, so that a comparison
with the kernels can be exact.
"""

import functools
from collections import Counter, defaultdict
from dataclasses import KW_ONLY, dataclass

import numpy as np

from lib2048.game import spec

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
F0 = np.float32(0)
CELLS = [(r, c) for r in range(4) for c in range(4)]

# ---------------------------------------------------------------- luck: SplitMix64


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def stream(seed, number):
    return mix(mix(seed + GOLDEN & MASK) ^ mix(number * GOLDEN & MASK))


def draw(state):
    state = state + GOLDEN & MASK
    return state, mix(state)


# ---------------------------------------------------------------- boards


def frozen(board):
    return tuple(map(tuple, board))


def number(board):
    """Pack tiles into the 64-bit integer of `lib2048.game.board`, where a 65536 is a 32768."""
    flat = [board[r][c] for r, c in CELLS]
    return sum(min(tile.bit_length() - 1, 15) << 4 * i for i, tile in enumerate(flat) if tile)


def tiles(packed):
    """Unpack the 64-bit integer of `lib2048.board` into tiles."""
    exponents = [int(packed) >> 4 * cell & 15 for cell in range(16)]
    flat = [1 << e if e else 0 for e in exponents]
    return frozen([flat[i : i + 4] for i in range(0, 16, 4)])


def with_tile(board, cell, tile):
    rows = [list(row) for row in board]
    rows[cell[0]][cell[1]] = tile
    return frozen(rows)


def slide(board, action):
    after, reward = spec.slide(board, action)
    return frozen(after), reward


def outcomes(board):
    """Return {action: (afterstate, reward)} of the legal actions."""
    slid = {action: slide(board, action) for action in range(4)}
    return {action: found for action, found in slid.items() if found[0] != board}


def alive(board):
    """Say whether an action is legal: an empty cell, or equal neighbours that may merge."""
    lines = (*board, *zip(*board))
    pairs = (pair for line in lines for pair in zip(line, line[1:]))
    return any(0 in row for row in board) or any(a == b < 65536 for a, b in pairs)


def spawn_by(board, bits):
    """Spawn by 64 random bits: the upper half chooses the cell, the lower half the tile."""
    empty = spec.empty_cells(board)
    cell = empty[(bits >> 32) * len(empty) >> 32]
    return with_tile(board, cell, 4 if (bits & 0xFFFFFFFF) < 429496730 else 2)


def spawn(board, state):
    state, bits = draw(state)
    return spawn_by(board, bits), state


def initial(state):
    return spawn(*spawn(((0,) * 4,) * 4, state))


UNLIKE = ((2, 4, 8, 8), (0, 2, 2, 16), (4, 0, 32, 2), (4, 64, 2, 2))  # four different slides


@functools.cache
def turned(image, action):
    """Return what an action is called on an image of the board, found by sliding one."""
    after = images(slide(UNLIKE, action)[0])[image]
    return [slide(images(UNLIKE)[image], other)[0] for other in range(4)].index(after)


def images(board):
    """Return the 8 symmetric boards, in the order of `lib2048.symmetries`."""
    found = []
    for rows in (board, tuple(zip(*board))):
        mirrored = tuple(row[::-1] for row in rows)
        found += [rows, mirrored, rows[::-1], mirrored[::-1]]
    return found


# Which cell of the board each cell of its 8 images shows.
IMAGES = [sum(image, ()) for image in images(tuple(tuple(range(n, n + 4)) for n in (0, 4, 8, 12)))]


@functools.cache
def stage(board, marks, top=32768):
    """Return the stage of a board: one bit each for `top`, its half … `marks` tiles in all.

    A tile above the top is two of the half, and of equal tiles all but one are one tile lower.
    """
    count = Counter(sum(board, ()))
    for tile in (32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16):
        if tile > top:
            count[tile // 2] += 2 * count[tile]
    bits = ""
    for tile in (top >> i for i in range(marks)):
        bits += "1" if count[tile] else "0"
        count[tile // 2] += max(count[tile] - 1, 0)
    return int(bits or "0", 2)


def play(choose, seed, game=0):
    """Play a game; choose: function of outcomes(board).  Returns (last board, score, actions)."""
    board, state = initial(stream(seed, game))
    score = actions = 0
    while legal := outcomes(board):
        after, reward = legal[choose(legal)]
        board, state = spawn(after, state)
        score, actions = score + reward, actions + 1
    return board, score, actions


def first_legal(legal):
    return min(legal)


def greedy(legal):
    return max(legal, key=lambda action: legal[action][1])  # max keeps the first of equals


# ---------------------------------------------------------------- networks


class PlainNetwork:
    """Weights in a dict by (block, tuple number, plain index), 0 where nothing was learned.

    A block is what an action (Q) or a stage has for itself.  marks, top: of the stages; promotes:
    whether a weight of 0 is read from the stage below.
    """

    def __init__(self, tuples, form="afterstate", lost=F0, marks=0, top=32768, promotes=False):
        self.form, self.lost = form, lost  # the sum of weights that stands for a lost board
        self.marks, self.top, self.promotes = marks, top, promotes
        self.tuples, self.weights = tuples, defaultdict(lambda: F0)
        self.sums, self.sizes = defaultdict(lambda: F0), defaultdict(lambda: F0)  # E and A of TC
        self.looks = [  # (tuple number, [(place of four bits in the index, cell of the board)])
            (number, [(4 * j, image[cell]) for j, cell in enumerate(cells)])
            for number, cells in enumerate(tuples)
            for image in IMAGES
        ]
        self._keys = {}

    def keys(self, board):
        """Return (tuple number, plain index) of every look-up, tuple by tuple, image by image."""
        if board not in self._keys:
            exponents = [tile.bit_length() - 1 if tile else 0 for tile in sum(board, ())]
            self._keys[board] = [
                (number, sum(exponents[cell] << place for place, cell in where))
                for number, where in self.looks
            ]
        return self._keys[board]

    def places(self, board, head=0):
        """Return (block, tuple number, plain index) of every look-up."""
        block = self.marks and stage(board, self.marks, self.top)
        return [
            (block or self.head(look_up, head), *key)
            for look_up, key in enumerate(self.keys(board))
        ]

    def source(self, key):
        """Return where a weight is read: one stage lower while it is 0, with promotion."""
        block, *where = key
        lower = self.promotes and block > 0 and self.weights.get(key, F0) == 0
        return (block - 1, *where) if lower else key

    def value(self, board, head=0, own=False):
        """Sum the weights; own: those of the board's own stage, even where they are 0."""
        parts = [F0, F0, F0, F0]
        for look_up, key in enumerate(self.places(board, head)):
            key = self.source(key) if self.promotes and not own else key
            parts[look_up % 4] += self.weights.get(key, F0)
        return (parts[0] + parts[1]) + (parts[2] + parts[3])

    def promote(self, board):
        """The first access: take over what the weights of a board are read from."""
        for key in self.places(board) if self.promotes else ():
            self.weights[key] = self.weights[self.source(key)]

    def add(self, board, head, amount):
        for key in self.places(board, head):
            self.weights[key] += amount

    def add_coherently(self, board, head, error, rate):
        """TC: move each weight at its own rate |E| / A, then take the error into E and A."""
        for key in self.places(board, head):
            own = abs(self.sums[key]) / self.sizes[key] if self.sizes[key] else np.float32(1)
            self.weights[key] += error * rate * own
            self.sums[key] += error
            self.sizes[key] += abs(error)

    def head(self, look_up, head):
        """Return the tables of a look-up: those of the action as it is on the turned board."""
        return turned(look_up % 8, head) if self.form == "q" else head

    def expected(self, board):
        """Average the value over the spawns: 2 and 4 in every empty cell, row by row."""
        total = F0
        for cell in spec.empty_cells(board):
            for tile, chance in ((2, np.float32(0.9)), (4, np.float32(0.1))):
                state = with_tile(board, cell, tile)
                total += chance * (self.value(state) if alive(state) else self.lost)
        return total / np.float32(len(spec.empty_cells(board)))

    def worths(self, board):
        """Return {action: what the player maximises} of the legal actions."""
        if self.form == "q":
            return {action: self.value(board, action) for action in outcomes(board)}
        value = self.value if self.form == "afterstate" else self.expected
        return {a: value(after) + np.float32(pay) for a, (after, pay) in outcomes(board).items()}


# ---------------------------------------------------------------- where games begin

JUMPS = {  # the large tiles on the five boards
    "s-jump": ((), (2048,), (4096,), (4096, 2048), (8192,)),
    "l-jump": ((), (4096,), (8192,), (8192, 4096), (16384,)),
}


def choice(things, state):
    """Return (one of several, next random state)."""
    state, bits = draw(state)
    return things[(bits >> 32) * len(things) >> 32], state


def jump(large, state):
    """Begin with one or two large tiles in random cells; beside one, a tile spawns."""
    board = ((0,) * 4,) * 4
    for tile in large:
        cell, state = choice(spec.empty_cells(board), state)
        board = with_tile(board, cell, tile)
    return (board, state) if large[1:] else spawn(board, state)


# ---------------------------------------------------------------- TD(λ) and TC(λ)


class Lane:
    """One of the games that take turns."""

    def __init__(self, game, start, board, state):
        self.game, self.score, self.steps, self.errors, self.start = game, 0, [], [], start
        self.shares = []  # of the steps that have learned, in a trace of all weights
        self.board, self.state, self.boards = board, state, [board]


@dataclass
class Learner:
    """Games take turns, an action each; a lane whose game is over takes the next number.

    rate: what a look-up's weight moves by; decay: λ; horizon: h; delay: learn each entry once, by
    the sum of its h + 1 errors; error: "remembered" where V in an entry's error is the one from
    when its action was chosen; traces: "dutch" is true online TD(λ); starts: where games begin.
    """

    network: PlainNetwork
    _: KW_ONLY
    rate: float
    seed: int
    lanes: int = 2
    learn: bool = True
    rule: str = "td"
    order: str = "forward"
    decay: float = 0.0
    horizon: int = 0
    delay: bool = True
    error: str = "fresh"
    traces: str = "accumulating"
    starts: str = "initial"

    def __post_init__(self):
        self.rate, self.decay = np.float32(self.rate), np.float32(self.decay)
        self.form, self.lost = self.network.form, self.network.lost
        self.entered, self.visits = defaultdict(list), Counter()
        self.actions, self.results = 0, []
        self.next_game, self.turn, self.last_game = 0, 0, float("inf")
        self.games = [None] * self.lanes
        self.forward = self.learn and self.order == "forward"

    def stage(self, board):
        return stage(board, self.network.marks, self.network.top)

    def play(self, last_action, last_game=float("inf")):
        self.last_game = last_game
        self.games = [lane or self.begin() for lane in self.games]
        while self.actions < last_action and any(self.games):
            if self.games[self.turn]:
                self.take_turn(self.games[self.turn])
            self.turn = (self.turn + 1) % self.lanes

    def begin(self, before=None):
        """Begin a lane's next game; before: the lane's last one."""
        if self.next_game >= self.last_game:
            return None
        self.next_game += 1
        game = self.next_game - 1
        return Lane(game, *self.origin(game, stream(self.seed, game), before))

    def origin(self, game, state, before):
        """Return (where a game begins, its board, the next random state)."""
        if self.starts == "carousel" and before:
            following = (before.start + 1) % 2**self.network.marks
            if following and self.entered[following]:
                return following, *choice(self.entered[following][-1000:], state)
        if self.starts.startswith("restart") and before and len(before.steps) > 10:
            end = before.start + len(before.steps)
            middle = (before.start + end) // 2
            return middle, before.boards[middle - before.start], state
        jumps = self.starts.removeprefix("restart-")
        if jumps in JUMPS and game % 5:
            return game % 5, *jump(JUMPS[jumps][game % 5], state)
        return 0, *initial(state)

    def take_turn(self, lane):
        worths = self.network.worths(lane.board)
        best = max(worths, key=worths.get, default=None)  # the first of equals
        seen = F0 if best is None else self.network.value(*self.entry(lane, best))
        if self.forward and lane.steps:
            self.learn_forward(lane, self.target(lane, worths, best), best is None)
        if best is None:
            self.finish(lane)
        else:
            self.act(lane, best, seen)

    def entry(self, lane, action):
        """Return what is learned when an action is taken: a board, and which tables' value."""
        after, _ = outcomes(lane.board)[action]
        entry = after if self.form == "afterstate" else lane.board
        return entry, action if self.form == "q" else 0

    def target(self, lane, worths, best):
        """What the last entry should be worth, seen from the state after it."""
        reward = np.float32(lane.steps[-1][2])
        if self.form == "afterstate":
            return worths[best] if worths else self.lost
        if self.form == "state":
            return (self.network.value(lane.board) if worths else self.lost) + reward
        return (worths[best] if worths else self.lost) + reward

    def learn_forward(self, lane, target, over):
        """Work out the newest error; teach it to the last h + 1 entries, or wait for the others."""
        lane.errors.append(self.error_of(lane.steps[-1], target))
        newest, share = len(lane.errors) - 1, self.rate
        oldest = max(newest - self.horizon, 0)
        if self.traces == "dutch":
            self.learn_true_online(lane, lane.errors[-1], oldest)
        elif not self.delay:
            for t in range(newest, oldest - 1, -1):
                self.move(lane.steps[t], lane.errors[-1], share)
                share = share * self.decay
        else:
            full = oldest + 1 if newest >= self.horizon else oldest
            for t in range(oldest, newest + 1 if over else full):
                self.move(lane.steps[t], self.sum_from(lane.errors[t:]), self.rate)

    def learn_true_online(self, lane, error, oldest):
        """True online TD(λ), whose trace is of the newest step and of those from `oldest` on."""
        newest = len(lane.errors) - 1
        board, head, _, seen = lane.steps[newest]
        moved = self.network.value(board, head, own=True) - seen
        shares, steps = lane.shares, lane.steps
        shares.append(F0)
        held = F0
        for t in range(newest - 1, oldest - 1, -1):
            shares[t] *= self.decay
            held += shares[t] * np.float32(self.meetings(steps[newest], steps[t]))
        shares[newest] = self.rate * (np.float32(1) - held)
        self.move(steps[newest], error, shares[newest])
        if held:
            self.move(steps[newest], -moved, self.rate - shares[newest])
        for t in range(newest - 1, oldest - 1, -1):
            self.move(steps[t], error + moved, shares[t])

    def meetings(self, one, other):
        """Return x · x′, where x counts how often a step's board meets each weight."""
        mine, theirs = (Counter(self.network.places(*step[:2])) for step in (one, other))
        return sum(mine[place] * theirs[place] for place in mine)

    def sum_from(self, errors):
        """δ_0 + λ (δ_1 + λ (δ_2 + …))."""
        return errors[0] + self.decay * self.sum_from(errors[1:]) if errors else F0

    def error_of(self, step, target):
        board, head, _, seen = step
        fresh = self.network.value(board, head, own=True)
        return target - (seen if self.error == "remembered" else fresh)

    def move(self, step, error, rate):
        board, head, *_ = step
        if self.rule == "tc":
            self.network.add_coherently(board, head, error, rate)
        else:
            self.network.add(board, head, error * rate)

    def act(self, lane, action, seen):
        """Take an action; seen: what its entry was worth when it was chosen."""
        after, reward = outcomes(lane.board)[action]
        entry, head = self.entry(lane, action)
        lane.steps.append((entry, head, reward, seen))
        lane.score += reward
        self.actions += 1
        if self.forward:
            self.network.promote(entry)
        before, now = self.stage(lane.board), self.stage(after)
        lane.board, lane.state = spawn(after, lane.state)
        lane.boards.append(lane.board)
        self.visits[now] += 1
        if now > before:
            self.entered[now].append(lane.board)

    def finish(self, lane):
        if self.learn and not self.forward:
            self.learn_backward(lane.steps)
        largest = max(map(max, lane.board)).bit_length() - 1
        self.results.append((lane.game, lane.score, len(lane.steps), largest, lane.start))
        self.games[self.games.index(lane)] = self.begin(lane)

    def learn_backward(self, steps):
        """From the last entry to the first, each towards its λ-return by the newest values."""
        value, returned, next_reward = self.lost, self.lost, F0
        for step in reversed(steps):
            board, head, reward, _ = step
            pays = next_reward if self.form == "afterstate" else np.float32(reward)
            self.network.promote(board)
            returned = value + self.decay * (returned - value) + pays
            self.move(step, self.error_of(step, returned), self.rate)
            value = self.network.value(board, head, own=True)
            next_reward = np.float32(reward)
