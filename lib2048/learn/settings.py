"""What a run is: every option, said once.

One field of `Settings` is what the command line parses, what is checked, what config.json holds
and what the loop's record is made from.  A new option that the loop needs is three things: a
field here, a field of that name in `records.Rule`, and its use.
"""

import dataclasses
import math
import numbers
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lib2048.learn import batches
from lib2048.learn.records import LONGEST_GAME, Rule
from lib2048.learn.rules import RULES, horizon
from lib2048.learn.starts import STARTS, check_starts
from lib2048.networks import neural
from lib2048.networks.network import FORMS, Geometry, Network
from lib2048.networks.stages import MOST_MARKS, TOP

ORDERS = ("forward", "backward")
ERRORS = ("fresh", "remembered")
MOST_THREADS = 1024
MOST_GAMES = 10**8  # that are tested at a time
MOST_LANES, MOST_LANES_OF_TABLES = 1 << 16, 64


def option(default, text, kind=None, meta=None, flag=None, budget=False):
    """Describe a field of `Settings`.

    text: help on the command line, None for an option that it does not have; kind: of number;
    meta: what its help calls the number; flag: its name there, by default the field's; budget:
    whether a run may go on with another value.
    """
    about = {"text": text, "kind": kind, "meta": meta, "flag": flag, "budget": budget}
    return dataclasses.field(default=default, metadata=about)


def _rate(rule):
    text = f"rate of {rule}, above 0 and up to 1; {RULES[rule].default:g} by default"
    return option(None, text, float, "X")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that decides a training run's results, and how long it goes on.

    network, form, optimistic, stages, top, promotion: what is trained, see `Network`.  rule: 'td',
    'tc' or 'autostep' (see `rules`), with its rate in (0, 1]: alpha (0.1 when left out) and beta
    (1) are shared by a board's look-ups, mu (0.1) is a meta-rate.  lam: λ in [0, 1), td and tc
    only; delay: each afterstate learns once, h actions later, or online at every error.  order:
    'forward' learns during the episode, 'backward' from its end (as the lab program does).
    error: V of an afterstate in its own error is 'fresh', looked up when it learns, or
    'remembered' from when it was chosen, before the afterstate before it has learned.
    epsilon: how often any legal action is taken instead of the best; it is learned from, too.
    starts: where games begin: 'initial', 'carousel', 'restart', 's-jump', 'l-jump' (see `starts`).
    weights: the file whose weights the network begins with; all else begins anew, what the rule
    keeps beside the weights included ('from' on the command line and in config.json).
    seed: any int; games have luck that no test game has.  threads: so many learn at once on the
    same tables, without locks; one alone is deterministic.  lanes: games that take turns in a
    thread; 2 hides the time that memory takes, 1 learns from one game after the other.
    games, actions, seconds: how long, at most one of them.  checkpoint_every: seconds.
    eval_every: play eval_games test games every so many actions, at 1-ply and at eval_depth; they
    learn nothing and take no part in the clock.

    For value networks (see `deep.learner`): batch: which positions are trained together,
    'batch1K', 'game', 'shuffle64', …; symmetry: how a board's images are used, 'simple', 'ave',
    'max' or 'min'; augment: learn all eight images of each position; learning_rate: Adam's;
    average: above 0, test games are played by (and the run's file holds) a moving average of the
    weights, of which each step keeps this share; precision: 'float32' or 'bfloat16'; device:
    'cpu', 'cuda', ….  Their threads share the work of one network, and lanes are the games in step.

    For a policy network (see `deep.reinforce`): batch: games of a step, as in 'games10'; epsilon:
    0 draws actions by their probabilities, above 0 is ε-greedy; optimiser: 'rmsprop' or 'adam',
    its learning_rate, and half_life, the batches in which that halves; returns: 'sum' of the last
    board's tiles, points 'to-go' or, by a 'critic' with λ = lam, advantages; discount of later
    points; entropy: weight of a bonus for being unsure; steps: of the optimiser for each batch.

    What belongs to another kind of network is refused.

    Raises ValueError, in one line, for a setting that makes no sense, alone or with the others.
    """

    network: str = dataclasses.field(
        metadata={"text": "4x6, 42-33, cells:012345,… or cnn22ss, …", "kind": str, "meta": "NAME"}
    )
    form: str = option("afterstate", "what a value belongs to: " + ", ".join(FORMS))
    optimistic: float = option(
        0.0, "points that every board is worth beside its weights", float, "V"
    )
    stages: int = option(0, f"2^G stages, G 0 to {MOST_MARKS}", int, "G")
    top: int = option(TOP, "largest tile that marks a stage", int, "TILE")
    promotion: bool | None = option(None, "stages start from nothing", flag="--no-promotion")
    rule: str = option("td", ", ".join(RULES))
    alpha: float | None = _rate("td")
    beta: float | None = _rate("tc")
    mu: float | None = _rate("autostep")
    lam: float = option(
        0.0, "how far back an error reaches, from 0 up to 1", float, "L", "--lambda"
    )
    delay: bool = option(True, "learn online at every error", flag="--no-delay")
    order: str = option("forward", ", ".join(ORDERS))
    error: str = option("fresh", "which value stands in the error: " + ", ".join(ERRORS))
    epsilon: float = option(0.0, "share of random actions", float)
    starts: str = option("initial", "where games begin: " + ", ".join(STARTS))
    weights: str | None = option(
        None, "begin with the weights of this file", str, "WEIGHTS", "--from"
    )
    seed: int = option(1, "of the games' luck", int)
    threads: int = option(1, "that learn on the same tables", int)
    lanes: int | None = option(None, "games that take turns in a thread", int, "N")
    batch: str | None = option(None, "neural: what is learned at once: batch1K, game, …, games10")
    learning_rate: float | None = option(None, "neural: of the optimiser", float, "X")
    symmetry: str | None = option(None, "value networks: " + ", ".join(neural.SYMMETRIES))
    augment: bool | None = option(None, "value networks: learn all images", flag="--augment")
    average: float | None = option(
        None,
        "value networks: test and keep a moving average of the weights; each step keeps this share",
        float,
        "X",
    )
    precision: str | None = option(None, "value networks: " + ", ".join(neural.PRECISIONS))
    device: str | None = option(None, "value networks: cpu, cuda, …", budget=True)
    returns: str | None = option(None, "policy: " + ", ".join(neural.RETURNS))
    discount: float | None = option(None, "policy: of later points", float, "X")
    entropy: float | None = option(None, "policy: weight of a bonus for being unsure", float, "X")
    optimiser: str | None = option(None, "policy: " + ", ".join(neural.OPTIMISERS))
    half_life: float | None = option(None, "policy: batches that halve the rate", float, "X")
    steps: int | None = option(None, "policy: of the optimiser for each batch", int, "N")
    games: int | None = option(None, "how many to play", int, "N", budget=True)
    actions: int | None = option(None, "or how many actions", int, "N", budget=True)
    seconds: float | None = option(None, None, budget=True)
    checkpoint_every: float = option(
        60.0, "seconds between two checkpoints", float, "SECONDS", budget=True
    )
    eval_every: int | None = option(None, "play test games on the way", int, "ACTIONS", budget=True)
    eval_games: int = option(100, "so many", int, "N", budget=True)
    eval_depth: int = option(1, "at 1-ply, and at D-ply", int, "D", budget=True)

    def __post_init__(self):
        if self.weights is not None:
            object.__setattr__(self, "weights", str(self.weights))
        _check_kind(self)
        if not self.neural:
            _check_rate(self)
        for name, value in self._defaults().items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        check_rate(self.rate_name, self.rate)
        _check_learning(self)
        if self.kind == "policy" and self.starts != "initial":
            raise ValueError(f"starts {self.starts}: a policy network learns from whole games")
        check_starts(self.starts, 1 if self.neural else self.geometry().stages.count)
        _check_numbers(self)

    def _defaults(self):
        """Return what is meant by the settings of this kind of network that are left out."""
        if self.neural:
            own = OF_KIND[self.kind]
            in_step = batches.parse(self.batch or own["batch"], self.kind).games
            return own | {"promotion": False, "lanes": in_step}
        rate = {self.rate_name: RULES[self.rule].default}
        return rate | {"promotion": bool(self.stages), "lanes": 2}

    @classmethod
    def of(cls, network, **options):
        """Return the settings by which a network that exists is trained.

        network: `Network`, or another with its `arguments`; options: all other settings.
        """
        made = network.arguments()
        for name in made.keys() & options.keys() - {"name"}:
            if options[name] not in (None, made[name]):
                raise ValueError(
                    f"{name} {options[name]}: this network has {name} {made[name]}, "
                    "which is decided when it is made"
                )
        return cls(network=made.pop("name"), **(options | made))

    @classmethod
    def asked(cls, **options):
        """Return the settings that somebody asks for, by the names of fields, with a budget."""
        if "promotion" in options and not options.get("stages"):
            raise ValueError("no promotion: there are no stages to promote weights between")
        settings = cls(**options)
        if settings.budget is None:
            raise ValueError("say how long to train: so many games, or so many actions")
        return settings

    # ------------------------------------------------------------ what follows from them

    @property
    def kind(self):
        """What kind of network it is: 'n-tuple', 'value' or 'policy'."""
        return neural.kind_of(self.network)

    @property
    def neural(self):
        """Whether the network is a neural one."""
        return self.kind != "n-tuple"

    @property
    def rate_name(self):
        """What the rule's rate is called: alpha, beta or mu; for a neural network learning_rate."""
        return "learning_rate" if self.neural else RULES[self.rule].rate

    @property
    def rate(self):
        """The rule's rate (or meta-rate)."""
        return getattr(self, self.rate_name)

    @property
    def budget(self):
        """How long to go on, as (name, number), or None where nothing is said."""
        given = {name: getattr(self, name) for name in BUDGETS}
        return next(((name, n) for name, n in given.items() if n is not None), None)

    def geometry(self):
        """Return all of the network but its weights: `Geometry`, or `neural.Outline`."""
        if self.neural:
            return neural.Outline(self.network.lower(), self.symmetry)
        return Geometry(*self._network())

    def new_network(self):
        """Return the network: tables of zeros, or a neural one with weights drawn by the seed."""
        if self.neural:
            return neural.room("learners").new_network(self)
        return Network(*self._network())

    def _network(self):
        return [getattr(self, name) for name in NETWORK_OPTIONS]

    # ------------------------------------------------------------ on disk

    def config(self):
        """Return the settings as config.json holds them: a dict of plain values."""
        unsaid = {*_UNSAID, *_OWNED} - OF_KIND[self.kind].keys()
        config = {n: x for n, x in vars(self).items() if x is not None and n not in unsaid}
        return {_SAID.get(name, name): value for name, value in config.items()}

    @classmethod
    def from_config(cls, config):
        """Return the settings that config.json holds, those of older versions included.

        Raises ValueError, in one line, for what no version has written.
        """
        known, config = {_SAID.get(name, name): name for name in FIELDS}, dict(config)
        strange = [name for name, x in config.items() if not _may_be(known.get(name), x)]
        if strange or "network" not in config:
            what = ", ".join(map(repr, strange)) or "no network"
            raise ValueError(f"holds a setting that this version does not know: {what}")
        return cls(**{known[name]: value for name, value in config.items()})

    def difference(self, other):
        """Say, as text, in which settings a run that goes on would differ; '' for none."""
        names = [n for n, field in FIELDS.items() if not field.metadata.get("budget")]
        old, new = vars(self), vars(other)
        return ", ".join(
            f"{_SAID.get(name, name)} {old[name]!r} instead of {new[name]!r}"
            for name in names
            if old[name] != new[name]
        )


FIELDS = {field.name: field for field in dataclasses.fields(Settings)}
BUDGETS = ("games", "actions", "seconds")
NETWORK_OPTIONS = ("network", "form", "optimistic", "stages", "top", "promotion")
_TABLES = (
    "form", "optimistic", "stages", "top", "promotion", "rule", "alpha", "beta", "mu", "lam",
    "delay", "order", "error", "epsilon",
)  # fmt: skip
OF_KIND = {  # what a kind of network has to itself, and what is meant where nothing is said
    "n-tuple": {name: FIELDS[name].default for name in _TABLES},
    "value": {
        "batch": "batch1K",
        "learning_rate": 0.001,
        "symmetry": "simple",
        "augment": False,
        "average": 0.0,
        "precision": "float32",
        "device": "cpu",
    },
    "policy": {
        "batch": "games10",
        "learning_rate": 0.01,
        "returns": "sum",
        "discount": 1.0,
        "entropy": 0.0,
        "optimiser": "rmsprop",
        "half_life": None,
        "steps": 1,
        "epsilon": 0.0,
        "lam": 0.0,
    },
}
_OWNED = set().union(*OF_KIND.values())
_SAID = {"lam": "lambda", "weights": "from"}  # names that Python keeps for itself
_UNSAID = ("seconds", "checkpoint_every")  # they decide no result

# ---------------------------------------------------------------- how they are asked for


class Flag(NamedTuple):
    """A long option: its field, the kind of what is said behind it, or what it means by itself."""

    name: str
    kind: type | None
    meant: bool | None = None

    def given(self, value):
        """Return {field: value} for a value of a list; {} for a flag alone that is false there."""
        if self.kind is None:
            return {self.name: self.meant} if value else {}
        return {self.name: value}


def of_seed(given, seed):
    """Return settings in which '{seed}' in the file of weights to begin with is this seed."""
    weights = given.get("weights")
    return given if weights is None else given | {"weights": weights.replace("{seed}", f"{seed}")}


def flags():
    """Return {long option: `Flag`} of the fields that the command line and lists of runs know."""
    known = {name: field.metadata for name, field in FIELDS.items()}
    return dict(_flag(name, about) for name, about in known.items() if about["text"] is not None)


def _flag(name, about):
    said = (about.get("flag") or name.replace("_", "-")).removeprefix("--")
    if said.startswith("no-") or said == "augment":
        return said, Flag(name, None, not said.startswith("no-"))
    return said, Flag(name, about["kind"] or str)


# ---------------------------------------------------------------- checks


def _may_be(name, value):
    """Say whether a value of a file is of a kind that a field of some name takes."""
    if isinstance(value, str) and not value.isprintable():
        return False
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 1000
    kinds = (value, float(value)) if whole else (value,)
    plain = whole or isinstance(value, (bool, float, str)) or value is None
    return plain and name in FIELDS and any(isinstance(x, FIELDS[name].type) for x in kinds)


def is_number(value, kind=numbers.Real):
    """Say whether a value is a finite number of a kind, and no bool."""
    return isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)


def check_rate(name, rate):
    """Raise ValueError, in one line, for a rate that makes no sense."""
    if not (is_number(rate) and 0 < rate <= 1):
        raise ValueError(f"{name} {rate}: use a rate above 0 and up to 1")


def _check_kind(settings):
    """Raise ValueError for a setting that belongs to another kind of network."""
    for name in sorted(_OWNED - OF_KIND[settings.kind].keys()):
        value = getattr(settings, name)
        if value != FIELDS[name].default and (name, value) != ("promotion", False):
            said = _SAID.get(name, name).replace("_", "-")
            kinds = " and ".join(kind for kind, own in OF_KIND.items() if name in own)
            raise ValueError(
                f"{said} {value}: is for {kinds} networks, and {settings.network} is "
                "none: leave it out"
            )


def _check_rate(settings):
    if settings.rule not in RULES:
        raise ValueError(f"unknown rule {settings.rule!r}: use {', '.join(RULES)}")
    for kind in RULES.values():
        rate = getattr(settings, kind.rate)
        if rate is not None and kind.rate != settings.rate_name:
            rule = f"the rule {settings.rule}: it takes {settings.rate_name}"
            raise ValueError(f"{kind.rate} is no rate of {rule}")


def _check_learning(settings):
    rule, lam, order = settings.rule, settings.lam, settings.order
    if order not in ORDERS:
        raise ValueError(f"unknown order {order!r}: use {' or '.join(ORDERS)}")
    if settings.error not in ERRORS:
        raise ValueError(f"unknown error {settings.error!r}: use {' or '.join(ERRORS)}")
    most = 1 if settings.kind == "policy" else 1 - 2**-53
    if not (is_number(lam) and 0 <= lam <= most):
        raise ValueError(f"lambda {lam}: use a number from 0 up to, but not including, 1")
    if lam > 0 and not RULES[rule].decays:
        raise ValueError(f"lambda {lam}: the rule {rule} is defined for 0 only")
    if lam > 0 and order == "backward":
        raise ValueError(f"lambda {lam}: learning backward is defined for 0 only")


def _check_numbers(settings):
    _check_range(settings, "epsilon", 0, 1, numbers.Real, "a share from 0 to 1")
    _check_whole(settings, "threads", MOST_THREADS)
    _check_whole(settings, "lanes", MOST_LANES if settings.neural else MOST_LANES_OF_TABLES)
    if not is_number(settings.seed, numbers.Integral):
        raise ValueError(f"seed {settings.seed!r}: use a whole number")
    for name in ("games", "actions", "seconds", "eval_every"):
        check_budget(name, getattr(settings, name))
    _check_whole(settings, "eval_games", MOST_GAMES)
    if sum(getattr(settings, name) is not None for name in BUDGETS) > 1:
        raise ValueError(f"say how long to train by one of {', '.join(BUDGETS)}")
    neural.check_choices(**{name: getattr(settings, name) for name in neural.CHOICES})
    _check_range(settings, "average", 0, 0.99999, numbers.Real, "a share from 0 to 0.99999")
    _check_range(settings, "discount", 0, 1, numbers.Real, "a number from 0 to 1")
    _check_range(settings, "entropy", 0, math.inf, numbers.Real, "0 or more")
    _check_range(settings, "half_life", 1e-9, math.inf, numbers.Real, "batches, above 0")
    _check_range(settings, "steps", 1, 1 << 20, numbers.Integral, "1 or more")
    _check_range(settings, "checkpoint_every", 0, math.inf, numbers.Real, "seconds, 0 or more")
    _check_range(settings, "eval_depth", 1, 16, numbers.Integral, "1 to 16 plies")


def _check_whole(settings, name, most):
    _check_range(settings, name, 1, most, numbers.Integral, f"a whole number from 1 to {most}")


def _check_range(settings, name, low, high, kind, what):
    value = getattr(settings, name)
    if value is not None and not (is_number(value, kind) and low <= value <= high):
        raise ValueError(f"{name} {value}: use {what}")


def check_budget(name, number):
    """Raise ValueError, in one line, for a budget that is not above 0; None is no budget."""
    kind = numbers.Real if name == "seconds" else numbers.Integral
    if number is not None and not (is_number(number, kind) and 0 < number < 1 << 62):
        what = "number" if name == "seconds" else "whole number"
        raise ValueError(f"{name} {number}: use a {what} above 0, and below 2^62")


# ---------------------------------------------------------------- for the loop


def rule_of(network, settings=None):
    """Return the `Rule` by which a network learns, or, without settings, only plays.

    What is not worked out here is the setting of the same name.
    """
    learn, settings = settings is not None, settings or Settings.of(network)
    worked_out = {
        "form": FORMS.index(network.form),
        "backward": settings.order == "backward",
        "learn": learn,
        "remembered": settings.error == "remembered",
        "rate": shared_rate(network, settings.rule, settings.rate),
        "decay": settings.lam,
        "slots": min(horizon(settings.lam) + 1, LONGEST_GAME),
        "memory": RULES[settings.rule].memory if learn else 0,
        "optimistic": network.optimistic,
        "size": network.head_size,
        "grid": network.grid,
        "stages": network.stages,
        "start": STARTS.index(settings.starts) if learn else 0,
    }
    fields = vars(settings) | worked_out
    return Rule(*(_as(kind, fields[name]) for name, kind in Rule.__annotations__.items()))


def _as(kind, value):
    return value if isinstance(value, tuple) else kind(value)


def shared_rate(network, rule, rate):
    """Return the rate of one weight: that of a board, shared by its look-ups; μ as it is."""
    return np.float32(rate / network.lookups_per_board if RULES[rule].shared else rate)
