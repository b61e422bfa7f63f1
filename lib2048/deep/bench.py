"""Speed of neural networks: training beside its floor, and the time of a move.

The floor is what training cannot do without: the network's forward passes over the afterstates
that the games ask about, and its forward and backward passes over the batches it learns from, with
all boards encoded already and nothing else done.
"""

import time
from unittest import mock

import numpy as np
import torch

from lib2048.deep.architectures import make
from lib2048.learn.settings import Settings
from lib2048.machine.printed import broken, table
from lib2048.machine.terminal import bar
from lib2048.networks.neural import PRECISIONS
from lib2048.play.evaluation import record_game
from lib2048.play.players import network_player

WARM_UP, ACTIONS, ROUNDS, THREADS = 20_000, 8192, 5, 2
DEPTHS = {1: 200, 2: 20, 3: 3}  # plies: boards that are searched one after the other


def measured(name, progress=False):
    """Measure a network in turns; return {what: {positions_per_h, floor_per_h, ratio}}, and moves.

    name: such as cnn22; progress: whether to show a bar.
    """
    make(name)  # a wrong name is refused first
    learners, rounds = {}, []
    for precision in PRECISIONS:
        settings = Settings(network=name, precision=precision, threads=THREADS)
        learners[precision] = settings.new_learner(settings.new_network())
    with bar(progress, total=2 + ROUNDS, unit="round") as shown:
        for learner in learners.values():
            learner.play(learner.actions + WARM_UP, 10**6)
        shown.update(1)
        for _ in range(1 + ROUNDS):
            rounds.append([_trained(learner) for learner in learners.values()])
            shown.update(1)
        found = _moves(learners["float32"].network)
    keys, medians = ("positions_per_h", "floor_per_h", "ratio"), np.median(rounds[1:], axis=0)
    rows = {f"training, {p}": row.tolist() for p, row in zip(learners, medians, strict=True)}
    return {what: dict(zip(keys, row, strict=True)) for what, row in rows.items()} | found


def _trained(learner):
    """Return (positions an hour, those of the floor, the ratio) of one stretch of training."""
    network = learner.network
    with (
        mock.patch.object(network, "values", wraps=network.values) as asked,
        mock.patch.object(learner, "step", wraps=learner.step) as taught,
    ):
        begin = time.perf_counter()
        learner.play(learner.actions + ACTIONS, 10**6)
        took = time.perf_counter() - begin
    boards = ([call.args[0] for call in calls.call_args_list] for calls in (asked, taught))
    rate, floor = 3600 * ACTIONS / took, 3600 * ACTIONS / _floor(network, *boards)
    return rate, floor, rate / floor


def _floor(network, asked, taught):
    """Return the seconds of the passes alone over boards that are encoded before the clock runs."""
    asked, taught = (list(map(network.encode, boards)) for boards in (asked, taught))
    begin = time.perf_counter()
    with torch.inference_mode():
        for planes in asked:
            network.pass_through(planes)
    for planes in taught:
        network.pass_through(planes).sum().backward()
    took = time.perf_counter() - begin
    network.module.zero_grad()
    return took


def _moves(network):
    """Measure decisions on single boards, as one game after the other asks for them."""
    boards, found = [step.board for step in record_game("greedy", 3)[:-1]], {}
    for plies, count in DEPTHS.items():
        who, times = network_player(network, plies), []
        for board in np.resize(boards, count):
            begin = time.perf_counter()
            who.choose(board)
            times.append(time.perf_counter() - begin)
        found[f"{plies}-ply move, float32"] = {"ms_per_move": 1000 * float(np.median(times))}
    return found


def report(figures):
    """Return the figures of `measured` as a table of text."""
    rows = []
    for name, row in figures.items():
        if "ratio" in row:
            rate, floor = (f"{row[key] / 1e6:.1f} M" for key in ("positions_per_h", "floor_per_h"))
            rows.append((name, rate, floor, f"{row['ratio']:.2f}", None))
        else:
            rows.append((name, None, None, None, f"{row['ms_per_move']:.2f}"))
    note = "floor: the network's passes over the same boards alone, encoded before the clock runs"
    heads = "what", ">positions an hour", ">floor", ">ratio", ">ms a move"
    return f"{table(heads, rows)}\n\n{broken(note)}"
