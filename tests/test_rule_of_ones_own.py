"""A rule of one's own: twenty lines, and all of the library follows."""

import json
from dataclasses import replace

import numpy as np
import pytest
from learners import SMALL

from lib2048 import Network, Rule, Run, Settings, cli, train
from lib2048.benchmark import Bench
from lib2048.course import one_weight
from lib2048.course.explorers.curves import CurvesExplorer
from lib2048.learn.rules import RULES, TC
from lib2048.show.widgets.train import TrainWidget
from lib2048.sweep import TrainingJob, carrying_out, job_process, read_list, run_sweep

pytestmark = pytest.mark.ci

TWENTY_LINES = '''
import numpy as np
from lib2048 import Rule

FADES = np.float32(0.9)


def update(weights, memory, positions, at, n, error, rate):
    """Divide each step by the root of the mean square of the errors that the weight has met."""
    for i in range(at, at + n):
        p = positions[i]
        square = FADES * memory[p] + (1 - FADES) * error * error
        memory[p] = square
        weights[p] += 100 * rate * error / (np.sqrt(square) + np.float32(1))


rms = Rule("rms", update, keeps=("square",), rate="eta", default=0.1)
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("mine") / "mine.py"
    path.write_text(TWENTY_LINES, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def said(file):
    return f"{file}:rms"


@pytest.fixture
def rms(said):
    return Settings(network=SMALL, rule=said).the_rule


def new(rule, **options):
    return Run(Settings(network=SMALL, rule=rule, seed=3, **options))


# ---------------------------------------------------------------- what it says of itself


def test_its_rate_has_its_own_name(rms):
    assert (rms.symbol, rms.title, rms.memory) == ("η", "RMS", 1)
    settings = Settings(network=SMALL, rule=rms)
    assert (settings.rate, settings.rate_name) == (0.1, "eta")
    assert Settings(network=SMALL, rule=rms, eta=0.5) == Settings(network=SMALL, rule=rms, rate=0.5)
    assert replace(settings, eta=0.5).rate == 0.5
    assert replace(settings, rule="tc", rate=None).rate == 1


def test_names_of_the_rate_are_those_of_the_rule(rms, refused):
    assert Settings(network=SMALL, alpha=0.5) == Settings(network=SMALL, rate=0.5)
    refused(
        lambda: Settings(network=SMALL, rule=rms, alpha=0.5),
        "no rate of the rule rms: it takes eta",
    )
    refused(lambda: Settings(network=SMALL, rule=rms, eta=2), "eta 2: use a rate above 0")
    refused(lambda: Settings(network="cnn22", rule=rms), "is for n-tuple networks")
    assert Settings(network=SMALL, rule=TC) == Settings(network=SMALL, rule="tc")


def nothing(weights, memory, positions, at, n, error, rate):
    pass


@pytest.mark.parametrize(
    "how, words",
    [
        ({"name": "my rule"}, "cannot have the name 'my rule'"),
        ({"keeps": ("a", "a")}, "two numbers of one name"),
        ({"update": 3}, "needs an update"),
        ({"default": 0}, "use a rate above 0"),
    ],
)
def test_what_makes_no_rule_is_refused(refused, how, words):
    refused(lambda: Rule(**{"name": "mine", "update": nothing} | how), words)


def test_a_rule_needs_a_name_of_its_own(refused):
    refused(lambda: Settings(network=SMALL, rule=Rule("tc", nothing)), "a name of its own")
    refused(lambda: Settings(network=SMALL, rule=Rule("x", nothing, rate="lam")), "another setting")


def moves_others(weights, memory, positions, at, n, error, rate):
    for i in range(n):  # forgets `at`
        weights[positions[i]] += rate * error


def takes_little(weights, error):
    pass


@pytest.mark.parametrize(
    "update, words",
    [(moves_others, "does not belong to the board"), (takes_little, "is called as")],
)
def test_its_update_is_tried_before_anything_is_written(tmp_path, update, words):
    settings = Settings(network=SMALL, rule=Rule("mine", update), actions=10)
    with pytest.raises(ValueError, match=words):
        Run(settings, tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "no Rule of the name rms"),
        ("1 / 0", "ZeroDivisionError"),
        (None, "no such file"),
        ("\0" * (2 << 20), "is larger than 1 MiB"),
    ],
)
def test_a_file_without_the_rule_is_refused(tmp_path, refused, text, words):
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    refused(lambda: Settings(network=SMALL, rule=f"{tmp_path / 'mine.py'}:rms"), words)


# ---------------------------------------------------------------- training


def test_it_does_what_its_formula_says():
    """As TD does where what it keeps is left out: the same weights, bit for bit."""
    network, theirs = Network(SMALL), Network(SMALL)
    train(network, rule=Rule("mine", as_td, default=0.1), actions=3000, progress=False)
    train(theirs, actions=3000, progress=False)
    assert network.weights.any() and np.array_equal(network.weights, theirs.weights)


def as_td(weights, memory, positions, error, rate):
    amount = error * rate
    for p in positions:
        weights[p] += amount


def test_it_keeps_its_numbers_and_goes_on_bit_for_bit(rms, said, tmp_path):
    whole = new(rms)
    whole.go(actions=6000, progress=False)
    first = Run(whole.settings, tmp_path)
    first.go(actions=2500, progress=False)
    first.save()
    again = Run(Settings(network=SMALL, rule=said, seed=3), tmp_path, resume=True)
    again.go(actions=3500, progress=False)
    assert list(again.memory) == ["square"] and again.memory["square"].flat.any()
    for one, other in [(again.network.weights, whole.network.weights),
                       (again.memory["square"].flat, whole.memory["square"].flat)]:  # fmt: skip
        assert np.array_equal(one, other)
    assert again.memory["square"][0].shape == (16**4,)


def test_its_folder_knows_it_by_name_and_by_the_hash_of_its_source(file, said, tmp_path, refused):
    copy = tmp_path / "mine.py"
    copy.write_text(file.read_text())
    settings = Settings(network=SMALL, rule=f"{copy}:rms", actions=10)
    Run(settings, tmp_path / "run").save()
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["eta"] == 0.1 and "rate" not in config
    assert config["rule"]["name"] == "rms" and config["rule"]["source"] == settings.rule.source
    other = Settings(network=SMALL, rule=said, actions=10)  # of another place
    assert Run(other, tmp_path / "run", resume=True).settings == settings
    copy.write_text(file.read_text().replace("0.9", "0.8"))
    changed = Settings(network=SMALL, rule=f"{copy}:rms", actions=10)
    refused(lambda: Run(changed, tmp_path / "run", resume=True), "holds a run with rule rms")


# ---------------------------------------------------------------- what follows by itself


def test_the_command_and_lists_take_it(said, tmp_path, capsys):
    words = f"train --network {SMALL} --rule {said} --eta 0.2 --actions 3000 --out {tmp_path / 'a'}"
    assert cli.main([*words.split(), "--json"]) == 0
    more = f"train --resume --actions 4000 --out {tmp_path / 'a'}"
    assert cli.main(more.split()) == 0
    config = json.loads((tmp_path / "a" / "config.json").read_text())
    assert (config["eta"], config["actions"]) == (0.2, 4000)
    path = tmp_path / "list.toml"
    table = f'[[run]]\nname = "rms"\nseeds = [1, 2]\nnetwork = "{SMALL}"\nactions = 2000\n'
    path.write_text(table + f'rule = "{said}"\neta = 0.3\n')
    jobs = read_list(path)
    assert [job.settings.rate for job in jobs] == [0.3, 0.3]
    assert type(jobs[0]).of(json.loads(json.dumps(jobs[0].told()))) == jobs[0]
    run_sweep(jobs, tmp_path / "sweep", workers=1, progress=False)
    assert (tmp_path / "sweep" / "rms-seed2" / "weights.npz").exists()
    view = CurvesExplorer(tmp_path / "sweep")
    [row] = view.catalogue["rows"]
    assert (row["rule"], row["said"], row["symbol"]) == ("rms", "RMS", "η")
    assert "RMS(0), η 0.3" in row["about"]


def test_the_changed_file_of_a_run_is_refused_by_the_command(file, tmp_path, capsys):
    copy = tmp_path / "mine.py"
    copy.write_text(file.read_text())
    out = tmp_path / "run"
    words = f"train --network {SMALL} --rule {copy}:rms --actions 1000 --out {out}"
    assert cli.main(words.split()) == 0
    copy.write_text(file.read_text().replace("0.9", "0.8"))
    assert cli.main(f"train --resume --actions 2000 --out {out}".split()) == 2
    assert "has changed" in capsys.readouterr().err


def test_a_rule_in_no_file_stays_in_its_process(refused, rms):
    settings = Settings(network=SMALL, rule=replace(rms, file=""), actions=10)
    refused(settings.plain, "the rule rms is in no file")


def test_it_is_drawn(rms):
    told = one_weight([1, 1, -1], rms)
    assert (
        list(told) == ["error", "moved", "weight", "square"] and told.square.is_monotonic_increasing
    )
    widget = TrainWidget(new(rms), new(rms, eta=0.5))
    assert [about["rate"] for about in widget.about] == ["η", "η"]
    assert [about["name"] for about in widget.about] == ["η 0.1", "η 0.5"]
    widget.close()


@pytest.mark.slow
def test_it_is_measured(rms):
    figures = Bench(SMALL, warm_up=1000, moves=1000, rounds=1, rule=rms).run()
    assert figures["RMS(0) training"]["moves_per_s"] > 0


def test_a_job_whose_rule_has_gone_says_so_and_does_not_die(file, tmp_path):
    copy = tmp_path / "gone.py"
    copy.write_bytes(file.read_bytes())
    settings = Settings(network=SMALL, rule=f"{copy}:rms", actions=100)
    order = carrying_out._order(TrainingJob("a", settings), tmp_path, None)
    copy.unlink()
    answer = job_process._answer(order)
    assert answer["state"] == "failed" and "gone.py" in answer["why"]


# ---------------------------------------------------------------- an update that keeps numbers


def counting(weights, memory, positions, error, share):
    for p in positions:
        E, A = memory[3 * p], memory[3 * p + 1]
        own = min(abs(E) / A, np.float32(1)) if A != 0 else np.float32(1)
        weights[p] += error * share * own
        memory[3 * p], memory[3 * p + 1] = E + error, A + abs(error)
        memory[3 * p + 2] += 1


def test_an_update_of_ones_own_keeps_what_it_names(tmp_path, refused):
    def run(keeps=("E", "A", "visits"), **how):
        network = Network(SMALL).with_functions(update=counting, rule="tc", keeps=keeps)
        return Run(Settings(network=SMALL, rule="tc"), tmp_path / "run", network, **how)

    mine = run()
    mine.go(actions=3000, progress=False)
    theirs = new("tc").settings
    plain = Run(replace(theirs, seed=1))
    plain.go(actions=3000, progress=False)
    assert list(mine.memory) == ["E", "A", "visits"]
    assert np.array_equal(mine.memory["A"].flat, plain.memory["A"].flat)
    assert np.array_equal(mine.network.weights, plain.network.weights)
    again = run(resume=True)
    assert np.array_equal(again.memory["visits"].flat, mine.memory["visits"].flat)
    refused(lambda: run(("E", "A", "met"), resume=True), "keeps E, A, visits")
    refused(lambda: Network(SMALL).with_functions(keeps=("E",)), "your own update")
    goes_on = replace(mine.settings, weights="w.npz", before=10**6)
    refused(lambda: goes_on.new_learner(mine.network), "before: is for TC, which keeps E and A")


def test_rules_that_are_known_are_three():
    assert list(RULES) == ["td", "tc", "autostep"]
    assert [rule.symbol for rule in RULES.values()] == ["α", "β", "μ"]
