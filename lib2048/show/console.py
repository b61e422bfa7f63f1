"""What the commands of the command line print, from what they found."""

import csv
import math
import os
from itertools import pairwise
from pathlib import Path

from lib2048.game.bits import WHOLE
from lib2048.learn.rules import RULES
from lib2048.machine.printed import (
    broken,
    counted,
    facts,
    mean,
    percent,
    set_apart,
    size,
    table,
    thousands,
    width,
)
from lib2048.machine.terminal import in_short, one_line
from lib2048.networks import neural
from lib2048.networks.network import Geometry
from lib2048.play.evaluation import tiles_reached
from lib2048.play.statistics import mean_ci95
from lib2048.show.words import written
from lib2048.train.folder import CONFIG, read_config
from lib2048.train.history import HISTORY

WIDE = 120  # letters, from which on the names of runs stand beside the papers' rows
ABOUT = {"config", "seed", "this_file", "whole_network", "kept", "step", "seconds_to_load"}
FORMS = {
    "afterstate": "boards after a slide (afterstates)",
    "state": "boards before a slide (states)",
    "q": "boards and actions (Q)",
}
LETTERS = {"learning_rate": "learning rate"} | {one.rate: one.symbol for one in RULES.values()}


# ---------------------------------------------------------------- games


def shares(largest, game):
    """Return a table of how many games reached which tile; largest: exponents, a game each."""
    rows = [(str(tile), percent(a), percent(b)) for tile, a, b in tiles_reached(largest, game)]
    return table((">tile", ">reached", ">and no further"), rows)


def played(result):
    """Return what to print of a `Result`."""
    games = len(result.scores)
    half = result.ci95 if games > 1 else None
    what = counted(games, "game") + f" of {result.game.name}" * (result.game != WHOLE)
    speed = f"{thousands(result.moves_per_s)} a second"
    found = facts([
        ("player", result.name),
        ("mean score", f"{mean(result.mean, half)} points in {what}"),
        ("best game", f"{thousands(result.max)} points"),
        ("moves", f"{thousands(result.moves)}, {speed}"),
    ])  # fmt: skip
    return f"{found}\n\n{shares(result.largest, result.game)}"


def trained(history, report):
    """Return what to print of a run; report: what --json prints of it."""
    last = history.last(1000)
    weights = report["weights"] or "none yet: the run was stopped, and can go on"
    score = "no game from the initial state is over yet"
    if len(last):
        of = "the last " * (len(last) < history.count) + counted(len(last), "game")
        score = f"{mean(*mean_ci95(last[:, 0]))} points in {of}"
    found = facts([
        ("network", report["network"]),
        ("learned", f"{counted(report['games'], 'game')}, {counted(report['actions'], 'action')}"),
        ("speed", f"{thousands(report['actions_per_s'])} actions a second"),
        ("mean score", score),
        ("weights", weights),
        ("play them", f"lib2048 play {weights}" if report["weights"] else None),
    ])  # fmt: skip
    return f"{found}\n\n{shares(last[:, 2].astype(int), history.game)}" if len(last) else found


# ---------------------------------------------------------------- a file of weights


def about_file(path, found):
    """Return what to print of a file of weights; found: what `storage.info` says of it.

    What stands in the file beside its weights may be anything.
    """
    info = _clean(found["info"])
    config, end = (info.get("config"), None) if "config" in info else _run_beside(path, found)
    tests, uncut = info.get("this_file"), info.get("whole_network")
    known = [
        _training(config, info.get("actions")),
        _scores("score", tests),
        _scores("uncut", uncut),
    ]
    try:
        told = [pair for pairs in known for pair in pairs]
        said = ABOUT | ({"actions"} if config else set())
        others = {name: value for name, value in info.items() if name not in said}
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        told, others = [], info
    pairs = [("file", f"{path}, {size(os.path.getsize(path))}"), *_network(found, config), *told]
    pairs += [("at its end", end)]
    for name, value in others.items():
        pairs.append((name.replace("_", " "), value if isinstance(value, str) else in_short(value)))
    return facts([*pairs, ("checked", f"all of it, sha256 {found['sha256'][:16]}…")])


def _clean(value):
    """Return what a file holds without letters that a terminal would take for commands."""
    if isinstance(value, dict):
        return {one_line(name): _clean(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    return one_line(value) if isinstance(value, str) else value


def _network(found, config):
    name = found["network"]
    if neural.is_neural(name):
        kind = "policy" if neural.kind_of(name) == neural.POLICY else "value"
        yield "network", f"{name}, a {kind} network of {thousands(found['weights'])} weights"
        yield "numbers", found["dtype"]
        return
    network = Geometry(name, found["form"])
    yield "network", in_words(network)
    yield "game", network.game.name
    yield "values", f"of {FORMS[found['form']]}"
    if found["stages"] > 1:
        top = config.get("top") if isinstance(config, dict) else None
        marks = f", the largest tile that marks one: {top}" * isinstance(top, int)
        yield "stages", f"{found['stages']}{marks}"
    every = network.block * network.heads * found["stages"]
    kept = found["nonzero_weights"]
    share = percent(kept / every)
    yield "weights", f"{thousands(kept)} that are not 0, of {thousands(every)} ({share})"


def in_words(network):
    """Return what look-up tables are, in a line; network: `Geometry`."""
    lengths = sorted({len(cells) for cells in network.tuples})
    cells = " to ".join(str(n) for n in dict.fromkeys((lengths[0], lengths[-1])))
    tuples = f"{counted(len(network.tuples), 'tuple')} of {cells} cells"
    return f"{network.name}: {tuples}, {network.lookups_per_board} look-ups a board"


def _training(config, done=None):
    """Yield what a run's config.json says of how it learned; done: so many actions, if told."""
    if not config:
        return
    rule = config.get("rule")
    rule = rule.get("name", "its own rule") if isinstance(rule, dict) else rule
    said = [RULES[rule].title if rule in RULES else rule] if rule else ["gradient steps"]
    if "lambda" in config:
        said[0] += f"({config['lambda']:g})"
    said += [f"{word} {config[n]:g}" for n, word in LETTERS.items() if n in config]
    said += [f"{n} {config[n]}" for n in ("batch", "optimiser") if n in config]
    if (starts := config.get("starts", "initial")) != "initial":
        said.append(f"starts {starts}")
    yield "trained by", ", ".join(said)
    long = [counted(config[n], n.removesuffix("s")) for n in ("games", "actions") if config.get(n)]
    part = f"{thousands(done)} of " if done and done < config.get("actions", 0) else ""
    yield "for", part + ", ".join(long)
    yield "from", config.get("from")
    run = [f"seed {config['seed']}"] if "seed" in config else []
    run += [counted(config[n], n.removesuffix("s")) for n in ("threads",) if n in config]
    yield "run", ", ".join(run)


def _scores(name, tests):
    """Yield a line for each depth that a network was tested at."""
    for plies, test in (tests or {}).items():
        games = counted(test["games"], "game")
        yield f"{name}, {plies}", f"{mean(test['mean'], test['ci95'])} points in {games}"


def _run_beside(path, found):
    """Return what the run folder around a file says: (its config or None, its end or None)."""
    folder = Path(path).parent
    if not (folder / CONFIG).is_file():
        return None, None
    try:
        config = read_config(folder)[0].config()
        with open(folder / HISTORY, encoding="utf-8", newline="") as file:
            last = list(csv.DictReader(file))[-1:]
    except (OSError, ValueError):
        return None, None
    if config["network"] != found["network"]:
        return None, None
    ends = [f"{mean(float(row['mean']), float(row['ci95']))} points in training" for row in last]
    return config, "".join(ends)


# ---------------------------------------------------------------- small boards


def solved(name, states, afterstates, worth, moves):
    """Return what to print of a small game that is solved."""
    return facts([
        ("game", name),
        ("optimal play", f"{worth:,.2f} points, {moves:,.1f} moves on average"),
        ("boards", f"{thousands(states)} states, {thousands(afterstates)} afterstates"),
    ])  # fmt: skip


# ---------------------------------------------------------------- the papers' tables, as DataFrames


def figures(index):
    """Return the list of all tables and figures; index: `papers.index()`."""
    rows, above = [], None
    for name, row in index.iterrows():
        ours = f"{row['ours']} of {row['results']}" if row["results"] else ""
        hours = f"{row['core-hours']:.1f}" if row["core-hours"] else ""
        told = row["lesson"], ours, hours
        rows.append((name, *(told if row["title"] != above else ("",) * 3),
                     row["title"] if row["title"] != above else '"'))  # fmt: skip
        above = row["title"]
    heads = "figure", "lesson", ">runs of ours", ">core-hours", "what it shows"
    return table(heads, rows)


def figure(rows):
    """Return a table of the papers beside ours; rows: `papers.rows(…)`, or some of them.

    What is the same in all rows is said once, above; where there is little room, the names of our
    runs are left out.
    """
    unit = rows["unit"].iloc[0]
    pairs = {"paper": ("paper", "paper ±"), "ours": ("ours", "±"), "now": ("now", "now ±")}
    after = {"paper": "paper's budget", "ours": "our budget", "now": "actions now"}
    columns = {"row": _unlike_above(rows["row"]), ">plies": _numbers(rows["plies"])}
    columns |= {
        f">{head}": [_points(*pair) for pair in zip(*(rows[name] for name in names), strict=True)]
        for head, names in pairs.items()
        if names[0] in rows
    }
    columns[">seeds"] = ["" if n == 0 else f"{n:.0f}" for n in rows["seeds"]]
    for head, name in after.items():
        if name in rows:
            columns[f">{head} after, million {unit}"] = _numbers(rows[name] / 1e6, "g")
    if width() >= WIDE:
        columns["run"] = list(rows["run"])
    same = {head: cells[0] for head, cells in columns.items() if head != "row" and _all_one(cells)}
    told = (head.removeprefix(">").partition(",") for head in same)
    said = "; ".join(f"{head} {c}{more}" for (head, _, more), c in zip(told, same.values()) if c)
    kept = {head: cells for head, cells in columns.items() if head not in same}
    lines = [broken(f"The same in all rows: {said}.")] if said else []
    return "\n\n".join([*lines, table(kept, list(zip(*kept.values(), strict=True)))])


def own(rows):
    """Return a table of our own numbers, a DataFrame of any columns."""
    heads = [">" * (rows[name].dtype.kind in "iuf") + name.replace("_", " ") for name in rows]
    return table(heads, written(rows).astype(str).to_numpy().tolist())


def _unlike_above(cells):
    return [cell if cell != above else "" for above, cell in pairwise([None, *cells])]


def _all_one(cells):
    return len(cells) > 1 and len(set(cells)) == 1


def _points(points, half):
    if not math.isfinite(points):
        return "–"
    return mean(points, half)


def _numbers(column, kind=".0f"):
    return ["" if math.isnan(number) else set_apart(f"{number:,{kind}}") for number in column]
