"""The child's side of `training`: a network that a student's functions train, order by order."""

import ast
import hashlib
import itertools
import time

import numpy as np

from lib2048.course.labs.answering import stand_in_for
from lib2048.course.labs.hw04 import program
from lib2048.learn.own import checked
from lib2048.learn.settings import Settings
from lib2048.learn.trial import essence
from lib2048.machine import child
from lib2048.networks import storage
from lib2048.networks.names import parse_network
from lib2048.networks.network import Network
from lib2048.train.folder import RunFolder
from lib2048.train.history import History, as_array, check_history

PIECE_SECONDS = 0.2  # about so long between two looks at the clock
_training = None  # one in each process


class ChildTraining:
    """One training: its tables, its compiled loop, its history, its folder.

    message: source, a text of `child.source_of` with the two functions; network, alpha, seed,
    by_states; folder, or None.  Raises ValueError, in words, for functions that do not compile and
    a folder that holds something else.
    """

    def __init__(self, message):
        self.name, self.alpha, self.seed = message["network"], message["alpha"], message["seed"]
        self.form = "state" if message["by_states"] else "afterstate"
        self.tables, self.history = program.new_tables(self.name), History()
        loaded = child.load_all(message["source"])
        self.stood_in, functions = stand_in_for("hw04", loaded), loaded.functions
        self.folder = self._open(message["folder"], message["source"])
        self.loop = self._compiled(functions)

    def _compiled(self, functions):
        fast = []
        for name, function in functions.items():
            try:
                fast.append(checked(function, forceinline=True, error_model="numpy"))
            except Exception as error:
                raise ValueError(f"`{name}` does not compile: {essence(error)}") from None
        try:
            loop = program.loop_of(*fast, parse_network(self.name))
            program.play_games(loop, self.tables, self.alpha, self.seed, 0, 0)  # compiles alone
        except Exception as error:
            raise ValueError(f"your functions do not compile: {essence(error)}") from None
        return loop

    def _open(self, folder, source):
        """Claim a folder, or one beside it where others' functions were, and take up its run."""
        if folder is None:
            return None
        numbers = {"alpha": self.alpha, "seed": self.seed, "lanes": 1}
        settings = Settings(network=self.name, form=self.form, order="backward", **numbers)
        code = ast.dump(ast.parse(source))  # a comment makes no other function
        digest = hashlib.sha256(code.encode()).hexdigest()[:12]
        names = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
        folders = (RunFolder(folder + end, settings, {"hw04": digest}) for end in names)
        folder = next(folder for folder in folders if not folder.is_of_others)
        if (arrays := folder.open(resume=True)) is not None:
            network = Network(self.name, self.form)
            with arrays:
                check_history(arrays, arrays.path)
                storage.restore(network, arrays, arrays.path)
                self.history = History(rows=arrays["history"])
            self.tables = program.tables_of(network)
        return folder

    def save(self, whole):
        """Write a checkpoint into the folder, if there is one; whole: the weights of a run that is
        over."""
        if self.folder is None:
            return
        network = Network(self.name, self.form)
        for k, row in enumerate(self.tables.weights):
            network.set_table(k, row)
        arrays = storage.network_arrays(network)
        arrays |= {"history": self.history.rows, "evaluations": as_array([])}
        write = self.folder.finish if whole else self.folder.save_checkpoint
        write(arrays, self.history.texts())

    def play(self, first, last, seed, seconds, learn):
        """Play games first … last − 1, or as many as seconds allow; return int64[n, 5]."""
        begin, count, found = time.perf_counter(), 1, []
        play = self.loop, self.tables, self.alpha, seed
        while first < last and (spent := time.perf_counter() - begin) < seconds:
            count = min(count, last - first)
            found.append(program.play_games(*play, first, count, learn))
            took = time.perf_counter() - begin - spent
            first += count
            count = max(1, min(2 * count, int(count * PIECE_SECONDS / max(took, 1e-6))))
        return np.concatenate(found)


# ---------------------------------------------------------------- orders


def begin(message):
    """Begin a training in this process, or take it up; return what is there, or {problem}."""
    global _training
    try:
        _training = ChildTraining(message)
    except (ValueError, MemoryError, OSError) as error:
        return {"problem": str(error)}
    rows, folder = _training.history.rows.tolist(), _training.folder
    found = {"rows": rows, "stood_in": _training.stood_in, "problem": None}
    return found | {"folder": None if folder is None else str(folder.path)}


def train(message):
    """Train until `games` are played, or for `seconds`; return {rows}, those of the new games."""
    history, games, seconds = _training.history, message["games"], message["seconds"]
    rows = _training.play(history.count, games, _training.seed, seconds, True)
    history.add(rows, message["before"] + seconds, _training.alpha)
    return {"rows": rows.tolist()}


def test(message):
    """Play games without learning; return {rows}."""
    which = (message[key] for key in ("first", "games", "seed", "seconds"))
    return {"rows": _training.play(*which, False).tolist()}


def save(message):
    """Write the folder's checkpoint, or its weights where `whole`."""
    _training.save(message["whole"])
    return {}
