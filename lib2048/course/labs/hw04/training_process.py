"""The child's side of `training`: a network that a student's functions train, order by order."""

import ast
import hashlib
import itertools
import time

import numpy as np

from lib2048.course.labs.hw04 import program as tdl
from lib2048.course.labs.judge import stand_in_for
from lib2048.learn.own import checked
from lib2048.learn.settings import Settings
from lib2048.learn.trial import essence
from lib2048.machine import child
from lib2048.networks import files
from lib2048.networks.names import parse_network
from lib2048.networks.network import Network
from lib2048.train.folder import RunFolder
from lib2048.train.history import History, check_history

PIECE_SECONDS = 0.2  # about so long between two looks at the clock
NAMES = {
    False: ("select_best_move", "update_episode"),
    True: ("select_best_move_by_states", "update_episode_of_states"),
}
_trainee = None  # one in each process


class Trainee:
    """One training: its tables, its compiled loop, its history, its folder.

    message: source, a text of `child.source_of` with the two functions of `NAMES`, or of a whole
    file; network, alpha, seed, by_states; folder, or None.  Raises ValueError, in words, for
    functions that do not compile and a folder that holds something else.
    """

    def __init__(self, message):
        self.name, self.by_states = message["network"], message["by_states"]
        self.alpha, self.seed, self.history = message["alpha"], message["seed"], History()
        self.tables = tdl.new_tables(self.name)
        functions, self.stood_in = self._functions(message["source"])
        self.folder = self._open(message)
        self.loop = self._compiled(functions)

    def _functions(self, source):
        """Return the two functions of the loop, the library's for stubs, and the stubs' names."""
        functions = child.load(source)
        stood_in = stand_in_for("hw04", functions)
        return [functions[name] for name in NAMES[self.by_states]], stood_in

    def _compiled(self, functions):
        fast = []
        for name, function in zip(NAMES[self.by_states], functions):
            try:
                fast.append(checked(function, forceinline=True, error_model="numpy"))
            except Exception as error:
                raise ValueError(f"`{name}` does not compile: {essence(error)}") from None
        try:
            loop = tdl.loop_of(*fast, parse_network(self.name))
            tdl.play_games(loop, self.tables, self.alpha, self.seed, 0, 0)  # compiles, plays none
        except Exception as error:
            raise ValueError(f"your functions do not compile: {essence(error)}") from None
        return loop

    def _open(self, message):
        """Claim the folder, and take up what is there."""
        if message["folder"] is None:
            return None
        settings = Settings(
            network=self.name,
            alpha=self.alpha,
            seed=self.seed,
            form=self.form,
            order="backward",
            lanes=1,
        )
        code = ast.dump(ast.parse(message["source"]))  # a comment makes no other function
        digest = hashlib.sha256(code.encode()).hexdigest()[:12]
        names = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
        folders = (RunFolder(message["folder"] + end, settings, {"hw04": digest}) for end in names)
        folder = next(folder for folder in folders if not folder.is_of_others)
        arrays = folder.open(resume=True)
        if arrays is not None:
            network = Network(self.name, self.form)
            with arrays:
                check_history(arrays, arrays.path)
                files.restore(network, arrays, arrays.path)
                self.history = History(rows=arrays["history"])
            self.tables = tdl.tables_of(network)
        return folder

    @property
    def form(self):
        """What a value belongs to, as the library names it."""
        return "state" if self.by_states else "afterstate"

    def save(self, whole):
        """Write a checkpoint into the folder; whole: the run is over, write its weights."""
        network = Network(self.name, self.form)
        for k, row in enumerate(self.tables.weights):
            network.set_table(k, row)
        arrays = files.network_arrays(network) | {"history": self.history.rows}
        write = self.folder.finish if whole else self.folder.save_checkpoint
        write(arrays, self.history.texts())

    def play(self, first, last, seed, seconds, learn):
        """Play games first … last − 1, or as many as seconds allow; return int64[n, 5]."""
        begin, count, found = time.perf_counter(), 1, []
        while first < last and (spent := time.perf_counter() - begin) < seconds:
            count = min(count, last - first)
            found.append(
                tdl.play_games(self.loop, self.tables, self.alpha, seed, first, count, learn)
            )
            took = time.perf_counter() - begin - spent
            first += count
            count = max(1, min(2 * count, int(count * PIECE_SECONDS / max(took, 1e-6))))
        return np.concatenate(found)


# ---------------------------------------------------------------- orders


def begin(message):
    """Begin a training in this process, or take it up; return {problem} or {rows, stood_in}."""
    global _trainee
    try:
        _trainee = Trainee(message)
    except (ValueError, MemoryError, OSError) as error:
        return {"problem": str(error)}
    rows, folder = _trainee.history.rows.tolist(), _trainee.folder
    return {
        "problem": None,
        "rows": rows,
        "stood_in": _trainee.stood_in,
        "folder": None if folder is None else str(folder.path),
    }


def train(message):
    """Train until `games` are played, or for `seconds`; return {rows}, those of the new games."""
    history = _trainee.history
    rows = _trainee.play(history.count, message["games"], _trainee.seed, message["seconds"], True)
    history.add(rows, message["before"] + message["seconds"], _trainee.alpha)
    return {"rows": rows.tolist()}


def test(message):
    """Play games without learning; return {rows}."""
    rows = _trainee.play(
        message["first"], message["games"], message["seed"], message["seconds"], False
    )
    return {"rows": rows.tolist()}


def save(message):
    """Write the folder's checkpoint, or its weights where `whole`."""
    _trainee.save(message["whole"])
    return {}
