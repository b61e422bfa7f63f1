"""The kernels as plain Python: NUMBA_DISABLE_JIT=1 must change nothing but the time."""

import json
import os
import subprocess
import sys

PROGRAM = """
import json
import numpy as np
import lib2048
from lib2048 import Network, NetworkPlayer, evaluate, record_game
from learners import games_on
from lib2048.networks.network import FORMS

def board_and_luck():
    board, state = lib2048.initial(lib2048.stream(1, 2))
    return int(board), int(state), [int(b) for b in lib2048.symmetries(board)]

def games(name):
    return evaluate(name, 1).scores.tolist()

def random_choices():
    board = lib2048.from_tiles([[2, 4, 0, 0], [0] * 4, [0] * 4, [0] * 4])
    who = lib2048.player("random")
    return [who.choose(board) for _ in range(20)]

def learned(form, order, kind="td", delay=True):
    network = Network("cells:012,013", form)
    decay = 0.5 if kind == "tc" else 0.0
    games = games_on(network, kind, order=order, decay=decay, delay=delay)
    games.lanes["board"] = NEARLY_LOST
    games.lanes["number"] = range(2)
    games.counters[1] = 2
    games.play(12, 9)
    weights = network.weights[:500]
    if kind == "autostep":  # exp may differ in the last digit
        return games.lanes["board"].tolist(), [f"{weight:.3g}" for weight in weights]
    return games.lanes["board"].tolist(), weights.tobytes().hex()

NEARLY_LOST = lib2048.from_tiles([[2, 4, 8, 2], [4, 8, 16, 4], [8, 16, 32, 8], [0, 4, 8, 2]])

def chosen():
    network = Network("cells:012,013")
    network.weights[:] = np.arange(network.size) % 97
    who = NetworkPlayer(network)
    return who.choose(NEARLY_LOST), sorted(who.values(NEARLY_LOST).items())

found = {"board": board_and_luck, "first": lambda: games("first-legal"),
         "greedy": lambda: games("greedy"), "random": random_choices, "chosen": chosen}
for form in FORMS:
    for order in ("forward", "backward"):
        found[form + " " + order] = lambda form=form, order=order: learned(form, order)
found["tc delayed"] = lambda: learned("afterstate", "forward", "tc")
found["tc online"] = lambda: learned("afterstate", "forward", "tc", False)
found["autostep"] = lambda: learned("afterstate", "forward", "autostep")
answers = {}
for name, find in found.items():
    try:
        answers[name] = find()
    except Exception as error:
        answers[name] = f"{type(error).__name__}: {error}"
print(json.dumps(answers))
"""


def run(folder, disabled):
    here = os.path.dirname(__file__)  # where `learners` is
    environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": here}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_uncompiled_kernels_do_the_same_and_are_quiet(tmp_path):
    (compiled, _), (plain, said) = (run(tmp_path, disabled) for disabled in ("0", "1"))
    assert [error for error in compiled.values() if isinstance(error, str)] == []
    assert plain == compiled and "Warning" not in said


def test_import_compiles_nothing(tmp_path):
    program = "from numba.core import event\n"
    program += "with event.install_recorder('numba:compile') as seen:\n"
    program += "    import lib2048, lib2048.cli\n"
    program += "print(len(seen.buffer))"
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
