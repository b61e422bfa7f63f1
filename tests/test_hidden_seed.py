"""Seeds that are drawn only once their player's hash is recorded."""

import csv
import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib2048.course import hidden_seed
from lib2048.course.tournament import hidden_seed as module


@pytest.fixture
def player(tmp_path):
    path = tmp_path / "mine.npz"
    path.write_bytes(b"weights")
    return path


def rows(register):
    with open(register, newline="") as file:
        return list(csv.DictReader(file))


def test_a_player_keeps_its_seed_and_its_row(player, tmp_path):
    register = tmp_path / "seeds.csv"
    seed = hidden_seed(player, register)
    assert 0 <= seed < 2**32 and hidden_seed(player, register) == seed
    [row] = rows(register)
    assert row["player"] == "mine.npz" and int(row["seed"]) == seed
    assert row["sha256"] == hashlib.sha256(b"weights").hexdigest()


def test_a_changed_player_is_another_one(player, tmp_path):
    register = tmp_path / "seeds.csv"
    first = hidden_seed(player, register)
    player.write_bytes(b"weights, once more")
    assert hidden_seed(player, register) != first
    assert [row["player"] for row in rows(register)] == ["mine.npz"] * 2


def test_the_hash_is_on_the_disk_before_the_seed_is_drawn(player, tmp_path, monkeypatch):
    register = tmp_path / "seeds.csv"

    def ended(bits):
        [row] = rows(register)
        assert row["seed"] == "" and len(row["sha256"]) == 64
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module.secrets, "randbits", ended)
        with pytest.raises(KeyboardInterrupt):
            hidden_seed(player, register)
    assert hidden_seed(player, register) == int(rows(register)[0]["seed"])
    assert len(rows(register)) == 1


def test_two_at_one_register_lose_no_row(tmp_path, monkeypatch):
    register, read, gate = tmp_path / "seeds.csv", module.read_csv, threading.Barrier(2)
    players = [tmp_path / f"{name}.npz" for name in "ab"]
    for path in players:
        path.write_bytes(path.name.encode())
    hidden_seed(tmp_path / "a.npz", tmp_path / "other.csv")  # what is written first is loaded

    def slow(*arguments):
        found = read(*arguments)
        time.sleep(0.3)
        return found

    register.write_text("day,player,sha256,seed\n")
    monkeypatch.setattr(module, "read_csv", slow)

    def draw(path):
        gate.wait()
        return hidden_seed(path, register)

    with ThreadPoolExecutor(2) as pool:
        seeds = [*pool.map(draw, players)]
    assert [int(row["seed"]) for row in rows(register)] in (seeds, seeds[::-1])
    assert [hidden_seed(path, register) for path in players] == seeds


def test_two_registers_draw_different_seeds(player, tmp_path):
    assert len({hidden_seed(player, tmp_path / f"{n}.csv") for n in range(3)}) == 3


@pytest.mark.parametrize("text", ["no table", "day,player,sha256,seed\ntoday,a,b,7\n",
                                  "day,player,sha256,seed\n2026-01-01,a,b,seven\n"])  # fmt: skip
def test_a_register_that_is_none_is_refused_and_kept(player, tmp_path, text):
    register = tmp_path / "seeds.csv"
    register.write_text(text + ("\nx\n" if text == "no table" else ""))
    before = register.read_text()
    with pytest.raises(ValueError, match=r"seeds\.csv: damaged: in row 1"):
        hidden_seed(player, register)
    assert register.read_text() == before


def test_a_player_that_is_not_there_leaves_no_register(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        hidden_seed(tmp_path / "none.npz", tmp_path / "seeds.csv")
    assert not (tmp_path / "seeds.csv").exists()
