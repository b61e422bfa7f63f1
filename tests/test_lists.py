"""Lists of runs: those in data/runs make sense, and others are refused in one line."""

import json
import re
from pathlib import Path

import pytest

from lib2048 import Settings
from lib2048.sweep import Training, chosen, read_list

LISTS = sorted((Path(__file__).parents[1] / "data" / "runs").glob("*.toml"))


@pytest.fixture
def listed(tmp_path):
    """Return a function that reads a list with this text."""

    def read(text):
        path = tmp_path / "list.toml"
        path.write_text(text, encoding="utf-8")
        return read_list(path)

    return read


# ---------------------------------------------------------------- those of the course


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_run_of_a_list_makes_sense(path):
    jobs = read_list(path)
    assert [Training.of(json.loads(json.dumps(job.told()))) for job in jobs] == jobs


def test_each_list_is_named_in_the_readme():
    text = (LISTS[0].parent / "README.md").read_text()
    assert [path.stem for path in LISTS if f"`{path.stem}`" not in text] == []


# ---------------------------------------------------------------- what a list says


RUNS = """
[defaults]
network = "4x6"
games = 20
no-delay = true
[[run]]
name = "td"
seeds = [2, 1]
checkpoint-every = 5
[[run]]
name = "tc-0.5"
rule = "tc"
lambda = 0.5
no-delay = false
"""


def test_a_list_is_a_run_for_each_seed(listed):
    td = {"network": "4x6", "games": 20, "delay": False, "checkpoint_every": 5}
    assert listed(RUNS) == [
        Training("td", Settings(**td, seed=2)),
        Training("td", Settings(**td, seed=1)),
        Training("tc-0.5", Settings(network="4x6", games=20, rule="tc", lam=0.5)),
    ]


def test_each_seed_begins_with_weights_of_its_own(listed):
    jobs = listed(RUNS + 'from = "runs/a-seed{seed}/weights.npz"\nseeds = [3, 4]\n')
    files = [job.settings.weights for job in jobs if job.name == "tc-0.5"]
    assert files == ["runs/a-seed3/weights.npz", "runs/a-seed4/weights.npz"]


def test_runs_are_chosen_by_name_and_by_seed(listed, refused):
    jobs = listed(RUNS)
    assert chosen(jobs, None) == jobs
    assert chosen(jobs, ["td"]) == jobs[:2]
    assert chosen(jobs, ["tc-0.5", "td-seed1"]) == jobs[1:]
    refused(lambda: chosen(jobs, ["tc"]), "no 'tc' in this list, only td, tc-0.5")


def test_memory_counts_what_the_rule_keeps_and_all_stages(listed):
    text = '[[run]]\nname = "a"\nnetwork = "4x6"\nactions = 9\n'
    more = ["", 'rule = "tc"', 'rule = "autostep"', 'rule = "tc"\nstages = 2']
    one, *others = [listed(text + line)[0].nbytes for line in more]
    tables = 4 * 4 * 16**6
    assert tables < one < 4 * tables
    assert [other - one for other in others] == [2 * tables, 3 * tables, 11 * tables]


def test_memory_of_neural_networks_counts_their_batches(listed):
    text = '[[run]]\nname = "a"\nnetwork = "CNN22ss"\nactions = 9\n'
    few, many = [listed(text + f'batch = "batch{size}"')[0].nbytes for size in ("64", "4K")]
    assert 1 << 30 < few < many - 200_000_000


# ---------------------------------------------------------------- what is no list

RUN = '[[run]]\nname = "a"\nnetwork = "4x6"\nactions = 9\n'
WRONG = {
    "no TOML": ("[[run", "is TOML"),
    "nothing": ("", "nothing to do"),
    "only defaults": ("[defaults]\nactions = 3", "nothing to do"),
    "a table that nobody knows": ("[[runs]]\nname = 3", "unknown table 'runs'"),
    "one table": ('[run]\nname = "a"', "write [[run]]"),
    "a number": ("run = 3", "write [[run]]"),
    "defaults that are none": ("defaults = 3\n" + RUN, "write [defaults]"),
    "no name": ("[[run]]\nactions = 3", "[[run]] 1: needs a name"),
    "a name that is a path": (RUN + '[[run]]\nname = "a/../b"', "[[run]] 2: needs a name"),
    "a double name": (RUN + RUN, "two of the list are called a-seed1"),
    "a double seed": (RUN + "seeds = [1, 2, 1]", "two of the list are called a-seed1"),
    "an unknown key": (RUN + "eval_every = 3", "a: unknown key 'eval_every': is it 'eval-every'?"),
    "a key of the command alone": (RUN + 'out = "x"', "unknown key 'out'"),
    "a seed": (RUN + "seed = 3", "seeds = [1, 2, 3]"),
    "seeds that are none": (RUN + 'seeds = ["1"]', "seeds ['1']"),
    "seeds that are true": (RUN + "seeds = [true]", "seeds [True]"),
    "no seeds": (RUN + "seeds = []", "seeds []"),
    "one seed": (RUN + "seeds = 1", "seeds 1"),
    "no budget": ('[[run]]\nname = "b"\nnetwork = "4x6"', "[[run]] b: say how long"),
    "no network": ('[[run]]\nname = "b"\ngames = 3', "b: which network?"),
    "two budgets": (RUN + "games = 3", "by one of"),
    "what Settings refuses": (RUN + 'rule = "tx"', "[[run]] a: unknown rule 'tx'"),
    "a rate of another rule": (RUN + "beta = 0.5", "[[run]] a: beta"),
    "promotion without stages": (RUN + "no-promotion = true", "no stages"),
    "a text for a number": (RUN + 'threads = "2"', "threads = '2': write a whole number"),
    "a fraction for a whole number": (RUN + "threads = 2.0", "write a whole number"),
    "true for a number": (RUN + "threads = true", "threads = True: write a whole number"),
    "a number for a text": (RUN + "rule = 3", "rule = 3: write a text in quotes"),
    "a number for a flag": (RUN + "no-delay = 1", "no-delay = 1: write true or false"),
    "no number": (RUN + "alpha = nan", "alpha nan"),
    "a network that cannot be": ('[[run]]\nname = "b"\nactions = 3\nnetwork = "4x9"', "b: "),
    "too many weights": (RUN.replace("4x6", "8x6") + "stages = 5", "a: network 8x6 has"),
}  # fmt: skip


@pytest.mark.parametrize("text, said", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_list_is_refused_in_one_line(listed, refused, text, said):
    refused(lambda: listed(text), said)


def test_a_file_that_is_no_text_is_refused_in_one_line(tmp_path, refused):
    (tmp_path / "list.toml").write_bytes(b"\xff\x00")
    refused(lambda: read_list(tmp_path / "list.toml"), "is TOML")
    with pytest.raises(OSError):
        read_list(tmp_path / "none.toml")


# ---------------------------------------------------------------- the page


def test_the_page_has_the_memory_that_the_library_works_out():
    docs = LISTS[0].parents[2] / "docs"
    rows = re.findall(r"\| `(.*)` \| ([0-9 ]+) \|", (docs / "sweeps.md").read_text())
    found = {job.name: round(job.nbytes / 2**20) for job in read_list(docs / "memory.toml")}
    assert {name: int(mib.replace(" ", "")) for name, mib in rows} == found
