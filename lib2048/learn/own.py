"""Functions of a student's own, in the seams of the loop.

They are tried in a process of their own first (see `trial`), then compiled with a check on every
array and a limit on the turns of their loops.  What an index writes is compared with the size of
the tables on every board, so a mistake ends the run by an error that shows the board, and never the
process.  The update of a `Rule` that is not the library's goes the same way.
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType

import numpy as np

from lib2048.game.board import to_text
from lib2048.learn.rules import UPDATE_SIGNATURE, Rule, digest, find
from lib2048.machine import child
from lib2048.machine.kernels import at_once, jit
from lib2048.machine.source_text import used_names
from lib2048.machine.turns import Counted
from lib2048.networks.lookups import (
    BOARDS_AT_ONCE,
    IMAGES,
    LOOK_SIGNATURE,
    VALUE_SIGNATURE,
    VALUES_SIGNATURE,
    planes,
    unplanes,
)
from lib2048.networks.network import Geometry, Network

QUAD, ZERO = np.uint64(4), np.uint64(0)
UNWRITTEN = np.uint32((1 << 32) - 1)  # no network has so many weights
TRIAL_SECONDS, TRIAL_MIB = 20, 4096
PARTS = {
    "index": ("board", "positions"),
    "value": ("weights", "positions"),
    "update": ("weights", "positions", "amount"),
}
REMEMBERING = ("weights", "memory", "positions", "error", "rate")  # of an update with a memory
OF_A_RULE = ("weights", "memory", "positions", "at", "n", "error", "rate")


@dataclass(frozen=True)
class OwnFunctions:
    """Compiled functions of a student's own; None where the library's stay.

    look, values, value, update: as in `records.Functions`.  rule: the `Rule` that the update stands
    for, with what it keeps; said: {part: what config.json says of it}; digest: of the index alone,
    since it decides where each weight lies.
    """

    look: Callable | None = None
    values: Callable | None = None
    value: Callable | None = None
    update: Callable | None = None
    rule: Rule | None = None
    said: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    def blame(self, error, boards, network, learned):
        """Say, with the board drawn, what a student's function did in the middle of a run.

        error: that it raised; boards: ints, those that it may have happened on; learned: an
        iterable of (board, arguments of the update) that may have been under way.  Returns (what is
        wrong, whether what the network has learned is whole: no update broke off).
        """
        for board in boards:
            if self.look and _fails(_looks_up, self.look, network, board):
                return self._said("index", error, board, network.game), True
            if self.value and _fails(_values, self.value, network, board):
                return self._said("value", error, board, network.game), True
        for board, arguments in learned:
            if self.update and _fails(_learns, self.update, *arguments):
                by = f"{float(arguments[-2]):g}, by the rate {float(arguments[-1]):g}"
                how = f", for the error {by}"
                return self._said("update", error, board, network.game, how), False
        return f"your own function ended the run: {error}", self.update is None

    @staticmethod
    def _said(part, error, board, game, how=""):
        what = f"your own function ended the run: `{part}`: {error}{how}"
        return f"{what}\non this board:\n{to_text(board, game)}"


def _fails(way, *arguments):
    try:
        way(*arguments)
    except Exception:
        return True
    return False


def _looks_up(look, network, board):
    images = np.full(IMAGES, planes(np.uint64(board)), np.uint64)
    look(images, np.zeros(BOARDS_AT_ONCE * network.lookups_per_board, np.uint32), ZERO)


def _values(value, network, board):
    places = network.places(board)
    value(network.weights, places, ZERO, np.uint64(len(places)))


def _learns(update, weights, memory, places, error, rate):
    """Try an update of the real tables, and put back what a board has there."""
    wide = len(memory) // len(weights)
    rows = (places[:, None] * np.int64(wide) + np.arange(wide)).ravel()
    before = weights[places], memory[rows]
    try:
        update(weights, memory, places, ZERO, np.uint64(len(places)), error, rate)
    finally:
        weights[places], memory[rows] = before


def own_functions(
    network: Geometry,
    index: Callable | None = None,
    value: Callable | None = None,
    update: Callable | None = None,
    rule: str | Rule = "td",
    keeps: Sequence[str] | None = None,
) -> OwnFunctions | None:
    """Try a student's functions and return them compiled, or None where there are none.

    See `Network.with_functions`.

    Raises:
        ValueError: for functions that will not do.
    """
    rule, every = find(rule), {"index": index, "value": value, "update": update}
    given = {part: function for part, function in every.items() if function is not None}
    if keeps is not None:
        if not update:
            raise ValueError("keeps: it is your own update that keeps numbers: give one")
        rule = replace(rule, update=update, keeps=tuple(keeps))
    if not given:
        return None
    ways = PARTS | ({"update": REMEMBERING} if rule.memory else {})
    takes = {part: _parameters(part, given[part], [ways[part]], rule) for part in given}
    made = _tried(network, given, takes.get("update"), rule.memory)
    kept = {} if keeps is None else {"update": f"{made.digest} keeps {', '.join(keeps)}"}
    return replace(made, rule=rule if update else None, said={**made.said, **kept})


Network.seams = own_functions  # learning knows the seams of its loop


def learned_by(network: Network, rule: str | Rule) -> Rule:
    """Return the rule by which a network learns: the run's, or what its own update makes of it.

    Raises ValueError where that update stands for another rule.
    """
    rule, own = find(rule), network.own
    if own is None or own.rule is None:
        return rule
    if own.rule.name != rule.name:
        raise ValueError(
            f"your update stands for the rule {own.rule}, and this run learns by {rule}: "
            f"say network.with_functions(update=…, rule={rule.name!r}) for one of that rule"
        )
    return own.rule


def update_of(network: Network, rule: Rule) -> Callable:
    """Return the compiled update by which a network learns; rule: what `learned_by` returned.

    Raises ValueError, in words, for an update of a reader's rule that will not do.
    """
    if (own := getattr(network, "own", None)) and own.update:
        return own.update
    if rule.is_ours:
        return rule.update()
    rule = rule.with_code()
    takes = _parameters("update", rule.update, [OF_A_RULE, REMEMBERING], rule)
    return _tried(network, {"update": rule.update}, takes, rule.memory).update


def _parameters(part, function, ways, rule):
    """Return the first of some ways to call a function that it can be called by.

    ways: lists of parameters.  Raises ValueError where there is none.
    """
    plain = getattr(function, "py_func", function)
    if not callable(plain):
        raise ValueError(f"{part} is {function!r}: give a function")
    for way in ways:
        try:
            inspect.signature(plain).bind(*way)
            return way
        except TypeError:
            continue
    takes = ", ".join(inspect.signature(plain).parameters)
    by = f" by the rule {rule}" if part == "update" else ""
    raise ValueError(
        f"`{part}`{by} is called as {part}({', '.join(ways[0])}); yours takes ({takes})"
    )


def _tried(network, functions, takes, memory):
    """Return functions compiled, once they were tried; memory: numbers that the update keeps."""
    arguments = tuple(network.arguments().items())
    return _tried_once(child.source_of(functions), arguments, takes, memory)


@functools.lru_cache(maxsize=64)
def _tried_once(text, arguments, takes, memory):
    """Try functions, once for the same text, and return them compiled."""
    message = {"source": text, "network": dict(arguments), "takes": takes, "memory": memory}
    try:
        task = "lib2048.learn.trial:try_functions"
        answer = child.ask(task, message, TRIAL_SECONDS, TRIAL_MIB)["answer"]
    except child.Ended as ended:
        raise ValueError(f"your functions were tried on some boards: {ended.reason}") from None
    if answer["problem"]:
        raise ValueError(answer["problem"])
    functions, about = child.load(text), digest(text)
    made = compiled_functions(Geometry(**dict(arguments)), functions, takes)
    return replace(made, digest=about, said=dict.fromkeys(functions, about))


# ---------------------------------------------------------------- compiled, with checks


def checked(function, **options):
    """Let numba compile a function of a loaded text, and all that it calls, with checks.

    Plain functions that it calls are compiled, too, as a beginner would expect, and compiled ones
    anew, whatever they were compiled with.  options: of numba.njit.
    """

    def compile(plain):
        return jit(plain, **{"boundscheck": True} | options)

    made = _renewed(function, {}, compile)
    return compile(made) if isinstance(made, FunctionType) else made  # plain still: a package's


def uncompiled(function):
    """Return a function of a loaded text as plain Python, and all that it calls."""
    return _renewed(function, {}, lambda plain: plain)


def _renewed(thing, made, compile):
    """Return a function compiled anew, and tuples and lists of such; anything else as it is.

    made: {plain function: what became of it}.
    """
    if type(thing) in (tuple, list):
        return type(thing)(_renewed(each, made, compile) for each in thing)
    if (plain := _plain(thing)) is None:
        return thing
    if plain not in made:
        made[plain] = plain  # of one that calls itself, on the way
        room, used = plain.__globals__, used_names(plain.__code__)  # also inside a comprehension
        room |= {name: _renewed(room[name], made, compile) for name in used & set(room)}
        for cell in plain.__closure__ or ():
            cell.cell_contents = _renewed(cell.cell_contents, made, compile)
        plain.__defaults__ = _renewed(plain.__defaults__, made, compile)
        made[plain] = compile(plain)
        for name in used & set(room):  # one that calls itself calls the compiled one
            if room[name] is plain:
                room[name] = made[plain]
    return made[plain]


def _plain(thing):
    """Return a student's function uncompiled; None for anything else."""
    plain = getattr(thing, "py_func", thing)
    if hasattr(plain, "cache_parameters"):  # numba compiles no cache, and needs none
        plain = plain.__wrapped__
    if not isinstance(plain, FunctionType):
        return None
    return plain if plain.__code__.co_filename.startswith(child.YOUR_CODE) else None


def guarded(function):
    """Let numba compile a function with checks, and with a limit on the turns of its loops.

    What it made already stays as it is.
    """
    if getattr(function, "guarded", False):
        return function
    made = checked(function, pipeline_class=Counted)
    made.guarded = True
    return made


def recursive(thing, around=()):
    """Return the name of a student's function that calls itself, maybe by others; None for none."""
    if type(thing) in (tuple, list):
        return next(filter(None, (recursive(each, around) for each in thing)), None)
    if (plain := _plain(thing)) is None:
        return None
    if plain in around:
        return plain.__name__
    room, cells = plain.__globals__, [cell.cell_contents for cell in plain.__closure__ or ()]
    used = [room[name] for name in used_names(plain.__code__) & set(room)]
    return recursive([*used, *cells, *(plain.__defaults__ or ())], (*around, plain))


def compiled_functions(network, functions, takes):
    """Return `OwnFunctions` of {part of PARTS: function}; takes: the parameters of the update."""
    made, n = {}, network.lookups_per_board
    if "index" in functions:
        made["look"] = own_look(functions["index"], n, network.block)
    if "value" in functions:
        made["values"], made["value"] = own_values(functions["value"], n)
    if "update" in functions:
        made["update"] = own_update(functions["update"], takes)
    return OwnFunctions(**made)


def own_look(index, n, block):
    """Return a look-up of four boards by a student's index, compiled.

    n: look-ups a board; block: weights of the tables, all positions are below it.
    """
    index = guarded(index)

    def look(images, positions, at):
        mine = np.zeros(n, np.uint32)
        for a in range(QUAD):
            mine[:] = UNWRITTEN
            index(unplanes(images[a]), mine)
            for i in range(ZERO, np.uint64(n)):
                if mine[i] >= block:
                    raise IndexError("index gave a position outside the tables, or none at all")
                positions[at + QUAD * i + a] = mine[i]

    return at_once(LOOK_SIGNATURE, look, cached=False)


def own_values(value, n):
    """Return (the values of four boards, of one board) by a student's value, compiled."""
    value = guarded(value)

    def one(weights, positions, at, n):
        return np.float32(value(weights, positions[at : at + n]))

    def values(weights, positions, at, n, out, ahead):
        for a in range(QUAD):
            out[a] = value(weights, positions[at + a : at + a + QUAD * n : QUAD].copy())

    four = at_once(VALUES_SIGNATURE, values, cached=False)
    return four, at_once(VALUE_SIGNATURE, one, cached=False)


def own_update(update, takes):
    """Return a student's update, compiled; takes: its parameters, see PARTS and OF_A_RULE."""
    update = guarded(update)

    def learn(weights, memory, positions, at, n, error, rate):
        update(weights, positions[at : at + n], error * rate)

    def learn_and_remember(weights, memory, positions, at, n, error, rate):
        update(weights, memory, positions[at : at + n], error, rate)

    def learn_by_rule(weights, memory, positions, at, n, error, rate):
        update(weights, memory, positions, at, n, error, rate)

    ways = {REMEMBERING: learn_and_remember, OF_A_RULE: learn_by_rule}
    return at_once(UPDATE_SIGNATURE, ways.get(takes, learn), cached=False)
