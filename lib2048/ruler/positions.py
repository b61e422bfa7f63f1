"""The ruler's positions: boards in a formation that players meet in their own games.

A position has exactly as many tiles from the target on as the formation has cells that are not
free, all different, on those cells (or one of the eight images).
"""

from dataclasses import dataclass

import numpy as np

from lib2048.endgame.formation import Formation
from lib2048.endgame.table import large_cells
from lib2048.game.batch import exponents
from lib2048.game.bits import symmetries
from lib2048.game.board import parts
from lib2048.game.rng import below, draw, seed_bits, turn_kernel
from lib2048.machine.arrays import Archive, Form, check_arrays, check_kind, text, write_arrays
from lib2048.machine.kernels import kernel
from lib2048.play.evaluation import TEST_SEED, boards_of

EVERY = 100  # actions of a game from which at most one position is taken
MOST_IN_VAIN = 1000  # games without a position
PURPOSE = 0x72756C6572  # of the luck that draws positions: not that of any spawn
KIND, VERSION = "ruler", 1
FORMS = {
    "kind": Form("U"),
    "version": Form("i u"),
    "target": Form("i u", (), 8, 16384),
    "formations": Form("U"),
    "players": Form("U"),
    "seed": Form("i u"),
    "every": Form("i u", (), 1),
    "boards": Form("uint64", (None,)),
    "formation": Form("u", (None,)),
    "player": Form("u", (None,)),
    "game": Form("i u", (None,), 0),
    "action": Form("i u", (None,), 0),
}


@dataclass(frozen=True)
class Ruler:
    """Positions, and how they were drawn.

    Attributes:
        target: the tile to be made.
        formations: their names.
        players: the names of those who met them.
        seed: of their games.
        every: of so many actions of a game at most one gave a position.
        boards: uint64[n].
        formation, player: uint8[n], by number in the names.
        game, action: int32[n], of the game of that seed, and in it.
    """

    target: int
    formations: tuple
    players: tuple
    seed: int
    every: int
    boards: np.ndarray
    formation: np.ndarray
    player: np.ndarray
    game: np.ndarray
    action: np.ndarray

    def __len__(self):
        return len(self.boards)

    def __repr__(self):
        return f"<{len(self):,} positions in {' and '.join(self.formations)}-{self.target}>"

    def sample(self, count, seed=1):
        """Return numbers of so many of the positions, drawn by a seed: int64[count], sorted."""
        return np.sort(np.random.default_rng(seed).permutation(len(self))[:count])

    @property
    def free(self):
        """The sum of the tiles below the target, int64[n]."""
        held = exponents(self.boards).reshape(-1, 16).astype(np.int64)
        tiles = np.where(held > 0, 1 << held, 0)
        return np.where(tiles < self.target, tiles, 0).sum(axis=1)

    def save(self, path):
        """Write the positions, in one step; see `load`."""
        arrays = {"kind": np.array(KIND), "version": np.array(VERSION)}
        arrays |= {name: np.array(getattr(self, name)) for name in FORMS if hasattr(self, name)}
        arrays |= {name: np.array(" ".join(getattr(self, name))) for name in NAMES}
        write_arrays(path, arrays, compress=True)


NAMES = "formations", "players"


def load(path):
    """Read positions.  Raises ValueError, in one line, for another file or a damaged one."""
    with Archive(path) as arrays:
        check_kind(arrays, KIND, VERSION, "positions of a ruler")
        check_arrays(arrays, FORMS, path)
        found = {name: arrays[name] for name in FORMS if name not in ("kind", "version")}
        found |= {name: int(found[name]) for name in ("target", "seed", "every")}
        return Ruler(**found | {name: tuple(text(arrays, name).split()) for name in NAMES})


def meet(players, count, formations=("4411", "442"), target=256, seed=TEST_SEED, every=EVERY):
    """Let players play, and take so many positions of their games.

    The players have equal shares, but for one.  Of each `every` actions of a game at most one is
    taken, by luck, so that the positions are not all alike.

    Args:
        players: {name: player}.
        count: of positions, in all.
        formations: names, such as "4411".
        target: the tile to be made.
        seed: of the games; each player plays games 0, 1, … of it until it has its share.
        every: see above.

    Returns:
        `Ruler`.

    Raises:
        ValueError: for a formation or target that makes no endgame, a name with a space in it, and
            for a player that meets no such position in `MOST_IN_VAIN` games.
    """
    if odd := [name for name in players if name.split() != [name]]:
        raise ValueError(f"player {odd[0]!r}: in a ruler its name is one word")
    asked = (Formation(name, target) for name in formations)
    walls = np.array([symmetries(formation.walls) for formation in asked])
    how = every, walls, np.uint64(int(target).bit_length() - 1)
    shares, rows = np.diff(np.linspace(0, count, len(players) + 1).astype(int)), []
    for number, (who, share) in enumerate(zip(players.values(), shares)):
        found, game = [], 0
        while len(found) < share:
            boards = np.array([parts(board)[0] for board in boards_of(who, seed, game)])
            at, which = _taken(boards[:-1], seed_bits(seed), game, *how)
            found += [(boards[a], w, number, game, a) for a, w in zip(at, which)]
            game += 1
            if not found and game == MOST_IN_VAIN:
                raise ValueError(f"{who.name}: no such position in its first {game:,} games")
        rows += found[:share]
    boards, formation, player, game, action = zip(*rows) if rows else [()] * 5
    small = (np.array(some, np.uint8) for some in (formation, player))
    wide = (np.array(some, np.int32) for some in (game, action))
    about = target, tuple(formations), tuple(players), seed, every
    return Ruler(*about, np.array(boards, np.uint64), *small, *wide)


@kernel
def _taken(boards, seed, game, every, walls, least):
    """Return (int64[n] which boards of a game are taken, int64[n] their formations)."""
    blocks = len(boards) // every + 1
    at, which, seen = np.full(blocks, -1), np.zeros(blocks, np.int64), np.zeros(blocks, np.uint64)
    luck = turn_kernel(seed, PURPOSE, game, 0)
    for i in range(len(boards)):
        large = large_cells(boards[i], least)
        for f in range(len(walls)):
            if large and (walls[f] == large).any():
                block = i // every
                seen[block] += np.uint64(1)
                luck, bits = draw(luck)
                if below(bits, seen[block]) == 0:
                    at[block], which[block] = i, f
    return at[at >= 0], which[at >= 0]
