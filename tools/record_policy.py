"""Record how policy networks learn: nice python tools/record_policy.py FOLDER [NAME[-seedN] …]

Each run of RUNS, once for each of its seeds, leaves in FOLDER

NAME-seedN.csv   a row for each batch of games: games and actions so far, seconds of processor
                 time, means over its games (score, length, tile_sum, distance to certainty,
                 entropy), share of its games that reached 256, 512, 1024 and 2048
NAME-seedN.json  its settings, the command, and what 1000 test games give, with the most likely
                 action and with drawn ones
NAME-seedN.safetensors  the weights

What is there already is skipped.  Other parts of the record are ADP (`adp`), warm starts (`warm`)
and searches (`mcts`), which need the weights of the runs `beyond` and `slower`; `warm-beyond`
needs those of `warm`, and `random` is what all of it is compared with.  About an hour of one core
in all.
"""

import functools
import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_file, save_file

from lib2048 import Settings, evaluate, load
from lib2048.deep.adp import ADP
from lib2048.deep.mcts import MCTS, MCTSPlayer, uniform
from lib2048.deep.moves import record_games
from lib2048.deep.policy import new_policy_network
from lib2048.deep.reinforce import BATCH_COLUMNS, PolicyLearner
from lib2048.deep.warm import warm_start
from lib2048.learn.lockstep import FOREVER
from lib2048.play.evaluation import TEST_SEED, reached

TILES = (256, 512, 1024, 2048)
GREEDY = {"epsilon": 0.1}
SLOWER = {"learning_rate": 0.001}
TO_GO = SLOWER | {"returns": "to-go", "discount": 0.99}
BASELINE = TO_GO | {"returns": "critic", "lam": 1.0}
CRITIC = BASELINE | {"lam": 0.8}
BEYOND = CRITIC | {"entropy": 0.05, "batch": "games32", "optimiser": "adam", "steps": 4}
RUNS = {  # name: (settings, batches, seeds)
    "source": ({}, 700, (1, 2, 3)),
    "source-greedy": (GREEDY, 600, (1, 2, 3)),
    "slower": (SLOWER, 700, (1, 2, 3)),
    "slower-greedy": (GREEDY | SLOWER, 600, (1, 2, 3)),
    "entropy": (SLOWER | {"entropy": 0.05}, 700, (1, 2, 3)),
    "to-go": (TO_GO, 700, (1, 2, 3)),
    "baseline": (BASELINE, 300, (1, 2, 3)),
    "critic": (CRITIC, 300, (1, 2, 3)),
    "critic-entropy": (CRITIC | {"entropy": 0.05}, 300, (1, 2, 3)),
    "beyond": (BEYOND | {"half_life": 400.0}, 800, (1, 2, 3)),
    "warm-beyond": (BEYOND | {"half_life": 100.0}, 200, (1,)),
}
FROM = {"warm-beyond": "warm-42-33-early"}  # whose weights another run begins with
TEACHERS = {  # name: (player, games that are recorded, moves of each)
    "adp": ("adp", 2000, FOREVER),
    "heuristic": ("heuristic", 100, FOREVER),
    "42-33": ("42-33", 200, FOREVER),
    "42-33-early": ("42-33", 600, 1000),
}
SEARCHES = {  # prior: simulations a move; without a network they are so cheap that many are tried
    "slower": (16, 64),
    "beyond": (16, 64),
    "uniform": (16, 64, 256, 1024),
}
TURNS = 40  # of a rollout
COLUMNS = ("batch", "games", "actions", "seconds", *BATCH_COLUMNS[2:],
           *(f"reached_{tile}" for tile in TILES))  # fmt: skip


def tested(player, games=1000):
    """Return what test games give, as a dict."""
    result = evaluate(player, games)
    numbers = {name: getattr(result, name) for name in ("mean", "ci95", "max")}
    numbers |= {"games": games, "moves_per_s": result.moves_per_s}
    return {name: round(x, 1) for name, x in numbers.items()} | shares_of(result.largest)


def shares_of(largest):
    """Return the shares of games that reached TILES, as columns; largest: exponents of each."""
    shares = reached(largest)
    return {f"reached_{tile}": shares.get(tile, 0.0) for tile in TILES}


def both(network):
    """Return what a policy gives in test games, taken at its likeliest and drawn."""
    drawn = network.player(explore=True)
    return {"most likely": tested(network.player()), "drawn": tested(drawn)}


def learned(learner, batches):
    """Let a learner learn; return a row of COLUMNS for each batch."""
    rows, begin = [], time.process_time()
    for number in range(1, batches + 1):
        results = learner.play(FOREVER, learner.games)
        games, actions, *means = learner.batches[-1].tolist()
        spent = round(time.process_time() - begin, 2)
        means = [round(mean, 4) for mean in means]
        shares = shares_of(results[:, 3]).values()
        rows.append([number, int(games), int(actions), spent, *means, *shares])
    return rows


def write(path, rows, columns=None):
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False, lineterminator="\n")


def say(path, **what):
    """Keep what is known of a run beside its rows."""
    name = path.name.split("-seed")[0]
    part = name if name in RUNS else name.split("-")[0]
    what["command"] = f"python tools/record_policy.py FOLDER {part}"
    path.with_suffix(".json").write_text(json.dumps(what, indent=1) + "\n")
    print(path.name, json.dumps(what), flush=True)


def record_run(folder, name):
    name, _, only = name.partition("-seed")
    options, batches, seeds = RUNS[name]
    for seed in [int(only)] if only else seeds:
        path = folder / f"{name}-seed{seed}"
        if path.with_suffix(".json").exists():
            continue
        network = new_policy_network(seed)
        settings = Settings(network="policy", seed=seed, **options)
        if name in FROM:
            network.module.load_state_dict(load_file(folder / f"{FROM[name]}-seed1.safetensors"))
        learner = PolicyLearner(network, settings)
        write(path.with_suffix(".csv"), learned(learner, batches), COLUMNS)
        save_file(network.module.state_dict(), path.with_suffix(".safetensors"))
        say(path, settings=settings.config(), batches=len(learner.batches), **both(network))


def record_adp(folder):
    before = functools.cache(lambda: tested(ADP()))
    for fit, rate in (("gradient", 0.05), ("least squares", 0.1)):
        for seed in (1, 2, 3):
            player, path = ADP(), folder / f"adp-{fit.replace(' ', '-')}-seed{seed}"
            if path.with_suffix(".json").exists():
                continue
            write(path.with_suffix(".csv"), player.learn(200, 10, rate, fit, seed))
            scores = {"before": before(), "after": tested(player)}
            say(path, fit=fit, rate=rate, theta=player.theta.tolist(), **scores)


def teacher(name):
    """Return a player whose moves are recorded, or its rule for games in step."""
    weights = Path(__file__).resolve().parents[1] / "data" / "weights"
    known = {"adp": ADP, "heuristic": lambda: name, "42-33": lambda: load(weights / f"{name}.npz")}
    return known[name]()


def record_warm(folder):
    """Learn the moves of a player."""
    for name, (player, games, turns) in TEACHERS.items():
        path, network = folder / f"warm-{name}-seed1", new_policy_network(1)
        if path.with_suffix(".json").exists():
            continue
        moves = record_games(teacher(player), games, seed=1).first(turns)
        begin = time.process_time()
        rows = warm_start(network, moves, epochs=4)
        write(path.with_suffix(".csv"), rows)
        save_file(network.module.state_dict(), path.with_suffix(".safetensors"))
        spent, mean = round(time.process_time() - begin, 1), float(moves.results[:, 1].mean())
        taught = {"moves": len(moves.boards), "seconds": spent, "teacher_mean": mean}
        say(path, teacher=player, games=games, **taught, **both(network))


def record_mcts(folder):
    """Search by learned policies, and by none, in a few games."""
    for name, budgets in SEARCHES.items():
        prior = uniform if name == "uniform" else prior_of(folder / f"{name}-seed1.safetensors")
        for simulations in budgets:
            path = folder / f"mcts-{name}-{simulations}-seed1"
            if not path.with_suffix(".json").exists():
                record_search(path, MCTS(prior, simulations, turns=TURNS))


def prior_of(path):
    """Return the probabilities that a recorded policy gives to the actions of boards."""
    network = new_policy_network(1)
    network.module.load_state_dict(load_file(path))
    return network.probabilities


def record_search(path, search, games=32):
    player = MCTSPlayer(search)
    player.play_games(0, 1, 0)  # compiles, before the clock starts
    begin = time.process_time()
    results = player.play_games(0, games, TEST_SEED)
    spent = time.process_time() - begin
    scores = results[:, 1]
    found = {
        "scores": scores.tolist(),
        "mean": float(scores.mean()),
        "reached": reached(results[:, 3]),
    }
    speed = {"seconds": round(spent, 1), "moves_per_s": round(results[:, 2].sum() / spent, 2)}
    say(path, simulations=search.simulations, turns=TURNS, games=games, **found, **speed)


def record_random(folder):
    if not (folder / "random.json").exists():
        say(folder / "random", **tested("random", 10_000))


FIRST = {"random": record_random, "adp": record_adp, "warm": record_warm}
LAST = {"mcts": record_mcts}


def main(folder, *names):
    torch.set_num_threads(1)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parts = FIRST | LAST
    for name in names or (*FIRST, *RUNS, *LAST):
        parts[name](folder) if name in parts else record_run(folder, name)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main(*sys.argv[1:])
