"""The command line: play, train, sweep, solve, convert, fold, tournament, info, bench, figure,
labs, lessons, progress.

Progress and prose go to stderr; with --json, stdout holds one JSON object and nothing else.  A
wrong argument or file gives one line on stderr and exit status 2, and nothing is written.  The
status is 1 where a check of homework or a run of a sweep failed.

Ctrl-C ends everything within a second, with one line and status 130; training and sweeps leave
checkpoints, and print their report.  Where nobody reads the answer, as in `lib2048 info FILE |
true`, the status is 141; both are what a shell says of such an end.
"""

import argparse
import dataclasses
import functools
import json
import math
import os
import shlex
import sys
from pathlib import Path

from lib2048 import __version__
from lib2048.course.labs import command as labs
from lib2048.course.reader import command as reader
from lib2048.course.tournament.tournament import CSV, PAGE, tournament
from lib2048.exact import SmallGame, small_game
from lib2048.game import by_rules
from lib2048.game.bits import WHOLE
from lib2048.game.game import agreed, parse_game
from lib2048.learn.rules import find
from lib2048.learn.settings import GAMES, Settings, flags
from lib2048.machine import process
from lib2048.machine.extras import told
from lib2048.machine.files import write_atomic
from lib2048.machine.memory import lacked
from lib2048.machine.terminal import one_line
from lib2048.networks import neural, storage
from lib2048.networks.convert import convert
from lib2048.networks.network import check_tables
from lib2048.play.evaluation import TEST_SEED, check_games, evaluate
from lib2048.play.players import NAMED, game_of, heuristic_player, network_player, player
from lib2048.search.expectimax import check_limits
from lib2048.sweep import command as sweep
from lib2048.train.folder import WEIGHTS, read_config
from lib2048.train.run import Run
from lib2048.train.watching import Stopped

UNREAD = 141  # exit status
GREETING = f"lib2048 {__version__}: play 2048, learn it, measure it. These are its commands:"


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(process.REFUSED, f"lib2048: {one_line(message)}\n")


class _Options(argparse.Namespace):
    """What was said; it knows which of it a command has looked at."""

    __slots__ = ("_seen",)

    def __getattribute__(self, name):
        if not name.startswith("_"):
            self._seen.add(name)
        return object.__getattribute__(self, name)


def _said(words):
    """Return what the words of a command say, `_Options`, and the parser of that very command."""
    top = _parser(_rule_in(words))
    options = top.parse_args(words)
    for group in ("command", "labs", "lessons"):
        if (name := getattr(options, group, None)) is not None:
            top = _named(top, group).choices[name]
    for action in top._actions:
        values = getattr(options, action.dest, None)
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, str) and not value.strip():
                top.error(f"{_flag(action)} is empty: say which, or leave it out")
    said = _Options()
    said._seen = set()
    vars(said).update(vars(options))
    return said, top


def _named(parser, dest):
    return next(action for action in parser._actions if action.dest == dest)


def _flag(action):
    return action.option_strings[-1] if action.option_strings else action.metavar or action.dest


def _check_seen(options, parser):
    """Refuse an option that the command has not looked at: it would have no effect."""
    for action in parser._actions:
        said = vars(options).get(action.dest, action.default)
        if action.option_strings and said != action.default and action.dest not in options._seen:
            raise ValueError(f"{_flag(action)} has no effect on what is asked for: leave it out")


def _parser(rule=None):
    """Return the parser; rule: one in a file, whose rate is an option, too."""
    top = _Parser(prog="lib2048", description="Play and learn 2048: n-tuple, neural networks.")
    top.add_argument("--version", action="version", version=f"lib2048 {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    _add_play(commands)
    _add_train(commands, rule)
    sweep.add(commands)
    exact = commands.add_parser("solve", help="solve a small board exactly")
    exact.add_argument("size", nargs="?", help="rows x columns: 2x2, 2x3, 3x3, 2x4, …")
    exact.add_argument("--game", metavar="GAME", help="or: 2048:four=0.2@2x3, threes@2x2, …")
    describe = commands.add_parser("info", help="describe a file of weights")
    describe.add_argument("file")
    change = commands.add_parser("convert", help="bring weights from another program, or to one")
    change.add_argument("source", metavar="SRC", help="a file of weights, known by its content")
    kinds = ".npz, .bin (TDL2048-Demo) or .w (TDL2048+)"
    change.add_argument("destination", metavar="DST", help=f"the new file: {kinds}")
    fold = commands.add_parser("fold", help="fold contained tuples into the longer ones")
    fold.add_argument("source", metavar="SRC", help="a file of weights")
    fold.add_argument("destination", metavar="DST", help="the new file, .npz")
    contest = commands.add_parser("tournament", help="let all submissions of a folder play")
    contest.add_argument("folder", metavar="DIR", help="weights, and Python files with choose()")
    contest.add_argument("--game", default=WHOLE.name, metavar="GAME", help=GAMES)
    contest.add_argument("--games", type=int, default=100, help="of each player")
    contest.add_argument("--ms-per-move", type=float, metavar="T", help="time limit for a move")
    contest.add_argument("--seed", type=int, default=TEST_SEED)
    contest.add_argument("--out", required=True, help="folder for the leaderboard")
    bench = commands.add_parser("bench", help="speed, as ratios within one run; takes minutes")
    bench.add_argument("--network", default="4x6")
    bench.add_argument("--stages", type=int, default=0, metavar="G", help="and in 2^G stages")
    bench.add_argument("--rule", metavar="FILE.py:NAME", help="and by this rule")
    figure = commands.add_parser("figure", help="a paper's table or figure beside our runs")
    figure.add_argument("name", nargs="?", help="such as matsuzaki-table3; all of them without")
    figure.add_argument("--draw", metavar="PNG", help="draw it into this file")
    figure.add_argument("--run", action="store_true", help="make a row of it again, now")
    figure.add_argument("--row", help="which; by default the first that we have a run for")
    figure.add_argument("--minutes", type=float, default=1.0, help="to train, 1 by default")
    inner = [*labs.add(commands, _Parser), *reader.add(commands, _Parser)]
    as_json = {"action": "store_true", "default": False, "help": "one JSON object on stdout"}
    for command in [*commands.choices.values(), *inner]:
        command.add_argument("--json", **as_json)
    return top


def _add_play(commands):
    play = commands.add_parser("play", help="play in the terminal, or let a player play many games")
    who = f"{', '.join(NAMED)}, or a file of weights; without, you play, with a hint where you like"
    play.add_argument("player", nargs="?", help=who)
    play.add_argument("--game", metavar="GAME", help=f"{GAMES}; a network says it by itself")
    play.add_argument("--games", type=int, default=1000)
    play.add_argument("--seed", type=int, default=TEST_SEED)
    play.add_argument("--threads", type=int, default=1)
    far = play.add_mutually_exclusive_group()
    far.add_argument("--depth", type=int, help="plies to look ahead, 1 by default")
    far.add_argument("--ms-per-move", type=float, metavar="T", help="or a time limit for a move")
    play.add_argument("--table-mib", type=int, help="memory of the transposition table")
    play.add_argument("--reduce", action="store_true", help="look less far behind a spawned 4")


def _add_train(commands, rule):
    learn = commands.add_parser("train", help="train a network", argument_default=argparse.SUPPRESS)
    for said, flag in flags(rule).items():
        _add_setting(learn, f"--{said}", flag, rule)
    learn.add_argument("--out", required=True, help="folder for the run")
    text = "go on with the run in that folder, by its settings"
    learn.add_argument("--resume", action="store_true", default=False, help=text)


def _rule_in(words):
    """Return the rule in a file that some words name, None where they name no file."""
    for word, following in zip(words, [*words[1:], ""]):
        said = following if word == "--rule" else word.removeprefix("--rule=")
        if said != word and ".py:" in said:
            return find(said)
    return None


def _add_setting(parser, said, flag, rule):
    """Add what a field of `Settings` says of itself; rule: what a file's name stands for."""
    how = {"dest": flag.name, "help": flag.text}
    if flag.kind is None:
        parser.add_argument(said, action="store_const", const=flag.meant, **how)
    else:
        read = flag.kind
        if flag.name == "rule" and rule:
            read = lambda said: rule if said == rule.file else said  # noqa: E731
        how |= {"type": read, "metavar": flag.meta}
        parser.add_argument(said, **how)


def _greeting(options):
    """Return what there is to say to a command without words."""
    listed = _named(_parser(), "command")._choices_actions
    lines = (f"  {command.dest:12}{command.help}" for command in listed)
    text = f"{GREETING}\n\n" + "\n".join(lines) + "\n\nlib2048 COMMAND --help says more of each."
    return {"commands": [command.dest for command in listed]}, text


def _play_here(options):
    """Return the game that is played in this terminal."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
        raise ValueError("who shall play? Say a player; you yourself can play in a terminal")
    from lib2048.show import terminal_game

    game = parse_game(WHOLE if options.game is None else options.game)
    seed = options.seed

    def played():
        ended = terminal_game.play(seed, terminal_game.helper(game), game)
        score, actions = ended.game.here.score, len(ended.game.turns) - 1
        return {"score": score, "actions": actions}, f"{score:,} points in {actions:,} actions"

    return played


def _play(options):
    if options.player is None:
        return _play_here(options)
    check_games(options.games, options.threads)
    who = _player(options)
    who.name = options.player
    how = options.games, options.seed, options.threads

    def played():
        result = evaluate(who, *how, progress=True)
        return result.as_dict(), f"{result}\n{result!r}, {result.moves_per_s:,.0f} moves/s"

    return played


def _player(options):
    """Return the player that the options ask for, one that looks ahead where they say so."""
    seconds = None if options.ms_per_move is None else options.ms_per_move / 1000
    game = None if options.game is None else parse_game(options.game)
    depth = options.depth if options.depth is not None or seconds is not None else 1
    check_limits(depth, seconds)
    if options.player in NAMED and options.player != "heuristic":
        if depth != 1:
            raise ValueError(f"{options.player} does not look ahead: leave the depth or time out")
        return player(options.player, game)
    limits = {"seconds": seconds}
    if depth != 1:  # one ply has no use for them
        check_limits(depth, seconds, options.table_mib)
        limits |= {"table_mib": options.table_mib, "reduce": options.reduce}
    if options.player == "heuristic":
        return heuristic_player(depth, game=game or WHOLE, **limits)
    named = "" if Path(options.player).suffix else f" and no player ({', '.join(NAMED)})"
    network = storage.load(_there(options.player, named), to_play=True)
    agreed(f"{options.player}: network {network.name}", game_of(network), game)
    return network_player(network, depth, **limits)


def _there(path, named=""):
    """Return the path of a file of weights; where there is none, say where trained ones are."""
    if not os.path.lexists(path):
        where = "come with the repository, in data/weights, not with the installed package"
        raise ValueError(f"{path}: no such file{named}; trained networks {where}")
    return path


def _train(options):
    settings = _asked(options)
    run = Run(settings, options.out, resume=options.resume)
    status = 0
    try:
        history = run.go()
    except Stopped as stopped:
        again = shlex.join(["lib2048", "train", "--resume", "--out", options.out])
        status, history = process.stopped(f"{stopped}; go on with: {again}"), run.history
    weights = f"weights{neural.SUFFIX}" if settings.neural else WEIGHTS
    mean, actions = history.mean_last(), history.actions
    report = {"run": options.out, "network": settings.network, "games": history.count}
    report |= {"actions": actions, "seconds": history.took}
    report |= {"actions_per_s": actions / max(history.took, 1e-9), "mean_last": mean}
    report["weights"] = None if history.stopped else f"{options.out}/{weights}"
    return report, f"{history.statistics()}\n{history!r}", status


def _asked(options):
    """Return the `Settings` that a command says; a run that goes on has those of its folder."""
    others = ("command", "json", "out", "resume")
    said = {name: getattr(options, name) for name in vars(options) if name not in others}
    if "network" in said:
        return Settings.asked(**said)
    if not options.resume:
        raise ValueError("--network is missing: say which, such as --network 4x6")
    budgets = {"games": None, "actions": None} if said.keys() & {"games", "actions"} else {}
    return dataclasses.replace(read_config(options.out)[0], **budgets | said)


def _solve(options):
    asked = small_game(options.size, options.game)
    if asked.rules is not WHOLE.rules:
        solved = by_rules.solve(asked, progress=True)
        return {"rows": asked.rows, "cols": asked.columns} | solved.as_dict(), repr(solved)
    game = SmallGame.of(asked)
    optimal = game.optimal()
    found = {"rows": game.rows, "cols": game.columns, "states": game.states}
    found |= {"afterstates": game.afterstates, "terminal": game.terminal}
    return found | {"value": optimal.start, "moves": optimal.moves}, f"{game!r}\n{optimal!r}"


def _convert(options):
    done = convert(options.source, options.destination)
    text = f"network {done['network']}, {', '.join(done['kept'])}: {done['from']} → {done['to']}"
    without = f"; left out: {', '.join(done['left_out'])}" if done["left_out"] else ""
    return done, text + without


def _fold(options):
    """Write the folded network of a file, with what the file says of itself."""
    if Path(options.destination).suffix != ".npz":
        raise ValueError(f"{options.destination}: weights are saved as .npz")
    network = storage.load(_there(options.source))
    check_tables(network, "fold")
    folded, about = network.folded(), storage.info(options.source)
    storage.save_with(folded, options.destination, about["info"] | {"folded_from": network.name})
    found = {"network": folded.name, "folded_from": network.name, "weights": options.destination}
    return found, f"{network!r}\nfolded: {folded!r}"


def _tournament(options):
    limits = {"games": options.games, "ms_per_move": options.ms_per_move, "seed": options.seed}
    limits |= {"game": options.game}
    board = tournament(options.folder, options.out, progress=True, **limits)
    found = {"folder": options.folder, "out": options.out} | board.as_dict()
    return found, f"{board}\nwritten to {options.out}: {CSV}, {PAGE}"


def _info(options):
    found = storage.info(_there(options.file))
    return found, "\n".join(f"{key}: {value}" for key, value in found.items())


def _bench(options):
    if neural.is_neural(options.network):
        if options.stages or options.rule:
            raise ValueError(f"{options.network}: only look-up tables have stages and rules")
        bench = neural.room("bench")
        report, measured = bench.report, functools.partial(bench.measured, options.network)
    else:
        from lib2048.benchmark import Bench, report

        measured = Bench(options.network, options.stages, rule=options.rule).run
    return lambda: (figures := measured(progress=True), report(figures))


def _figure(options):
    from lib2048.course import papers

    if not options.name:
        if options.draw or options.run:
            raise ValueError("which figure? `lib2048 figure` lists them")
        table = papers.index()
        shown = table.drop(columns="why").to_string()
        return {"figures": table.reset_index().to_dict("records")}, shown
    name, into = options.name, options.draw
    if options.run:
        table = functools.partial(papers.run, name, options.row, options.minutes)
        return lambda: _shown(name, table().to_frame().T, into)
    return lambda: _shown(name, papers.rows(name), into)


def _shown(name, table, into):
    """Return a figure's table as data and as text; into: the file for a picture of it, or None."""
    from lib2048.course import papers

    if into:
        _save_figure(papers.draw(name).figure, into)
    shown = table.drop(columns=["figure", "unit", "list", "why"], errors="ignore")
    shown = f"\n\n{shown.map(_readable).to_string(index=False)}" if len(shown) else ""
    return {"rows": table.to_dict("records")}, papers.about(name) + shown


def _save_figure(figure, path):
    """Write a figure, whole or not at all, in the format that the path ends in."""
    kind, known = Path(path).suffix[1:].lower(), figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise ValueError(f"{path}: let its name end in .png, .svg or .pdf")
    write = functools.partial(figure.savefig, format=kind, bbox_inches="tight")
    write_atomic(path, write)


def _readable(x):
    """Return what stands in a cell of a table: text, or a number of a result or a budget."""
    if isinstance(x, str):
        return x
    return "·" if math.isnan(x) else "one seed" if math.isinf(x) else f"{x:,.0f}"


# What carries out a command: a function from `_Options` to (what --json prints, the text).  Where
# some options are not always of use, it looks at those that are, and returns a function for these.
COMMANDS = {
    "play": _play, "train": _train, "sweep": sweep.run, "solve": _solve,
    "convert": _convert, "fold": _fold, "tournament": _tournament, "info": _info, "bench": _bench,
    "figure": _figure, "labs": labs.run, "lessons": reader.lessons, "progress": reader.progress,
}  # fmt: skip


def main(arguments=None):
    """Run the command line; return its exit status.

    arguments: list of str; None: those of the process, which is the command's own.
    """
    if arguments is not None:
        return _main(arguments)
    with process.watched():
        return process.leave(_main(arguments))


def _main(arguments):
    try:
        options, parser = _said(sys.argv[1:] if arguments is None else list(arguments))
        with told():
            as_json, done = (
                getattr(options, "json", False),
                COMMANDS.get(options.command, _greeting)(options),
            )
            _check_seen(options, parser)
            data, text, *status = done() if callable(done) else done
        text = json.dumps(_finite(data)) if as_json else text
        return _write(text + "\n") or sum(status) or (1 if data.get("failed") else 0)
    except SystemExit as end:  # argparse has said what there was to say
        raise SystemExit(_write("") or end.code) from None
    except (MemoryError, RuntimeError) as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # in a class that torch is making
            return process.stopped()
        if not (said := lacked(error)):
            raise
        print(f"lib2048: {one_line(said)}", file=sys.stderr)
        return process.REFUSED
    except (ValueError, OSError, FloatingPointError) as error:
        print(f"lib2048: {one_line(_reason(error))}", file=sys.stderr)
        return process.REFUSED
    except KeyboardInterrupt:
        return process.stopped()


def _reason(error):
    """Return what an error says; of one of the system, which file and why."""
    if isinstance(error, OSError) and error.strerror:
        files = [str(file) for file in (error.filename, error.filename2) if file is not None]
        try:
            os.getcwd()
        except OSError:
            return ": ".join([*files, "the present folder is gone: go into another one"])
        return ": ".join([*files[:1], error.strerror])
    return str(error) or type(error).__name__


def _finite(data):
    """Return data for JSON, which knows neither nan nor infinity: null for them."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _write(text):
    """Write a text to stdout; return the exit status where nobody reads it, else 0."""
    if sys.stdout is None:
        return 0
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
        if isinstance(error, BrokenPipeError):
            return UNREAD
        raise OSError(f"the answer cannot be written: {error.strerror}") from None
    return 0


if __name__ == "__main__":
    sys.exit(main())
