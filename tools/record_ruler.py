"""Measure players by endgames: nice python tools/record_ruler.py PART

positions   data/ruler.npz, boards that the shipped networks meet in their own games
players     data/curves/ruler_rollouts.csv and ruler_regret.csv: what players make of some of them
own         data/curves/ruler_own.csv: their own play in a formation, exactly, where it keeps to it
losses      data/curves/ruler_losses.csv: in which formations games are lost
regret      data/curves/ruler_regret.csv alone, from what is there

    --tables FOLDER    of 4411-256.npz and 442-256.npz (lib2048 endgame 442 --target 256 --out …)
    --runs FOLDER      of what `lib2048 sweep data/runs/ruler.toml --out FOLDER/ruler` trained
    --only NAME        of a player; rows of the others stay as they are

The columns are told in data/curves/README.md.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from record_networks import CURVES, replace

from lib2048 import NetworkPlayer, load, player, symmetries, to_tiles
from lib2048.endgame import Formation, solve
from lib2048.endgame import load as load_table
from lib2048.endgame.table import large_cells
from lib2048.machine.threads import processors
from lib2048.play.players import network_player
from lib2048.ruler import positions
from lib2048.ruler.following import follow
from lib2048.ruler.losses import where_lost
from lib2048.ruler.regret import measure, optimum, summed

DATA = Path(__file__).resolve().parents[1] / "data"
RULER = DATA / "ruler.npz"
SHIPPED = "42-33", "42-33-tuned", "42-33-stages"
TRAINED = "one_stage-1e6", "one_stage-1e7", "one_stage", "promotion", "carousel"
COUNT, SAMPLE, TIMES = 10_000, 500, 200
RARE = 0  # the formation, 4411, that is so rare that all its positions are played, too
FEW = {"cnn22": (50, 40)}  # (positions, games from each) of players that take long
FEW_PLIES = {2: (200, 100), 3: (50, 20)}
BINS = [0, 50, 100, 150, 200, 250, 2000]  # of the tile sum below 256
NAMES = [f"{low} to {high - 1}" for low, high in zip(BINS[:-2], BINS[1:-1])] + ["250 and more"]
GAMES = {1: 1000, 2: 100}  # by plies
SMALL = 32, 64  # targets whose every position is asked for


def main():
    """Carry out one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    for name in ("tables", "runs"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    PARTS[options.part](options)


def shipped(name):
    """Return a player that the course ships, at 1-ply."""
    suffix = "safetensors" if name == "cnn22" else "npz"
    path = DATA / "weights" / f"{name}.{suffix}"
    return player(load(path, to_play=True) if suffix == "npz" else load(path))


def deeper(who, plies):
    """Return a player of a network, looking ahead so far."""
    return who if plies == 1 else network_player(who.network, plies)


# ---------------------------------------------------------------- parts


def take_positions(options):
    """Let the shipped networks play, and take positions from their games."""
    found = positions.meet({name: shipped(name) for name in SHIPPED}, COUNT)
    found.save(RULER)
    print(found, dict(zip(found.formations, np.bincount(found.formation).tolist())))


def play_players(options):
    """Let players play on from a sample of the positions."""
    ruler = positions.load(RULER)
    files = (options.tables / f"{name}-{ruler.target}.npz" for name in ruler.formations)
    tables = [*map(load_table, files)]
    drawn = ruler.sample(SAMPLE)
    promised = optimum(tables, ruler.boards)
    for name, plies in wanted(options):
        count, times = FEW.get(name, FEW_PLIES.get(plies, (SAMPLE, TIMES)))
        took = drawn[np.linspace(0, SAMPLE - 1, count).astype(int)]
        if count == SAMPLE:
            took = np.union1d(took, np.flatnonzero(ruler.formation == RARE))
        who = deeper(named(name, options), plies)
        told = {"times": times, "threads": 1 if name == "cnn22" else processors()}
        rows = measure(who, ruler, took, promised[took], **told)
        about = {"player": name, "plies": plies}
        replace("ruler_rollouts.csv", pd.DataFrame(about, rows.index).join(rows), [*about])
        print(name, plies, summed(rows).round(4).to_dict("records"), flush=True)
        sum_up(options)


def sum_up(options):
    """Write ruler_regret.csv, from ruler_rollouts.csv."""
    drawn = positions.load(RULER).sample(SAMPLE)
    rows = pd.read_csv(CURVES / "ruler_rollouts.csv", dtype={"formation": str})
    parts = [
        grouped(part, drawn).assign(player=name, plies=plies)
        for (name, plies), part in rows.groupby(["player", "plies"], sort=False)
    ]
    order = ["player", "plies", "by", "group", "positions", "optimum", "success", "regret", "half"]
    rows = pd.concat(parts)[order]
    rows.to_csv(CURVES / "ruler_regret.csv", index=False, float_format="%.6g")


def wanted(options):
    """Yield the players (name, plies) that are asked for."""
    names = [*SHIPPED, *(TRAINED if options.runs else ()), "page", "cnn22"]
    deep = [(name, 2) for name in SHIPPED] + [("42-33-stages", 3)]
    for name, plies in [(name, 1) for name in names] + deep:
        if not options.only or name in options.only:
            yield name, plies


def named(name, options):
    """Return a player by its name, at 1-ply."""
    if name not in TRAINED:
        return shipped(name)
    weights = options.runs / "ruler" / f"{name}-seed1" / "weights.npz"
    return NetworkPlayer(load(weights, to_play=True))


def grouped(rows, drawn):
    """Return the regret by formation, and of the positions that were drawn, all and by `free`."""
    by_formation = {"formation": summed(rows, ["formation"])}
    rows = rows[rows["position"].isin(drawn)]
    sums = pd.cut(rows["free"], BINS, right=False, labels=NAMES)
    parts = {"all": summed(rows), "free": summed(rows, sums)} | by_formation
    named = (part.rename_axis("group").reset_index().assign(by=by) for by, part in parts.items())
    return pd.concat(named)


def follow_own(options):
    """Evaluate the networks' own play where it keeps to a formation."""
    ruler = positions.load(RULER)
    for name in SHIPPED:
        if options.only and name not in options.only:
            continue
        who = shipped(name)
        for number, formation in enumerate(ruler.formations):
            large = usual(ruler, number)
            for target in SMALL:
                best = solve(formation, target, progress=False, exact=True)
                found = follow(who, formation, target, large, progress=False)
                row = {"player": name, "formation": formation, "target": target}
                row |= {"large": " ".join(map(str, np.ravel(to_tiles(large))))}
                row |= {"optimum": best.start, "own": found.start, "leaves": found.leaves}
                row |= {"choices": found.flow[:, 1].sum()}
                replace("ruler_own.csv", pd.DataFrame([row]), ["player", "formation", "target"])
                print(row, flush=True)


def usual(ruler, number):
    """Return the board of large tiles that stands most often in a formation, of all its images."""
    formation, found = Formation(ruler.formations[number], ruler.target), Counter()
    for board in ruler.boards[ruler.formation == number]:
        for image in symmetries(board):
            if large_cells(image, np.uint64(formation.exponent)) == formation.walls:
                found[int(image & formation.walls)] += 1
    return found.most_common(1)[0][0]


def count_losses(options):
    """Count in which formations the games of the player with stages are lost."""
    for plies, games in GAMES.items():
        who = deeper(shipped("42-33-stages"), plies)
        lost, found = where_lost(who, games)
        rows = [(*key, count) for key, count in sorted(found.items())]
        frame = pd.DataFrame(rows, columns=["before", "large", "formation", "games"])
        about = {"player": "42-33-stages", "plies": plies, "played": games, "lost": lost}
        replace("ruler_losses.csv", frame.assign(**about)[[*about, *frame]], ["player", "plies"])
        print(about, flush=True)


PARTS = {
    "positions": take_positions,
    "players": play_players,
    "own": follow_own,
    "losses": count_losses,
    "regret": sum_up,
}

if __name__ == "__main__":
    main()
