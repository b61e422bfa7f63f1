"""Lists of runs: those in data/runs make sense, and others are refused in one line."""

import json
import re
from pathlib import Path

import pytest

from lib2048 import Settings
from lib2048.sweep import TrainingJob, chosen, read_collect, read_list
from lib2048.sweep.lists import MOST_BYTES
from lib2048.sweep.playing import Playing
from lib2048.sweep.shipping import Shipping
from lib2048.sweep.solving import Solving

LISTS = sorted((Path(__file__).parents[1] / "data" / "runs").glob("*.toml"))


@pytest.fixture
def listed(tmp_path):
    """Return a function that reads a list with this text."""

    def read(text):
        path = tmp_path / "list.toml"
        path.write_text(text, encoding="utf-8")
        return read_list(path)

    return read


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_run_of_a_list_makes_sense(path):
    jobs = read_list(path)
    assert [type(job).of(json.loads(json.dumps(job.told()))) for job in jobs] == jobs


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_list_says_what_it_fills_and_how_long_it_takes(path):
    wanted = read_collect(path)
    assert wanted.hours > 0
    assert wanted.files or all(isinstance(job, Shipping) for job in read_list(path))


def test_what_plays_and_ships_names_runs_of_the_lists():
    runs = {f"{path.stem}/{job.label}" for path in LISTS for job in read_list(path)}
    named = {
        network
        for path in LISTS
        for job in read_list(path)
        if (network := getattr(job, "network", None))
    }
    files = {  # what is shipped already
        f"data/weights/{name}"
        for name in ("42-33.npz", "42-33-stages.npz", "42-33-4-22-stages.npz", "cnn22.safetensors")
    }
    trained = {"curves/td0_4x6_backward-seed1", "fine/0.0003-seed1", "late_1e10/carousel-seed1",
               "overfitting/tc-seed1", "page/six-long-seed1", "tc_1e10/tc-seed1",
               "value_gpu/paper-seed1"}  # fmt: skip
    kept = {name for name in named if name.endswith("/quarter.npz")}
    assert named == files | trained | kept and trained <= runs
    for name in kept:  # what a run of such a list keeps
        place, run, _ = name.split("/")
        jobs = read_list(LISTS[0].parent / f"{place}.toml")
        assert next(job for job in jobs if job.label == run).quarters > 0
    assert all((LISTS[0].parents[2] / file).exists() for file in files)


def test_each_list_is_named_in_the_readme():
    text = (LISTS[0].parent / "README.md").read_text()
    assert [path.stem for path in LISTS if f"`{path.stem}`" not in text] == []


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
        TrainingJob("td", Settings(**td, seed=2)),
        TrainingJob("td", Settings(**td, seed=1)),
        TrainingJob("tc-0.5", Settings(network="4x6", games=20, rule="tc", lam=0.5)),
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
    one, *others = [listed(text + line)[0].needs(None) for line in more]
    tables = 4 * 4 * 16**6
    assert tables < one < 4 * tables
    assert [other - one for other in others] == [2 * tables, 3 * tables, 11 * tables]


def test_memory_of_neural_networks_counts_their_batches(listed):
    text = '[[run]]\nname = "a"\nnetwork = "CNN22ss"\nactions = 9\n'
    few, many = [listed(text + f'batch = "batch{size}"')[0].needs(None) for size in ("64", "4K")]
    assert 1 << 30 < few < many - 200_000_000


def test_tests_and_what_is_kept_belong_to_a_run(listed):
    text = '[defaults]\nnetwork = "4x6"\ngames = 9\ntests = {3 = 100, 1 = 1000}\n'
    text += '[[run]]\nname = "a"\n[[run]]\nname = "b"\nkeep = false\ntests = {}'
    one, two = listed(text)
    assert (one.tests, one.keep) == (((1, 1000), (3, 100)), True)
    assert (two.tests, two.keep) == ((), False)
    assert one.needs(None) - two.needs(None) == 1 << 20  # the table of a 3-ply search


QUARTERS = """
[[run]]
name = "a"
network = "4x6"
rule = "tc"
actions = 9
quarters = 500
from = "weights.npz"
before = 70
"""


def test_a_run_keeps_its_quarters_and_knows_what_came_before(listed):
    (job,) = listed(QUARTERS)
    assert (job.quarters, job.settings.before) == (500, 70)
    assert [job._to_quarter(n) for n in (0, 2, 3, 8, 9, 12)] == [3, 1, 3, 1, 0, 0]
    assert listed(QUARTERS.replace("quarters = 500", ""))[0]._to_quarter(0) == 0


KINDS = """
[collect]
rows = "found"
[[play]]
name = "deep"
player = "td"
network = "curves/td-seed1"
depth = 4
threads = 2
games = 30
[[play]]
name = "by hand"
player = "heuristic"
ms-per-move = 1
table-mib = 0
reduce = true
[[solve]]
name = "exact"
board = "2x3"
[[solve]]
name = "learned"
board = "2x3"
start = "explore"
actions = [100, 1_000]
seeds = [1, 2]
[[ship]]
name = "small"
network = "curves/td-seed1"
keep = 1_000
""".replace("by hand", "by-hand")


def test_a_list_holds_what_is_no_training(listed, tmp_path):
    deep, by_hand, exact, one, two, small = listed(KINDS)
    assert deep == Playing("deep", "td", 30, "curves/td-seed1", depth=4, threads=2)
    assert by_hand == Playing("by-hand", "heuristic", ms_per_move=1, table_mib=0, reduce=True)
    assert exact == Solving("exact", "2x3")
    assert two == Solving("learned", "2x3", "explore", actions=(100, 1000), seed=2)
    assert small == Shipping("small", "curves/td-seed1", 1000)
    assert (one.label, two.label, one.seed, two.seed) == ("learned-seed1", "learned-seed2", 1, 2)
    assert deep.needs(tmp_path) - by_hand.needs(tmp_path) == 2 * 16 << 20
    assert by_hand.about["ms"] == 1 and by_hand.about["plies"] is None
    assert deep.about == {"player": "td", "plies": 4, "ms": None, "table": True, "reduce": False}
    assert one.needs(tmp_path) - exact.needs(tmp_path) == 4 * 16**6


GAMES = """
[[run]]
name = "small"
network = "22-3"
game = "2048@2048@2x3"
actions = 100
[[play]]
name = "random"
player = "random"
game = "2048:four=0.10@2x3"
[[solve]]
name = "odds"
board = "2x2"
game = "2048:four=0.2"
start = "zero"
tuples = "0145"
actions = [100]
seeds = [1]
[[solve]]
name = "plain"
game = "2048@2x2"
""".replace("2048@2048", "2048")


def test_a_list_says_which_game(listed, tmp_path):
    run, play, odds, plain = listed(GAMES)
    assert run.settings.network == "22-3@2x3"
    assert play == Playing("random", "random", game="2048@2x3")
    assert play.new_player(tmp_path).game.name == play.about["game"] == "2048@2x3"
    assert odds.about["game"] == "2048:four=0.2@2x2" and odds.board == "2x2"
    rows = odds.rows(tmp_path)
    assert rows[0]["game"] == "2048:four=0.2@2x2" and 0.3 < rows[0]["share"] < 1
    assert plain == Solving("plain", "2x2") and "game" not in plain.told()
    assert Solving.of(plain.told()) == plain and Playing.of(play.told()) == play


PLAY, SOLVE, SHIP = (f'[[{kind}]]\nname = "a"\n' for kind in ("play", "solve", "ship"))
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
    "a name that is a number": ("[[run]]\nname = 5", "[[run]] 1: needs a name"),
    "a name that is a day": ("[[run]]\nname = 1979-05-27", "[[run]] 1: needs a name"),
    "a name that is true": ("[[solve]]\nname = true", "[[solve]] 1: needs a name"),
    "a name that is nan": ("[[ship]]\nname = nan", "[[ship]] 1: needs a name"),
    "a day for a seed": (RUN + "seeds = [1979-05-27]", "seeds [datetime.date(1979, 5, 27)]"),
    "a time for a budget": (RUN + "games = 07:32:00", "games = datetime.time(7, 32)"),
    "no file to begin with": (RUN + 'from = " "', "from = ' ': write a text in quotes"),
    "a player in two lines": (PLAY + 'player = "a\\nb"\nnetwork = "a.npz"', "a: player = 'a\\nb'"),
    "a name that is a path": (RUN + '[[run]]\nname = "a/../b"', "[[run]] 2: needs a name"),
    "a name of Windows": ('[[run]]\nname = "Aux.1"', "[[run]] 1: needs a name"),
    "a name with a dot at its end": ('[[run]]\nname = "a."', "[[run]] 1: needs a name"),
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
    "promotion without stages": (RUN + "no-promotion = true", "promotion has no effect without"),
    "test games at no time": (RUN + "eval-depth = 3", "eval-depth has no effect without"),
    "deep games at one ply": (RUN + "eval-every = 9\neval-deep-games = 3", "no effect at 1-ply"),
    "a rate by two names": (RUN + "rate = 0.1\nalpha = 0.1", "rate and alpha are the same"),
    "a text for a number": (RUN + 'threads = "2"', "threads = '2': write a whole number"),
    "a fraction for a whole number": (RUN + "threads = 2.0", "write a whole number"),
    "true for a number": (RUN + "threads = true", "threads = True: write a whole number"),
    "a number for a text": (RUN + "rule = 3", "rule = 3: write a text in quotes"),
    "a number for a flag": (RUN + "no-delay = 1", "no-delay = 1: write true or false"),
    "no number": (RUN + "alpha = nan", "alpha nan"),
    "a network that cannot be": ('[[run]]\nname = "b"\nactions = 3\nnetwork = "4x9"', "b: "),
    "tests that are none": (RUN + "tests = 3", "tests = 3: write a table of plies and games"),
    "no plies": (RUN + "tests = {all = 3}", "a: tests all: plies are whole numbers from 1"),
    "too many plies": (RUN + "tests = {17 = 3}", "a: tests 17: plies are whole numbers"),
    "no games": (RUN + "tests = {1 = 0}", "a: games 0, threads 1: both must be whole numbers"),
    "half a game": (RUN + "tests = {1 = 0.5}", "a: tests 1 = 0.5: write a whole number"),
    "quarters of a run that keeps no errors": (RUN + "quarters = 9", "a: quarters: are kept of"),
    "quarters of games": (RUN.replace("actions", 'rule = "tc"\ngames') + "quarters = 9",
                          "a: quarters: are kept of"),
    "quarters that are none": (RUN + "quarters = -1", "a: quarters = -1: use 0 or more"),
    "a before without weights": (RUN + "before = 9", 'before: is of the weights to begin with'),
    "half a before": (RUN + 'from = "a.npz"\nbefore = 0.5', "before = 0.5: write a whole number"),
    "a keep that is none": (RUN + 'keep = "no"', "keep = 'no': write true or false"),
    "a player that nobody knows": (PLAY + 'player = "td"', "[[play]] a: player 'td': say which"),
    "no player": (PLAY, "a: player '': say which network"),
    "an unknown precision": (PLAY + 'network = "a.safetensors"\nprecision = "half"',
                             "unknown precision 'half'"),
    "a precision of tables": (PLAY + 'network = "a.npz"\nprecision = "bfloat16"',
                              "precision: is for a file of a neural network"),
    "an unknown key of play": (PLAY + "plies = 3", "a: unknown key 'plies'"),
    "a policy that looks ahead": (PLAY + 'player = "random"\ndepth = 2', "does not look ahead"),
    "no depth": (PLAY + 'player = "heuristic"\ndepth = 0', "a: depth 0"),
    "two words for a depth": (RUN + 'tests = {1 = 2, 01 = 3}', "tests 01: plies are whole numbers"),
    "no game to play": (PLAY + 'player = "random"\ngames = 0', "a: games 0"),
    "no thread": (PLAY + 'player = "random"\nthreads = 0', "threads 0: both must be whole numbers"),
    "a game that nobody knows": (PLAY + 'player = "random"\ngame = "go"', "unknown game 'go'"),
    "a run of another board": (RUN + 'game = "2048@3x4"', "4x6 is for 4x4"),
    "a solve of two sizes": (SOLVE + 'board = "2x2"\ngame = "2048@2x3"', "are two boards"),
    "no board": (SOLVE, "[[solve]] a: which board? say a size"),
    "a board that is too large": (SOLVE + 'board = "4x4"', "a: a 4x4 board has up to"),
    "a start that nobody knows": (SOLVE + 'board = "2x2"\nstart = "high"', "unknown start 'high'"),
    "no actions": (SOLVE + 'board = "2x2"\nstart = "zero"\nseeds = [1]', "say how long"),
    "no action": (SOLVE + 'board = "2x2"\nstart = "zero"\nseeds = [1]\nactions = [0]', "above 0"),
    "what is not learned": (SOLVE + 'board = "2x2"\nseeds = [1]', "seeds are of what is learned"),
    "tuples off the board": (SOLVE + 'board = "2x2"\nstart = "zero"\nseeds = [1]\nactions = [9]\n'
                             'tuples = "0123"', "[[solve]] a: "),
    "no run to ship": (SHIP, "[[ship]] a: which run?"),
    "no power of two": (SHIP + 'network = "l/a-seed1"\nstep = 24', "a: step 24: use a power"),
    "a file to ship": (SHIP + 'network = "a.npz"', "a: which run?"),
    "no weights to keep": (SHIP + 'network = "l/a-seed1"\nkeep = 0', "a: keep 0"),
    "two names of two kinds": (RUN + PLAY.replace('"a"', '"a-seed1"') + 'player = "random"',
                               "two of the list are called a-seed1"),
    "an unknown key of collect": ("[collect]\nrun = 3\n" + RUN, "[collect]: unknown key 'run'"),
    "no file to collect": ("[collect]\nruns = 3\n" + RUN, "[collect]: runs = 3: write a text"),
    "a collect that is none": ("collect = 3\n" + RUN, "write [collect]"),
    "none of the rows": ("[collect]\nevery = 0\n" + RUN, "[collect]: every = 0"),
    "too many weights": (RUN.replace("4x6", "8x6") + "stages = 5", "a: network 8x6 has"),
}  # fmt: skip


@pytest.mark.parametrize("text, said", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_list_is_refused_in_one_line(listed, refused, text, said):
    refused(lambda: listed(text), said)


def test_a_file_that_is_no_text_is_refused_in_one_line(tmp_path, refused):
    (tmp_path / "list.toml").write_bytes(b"\xff\x00")
    refused(lambda: read_list(tmp_path / "list.toml"), "is no text in UTF-8")
    refused(lambda: read_list(tmp_path), "is a directory")
    refused(lambda: read_list("/dev/zero"), "is no plain file")
    refused(lambda: read_list(tmp_path / "none.toml"), "no such file; the lists of the course are")
    text = "a = " + "[" * 20_000
    (tmp_path / "list.toml").write_text(text)
    refused(lambda: read_list(tmp_path / "list.toml"), "nested too deeply")
    (tmp_path / "list.toml").write_text(f"# {MOST_BYTES * ' '}")
    refused(lambda: read_list(tmp_path / "list.toml"), "is larger than 1 MiB")


def test_the_page_has_the_memory_that_the_library_works_out():
    docs = LISTS[0].parents[2] / "docs"
    rows = re.findall(r"\| `(.*)` \| ([0-9 ]+) \|", (docs / "sweeps.md").read_text())
    found = {job.name: round(job.needs(None) / 2**20) for job in read_list(docs / "memory.toml")}
    assert {name: int(mib.replace(" ", "")) for name, mib in rows} == found
