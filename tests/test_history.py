"""Histories: every game is kept, and the curve is made of whole games."""

import copy
import csv
import io
import pickle
import sys
import threading
import tracemalloc

import numpy as np
import pytest

from lib2048.train.history import History


def a_history():
    """Three blocks of two games, and one game more."""
    history = History(block=2)
    history.add(games((100, 20, 6), (300, 40, 9)), 0.5, 0.1)
    history.add(games((1000, 90, 10), (2000, 110, 11), (0, 7, 5)), 1.5, 0.1)
    history.add(games((50, 3, 4), (70, 5, 5)), 2.5, 0.05)
    return history


def games(*rows):
    """Rows of results: each game's score, actions, largest exponent and, if any, its start."""
    told = [(number, *row, 0)[:5] for number, row in enumerate(rows)]
    return np.array(told, np.int64).reshape(len(rows), 5)


def test_history_keeps_every_game():
    history = a_history()
    assert history.scores.tolist() == [100, 300, 1000, 2000, 0, 50, 70]
    assert history.lengths.tolist() == [20, 40, 90, 110, 7, 3, 5]
    assert history.largest.tolist() == [6, 9, 10, 11, 5, 4, 5]
    assert history.seconds.tolist() == [0.5, 0.5, 1.5, 1.5, 1.5, 2.5, 2.5]
    assert history.rates.tolist() == [0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05]
    again = History(block=2, rows=history.rows)  # and goes on from its rows
    for each in (history, again):
        each.add(games((10, 1, 3)), 3.5, 0.05)
    assert again.table() == history.table() and len(again.table()) == 4


def test_history_says_where_the_rate_was_changed():
    history = History()
    for actions, rate in ((0, 0.1), (60, 0.1), (250, 0.05), (300, 0.2), (320, 0.1)):
        history.actions = actions
        history.add(games((100, 50, 6)) if rate != 0.2 else games(), 0.5, rate)
    told = [(c["actions"], c["before"], c["rate"]) for c in history.changes]
    assert told == [(250, 0.1, 0.05), (300, 0.05, 0.2), (320, 0.2, 0.1)]
    again = History(rows=history.rows)
    assert [tuple(c.values()) for c in again.changes] == [(100, 0.1, 0.05), (150, 0.05, 0.1)]
    again.add(games((1, 1, 1)), 0.5, 0.1)
    assert len(again.changes) == 2
    again.add(games((1, 1, 1)), 0.5)  # by nobody knows what
    again.add(games((1, 1, 1)), 0.5, 0.3)
    assert len(again.changes) == 2 and not History().changes


def test_history_has_a_row_for_each_full_block():
    table = a_history().table()
    assert [row["games"] for row in table] == [2, 4, 6]
    assert [row["actions"] for row in table] == [60, 260, 270]
    assert [row["seconds"] for row in table] == [0.5, 1.5, 2.5]
    assert [row["mean"] for row in table] == [200.0, 1500.0, 25.0]
    assert [row["max"] for row in table] == [300, 2000, 50]
    assert [row["rate"] for row in table] == [0.1, 0.1, 0.05]
    assert table[0]["ci95"] == 196.0  # 1.96 · 141.42 / √2
    assert [row["reached_512"] for row in table] == [0.5, 1.0, 0.0]
    assert [row["reached_1024"] for row in table] == [0.0, 1.0, 0.0]
    assert [row["reached_2048"] for row in table] == [0.0, 0.5, 0.0]
    rows = list(csv.DictReader(io.StringIO(a_history().csv())))
    assert [{k: float(v) for k, v in row.items()} for row in rows] == table
    assert a_history().frame.to_dict("records") == table


def test_a_history_without_a_whole_block_is_drawn_as_one_row():
    few = History(block=10, rows=a_history().rows)
    few.actions = 270
    (row,) = few.frame.to_dict("records")
    assert (row["games"], row["actions"], row["mean"]) == (7, 270, round(few.mean_last(), 1))
    assert row["max"] == 2000 and row["reached_1024"] == 2 / 7 and few.table() == []
    assert few.latest(2)["mean"] == 60.0


def test_without_a_game_from_the_initial_state_there_is_no_mean():
    history, rows = History(), a_history().rows.copy()
    assert history.csv().count("\n") == 1 and history.frame.empty and history.latest() == {}
    assert history.table() == [] and history.scores.tolist() == []
    assert np.isnan(history.mean_last()) and repr(history) == "<history: no game is over yet>"
    assert history.statistics() == "no game is over yet"
    rows[:, 4] = 1
    history = History(rows=rows)
    assert repr(history).endswith("none from the initial state>") and "nan" not in repr(history)
    assert history.statistics() == "no game from the initial state is over yet"


@pytest.mark.parametrize("last, mean", [(1, 70), (2, 60), (3, 40), (1000, 3520 / 7)])
def test_mean_of_the_last_games(last, mean):
    assert a_history().mean_last(last) == pytest.approx(mean)
    assert len(a_history().last(0)) == 0


def test_statistics_block_is_the_fields():
    lines = a_history().statistics(4).split("\n")
    assert lines[0] == "7\tmean = 530.0\tmax = 2000"
    assert lines[1] == "\t16\t100.0%\t(25.0%)"
    assert lines[2] == "\t32\t75.0%\t(50.0%)"
    assert lines[-1] == "\t2048\t25.0%\t(25.0%)"


def test_looking_at_the_last_games_copies_no_long_history():
    history = History(rows=np.zeros((200_000, 6)))
    history.mean_last()
    history.add(games((100, 20, 6)), 0.5)
    tracemalloc.start()
    history.mean_last()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # the rows are 6.4 MB; this is done ten times a second


def test_writing_a_long_history_copies_no_column_for_each_row(monkeypatch):
    """A million games are a thousand rows; once each of them copied all the games' columns."""
    history, looked = History(rows=np.zeros((100_000, 6))), []
    whole = History.rows.fget
    monkeypatch.setattr(History, "rows", property(lambda self: looked.append(1) or whole(self)))
    assert history.texts()["history.csv"].count("\n") == 101
    assert len(looked) < 10


def test_no_game_is_lost_when_a_cell_looks_while_a_thread_trains():
    history, one, before = History(), games((100, 20, 6)), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        adds = threading.Thread(target=lambda: [history.add(one, 0.0) for _ in range(5000)])
        adds.start()
        while adds.is_alive():
            assert len(history.rows) <= history.count
    finally:
        sys.setswitchinterval(before)
        adds.join()
    assert len(history.rows) == history.count == 5000


def pickled(history):
    return pickle.loads(pickle.dumps(history))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_a_history_can_be_copied_and_goes_on(copied):
    history = a_history()
    other = copied(history)
    assert other.csv() == history.csv() and other.changes == history.changes
    other.add(games((9, 1, 2)), 3.0, 0.05)
    assert (other.count, history.count) == (8, 7)
