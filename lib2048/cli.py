"""The command line: play, train, sweep, solve, endgame, convert, fold, tournament, info, bench,
figure, labs, lessons, progress.

Progress and prose go to stderr; with --json, stdout holds one JSON object and nothing else.  A
wrong argument or file gives one line on stderr and exit status 2, and nothing is written.  The
status is 1 where a check of homework or a run of a sweep failed.

Ctrl-C, or a polite kill, ends everything within a second, with one line and status 130; training
and sweeps leave checkpoints, and print their report.  Where nobody reads the answer, as in
`lib2048 info FILE | true`, the status is 141; both are what a shell says of such an end.
"""

import argparse
import contextlib
import dataclasses
import functools
import json
import math
import os
import re
import shlex
import sys
from pathlib import Path

from lib2048 import __version__
from lib2048.course.labs import command as labs
from lib2048.course.reader import command as reader
from lib2048.course.tournament.tournament import CSV, PAGE, tournament
from lib2048.endgame import command as endgame
from lib2048.exact import SmallGame, small_game
from lib2048.game import by_rules
from lib2048.game.bits import WHOLE
from lib2048.game.game import agreed, parse_game
from lib2048.learn.rules import RULES, find
from lib2048.learn.settings import GAMES, Settings, flags
from lib2048.learn.starts import STARTS
from lib2048.machine import completion, printed, process
from lib2048.machine.completion import Offer
from lib2048.machine.data import data as data_file
from lib2048.machine.extras import told
from lib2048.machine.files import read_toml, write_atomic
from lib2048.machine.memory import lacked
from lib2048.machine.terminal import meant, one_line
from lib2048.networks import names, neural, storage
from lib2048.networks.convert import convert
from lib2048.networks.network import FORMS, NEXT, check_tables
from lib2048.play.evaluation import TEST_SEED, boards_of, check_games, evaluate
from lib2048.play.players import (
    NAMED,
    check_named,
    game_of,
    heuristic_player,
    network_player,
    player,
)
from lib2048.search.expectimax import check_limits, plies_of
from lib2048.show import console
from lib2048.sweep import command as sweep
from lib2048.train.folder import CONFIG, read_config, weights_in
from lib2048.train.run import Run
from lib2048.train.watching import Stopped

UNREAD = 141  # exit status
GREETING = f"lib2048 {__version__}: play 2048, learn it, measure it. These are its commands:"
SHOWN = ("best", "last", "game")  # of what was played
TUPLES = "n-tuple networks"
GROUPS = {  # of the options of `train`, each with its settings
    "every learner": (
        "network", "game", "games", "actions", "rate", "starts", "weights", "before", "seed",
        "threads", "lanes",
    ),
    TUPLES: (),  # all that are in no other
    "stages": ("stages", "top", "promotion"),
    "neural networks": (
        "batch", "learning_rate", "symmetry", "augment", "average", "precision", "device",
        "returns", "discount", "entropy", "optimiser", "half_life", "steps",
    ),
    "test games on the way": ("eval_every", "eval_games", "eval_depth", "eval_deep_games"),
    "run folder": ("checkpoint_every",),
}  # fmt: skip
SHELLS = "bash, zsh or fish"
COMPLETE = """Print what completes commands, options, players and files by the Tab key.

bash:  lib2048 completion bash > ~/.lib2048.bash
       echo 'source ~/.lib2048.bash' >> ~/.bashrc
zsh:   lib2048 completion zsh > ~/.lib2048.zsh
       echo 'autoload -Uz compinit && compinit && source ~/.lib2048.zsh' >> ~/.zshrc
fish:  lib2048 completion fish > ~/.config/fish/completions/lib2048.fish

Open a new shell then; after an update of lib2048, make the file again."""


class _Help(argparse.HelpFormatter):
    """Help as wide as the terminal, but no wider than people read."""

    def __init__(self, prog, **more):
        super().__init__(prog, max_help_position=26, width=min(printed.width(), 100) - 1)


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, and which word is close to one it knows."""

    def __init__(self, **more):
        super().__init__(**{"formatter_class": _Help} | more)
        self._words = ()

    def parse_known_args(self, args=None, *more, **how):
        self._words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, *more, **how)

    def error(self, message):
        self.exit(process.REFUSED, f"lib2048: {one_line(self._told(message))}\n")

    def _told(self, message):
        """Return what is wrong and, for a word that is unknown, the known one that is meant."""
        if found := re.search(r"invalid choice: '(.*?)' \(choose from", message):
            known = (str(c) for action in self._actions for c in action.choices or ())
            close = meant(found[1], known)
            return message.partition(" (choose from")[0] + close if close else message
        known = [option for action in self._actions for option in action.option_strings]
        for word in self._words:
            name = word.partition("=")[0]
            if name[:2] == "--" and not any(option.startswith(name) for option in known):
                close = meant(name, known)
                return message + (close and f"{close if name in message else f'; {name}{close}'}")
        return message


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
    options, unknown = top.parse_known_args(words)
    for group in ("command", "labs", "lessons"):
        if (name := getattr(options, group, None)) is not None:
            top = _named(top, group).choices[name]
    if unknown:
        top.error(f"unrecognized arguments: {' '.join(unknown)}")
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
    _add_files(commands)
    _add_measures(commands)
    endgame.add(commands)
    inner = [*labs.add(commands, _Parser), *reader.add(commands, _Parser)]
    shell = commands.add_parser(
        "completion",
        help="complete commands and options by the Tab key",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=COMPLETE,
    )
    shell.add_argument("shell", choices=completion.SHELLS, metavar="SHELL", help=SHELLS)
    for command in [*commands.choices.values(), *inner]:
        command.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return top


def _add_play(commands):
    play = commands.add_parser(
        "play",
        help="play in the terminal, or let a player play many games",
        usage="lib2048 play [PLAYER] [OPTION …]",
    )
    who = f"{', '.join(NAMED)}, or a file of weights; without, you play, with a hint where you like"
    play.add_argument("player", nargs="?", metavar="PLAYER", help=who)
    _add_game(play, f"{GAMES}; a network says it by itself")
    play.add_argument("--games", type=int, default=1000, metavar="N", help="1000 by default")
    text = f"of the games' luck, {TEST_SEED} by default"
    play.add_argument("--seed", type=int, default=TEST_SEED, metavar="N", help=text)
    text = "that play at the same time; their number changes no result"
    play.add_argument("--threads", type=int, default=1, metavar="N", help=text)
    text = "a board: best or last, on which that game ended; or game: watch one as it goes"
    play.add_argument("--show", choices=SHOWN, metavar="WHAT", help=text)
    ahead = play.add_argument_group("looking ahead")
    far = ahead.add_mutually_exclusive_group()
    far.add_argument("--depth", type=int, metavar="D", help="plies to look ahead, 1 by default")
    far.add_argument("--ms-per-move", type=float, metavar="T", help="or a time limit for a move")
    text = "memory of the transposition table"
    ahead.add_argument("--table-mib", type=int, metavar="MIB", help=text)
    ahead.add_argument("--reduce", action="store_true", help="look less far behind a spawned 4")
    text = "tables of endgames that a network knows, made by lib2048 endgame"
    ahead.add_argument("--endgames", metavar="FOLDER", help=text)


def _add_game(parser, text, default=None):
    parser.add_argument("--game", default=default, metavar="GAME", help=text)


def _add_train(commands, rule):
    learn = commands.add_parser(
        "train",
        help="train a network",
        argument_default=argparse.SUPPRESS,
        usage="lib2048 train --network NAME (--games N | --actions N) --out DIR [OPTION …]\n"
        "       lib2048 train --resume --out DIR [--games N | --actions N]",
        epilog="e.g. lib2048 train --network 4x6 --rule tc --actions 20_000_000 --out run",
    )
    known = {flag.name: (f"--{said}", flag) for said, flag in flags(rule).items()}
    others = [name for name in known if not any(name in group for group in GROUPS.values())]
    for title, settings in GROUPS.items():
        folder = learn.add_argument_group(title)  # the last is that of the folder
        for name in settings or others:
            _add_setting(folder, *known[name], rule)
    folder.add_argument("--out", required=True, metavar="DIR", help="folder for the run")
    text = "go on with the run in that folder, by its settings"
    folder.add_argument("--resume", action="store_true", default=False, help=text)


def _add_files(commands):
    """Add the commands that take a file of weights, or make one."""
    describe = commands.add_parser("info", help="describe a file of weights")
    describe.add_argument("file", metavar="FILE", help="of weights, known by its content")
    change = commands.add_parser("convert", help="bring weights from another program, or to one")
    change.add_argument("source", metavar="SRC", help="a file of weights, known by its content")
    kinds = ".npz, .bin (TDL2048-Demo) or .w (TDL2048+)"
    change.add_argument("destination", metavar="DST", help=f"the new file: {kinds}")
    fold = commands.add_parser("fold", help="fold contained tuples into the longer ones")
    fold.add_argument("source", metavar="SRC", help="a file of weights")
    fold.add_argument("destination", metavar="DST", help="the new file, .npz")


def _add_measures(commands):
    """Add the commands that measure, or show what was measured."""
    exact = commands.add_parser("solve", help="solve a small board exactly")
    exact.add_argument(
        "size", nargs="?", metavar="RxC", help="rows x columns: 2x2, 2x3, 3x3, 2x4, …"
    )
    _add_game(exact, "or: 2048:four=0.2@2x3, threes@2x2, …")
    contest = commands.add_parser("tournament", help="let all submissions of a folder play")
    contest.add_argument("folder", metavar="DIR", help="weights, and Python files with choose()")
    _add_game(contest, GAMES, WHOLE.name)
    text = "of each player, 100 by default"
    contest.add_argument("--games", type=int, default=100, metavar="N", help=text)
    contest.add_argument("--ms-per-move", type=float, metavar="T", help="time limit for a move")
    text = f"of the games' luck, {TEST_SEED} by default"
    contest.add_argument("--seed", type=int, default=TEST_SEED, metavar="N", help=text)
    contest.add_argument("--out", required=True, metavar="DIR", help="folder for the leaderboard")
    bench = commands.add_parser("bench", help="speed, as ratios within one run; takes minutes")
    bench.add_argument(
        "--network", default="4x6", metavar="NAME|FILE", help="4x6 by default, or trained weights"
    )
    bench.add_argument("--stages", type=int, default=0, metavar="G", help="and in 2^G stages")
    bench.add_argument("--rule", metavar="FILE.py:NAME", help="and by this rule")
    figure = commands.add_parser("figure", help="a paper's table or figure beside our runs")
    text = "such as matsuzaki-table3; all of them without"
    figure.add_argument("name", nargs="?", metavar="NAME", help=text)
    figure.add_argument("--draw", metavar="PNG", help="draw it into this file")
    figure.add_argument("--run", action="store_true", help="make a row of it again, now")
    text = "which; by default the first that we have a run for"
    figure.add_argument("--row", metavar="ROW", help=text)
    text = "to train, 1 by default"
    figure.add_argument("--minutes", type=float, default=1.0, metavar="M", help=text)


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
    names, text = _menu(_named(_parser(), "command"))
    return names, f"{GREETING}\n\n{text}\n\nlib2048 COMMAND --help says more of each."


def _labs(options):
    """Carry out a command of `labs`; without one, say what there is to do."""
    if options.labs is not None:
        return labs.run(options)
    parser = _named(_parser(), "command").choices["labs"]
    names, text = _menu(_named(parser, "labs"), "lib2048 labs")
    return names, f"{text}\n\nlib2048 labs COMMAND --help says more of each."


def _menu(group, before=" "):
    """Return the commands of a group of argparse, as data and as text."""
    listed = group._choices_actions
    text = printed.facts([(f"{before} {one.dest}", one.help) for one in listed])
    return {"commands": [one.dest for one in listed]}, text


def _completion(options):
    text = completion.script(_parser(), options.shell, _offers())
    return {"shell": options.shell, "script": text}, text.rstrip("\n")


def _offers():
    """Return {name of an argument: what Tab offers for it, `Offer`}."""
    from lib2048.learn import tables

    files = storage.WEIGHT_FILES
    weights, any_file = Offer((), files), Offer((), ("",))
    games = Offer(("2048", "2048@2x3", "2048@3x3", "2048@3x4", "2048:four=0.2", "threes"))
    words = {
        "network": names.OFFERED, "starts": STARTS, "form": FORMS, "next": NEXT,
        "order": tables.ORDERS, "error": tables.ERRORS, **neural.CHOICES,
        "batch": ("batch1K", "game", "shuffle64", "games10"), "device": ("cpu", "cuda"),
        "size": ("2x2", "2x3", "3x3", "2x4"), "name": tuple(read_toml(data_file("figures.toml"))),
    }  # fmt: skip
    return {name: Offer(tuple(known)) for name, known in words.items()} | {
        "rule": Offer(tuple(RULES), (".py",)),
        "player": Offer(tuple(NAMED), files), "game": games, "weights": weights,
        "file": Offer((), (*files, ".py")), "source": weights, "destination": any_file,
        "out": Offer((), completion.FOLDERS), "folder": Offer((), completion.FOLDERS),
        "course": Offer((), completion.FOLDERS), "sources": Offer((), completion.FOLDERS),
        "list": Offer((), (".toml",)), "formation": Offer(("4411", "442", "4421"), (".npz",)),
        "draw": any_file, "zip": Offer((), (".zip",)),
    }  # fmt: skip


def _play_here(options):
    """Return the game that is played in this terminal."""
    if not printed.in_terminal():
        raise ValueError("who shall play? Say a player; you yourself can play in a terminal")
    from lib2048.show import terminal_game

    game = parse_game(WHOLE if options.game is None else options.game)
    seed = options.seed

    return lambda: _ended(terminal_game.play(seed, terminal_game.helper(game), game))


def _ended(shown):
    """Return what there is to say of a game that was played, or watched, in this terminal."""
    score, actions = shown.game.here.score, len(shown.game.turns) - 1
    points = f"{printed.thousands(score)} points in {printed.counted(actions, 'action')}"
    return {"score": score, "actions": actions}, points


def _watch(options):
    """Return the game of a player that is watched in this terminal."""
    if not printed.in_terminal():
        how = "--show last draws the board on which a game ended"
        raise ValueError(f"a game is watched in a terminal, and here is none; {how}")
    from lib2048.show import terminal_game

    who, seed = _player(options), options.seed
    game = game_of(who)
    mind = terminal_game.mind_of(who, game)
    return lambda: _ended(terminal_game.play(seed, mind, game, plays=True))


def _play(options):
    if options.player is None:
        return _play_here(options)
    if options.show and options.json:
        raise ValueError("--show draws a board, and --json prints numbers alone: leave one out")
    if options.show == "game":
        return _watch(options)
    check_games(options.games, options.threads)
    if options.show and options.ms_per_move is not None:
        why = "that game is played again, and a time limit does not play the same one"
        raise ValueError(f"--show {options.show}: {why}: say a depth")
    who, show = _player(options), options.show
    who.name = options.player
    how = options.games, options.seed, options.threads

    def played():
        result = evaluate(who, *how, progress=True)
        text = console.played(result)
        found = result.as_dict()
        if options.endgames:
            found["endgames"] = [str(table.formation) for table in who.endgames.tables]
        return found, f"{_board(who, result, how[1], show)}{text}" if show else text

    return played


def _board(who, result, seed, show):
    """Return the board on which the best or the last game ended, and its score."""
    from lib2048.show.terminal_game import drawn

    number = int(result.scores.argmax()) if show == "best" else len(result.scores) - 1
    board = boards_of(who, seed, number)[-1]
    points = f"{printed.thousands(result.scores[number])} points"
    return f"the {show} game, number {number}: {points}\n\n{drawn(board, result.game)}\n\n"


def _player(options):
    """Return the player that the options ask for, one that looks ahead where they say so."""
    seconds = None if options.ms_per_move is None else options.ms_per_move / 1000
    game = None if options.game is None else parse_game(options.game)
    depth = plies_of(options.depth, seconds)
    check_limits(depth, seconds)
    if options.player in NAMED:
        check_named(options.player, depth, options.endgames)
        if options.player != "heuristic":
            return player(options.player, game)
    limits = {"seconds": seconds}
    if depth != 1:  # one ply has no use for them
        check_limits(depth, seconds, options.table_mib)
        limits |= {"table_mib": options.table_mib, "reduce": options.reduce}
    if options.player == "heuristic":
        return heuristic_player(depth, game=game or WHOLE, **limits)
    network = storage.load(_there(options.player, NAMED), to_play=True)
    agreed(f"{options.player}: network {network.name}", game_of(network), game)
    return network_player(network, depth, endgames=options.endgames, **limits)


def _there(path, players=()):
    """Return the path of a file of weights; where there is none, say where trained ones are.

    players: names that might have been meant.
    """
    if not os.path.lexists(path):
        where = "come with the repository, in data/weights, not with the installed package"
        plain = players and not Path(path).suffix
        named = f" and no player ({', '.join(players)})" if plain else ""
        close = meant(path, players) if plain else _near(path)
        raise ValueError(f"{path}: no such file{named}{close or f'; trained networks {where}'}")
    found = weights_in(path)  # of a run's folder, where it is one
    return os.fspath(found) if found.is_file() else path


def _near(path):
    """Return which file of weights in the same folder is meant by a name that is none."""
    with contextlib.suppress(OSError, ValueError):
        folder, said = os.path.split(path)
        files = [name for name in os.listdir(folder or ".") if name.endswith(storage.WEIGHT_FILES)]
        return meant(said, files)
    return ""


def _train(options):
    settings = _asked(options)
    run = Run(settings, options.out, resume=options.resume)
    status = 0
    try:
        history = run.go()
    except Stopped as stopped:
        again = shlex.join(["lib2048", "train", "--resume", "--out", options.out])
        status, history = process.stopped(f"{stopped}; go on with: {again}"), run.history
    mean, actions = history.mean_last(), history.actions
    report = {"run": options.out, "network": settings.network, "games": history.count}
    report |= {"actions": actions, "seconds": history.took}
    report |= {"actions_per_s": actions / max(history.took, 1e-9), "mean_last": mean}
    report["weights"] = None if history.stopped else os.fspath(weights_in(options.out))
    return report, console.trained(history, report), status


def _asked(options):
    """Return the `Settings` that a command says; a run that goes on has those of its folder."""
    others = ("command", "json", "out", "resume")
    said = {name: getattr(options, name) for name in vars(options) if name not in others}
    if options.resume and ("network" not in said or Path(options.out, CONFIG).exists()):
        budgets = {"games": None, "actions": None} if said.keys() & {"games", "actions"} else {}
        return dataclasses.replace(read_config(options.out)[0], **budgets | said)
    if "network" not in said:
        raise ValueError("--network is missing: say which, such as --network 4x6")
    return Settings.asked(**said)


def _solve(options):
    asked = small_game(options.size, options.game)
    if asked.rules is not WHOLE.rules:
        solved = by_rules.solve(asked, progress=True)
        numbers = solved.states, solved.afterstates, solved.value, solved.moves
        data = {"rows": asked.rows, "cols": asked.columns} | solved.as_dict()
        return data, console.solved(asked.name, *numbers)
    game = SmallGame.of(asked)
    optimal = game.optimal()
    found = {"rows": game.rows, "cols": game.columns, "states": game.states}
    found |= {"afterstates": game.afterstates, "terminal": game.terminal}
    numbers = game.states, game.afterstates, optimal.start, optimal.moves
    found |= {"value": optimal.start, "moves": optimal.moves}
    return found, console.solved(game.name, *numbers)


def _convert(options):
    done = convert(_there(options.source), options.destination)
    text = printed.facts([
        ("network", done["network"]),
        ("from", f"{options.source} ({done['from']})"),
        ("to", f"{options.destination} ({done['to']})"),
        ("kept", ", ".join(done["kept"])),
        ("left out", ", ".join(done["left_out"])),
    ])  # fmt: skip
    return done, text


def _fold(options):
    """Write the folded network of a file, with what the file says of itself."""
    if Path(options.destination).suffix != ".npz":
        raise ValueError(f"{options.destination}: weights are saved as .npz")
    source = _there(options.source)
    network = storage.load(source)
    check_tables(network, "fold")
    folded, about = network.folded(), storage.info(source)
    storage.save_with(folded, options.destination, about["info"] | {"folded_from": network.name})
    found = {"network": folded.name, "folded_from": network.name, "weights": options.destination}
    text = printed.facts([
        ("network", console.in_words(network)),
        ("folded", console.in_words(folded)),
        ("written to", options.destination),
    ])  # fmt: skip
    return found, text


def _tournament(options):
    limits = {"games": options.games, "ms_per_move": options.ms_per_move, "seed": options.seed}
    limits |= {"game": options.game}
    board = tournament(options.folder, options.out, progress=True, **limits)
    found = {"folder": options.folder, "out": options.out} | board.as_dict()
    return found, f"{board}\nwritten to {options.out}: {CSV}, {PAGE}"


def _info(options):
    file = _there(options.file)
    found = storage.info(file)
    return found, "" if options.json else console.about_file(file, found)


def _bench(options):
    if neural.is_neural(options.network):
        if options.stages or options.rule:
            raise ValueError(f"{options.network}: only look-up tables have stages and rules")
        bench = neural.room("bench")
        report, measured = bench.report, functools.partial(bench.measured, options.network)
    else:
        from lib2048.benchmark import Bench, FileBench, report

        if options.network.endswith(".npz"):
            if options.stages or options.rule:
                raise ValueError(f"{options.network}: a file has its stages, and is measured by TC")
            measured = FileBench(_there(options.network)).run
        else:
            measured = Bench(options.network, options.stages, rule=options.rule).run
    return lambda: (figures := measured(progress=True), report(figures))


def _figure(options):
    from lib2048.course import papers

    if not options.name:
        if options.draw or options.run:
            raise ValueError("which figure? `lib2048 figure` lists them")
        table = papers.index()
        return {"figures": table.reset_index().to_dict("records")}, console.figures(table)
    name, into = options.name, options.draw
    if options.run:
        table = functools.partial(papers.run, name, options.row, options.minutes)
        return lambda: _shown(name, table().to_frame().T, into)
    if name in papers.OWN:
        return lambda: _shown(name, papers.OWN[name][0](), into)
    return lambda: _shown(name, papers.rows(name), into)


def _shown(name, table, into):
    """Return a figure's table as data and as text; into: the file for a picture of it, or None."""
    from lib2048.course import papers

    if into:
        _save_figure(papers.draw(name).figure, into)
    shown = [] if table.empty else [(console.own if name in papers.OWN else console.figure)(table)]
    text = "\n".join(printed.broken(line) for line in papers.about(name).splitlines())
    return {"rows": table.to_dict("records")}, "\n\n".join([text, *shown])


def _save_figure(figure, path):
    """Write a figure, whole or not at all, in the format that the path ends in."""
    kind, known = Path(path).suffix[1:].lower(), figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise ValueError(f"{path}: let its name end in .png, .svg or .pdf")
    write = functools.partial(figure.savefig, format=kind, bbox_inches="tight")
    write_atomic(path, write)


# What carries out a command: a function from `_Options` to (what --json prints, the text).  Where
# some options are not always of use, it looks at those that are, and returns a function for these.
COMMANDS = {
    "play": _play, "train": _train, "sweep": sweep.run, "solve": _solve, "endgame": endgame.run,
    "convert": _convert, "fold": _fold, "tournament": _tournament, "info": _info, "bench": _bench,
    "figure": _figure, "labs": _labs, "lessons": reader.lessons, "progress": reader.progress,
    "completion": _completion,
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
            as_json = getattr(options, "json", False)
            done = COMMANDS.get(options.command, _greeting)(options)
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
