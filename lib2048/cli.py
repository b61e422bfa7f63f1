"""The command line: lib2048 play | train | solve | fold | info | bench.

Progress and prose go to stderr; with --json, stdout holds one JSON object and nothing else.  A
wrong argument or file gives one line on stderr and exit status 2, and nothing is written.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from lib2048 import __version__
from lib2048.exact import SmallGame
from lib2048.learn.rules import RULES
from lib2048.learn.starts import STARTS
from lib2048.networks import files as storage
from lib2048.networks.network import FORMS, Network
from lib2048.networks.stages import TOP
from lib2048.play.evaluation import evaluate
from lib2048.play.players import NAMED, SearchPlayer, heuristic_player, player
from lib2048.search.expectimax import check_limits
from lib2048.train.run import Tests, check_settings, rate_of, train


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"lib2048: {message}\n")


def _parser():
    top = _Parser(prog="lib2048", description="Play and learn 2048 with n-tuple networks.")
    top.add_argument("--version", action="version", version=f"lib2048 {__version__}")
    commands = top.add_subparsers(dest="command", required=True, parser_class=_Parser)
    _add_play(commands)
    _add_train(commands)
    exact = commands.add_parser("solve", help="solve a small board exactly")
    exact.add_argument("size", help="rows x columns: 2x2, 2x3, 3x3, 2x4, …")
    describe = commands.add_parser("info", help="describe a file of weights")
    describe.add_argument("file")
    fold = commands.add_parser("fold", help="fold contained tuples into the longer ones")
    fold.add_argument("source", metavar="SRC", help="a file of weights")
    fold.add_argument("destination", metavar="DST", help="the new file, .npz")
    bench = commands.add_parser("bench", help="speed, as ratios within one run")
    bench.add_argument("--network", default="4x6")
    bench.add_argument("--stages", type=int, default=0, metavar="G", help="and in 2^G stages")
    for command in commands.choices.values():
        command.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return top


def _add_play(commands):
    play = commands.add_parser("play", help="let a player play many games")
    play.add_argument("player", help=f"{', '.join(NAMED)}, or a file of weights")
    play.add_argument("--games", type=int, default=1000)
    play.add_argument("--seed", type=int, default=1)
    play.add_argument("--threads", type=int, default=1)
    far = play.add_mutually_exclusive_group()
    far.add_argument("--depth", type=int, help="plies to look ahead, 1 by default")
    far.add_argument("--ms-per-move", type=float, metavar="T", help="or a time limit for a move")
    play.add_argument("--table-mib", type=int, help="memory of the transposition table")
    play.add_argument("--reduce", action="store_true", help="look less far behind a spawned 4")


def _add_train(commands):
    learn = commands.add_parser("train", help="train a network")
    learn.add_argument("--network", required=True, help="4x6, 8x6, 42-33, cells:012345,…")
    learn.add_argument("--rule", default="td", help=", ".join(RULES))
    rates = learn.add_mutually_exclusive_group()
    for rule, kind in RULES.items():
        rates.add_argument(f"--{kind.rate}", type=float, metavar="X", help=f"rate of {rule}, "
                           f"above 0 and up to 1; {kind.default:g} by default")  # fmt: skip
    learn.add_argument("--lambda", dest="lam", type=float, default=0.0, metavar="L")
    learn.add_argument("--no-delay", action="store_true", help="learn online at every error")
    learn.add_argument("--optimistic", type=float, default=0.0, metavar="V",
                       help="points that every board is worth beside its weights")  # fmt: skip
    learn.add_argument("--stages", type=int, default=0, metavar="G", help="2^G stages, G 0 to 5")
    learn.add_argument("--top", type=int, default=TOP, metavar="TILE",
                       help="largest tile that marks a stage")  # fmt: skip
    learn.add_argument("--no-promotion", action="store_true", help="stages start from nothing")
    learn.add_argument("--starts", default="initial", metavar="HOW", help=", ".join(STARTS))
    learn.add_argument("--threads", type=int, default=1)
    learn.add_argument("--form", choices=FORMS, default="afterstate")
    learn.add_argument("--order", choices=("forward", "backward"), default="forward")
    learn.add_argument("--games", type=int)
    learn.add_argument("--actions", type=int)
    learn.add_argument("--seed", type=int, default=1)
    learn.add_argument("--checkpoint-every", type=float, default=60.0, metavar="SECONDS")
    learn.add_argument("--eval-every", type=int, metavar="ACTIONS", help="play test games")
    learn.add_argument("--eval-games", type=int, default=100, metavar="N")
    learn.add_argument("--eval-depth", type=int, default=1, metavar="D", help="1-ply, and D-ply")
    learn.add_argument("--epsilon", type=float, default=0.0, help="share of random actions")
    learn.add_argument("--out", required=True, help="folder for the run")
    learn.add_argument("--resume", action="store_true", help="go on with the run in that folder")


def _play(options):
    who = _player(options)
    who.name = options.player
    result = evaluate(who, options.games, options.seed, options.threads, progress=True)
    return result.as_dict(), f"{result}\n{result!r}, {result.moves_per_s:,.0f} moves/s"


def _player(options):
    """Return the player that the options ask for, one that looks ahead where they say so."""
    seconds = None if options.ms_per_move is None else options.ms_per_move / 1000
    depth = options.depth if options.depth is not None or seconds is not None else 1
    check_limits(depth, seconds, options.table_mib)
    limits = {"seconds": seconds, "table_mib": options.table_mib, "reduce": options.reduce}
    if options.player == "heuristic":
        return heuristic_player(depth, **limits)
    if options.player not in NAMED:
        network = storage.load(options.player)
        return player(network) if depth == 1 else SearchPlayer(network, depth, **limits)
    if depth != 1:
        raise ValueError(f"{options.player} does not look ahead: leave the depth or time out")
    return player(options.player)


def _train(options):
    rates = {kind.rate: getattr(options, kind.rate) for kind in RULES.values()}
    rate, delay = rate_of(options.rule, rates), not options.no_delay
    tests = Tests(options.eval_every, options.eval_games, options.eval_depth)
    check_settings(
        options.rule, rate, options.games, options.actions, None, options.order,
        options.checkpoint_every, options.epsilon, options.lam, options.threads,
    )  # fmt: skip
    network = _network(options)
    history = train(
        network, rule=options.rule, **rates, lam=options.lam, delay=delay, games=options.games,
        actions=options.actions, order=options.order, seed=options.seed, out=options.out,
        resume=options.resume, checkpoint_every=options.checkpoint_every, epsilon=options.epsilon,
        threads=options.threads, starts=options.starts,
        eval_every=tests.every, eval_games=tests.games, eval_depth=tests.depth,
    )  # fmt: skip
    if history.stopped:
        print(f"stopped; go on with: --resume --out {options.out}", file=sys.stderr)
    return _train_report(options, history), f"{history.statistics()}\n{history!r}"


def _network(options):
    """Return the network to train, as the options have it."""
    if options.no_promotion and not options.stages:
        raise ValueError("no promotion: there are no stages to promote weights between")
    promotion = bool(options.stages) and not options.no_promotion
    return Network(
        options.network, options.form, options.optimistic, options.stages, options.top, promotion
    )


def _train_report(options, history):
    actions = history.actions
    return {
        "run": options.out,
        "network": options.network,
        "games": len(history.scores),
        "actions": actions,
        "seconds": history.took,
        "actions_per_s": actions / max(history.took, 1e-9),
        "mean_last": history.mean_last() if len(history.scores) else None,
        "weights": f"{options.out}/{storage.WEIGHTS}" if not history.stopped else None,
    }


def _solve(options):
    size = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", options.size)
    if size is None:
        raise ValueError(f"a size {options.size!r}: write rows x columns, as in 3x3")
    game = SmallGame(*map(int, size.groups()))
    optimal = game.optimal()
    found = {"rows": game.rows, "cols": game.columns, "states": game.states}
    found |= {"afterstates": game.afterstates, "terminal": game.terminal}
    return found | {"value": optimal.start, "moves": optimal.moves}, f"{game!r}\n{optimal!r}"


def _fold(options):
    """Write the folded network of a file, with what the file says of itself."""
    if Path(options.destination).suffix != ".npz":
        raise ValueError(f"{options.destination}: weights are saved as .npz")
    network = storage.load(options.source)
    folded, about = network.folded(), storage.info(options.source)
    storage.save(folded, options.destination, **about["info"], folded_from=network.name)
    found = {"network": folded.name, "folded_from": network.name, "weights": options.destination}
    return found, f"{network!r}\nfolded: {folded!r}"


def _info(options):
    found = storage.info(options.file)
    return found, "\n".join(f"{key}: {value}" for key, value in found.items())


def _bench(options):
    from lib2048.benchmark import Bench, report

    figures = Bench(options.network, options.stages).run()
    return figures, report(figures)


COMMANDS = {
    "play": _play, "train": _train, "solve": _solve, "fold": _fold, "info": _info, "bench": _bench,
}  # fmt: skip


def main(arguments=None):
    """Run the command line; arguments: list of str, by default those of the process."""
    options = _parser().parse_args(arguments)
    try:
        data, text = COMMANDS[options.command](options)
    except (ValueError, MemoryError, OSError, FloatingPointError) as error:
        print(f"lib2048: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("lib2048: stopped", file=sys.stderr)
        return 130
    print(json.dumps(data) if options.json else text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
