"""What happened in training: each game, the learning curve, the test games on the way."""

import csv
import io
import threading

import numpy as np

from lib2048.game.bits import LARGEST_EXPONENT, WHOLE
from lib2048.game.tile_65536 import EXPONENT
from lib2048.machine.arrays import Form, check_arrays
from lib2048.machine.extras import package
from lib2048.play.evaluation import reached, statistics_block
from lib2048.play.statistics import mean_ci95

BLOCK = 1000  # games in a row of a history
COLUMNS = 6  # numbers that are kept of a game
LARGEST = (2.0**53, 2.0**53, EXPONENT, 2.0**53, 2.0**53)  # of each, but the rate
EXPONENTS = range(9, LARGEST_EXPONENT + 1)  # of the tiles whose shares a curve holds
TILES = tuple(map(WHOLE.tile, EXPONENTS))  # 512 … 32768 in 2048
HISTORY, EVALUATIONS, STAGES = "history.csv", "evaluations.csv", "stages.csv"


def _column(number, kind, text):
    """Return the property of a history that is one column of its rows."""
    return property(lambda history: history.rows[:, number].astype(kind), doc=text)


class History:
    """What happened in training: every game's score, length and largest tile.

    Args:
        block: games in a row of `frame`.
        game: the `Game` that was played.

    Attributes:
        scores, lengths, largest, starts: int64[games], in the order in which the games ended; where
            a game began is 0 for the initial state (see `starts`), and only such games make
            `frame`, `mean_last` and `statistics`, since the points of the others count from where
            they began.
        seconds, rates: float64 of the same length, when each ended and the rule's rate at that
            time.
        count: how many games.
        actions: all that were played, those of unfinished games included.
        visits: int64[stages], how many of them led into each stage.
        took: seconds of training.
        stopped: whether someone stopped it last.
        evaluations: what test games on the way gave, a list of dicts, a row for each number of
            actions and each depth.
        changes: where the rate was changed on the way, a list of {'actions', 'before', 'rate'}; of
            games that were read from a file, where the first game by another rate began.
    """

    def __init__(self, block=BLOCK, rows=None, game=WHOLE):
        self.game, self.block = game, block
        self._rows = [] if rows is None else [np.asarray(rows, np.float64)]
        self._lock = threading.Lock()  # a cell may look while a thread trains
        self.count = sum(map(len, self._rows))
        self.stopped, self.actions, self.took = False, 0, 0.0
        self.evaluations, self.visits = [], np.zeros(1, np.int64)
        past = self._rows[0] if self.count else np.full((1, COLUMNS), np.nan)
        self.changes, self._rate = _changes(past), past[-1, 5]

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.Lock())

    def add(self, results, seconds, rate=np.nan):
        """Append finished games (see records.RESULT_COLUMNS), all ended by `seconds`.

        Args:
            rate: by which all actions since `self.actions` were learned.
        """
        if rate != self._rate:
            if rate == rate and self._rate == self._rate:  # both are known
                self.changes.append(_change(self.actions, self._rate, rate))
            self._rate = rate
        rows = results[:, [1, 2, 3, 3, 4, 4]].astype(np.float64)
        rows[:, 3], rows[:, 5] = seconds, rate
        with self._lock:
            self.count += len(results)
            self._rows.append(rows)

    @property
    def rows(self):
        """All games, float64[games, 6] of score, actions, exponent of the largest tile, seconds,
        where it began, rate."""
        with self._lock:
            if len(self._rows) != 1:
                self._rows = [np.concatenate([np.zeros((0, COLUMNS)), *self._rows])]
            return self._rows[0]

    scores = _column(0, np.int64, "Scores of the finished games, in points.")
    lengths = _column(1, np.int64, "Actions of the finished games.")
    largest = _column(2, np.int64, "Exponents of the largest tiles of the finished games.")
    seconds = _column(3, np.float64, "Seconds of training when each game had ended.")
    starts = _column(4, np.int64, "Where the finished games began, 0 for the initial state.")
    rates = _column(5, np.float64, "The rule's rate when each game ended.")

    def mean_last(self, games=BLOCK):
        """Return the mean score of the last whole games (of all, if fewer), nan without any."""
        return mean_ci95(self.last(games)[:, 0])[0]

    def last(self, games):
        """Return the rows of the last games from the initial state, without copying the others."""
        found, missing = [np.zeros((0, COLUMNS))], games
        for part in reversed(self._rows):
            for end in range(len(part), 0, -BLOCK):
                piece = part[max(0, end - BLOCK) : end]
                whole = piece[piece[:, 4] == 0]
                found.insert(1, whole[max(0, len(whole) - missing) :])
                missing -= len(found[1])
                if missing <= 0:
                    return np.concatenate(found)
        return np.concatenate(found)

    def table(self):
        """Return the curve as a list of dicts, one for each block of whole games."""
        rows = self.rows
        totals = np.cumsum(rows[:, 1])
        whole = np.flatnonzero(rows[:, 4] == 0)
        ends = range(self.block, len(whole) + 1, self.block)
        blocks = (whole[end - self.block : end] for end in ends)
        return [_block(rows[games], games[-1], totals[games[-1]], self.game) for games in blocks]

    def latest(self, games=BLOCK):
        """Return the row of `table` that the last whole games make (all, if fewer), {} without any.

        Its games and actions are all so far, those of unfinished games included.
        """
        rows = self.last(games)
        return _block(rows, self.count - 1, self.actions, self.game) if len(rows) else {}

    @property
    def frame(self):
        """The curve as a pandas frame, a row for each block of games.

        Before the first block is whole, its one row is of the games so far.
        """
        latest = self.latest()
        return package("pandas").DataFrame(self.table() or [latest] if latest else [])

    @property
    def evaluation_frame(self):
        """The test games on the way as a pandas frame; see `evaluation_columns`."""
        return package("pandas").DataFrame(self.evaluations, columns=evaluation_columns(self.game))

    def csv(self):
        """Return the curve as CSV text."""
        return csv_text(curve_columns(self.game), self.table())

    def texts(self):
        """Return what a run folder holds of it, {file name: CSV text}."""
        texts = {HISTORY: self.csv()}
        if self.evaluations:
            texts[EVALUATIONS] = csv_text(evaluation_columns(self.game), self.evaluations)
        if len(self.visits) > 1:
            rows = [{"stage": n, "actions": int(count)} for n, count in enumerate(self.visits)]
            texts[STAGES] = csv_text(("stage", "actions"), rows)
        return texts

    def statistics(self, games=BLOCK):
        """Return the field's statistics block of the last games."""
        last = self.last(games)
        if self.count and not len(last):
            return "no game from the initial state is over yet"
        scores, largest = last[:, 0].astype(np.int64), last[:, 2].astype(np.int64)
        return statistics_block(scores, largest, self.count, self.game)

    def __repr__(self):
        if not self.count:
            return "<history: no game is over yet>"
        games, actions, mean = self.count, self.actions, self.mean_last()
        told = f"last mean {mean:,.0f}" if not np.isnan(mean) else "none from the initial state"
        return f"<history: {games:,} games, {actions:,} actions, {told}>"


def _block(rows, last, actions, game):
    """Return a row of the curve: of some games, the last of them, and the actions up to its end."""
    row = {"games": int(last) + 1, "actions": int(actions), "seconds": round(rows[-1, 3], 2)}
    row |= summary(rows[:, 0], rows[:, 2].astype(np.int64), game)
    return row | {"rate": float(rows[-1, 5])}


def summary(scores, largest, game=WHOLE):
    """Return what rows of a curve and of test games say of games: mean, ci95, max, reached_TILE."""
    mean, ci95 = mean_ci95(scores)
    row = {"mean": round(mean, 1), "ci95": round(ci95, 1), "max": int(scores.max())}
    shares, tiles = reached(largest, game), map(game.tile, EXPONENTS)
    return row | {f"reached_{tile}": shares.get(tile, 0.0) for tile in tiles}


def _change(actions, before, rate):
    return {"actions": int(actions), "before": float(before), "rate": float(rate)}


def _changes(rows):
    """Return what `History.changes` holds of rows."""
    rates, ends = rows[:, 5], np.cumsum(rows[:, 1])
    at = np.flatnonzero(rates[1:] != rates[:-1]) if np.isfinite(rates).all() else ()
    return [_change(ends[n], *rates[n : n + 2]) for n in at]


def curve_columns(game=WHOLE):
    """Return the names of the columns of a game's learning curves."""
    return ("games", "actions", "seconds", "mean", "ci95", "max", *_shares(game), "rate")


def evaluation_columns(game=WHOLE):
    """Return the names of the columns of a game's test games on the way."""
    known = ("actions", "plies", "games", "mean", "ci95", "max", "moves_per_s")
    return (*known, *_shares(game))


def _shares(game):
    return [f"reached_{game.tile(exponent)}" for exponent in EXPONENTS]


EVALUATION_COLUMNS = evaluation_columns()


def csv_text(columns, rows):
    """Return rows, dicts, as CSV text with these columns."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_array(evaluations, game=WHOLE):
    """Return what test games gave as float64[rows, `evaluation_columns`], for a checkpoint."""
    rows = [[row[name] for name in evaluation_columns(game)] for row in evaluations]
    return np.array(rows, np.float64).reshape(len(rows), len(EVALUATION_COLUMNS))


def check_history(arrays, path):
    """Raise ValueError, in one line, where arrays hold no games, or no test games, of a history.

    arrays: a dict or an `Archive`, with `History.rows` as history and `as_array` as evaluations.
    """
    tests = EVALUATION_COLUMNS
    finite = [name not in ("mean", "ci95") for name in tests]
    most = [np.inf if name == "ci95" else 2.0**53 for name in tests[:7]]  # inf: that of one game
    most += [1.0] * (len(tests) - 7)
    known = [True] * (COLUMNS - 1) + [False]  # a rate may be nan: nobody has said it
    forms = {
        "history": Form("float64", (None, COLUMNS), 0, [*LARGEST, 1.0], known),
        "evaluations": Form("float64", (None, len(tests)), 0, most, finite),
    }
    check_arrays(arrays, forms, path)


def as_rows(array, game=WHOLE):
    """Return what `as_array` made of a list of dicts as that list."""
    whole = ("actions", "plies", "games", "max", "moves_per_s")
    rows = (dict(zip(evaluation_columns(game), row, strict=True)) for row in array.tolist())
    return [{k: int(x) if k in whole else x for k, x in row.items()} for row in rows]
