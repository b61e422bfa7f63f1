"""Work out what the tasks at the end of lessons find: nice python tools/answers.py [02 07.3 …]

data/curves/answers.csv has a row for each number of an answer ("What we found"): the `lesson`, the
`task`, `what` was found, its `value`, `half` of its 95 % interval where the answer gives it, and
the library's `sources` that found it.  Each task is done as a reader would do it: by those cells of
the lesson that it needs, and then a few lines.  Rows of tasks that are not named stay as they are.
Half an hour on one core, and A3.2 up to a quarter of an hour more on two.
"""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from symtable import SymbolTable, symtable
from types import SimpleNamespace

import matplotlib
import nbformat
import numpy as np
import pandas as pd
from lessons import LESSONS, code_cells

from lib2048 import (
    Run,
    SearchPlayer,
    Settings,
    afterstates,
    compare,
    endgame,
    evaluate,
    mdp,
    mean_ci95,
    race,
    train,
)
from lib2048.machine.kernels import SOURCE_HASH

matplotlib.use("agg")  # no window; in this process alone, unlike MPLBACKEND

FILE = Path(__file__).resolve().parents[1] / "data" / "curves" / "answers.csv"
COLUMNS = ["lesson", "task", "what", "value", "half", "sources"]
SEEDS = (1, 2, 3)


# ---- a lesson as far as a task needs it ----------------------------------------------------------


def opened(number: str, *names: str, instead: tuple[str, str] = ("", "")) -> SimpleNamespace:
    """Run the cells of a lesson that make these names, with all that those need; return them.

    instead: (what a cell says, what it is to say).
    """
    path = next(LESSONS.glob(f"{number}_*.ipynb"))
    cells = [cell.source for _, cell in code_cells(nbformat.read(path, as_version=4))]
    if instead[0]:
        assert any(instead[0] in cell for cell in cells), instead
        cells = [cell.replace(*instead) for cell in cells]
    needed = {0, 1}  # the imports, and the budgets
    for name in names:
        need(name, len(cells), cells, needed)
    lesson = SimpleNamespace()
    with redirect_stdout(io.StringIO()):
        for n in sorted(needed):
            exec(compile(cells[n], f"{path.name}, code cell {n + 1}", "exec"), vars(lesson))
    return lesson


def need(name: str, before: int, cells: list[str], needed: set[int]) -> None:
    """Add the last cell before this one that makes a name (or the first), and what that needs."""
    makers = [n for n, cell in enumerate(cells) if name in made(table_of(cell))]
    maker = max((n for n in makers if n < before), default=min(makers, default=0))
    if maker not in needed:
        needed.add(maker)
        for other in used(table_of(cells[maker])):
            need(other, maker, cells, needed)


@cache
def table_of(cell: str) -> SymbolTable:
    """Return what Python knows of the names of a cell."""
    return symtable(cell, "cell", "exec")


def made(table: SymbolTable) -> set[str]:
    """Return the names that a cell makes."""
    symbols = table.get_symbols()
    return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}


def used(table: SymbolTable) -> set[str]:
    """Return the names of the lesson that a cell uses, in its functions, too."""
    here = {s.get_name() for s in table.get_symbols() if s.is_referenced() and not s.is_local()}
    top = table.get_type() == "module"
    here |= {s.get_name() for s in table.get_symbols() if top and s.is_referenced()}
    return here.union(*map(used, table.get_children()))


# ---- the tasks -----------------------------------------------------------------------------------

Answer = Iterator[tuple]  # (what, value), or (what, value, half of its interval)


def task_02_1() -> Answer:
    """2×2 where a share of the spawns are 4s."""
    lesson = opened("02", "solver", "take_best")
    for share in (0, 0.5, 1):
        start = {2: 1 - share, 4: share}

        def next_states(after, start=start):
            found = mdp.next_states(after)
            empty = len(found) // 2
            return [(start[new_tile(after, state)] / empty, state) for _, state in found]

        lesson.mdp = SimpleNamespace(choices=mdp.choices, next_states=next_states)
        of_state = lesson.solver(lesson.take_best)
        first = next_states(((0, 0), (0, 0)))
        starts = [(p * q, state) for p, one in first for q, state in next_states(one)]
        yield f"2x2, {share:g} of the spawns are 4s", sum(p * of_state(s) for p, s in starts if p)


def new_tile(after, state):
    """Return the tile that a state has and its afterstate had not."""
    return sum(map(sum, state)) - sum(map(sum, after))


def task_02_2() -> Answer:
    """A player that wants to lose, and first legal."""
    lesson = opened("02", "solver", "game_value", "small", "optimal")

    def worst(options):
        return min(total for _, total in options)

    def first_legal(options):
        return options[0][1]

    yield "2x2, wants to lose", lesson.game_value(lesson.solver(worst), 2, 2)
    share = lesson.game_value(lesson.solver(first_legal), 2, 3) / lesson.optimal.start
    yield "2x3, first legal, share of the optimum", share
    yield "2x3, greedy with a coin", lesson.small.follow("greedy").start / lesson.optimal.start


def task_02_3() -> Answer:
    """Points, or a 64?"""
    lesson = opened("02", "small", "optimal")
    board, up, right = ((4, 0, 32), (16, 16, 2)), 0, 1
    reach = lesson.small.reach(64)
    for name, action in ("Up", up), ("Right", right):
        yield f"{name}, points", lesson.optimal.actions(board)[action]
        yield f"{name}, chance of a 64", reach.actions(board)[action]


def task_03_1() -> Answer:
    """TD(0) with the step 1/n^0.7."""
    lesson = opened("03", "curve", "td0", "monte_carlo", "average")
    td0 = far_off(lesson, lesson.td0, lambda n: n**-0.7, 10_000)
    averages = far_off(lesson, lesson.monte_carlo, lesson.average, 10_000)
    yield from zip(("TD(0), n**-0.7, 10000 games", "Monte Carlo, 1/n, 10000 games"), td0 + averages)


def far_off(lesson, method, step, *marks):
    """Return the mean distance from the truth over the lesson's seeds, at each of these marks."""
    curves = pd.concat([lesson.curve(method, step, seed) for seed in lesson.SEEDS])
    return curves.groupby("games").distance.mean().loc[list(marks)].tolist()


def task_03_2() -> Answer:
    """TD(0) backwards."""
    lesson = opened("03", "curve", "td0", "fixed")

    def backwards(V, visits, turns, step):
        target = 0
        for reward, after in reversed(turns):
            visits[after] += 1
            V[after] += step(visits[after]) * (target - V[after])
            target = reward + V[after]

    steps = {"0.1": lesson.fixed, "n**-0.7": lambda n: n**-0.7}
    for name, step in steps.items():
        for way, method in ("forwards", lesson.td0), ("backwards", backwards):
            yield f"{way}, {name}, 300 games", *far_off(lesson, method, step, 300)


def task_03_3() -> Answer:
    """Half the step size."""
    lesson = opened("03", "curve", "td0")
    for alpha in 0.1, 0.05:
        found = far_off(lesson, lesson.td0, lambda n, alpha=alpha: alpha, 1_000, 10_000)
        yield from zip((f"{alpha}, 1000 games", f"{alpha}, 10000 games"), found)


def task_04_1() -> Answer:
    """One table that begins with the truth, with another step size."""
    lesson = opened("04", "opinions", "truth")
    for lesson.ALPHA in (0.05, 0.1, 0.2):
        runs = [lesson.opinions([dict(lesson.truth)] * 2, seed) for seed in lesson.SEEDS]
        late = [run.says[run.games > lesson.GAMES / 2].mean() for run in runs]
        yield f"step {lesson.ALPHA}, above the optimum", np.mean(late) - lesson.best.start


def task_04_2() -> Answer:
    """Less optimism, and more."""
    lesson = opened("04", "learned", "tiny")
    for start in (20, 1_000):
        marks = [lesson.tiny.marks(lesson.learned(start=start, seed=s)) for s in lesson.SEEDS]
        for name, mean in pd.DataFrame(marks).mean().items():
            yield f"start {start}, {name}", mean


def task_05_1() -> Answer:
    """The step that nobody has divided."""
    lesson = opened("05", "study", "names", "games", "truth")
    for name, lookups in ("4x6", 32), ("4-22", 40):
        _, curve = lesson.study(name, lesson.ALPHA * lookups)
        yield from ((f"{name}, error after {g} games", e) for g, e in curve.itertuples(index=False))


def task_05_2() -> Answer:
    """The first 1000 games five times."""
    lesson = opened("05", "early", "known", "bins", "labels_of", "truth", "tests", "fit")
    end, draw = lesson.games.ends[999], np.random.default_rng(2)
    for _ in range(4):
        again = draw.permutation(end)
        examples = lesson.games.afterstates[again], lesson.games.returns[again]
        lesson.fit(lesson.early, *examples, lesson.ALPHA)
    sets = pd.cut(lesson.known, lesson.bins, labels=lesson.labels_of)
    values = pd.Series(lesson.early.values(lesson.tests)).groupby(sets, observed=True).mean()
    yield from ((f"look-ups seen {row}", value) for row, value in values.items())


def task_05_3() -> Answer:
    """With the 3-tuples."""
    lesson = opened("05", "study", "both", "error")
    more = ",".join("".join(f"{c:x}" for c in cells) for cells in lesson.parse_network("3"))
    for alpha in (0.02, 0.005):
        for name, network in ("both", lesson.both), ("with 3-tuples", f"{lesson.both},{more}"):
            learned, curve = lesson.study(network, alpha)
            yield f"{name}, {alpha}, error", curve.error.iloc[-1]
            yield f"{name}, {alpha}, score", evaluate(learned, lesson.PLAYED).mean


def task_07_2() -> Answer:
    """Values that are a little too low."""
    lesson = opened("07", "network", "shifted", "one")
    brief = evaluate(SearchPlayer(lesson.network, 2), lesson.SLOW_GAMES)
    for extra in (-300, -1_000):
        told = compare(lesson.shifted(extra).scores, brief.scores, paired=True)
        yield f"{extra}, above 2-ply as it is", told.difference, told.half


def task_07_3() -> Answer:
    """Three plies."""
    lesson = opened("07", "network")
    two = evaluate(SearchPlayer(lesson.network, 2), lesson.FEW_GAMES)
    three = evaluate(SearchPlayer(lesson.network, 3), 50)
    told = compare(three.scores, two.scores)
    yield "3-ply", three.mean, three.ci95
    yield "3-ply, above 2-ply", told.difference, told.half
    yield "2-ply, times as many actions a second", two.moves_per_s / three.moves_per_s


def task_08_2() -> Answer:
    """Bias and spread of the targets of a better player."""
    lesson = opened("08", "error", "LAMBDAS", instead=("actions=3000", "actions=30_000"))
    for what in ("bias", "spread", "error"):
        for lam, number in zip(lesson.LAMBDAS, getattr(lesson, what)):
            yield f"λ {lam:g}, {what}", number


def limited(low: float, high: float) -> Callable:
    """Return TC's update with every weight's rate held between two limits."""

    def update(weights, memory, positions, error, rate):
        for p in positions:
            up, size = memory[2 * p], memory[2 * p + 1]
            own = abs(up) / size if size > 0 else 1.0
            weights[p] += rate * error * min(max(own, low), high)
            memory[2 * p], memory[2 * p + 1] = up + error, size + abs(error)

    return update


def task_09_1() -> Answer:
    """A cap over TC's rates, and a floor under them."""
    lesson = opened("09", "contest", "SEEDS")
    limits = {"cap": (0.0, 0.2), "floor": (0.1, 1.0)}
    ways = {name: {"rule": "tc", "update": limited(*both)} for name, both in limits.items()}
    for network in lesson.SEEDS:
        scores = lesson.contest(network, {"TC": {"rule": "tc"}} | ways)
        for name in ways:
            told = compare(scores[name], scores["TC"])
            yield f"{network}, {name}, per cent", told.percent, told.percent_half


def task_A5_1() -> Answer:
    """Backwards with λ = 0.9."""
    lesson = opened("A5", "tested")
    for lam, rates in ((0.9, (0.1, 0.3, 0.5)), (0, (0.5,))):
        tests = lesson.tested("λ", rates, order="backward", lam=lam)
        for rate, scores in tests.groupby("alpha").score:
            yield f"λ {lam:g}, α {rate:g}", scores.mean()


def task_A5_2() -> Answer:
    """True online TD(0.5) with α = 1: how many actions until its weights grow without bound."""
    for seed in SEEDS:
        run = Run(Settings(network="4x6", lam=0.5, traces="dutch", delay=False, alpha=1, seed=seed))
        try:
            run.go(actions=600_000, progress=False)
        except FloatingPointError:
            yield f"seed {seed}, actions", run.actions


def task_15_1() -> Answer:
    """The mean of eight images, after about the actions of the lesson's minute."""
    lesson = opened("15", "Run")
    settings = lesson.Settings(network="cnn22sss", batch="batch128", average=0.99, seed=1)
    run = lesson.Run(settings)
    run.go(actions=470_000, progress=False)
    player = run.tested
    as_trained = evaluate(player, 50)
    player.symmetry = "ave"
    for name, result in ("as trained", as_trained), ("ave", evaluate(player, 50)):
        yield name, result.mean, result.ci95


def task_15_2() -> Answer:
    """Other learning rates of Adam, after so many actions each."""
    lesson = opened("15", "Run")
    network = {"network": "cnn22sss", "batch": "batch128", "average": 0.99}

    def score(rate, seed):
        run = lesson.Run(lesson.Settings(**network, learning_rate=rate, seed=seed))
        run.go(actions=470_000, progress=False)
        return evaluate(run.tested, 200).mean

    means = {rate: [score(rate, seed) for seed in SEEDS] for rate in (0.001, 0.003, 0.0003)}
    for rate in (0.003, 0.0003):
        told = compare(means[rate], means[0.001])
        yield f"{rate:g} − 0.001", told.difference, told.half


def task_16_1() -> Answer:
    """A copy of TD(0)."""
    from lib2048.deep import warm_start  # torch, here alone

    lesson = opened("16", "record_games")
    teacher, student = lesson.Network("4x6"), lesson.new_policy_network(1)
    train(teacher, alpha=0.1, actions=3_000_000, progress=False)
    moves = lesson.record_games(teacher, 100, seed=1)
    yield "agreement", warm_start(student, moves)[-1]["agreement"]
    yield "teacher", moves.results[:, 1].mean()
    copy = evaluate(student.player(), 500)
    yield "copy", copy.mean, copy.ci95


def task_17_1() -> Answer:
    """Only the first leader runs on."""
    scores = opened("17", "scores").scores
    yield "the first leader in the end", scores.loc[3e8, scores.loc[3e7].idxmax()]
    yield "the winner", scores.loc[3e8].max()


def task_18_2() -> Answer:
    """Players of the endgame 42-16 that are not the best one."""
    lesson = opened("18", "spawns", "TEN")

    def start_of(pick):
        @cache
        def of_state(state):
            here = [
                (r, of_after(s)) for _, s, r in afterstates(state) if s & lesson.STAND == lesson.TEN
            ]
            return pick(here) if here else 0

        @cache
        def of_after(after):
            won = 4 in lesson.to_exponents(after)
            return 1 if won else sum(p * of_state(state) for p, state in lesson.spawns(after))

        pairs = ((p * q, s) for p, one in lesson.spawns(lesson.TEN) for q, s in lesson.spawns(one))
        return sum(chance * of_state(state) for chance, state in pairs)

    def greedy(here):
        top = max(reward for reward, _ in here)
        return np.mean([chance for reward, chance in here if reward == top])

    yield "42-16, any action, per cent", 100 * start_of(lambda here: np.mean([c for _, c in here]))
    yield "42-16, greedy with a coin, per cent", 100 * start_of(greedy)


def task_18_3() -> Answer:
    """Endgames from two random tiles."""
    for name, target in (("442", 64), ("4411", 32), ("4411", 128)):
        table = endgame.solve(name, target, progress=False)
        yield f"{table.formation}, per cent", 100 * table.start


def task_18_4() -> Answer:
    """The network in the endgame 4411-64, at 3-ply."""
    lesson = opened("18", "made", "go_on", "late")
    boards, before = lesson.late[40][:100], lesson.made[40][:100]
    made = [won for _, won in lesson.go_on(SearchPlayer(lesson.network.network, 3), boards)]
    told = compare(made, before, paired=True)
    yield "3-ply makes the 64", *mean_ci95(made)
    yield "3-ply − 1-ply", told.difference, told.half


def task_A2_1() -> Answer:
    """Somebody who stops when luck has decided."""
    lesson = opened("A2", "greedy")
    scores = np.random.default_rng(lesson.SEED).choice(lesson.greedy, (2_000, 2, 1_000))

    def stops(a, b):
        looks = range(50, 1_001, 50)
        return any(compare(a[:n], b[:n]).verdict != "not decided" for n in looks)

    yield "share of experiments with a winner", np.mean([stops(a, b) for a, b in scores])


def task_A2_2() -> Answer:
    """Pairs of seeds that are not related."""
    lesson = opened("A2", "spread")
    rng = np.random.default_rng(lesson.SEED)
    standard = rng.normal(1.0, lesson.spread, (10_000, 3))
    better = rng.normal(1.1, 1.1 * lesson.spread, (10_000, 3))
    for paired in False, True:
        more = [compare(b, a, paired=paired).verdict == "more" for a, b in zip(standard, better)]
        yield f"3 seeds of each, paired {paired}", np.mean(more)


def task_A3_2() -> Answer:
    """Tuned at 1-ply, played at 3-ply, with five seeds."""
    lesson = opened("A3", "by_depth", "tune", "PUBLISHED")
    lesson.GAMES = {3: 60}
    seeds = (1, 2, 3, 4, 5)
    old, new = (
        np.array([lesson.by_depth(weights, seed)["mean"][0] for weights, seed in zip(many, seeds)])
        for many in ([lesson.PUBLISHED] * 5, [lesson.tune(seed)[0] for seed in seeds])
    )
    told = compare(new, old, paired=True)
    yield "tuned at 1-ply, of the published score at 3-ply", new.mean() / old.mean()
    yield "tuned minus published, 3-ply, five seeds", told.difference, told.half
    yield "seeds that score less", int((new < old).sum())


def task_A4_1() -> Answer:
    """Optimism for Q-learning."""
    lesson = opened("A4", "Network")
    for start in (0, 50):
        for seed in SEEDS:
            network = lesson.Network("4-22", "q")
            network.weights[:] = start
            history = train(network, actions=1_500_000, seed=seed, progress=False)
            yield f"start {start}, seed {seed}, last 1000 games", history.scores[-1000:].mean()


def task_A4_2() -> Answer:
    """The three together, with sixteen weights."""
    lesson = opened("A4", "learn", "cells")
    said = lesson.learn(look_ups=lesson.cells, alpha=0.02)
    yield "sixteen weights, last 100 games", said["value"][-100:].mean()


def task_19_1() -> Answer:
    """Threes! on the other network of six cells."""
    lesson = opened("19")
    runs = {name: {"network": f"{name}@threes"} for name in ("42-33", "4x6")}
    options = {"rule": "tc", "actions": lesson.ACTIONS, "at_once": 1, "progress": False}
    tests = race(runs, SEEDS, lesson.GAMES, **options).tests
    told = compare(*(tests[tests["run"] == name]["score"].to_numpy() for name in runs))
    yield "42-33 against 4x6, per cent", told.percent, told.percent_half


TASKS = {
    name[5:].replace("_", "."): task
    for name, task in dict(globals()).items()
    if name.startswith("task_")
}


# ---- the file ------------------------------------------------------------------------------------


def main() -> None:
    """Do the tasks that are named, or all, and write what they find."""
    for name in filter(chosen, TASKS):
        found = rows_of(name)
        write(name, found)
        print(found.to_string(header=False, index=False), flush=True)


def chosen(name: str) -> bool:
    """Say whether a task is wanted."""
    return name.startswith(tuple(sys.argv[1:]) or "")


def rows_of(name: str) -> pd.DataFrame:
    """Do a task; return its rows."""
    lesson, task = name.split(".")
    found = pd.DataFrame([(*row, np.nan)[:3] for row in TASKS[name]()]).round(4)
    found.columns = ["what", "value", "half"]
    return found.assign(lesson=lesson, task=int(task), sources=SOURCE_HASH)[COLUMNS]


def write(name: str, found: pd.DataFrame) -> None:
    """Put the rows of a task in the place of its old ones."""
    old = pd.read_csv(FILE, dtype={"lesson": str}) if FILE.exists() else found.iloc[:0]
    others = old[old["lesson"] + "." + old["task"].astype(str) != name]
    rows = pd.concat([others, found]).sort_values(["lesson", "task"], kind="stable")
    rows.to_csv(FILE, index=False)


if __name__ == "__main__":
    main()
