"""What a run is: every option, said once.

One field of a kind of `Settings` is what the command line parses, what is checked, what config.json
holds and what the loop's record is made from.  Each kind of learner has its own, beside its code:
`tables.TableSettings`, and two in `deep.settings`.
"""

import dataclasses
import math
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lib2048.game.bits import WHOLE
from lib2048.game.game import Game, parse_game
from lib2048.learn.learner import Learner
from lib2048.learn.rules import RULES, Rule, check_rate
from lib2048.learn.starts import STARTS
from lib2048.machine.files import named
from lib2048.machine.schema import is_number
from lib2048.machine.terminal import in_short, meant
from lib2048.networks import neural
from lib2048.networks.names import game_of

MOST_THREADS = 1024
MOST_GAMES = 10**8  # that are tested at a time
BUDGETS = ("games", "actions", "seconds")
ONE_BUDGET = f"say how long to train by one of {', '.join(BUDGETS)}"
GAMES = "what is played: 2048, 2048@3x4, 2048:four=0.2, threes, …"
_SAID = {"lam": "lambda", "weights": "from"}  # names that Python keeps for itself
_UNSAID = ("seconds", "checkpoint_every")  # they decide no result


def option(
    default: Any,
    text: str | None,
    kind: type | None = None,
    meta: str | None = None,
    flag: str | None = None,
    budget: bool = False,
) -> Any:
    """Describe a field of a kind of `Settings`.

    text: help on the command line, None for an option that it does not have; kind: of number;
    meta: what its help calls the number; flag: its name there, by default the field's; budget:
    whether a run may go on with another value.
    """
    about = {"text": text, "kind": kind, "meta": meta, "flag": flag, "budget": budget}
    return dataclasses.field(default=default, metadata=about)


class _Meant(float):
    """A rate that nobody gave: `dataclasses.replace` to another rule takes that one's default."""


@dataclass(frozen=True, init=False)
class Settings:
    """All that decides a training run's results, and how long it goes on.

    `Settings(network=…, …)` is of the kind that its network needs: `TableSettings`, `ValueSettings`
    or `PolicySettings`, which say what they have to themselves; below stands what all have.  What
    belongs to another kind of network is refused.

    Attributes:
        game: what is played, a `Game`.  Said as game='2048@3x4' it becomes a part of the network's
            name, which may say it as well, and then has to agree.
        rate: above 0 and up to 1; the rule's own name of it says the same: alpha (TD), beta (TC),
            mu (Autostep), that of a `Rule` of one's own, or learning_rate (neural networks).
        starts: where games begin: 'initial', 'carousel', 'restart', 's-jump', 'l-jump' (see
            `starts`).
        weights: the file whose weights the network begins with; all else begins anew, what the rule
            keeps beside the weights included ('from' on the command line and in config.json).
        before: the actions that these weights have learned from, all runs together.  With it TC's
            rates begin low, and not at 1: see `tables.TableLearner`; other rules only record it.
        seed: any int; games have luck that no test game has.
        threads: so many learn at once on the same tables, without locks (one alone is
            deterministic), or share the work of one neural network.
        lanes: games that take turns in a thread, or that a neural network plays in step.
        games, actions, seconds: how long, at most one of them.
        checkpoint_every: seconds.
        eval_every: play eval_games test games every so many actions, at 1-ply and at eval_depth
            (there eval_deep_games, where that is said); they learn nothing and take no part in the
            clock.

    Raises:
        ValueError: for a setting that makes no sense, alone or with the others.
    """

    KINDS: ClassVar[dict[str, type["Settings"]]] = {}  # by `neural.kind_of`, as they are defined
    kind: ClassVar[str]
    rates: ClassVar[tuple[str, ...]] = ()  # names of the rate that this kind knows
    most_lanes: ClassVar[int] = 1 << 16

    network: str = option(None, "4x6, 42-33, cells:012345,… or cnn22ss, …", str, "NAME")
    rate: float = option(None, "rate of the rule, above 0 and up to 1, by any name", float, "X")
    starts: str = option("initial", "where games begin: " + ", ".join(STARTS), None, "WHERE")
    weights: str | None = option(
        None, "begin with the weights of this file", str, "WEIGHTS", "--from"
    )
    before: int | None = option(
        None, "actions that they have learned from; tc plays N/100 without learning", int, "N"
    )
    seed: int = option(1, "of the games' luck, 1 by default", int, "N")
    threads: int = option(1, "that learn on the same tables, 1 by default", int, "N")
    lanes: int = option(None, "games that take turns in a thread", int, "N")
    games: int | None = option(None, "how many games to learn from", int, "N", budget=True)
    actions: int | None = option(None, "or how many actions", int, "N", budget=True)
    seconds: float | None = option(None, None, budget=True)
    checkpoint_every: float = option(
        60.0, "between two checkpoints, 60 by default", float, "SECONDS", budget=True
    )
    eval_every: int | None = option(
        None, "play test games every so many actions", int, "ACTIONS", budget=True
    )
    eval_games: int = option(100, "so many each time, 100 by default", int, "N", budget=True)
    eval_depth: int = option(1, "at D plies, too, beside 1", int, "D", budget=True)
    eval_deep_games: int | None = option(
        None, "so many at D plies, as many as at 1 by default", int, "N", budget=True
    )

    def __init_subclass__(cls, kind: str, **options: Any):
        super().__init_subclass__(**options)
        cls.kind = kind
        cls.KINDS[kind] = cls

    def __new__(cls, *, network: str = "", **said: Any):
        """Choose the kind by the network."""
        kind = cls.KINDS[neural.kind_of(network)]
        if not issubclass(kind, cls):
            raise ValueError(f"{network} is of another kind: say Settings(network={network!r}, …)")
        return object.__new__(kind)

    def __getnewargs_ex__(self):
        return (), {"network": self.network}

    def __init__(self, *, network: str, game: Game | str | None = None, **said: Any):
        plain = {k: x.item() if isinstance(x, np.generic) else x for k, x in said.items()}
        network, said = self.of_game(network, game), self._own(network, plain)
        said |= {"network": network, "rate": self._rate(said)}
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, said.get(field.name, field.default))
        if self.weights is not None:
            object.__setattr__(self, "weights", str(named(self.weights)))
        for name, value in self._meant().items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, _Meant(value) if name == "rate" else value)
        check_rate(self.rate_name, self.rate)
        self._check()
        self._check_numbers()

    def __getattr__(self, name):
        """Return the rate by the name that its rule has for it."""
        if "rate" in vars(self) and name == self.rate_name:
            return self.rate
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    # ------------------------------------------------------------ what a kind says

    @classmethod
    def of_game(cls, network: str, game: Game | str | None = None) -> str:
        """Return a network's one name, which says its game; by default neural: only one is played.

        Raises ValueError where they do not agree.
        """
        at = not network.startswith(neural.OWN) and "@" in network
        if at or parse_game(WHOLE if game is None else game) != WHOLE:
            raise ValueError(f"network {network}: neural networks play 2048 on the 4x4 board only")
        return network

    @classmethod
    def rate_called(cls, said: Mapping[str, Any]) -> str:
        """Return what the rate of such settings is called; said: {name: value}."""
        return cls.rates[0]

    def _meant(self) -> dict[str, Any]:
        """Return what is meant by the settings that are None."""
        raise NotImplementedError

    def _check(self) -> None:
        """Raise ValueError for what makes no sense in this kind."""

    def _unused(self) -> Iterator[tuple[str, str]]:
        """Yield names of settings that decide nothing beside the others, and where that is so."""
        if not self.eval_every:
            yield "eval_games eval_depth eval_deep_games", "without eval-every"
        elif self.eval_depth == 1:
            yield "eval_deep_games", "at 1-ply"

    def geometry(self) -> Any:
        """Return all of the network but its weights: `Geometry`, or `neural.Outline`."""
        raise NotImplementedError

    def new_network(self) -> Any:
        """Return the network: tables of zeros, or a neural one with weights drawn by the seed."""
        raise NotImplementedError

    def new_learner(self, network: Any) -> Learner:
        """Return what trains a network.

        Raises:
            MemoryError: when what it needs does not fit.
        """
        raise NotImplementedError

    def needed_bytes(self) -> int:
        """Return the most memory that a process needs which trains by these settings."""
        raise NotImplementedError

    # ------------------------------------------------------------ how they are said

    @classmethod
    def known(cls) -> set[str]:
        """Return the names of its settings, those of its rate included."""
        return {*cls.rates, *(field.name for field in dataclasses.fields(cls))}

    def _own(self, network, said):
        """Return what is said of this kind; raises ValueError for what belongs to another."""
        own, tables = self.known() | {self.rate_called(said)}, Settings.KINDS["n-tuple"]
        for name in sorted(said.keys() - own):
            value = said[name]
            kinds = [kind for kind, of in Settings.KINDS.items() if name in of.known()]
            if not kinds:
                every = set().union(*(of.known() for of in Settings.KINDS.values()))
                raise TypeError(f"there is no setting {name!r}{meant(name, every)}")
            plain = (None, getattr(tables, name, None)) if name != "promotion" else (None, False)
            if value not in plain:
                raise ValueError(
                    f"{_spelt(name)} {value}: is for {' and '.join(kinds)} networks, and {network} "
                    "is none: leave it out"
                )
        return {name: value for name, value in said.items() if name in own}

    def _rate(self, said):
        """Return the rate that is said by any of its names; None where it is left out."""
        name = self.rate_called(said)
        if name in self.known() - {*self.rates, "rate"}:
            raise ValueError(f"a rate cannot be called {name}: that is another setting")
        found = None if isinstance(said.get("rate"), _Meant) else said.get("rate")
        for other in {*self.rates, name} & said.keys() - {"rate"}:
            if said[other] is not None and other != name:
                rule = f"the rule {said.get('rule') or 'td'}: it takes {name}"
                raise ValueError(f"{other} is no rate of {rule}")
            found = said[other]
        return found

    @classmethod
    def of(cls, network: Any, **options: Any) -> "Settings":
        """Return the settings by which a network that exists is trained.

        Args:
            network: `Network`, or another with its `arguments`.
            **options: all other settings.

        Raises:
            ValueError: for what is no network, and for what the network has decided otherwise.
        """
        check_network(network)
        made = network.arguments()
        for name in made.keys() & options.keys() - {"name"}:
            if options[name] not in (None, made[name]):
                raise ValueError(
                    f"{name} {options[name]}: this network has {name} {made[name]}, "
                    "which is decided when it is made"
                )
        settings = cls(network=made.pop("name"), **(options | made))
        settings._check_said(options)
        return settings

    @classmethod
    def asked(cls, **options: Any) -> "Settings":
        """Return the settings that somebody asks for, by their names, with a budget."""
        settings = cls(**options)
        settings._check_said(options)
        if settings.budget is None:
            raise ValueError("say how long to train: so many games, or so many actions")
        return settings

    def _check_said(self, options):
        """Raise ValueError for an option that has no effect, or is the rate by a second name."""
        said = {name for name, value in options.items() if value is not None}
        if self.rate_name != "rate" and {"rate", self.rate_name} <= said:
            raise ValueError(f"rate and {self.rate_name} are the same: say one of them")
        for names, where in self._unused():
            for name in said.intersection(names.split()):
                if options[name] != getattr(type(self), name):
                    raise ValueError(f"{_spelt(name)} has no effect {where}: leave it out")

    # ------------------------------------------------------------ what follows from them

    @property
    def game(self) -> Game:
        """What is played."""
        return WHOLE if self.neural else game_of(self.network)

    @property
    def neural(self) -> bool:
        """Whether the network is a neural one."""
        return self.kind != "n-tuple"

    @property
    def rate_name(self) -> str:
        """What the rate is called, alpha, beta or mu, or a neural network's learning_rate."""
        return self.rate_called(vars(self))

    @property
    def rate_symbol(self) -> str:
        """How the rate is written, such as α, β or μ."""
        return self.rate_name.replace("_", " ")

    @property
    def learner_name(self) -> str:
        """What tells how it learns, the name of the rule or the kind of neural network."""
        return self.kind

    @property
    def budget(self) -> tuple[str, float] | None:
        """How long to go on, as (name, number), or None where nothing is said."""
        given = {name: getattr(self, name) for name in BUDGETS}
        return next(((name, n) for name, n in given.items() if n is not None), None)

    # ------------------------------------------------------------ on disk

    def by_name(self) -> dict[str, Any]:
        """Return {name: value} of all settings, the rate by the name that its rule has for it."""
        return {self.rate_name if n == "rate" else n: value for n, value in vars(self).items()}

    def plain(self) -> dict[str, Any]:
        """Return {name: value} by which `Settings` makes them again, in another process, too.

        Raises:
            ValueError: for a rule that is in no file.
        """
        rule = vars(self).get("rule")
        if not isinstance(rule, Rule):
            return dict(vars(self))
        if not rule.file:
            raise ValueError(f"the rule {rule} is in no file, where other processes find it")
        return vars(self) | {"rule": rule.file}

    def config(self) -> dict[str, Any]:
        """Return the settings as config.json holds them: a dict of plain values."""
        return {
            _SAID.get(name, name): value.described() if isinstance(value, Rule) else value
            for name, value in self.by_name().items()
            if value is not None and name not in _UNSAID
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Settings":
        """Return the settings that config.json holds.

        Raises:
            ValueError: for what this version does not write.
        """
        names = {said: name for name, said in _SAID.items()}
        config = {names.get(name, name): value for name, value in config.items()}
        kinds = cls.KINDS.values()
        fields = {field.name: field for kind in kinds for field in dataclasses.fields(kind)}
        rates = {name for kind in kinds for name in kind.rates}
        if isinstance(config.get("rule"), dict):
            config["rule"] = Rule.recalled(config["rule"])
            rates.add(config["rule"].rate)
        fields |= dict.fromkeys(rates, fields["rate"])
        strange = [n for n, x in config.items() if n not in fields or not _may_be(fields[n], x)]
        if strange or "network" not in config:
            what = ", ".join(repr(_SAID.get(name, name)) for name in strange) or "no network"
            raise ValueError(f"holds a setting that this version does not know: {what}")
        return cls(**config)

    def difference(self, other: "Settings") -> str:
        """Say, as text, in which settings a run that goes on would differ; '' for none."""
        fields = (*dataclasses.fields(self), *dataclasses.fields(other))
        budgets = {field.name for field in fields if field.metadata.get("budget")}
        old, new = self.by_name(), other.by_name()
        return ", ".join(
            f"{_SAID.get(name, name)} {_told(old[name])} instead of {_told(new[name])}"
            for name in old
            if name not in budgets and name in new and old[name] != new[name]
        )

    def _check_numbers(self):
        _check_whole(self, "threads", MOST_THREADS)
        _check_whole(self, "lanes", self.most_lanes)
        if not is_number(self.seed, numbers.Integral):
            raise ValueError(f"seed {self.seed!r}: use a whole number")
        for field in dataclasses.fields(self):
            if field.type is bool and not isinstance(value := getattr(self, field.name), bool):
                raise ValueError(f"{field.name} {value!r}: use True or False")
        said_budget({unit: getattr(self, unit) for unit in BUDGETS})
        for name in ("eval_every", "before"):
            check_budget(name, getattr(self, name))
        if self.before and not self.weights:
            raise ValueError("before: is of the weights to begin with: say from which file, too")
        for name in ("eval_games", "eval_deep_games"):
            _check_whole(self, name, MOST_GAMES)
        check_range(self, "checkpoint_every", 0, math.inf, numbers.Real, "seconds, 0 or more")
        check_range(self, "eval_depth", 1, 16, numbers.Integral, "1 to 16 plies")


def _spelt(name):
    """Write the name of a setting as the command line does."""
    return _SAID.get(name, name).replace("_", "-")


def _told(value):
    """Write a setting in a message; a rule of one's own has its hash beside it."""
    return f"{value} {value.source}" if isinstance(value, Rule) else repr(value)


# ---------------------------------------------------------------- how they are asked for


class Flag(NamedTuple):
    """A long option: its setting, the kind of what is said behind it, or what it means by itself.

    text: its help; meta: what that calls the number.
    """

    name: str
    kind: type | None
    meant: bool | None = None
    text: str = ""
    meta: str | None = None

    def given(self, value):
        """Return {setting: value} for a value of a list; {} for a flag that is false there."""
        if self.kind is None:
            return {self.name: self.meant} if value else {}
        return {self.name: value}


def check_network(network):
    """Raise ValueError, in one line, for what is no network, such as a bare module of torch."""
    if not hasattr(network, "arguments"):
        said = in_short(network)
        how = "a module of torch becomes one by deep.ValueNetwork"
        raise ValueError(f"a network is needed, not {said}; {how}")


def of_seed(given, seed):
    """Return settings in which '{seed}' in the file of weights to begin with is this seed."""
    weights = given.get("weights")
    return given if weights is None else given | {"weights": weights.replace("{seed}", f"{seed}")}


def flags(rule: Rule | None = None) -> dict[str, Flag]:
    """Return {long option: `Flag`} that the command line and lists of runs know.

    rule: one of the reader's own, whose rate has a name, too.
    """
    found: dict[str, Flag] = {}
    for field in _in_order():
        if field.metadata["text"] is not None:
            said, flag = _flag(field.name, field.metadata)
            found.setdefault(said, flag)
        if field.name == "network":
            found["game"] = Flag("game", str, None, GAMES, "GAME")
        if field.name == "rule":
            for each in [*RULES.values(), *([rule] if rule else [])]:
                text = f"rate of {each}, above 0 and up to 1; {each.default:g} by default"
                said = each.rate.replace("_", "-")
                found.setdefault(said, Flag(each.rate, float, None, text, "X"))
        if field.name == "batch":
            text = "of the optimiser; 0.001 by default, 0.01 for policy"
            found["learning-rate"] = Flag("learning_rate", float, None, text, "X")
    return found


def _in_order():
    """Yield all fields: the network, what tables have, what all have, neural ones, budgets."""
    network, *common = dataclasses.fields(Settings)
    budgets = [field.name for field in common].index(BUDGETS[0])
    kinds = {name: dataclasses.fields(kind) for name, kind in Settings.KINDS.items()}
    yield from (network, *kinds.pop("n-tuple")[1 + len(common) :], *common[:budgets])
    yield from (field for fields in kinds.values() for field in fields[1 + len(common) :])
    yield from common[budgets:]


def _flag(name, about):
    said = (about["flag"] or name.replace("_", "-")).removeprefix("--")
    if said.startswith("no-") or said == "augment":
        return said, Flag(name, None, not said.startswith("no-"), about["text"])
    return said, Flag(name, about["kind"] or str, None, about["text"], about["meta"])


# ---------------------------------------------------------------- checks


def _may_be(field, value):
    """Say whether a value of a file is of a kind that a field takes."""
    if isinstance(value, Rule):
        return field.name == "rule"
    if isinstance(value, str) and not value.isprintable():
        return False
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 1000
    kinds = (value, float(value)) if whole else (value,)
    plain = whole or isinstance(value, (bool, float, str)) or value is None
    return plain and any(isinstance(x, field.type) for x in kinds)


def check_decay(lam, most):
    """Raise ValueError, in one line, for a λ that makes no sense."""
    if not (is_number(lam) and 0 <= lam <= most):
        last = "to 1" if most == 1 else "up to, but not including, 1"
        raise ValueError(f"lambda {lam}: use a number from 0 {last}")


def _check_whole(settings, name, most):
    check_range(settings, name, 1, most, numbers.Integral, f"a whole number from 1 to {most}")


def check_range(settings, name, low, high, kind, what):
    """Raise ValueError, in one line, for a number of settings that is out of its range.

    None is in order where it is what an option is by default.
    """
    value = getattr(settings, name)
    if value is None and getattr(type(settings), name, None) is None:
        return
    if not (is_number(value, kind) and low <= value <= high):
        raise ValueError(f"{name} {value}: use {what}")


def said_budget(given):
    """Return {unit: number} of what is said of BUDGETS; raise ValueError for more than one."""
    said = {unit: number for unit, number in given.items() if number is not None}
    if len(said) > 1:
        raise ValueError(ONE_BUDGET)
    for unit, number in said.items():
        check_budget(unit, number)
    return said


def check_budget(name, number):
    """Raise ValueError, in one line, for a budget that is not above 0; None is no budget."""
    kind = numbers.Real if name == "seconds" else numbers.Integral
    if number is not None and not (is_number(number, kind) and 0 < number < 1 << 62):
        what = "number" if name == "seconds" else "whole number"
        raise ValueError(f"{name} {number}: use a {what} above 0, and below 2^62")
