"""Several ways to learn, several seeds of each, one table of test scores: which one is better?"""

import threading
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import product

from lib2048.learn.settings import Settings
from lib2048.machine.extras import package
from lib2048.machine.terminal import in_short
from lib2048.machine.threads import Crowd
from lib2048.play.evaluation import check_games, evaluate
from lib2048.play.statistics import compare_groups
from lib2048.train.run import Run
from lib2048.train.watching import Stopped, last_mean, progress_line

FUNCTIONS = ("index", "value", "update", "keeps")  # of one's own, see `Network.with_functions`


class Race:
    """What came of a race.

    Attributes:
        tests: DataFrame, a row a run: run (its name), the options that it had to itself, seed,
            score (the mean of its test games) and what `note` said.
        histories: {name: [`History`, one a seed]}, as `plot.curves` takes them.
    """

    def __init__(self, rows):
        self.tests = package("pandas").DataFrame([row for row, _ in rows])
        self.histories: dict[str, list] = {}
        for row, history in rows:
            self.histories.setdefault(row["run"], []).append(history)

    def compare(self, against, value="score", level=0.95):
        """Compare all others with one, seeds against seeds; see `compare_groups`."""
        return compare_groups(self.tests, "run", value, against, level)

    def __repr__(self):
        means = self.tests.groupby("run", sort=False).score.mean()
        return f"<race: {', '.join(f'{name} {mean:,.0f}' for name, mean in means.items())}>"


def race(runs, seeds=(1, 2, 3), games=1000, note=None, at_once=2, progress=True, **common):
    """Train every one of several learners from every seed, and let each play the same test games.

    Options are those of `Settings`, the network and a budget among them, and index, value and
    update, functions of one's own.

    Args:
        runs: {name: {option: value}}, what each has to itself.
        **common: what all of them share.
        games: test games of each run.
        note: a function of (network, history) that returns {column: value}, for what else is asked
            of a network before it is forgotten; the columns are none that the table has.
        at_once: runs at a time; results do not depend on it.
        progress: whether to show a line: how many runs have ended, how far all are together, the
            mean of the one that spoke last.

    Returns:
        `Race`.

    Raises:
        ValueError: before anything is trained, for options that `Settings` refuses or that nobody
            knows, a seed among them, and budgets that are missing or of different kinds; later
            what `Run.go` raises.
        Stopped: by the Stop button.
    """
    if not isinstance(runs, Mapping) or not isinstance(seeds, Iterable):
        raise ValueError(
            "a race needs runs as {name: {option: value}} and seeds as (1, 2, 3), not "
            f"{in_short(runs)} and {in_short(seeds)}"
        )
    jobs = [_job(name, own, common, seed) for (name, own), seed in product(runs.items(), seeds)]
    if len({job.unit for job in jobs}) != 1:
        raise ValueError("a race needs seeds, and budgets of one kind: actions, games or seconds")
    check_games(games, at_once)
    over = threading.Event()
    try:
        with _line(jobs, progress, over) as look, Crowd(at_once) as crowd:
            tasks = (partial(_row, job, look, games, note, over) for job in jobs)
            return Race(list(crowd.results(tasks)))
    except KeyboardInterrupt:
        said = f"stopped: {sum(job.ended for job in jobs)} of {len(jobs)} runs had ended"
        raise Stopped(None, said) from None
    finally:
        over.set()
        for job in jobs:
            if job.run:
                job.run.stop()


def _job(name, own, common, seed):
    """Return a run of a race; raises ValueError, in one line that names it, for what is none."""
    if not isinstance(own, Mapping):
        raise ValueError(f"run {name!r}: write its options as {{option: value}}, not {own!r}")
    if "seed" in common | own:
        raise ValueError(f"run {name!r}: its seeds are those of all: say seeds=(1, 2, 3)")
    try:
        return _Job(name, own, common | own | {"seed": seed})
    except (TypeError, ValueError) as error:
        raise ValueError(f"run {name!r}: {error}") from None


class _Job:
    """One run of a race: what it is called and has to itself, its settings, how far it is."""

    def __init__(self, name, own, options):
        self.about = {"run": name} | {key: x for key, x in own.items() if key not in FUNCTIONS}
        self.functions = {key: options.pop(key) for key in FUNCTIONS if key in options}
        self.settings = Settings.asked(**options)
        self.unit, self.budget = self.settings.budget  # type: ignore[misc]  # asked for: never None
        self.done, self.ended, self.run = 0, False, None

    def network(self):
        """Return its network, new, with functions of one's own where it has some."""
        made = self.settings.new_network()
        rule = getattr(self.settings, "rule", "td")
        return made.with_functions(rule=rule, **self.functions) if self.functions else made


@contextmanager
def _line(jobs, progress, over):
    """Yield what a job and its run call on their way: it moves the line on, or ends the run."""
    lock, total = threading.Lock(), sum(job.budget for job in jobs)
    with progress_line(progress, jobs[0].unit, total) as tell:

        def look(job, run):
            if over.is_set():
                run.stop()
            with lock:
                job.done = run.done(job.unit)
                ended = sum(each.ended for each in jobs)
                said = f"{ended} of {len(jobs)} runs, {last_mean(run)}"
                tell(sum(each.done for each in jobs), said)

        yield look


def _row(job, look, games, note, over):
    """Train and test; return (what the table holds of a run, its history)."""
    network = job.network()
    job.run = Run(job.settings, network=network)
    history = job.run.go(progress=partial(look, job))
    job.run = None  # its memory is free for the next one
    score = evaluate(network, games, stop=over).mean
    row = job.about | {"seed": job.settings.seed, "score": score}
    more = note(network, history) if note else {}
    if taken := sorted(row.keys() & more.keys()):
        raise ValueError(f"note: {', '.join(taken)} is in the table already: use another name")
    job.ended = True
    return row | more, history
