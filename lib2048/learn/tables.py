"""What trains look-up tables: its settings, its learner, and what its rule keeps."""

import numbers
from dataclasses import dataclass

import numpy as np

from lib2048.learn.games import Crew
from lib2048.learn.loop import play_kernel
from lib2048.learn.own import learned_by
from lib2048.learn.rules import RULES, TC, Rule, find, multiply_meetings, new_memory
from lib2048.learn.settings import Settings, check_decay, check_range, option
from lib2048.learn.starts import check_starts
from lib2048.machine.arrays import Part, check_seal
from lib2048.machine.memory import check_memory
from lib2048.machine.threads import StillBusy
from lib2048.networks import storage
from lib2048.networks.names import with_game
from lib2048.networks.network import FORMS, NEXT, Geometry, Network
from lib2048.networks.stages import MOST_MARKS, TOP

ORDERS = ("forward", "backward")
ERRORS = ("fresh", "remembered")
TRACES = ("accumulating", "dutch")
NETWORK_OPTIONS = ("network", "form", "optimistic", "stages", "top", "promotion", "next")
SPARE_MIB = 512  # of memory, left free when a stage is begun
PROCESS_MIB = 512  # of a process beside its tables: Python, compiled code, a checkpoint on its way
FIRST_CHUNK = 20_000  # actions of a thread, before their speed is known
HELD = 100  # weights are held for a hundredth of the actions that they have learned from


@dataclass(frozen=True, init=False)
class TableSettings(Settings, kind="n-tuple"):
    """The settings of look-up tables; see `Settings` for those of all kinds.

    Args:
        network, form, optimistic, stages, top, promotion, next: what is trained, see `Network`.
        rule: 'td', 'tc' or 'autostep' (see `rules`), a `Rule` of your own, or 'FILE.py:NAME' for
            one in a file. Its rate, in (0, 1], has the rule's own name, too: alpha (0.1 when left
            out) and beta (1) are shared by a board's look-ups, mu (0.1) is a meta-rate.
        lam: λ in [0, 1), for rules that say so (td and tc); backward also 1, which is Monte Carlo.
        delay: each afterstate learns once, h actions later, or online at every error.
        traces: 'accumulating' adds up what boards that share a weight make of an error, 'dutch'
            is true online TD(λ), which does not; for td with delay=False.
        order: 'forward' learns during the episode, 'backward' from its end (as the lab program
            does), each afterstate towards its λ-return.
        error: V of an afterstate in its own error is 'fresh', looked up when it learns, or
            'remembered' from when it was chosen, before the afterstate before it has learned.
        epsilon: how often any legal action is taken instead of the best; it is learned from, too.
    """

    rates = tuple(rule.rate for rule in RULES.values())
    most_lanes = 64

    form: str = option("afterstate", "what a value belongs to: " + ", ".join(FORMS))
    optimistic: float = option(
        0.0, "points that every board is worth beside its weights", float, "V"
    )
    stages: int = option(0, f"2^G stages, G 0 to {MOST_MARKS}", int, "G")
    top: int = option(TOP, "largest tile that marks a stage", int, "TILE")
    promotion: bool = option(None, "stages start from nothing", flag="--no-promotion")
    next: str | None = option(
        None, "the next card of Threes!: shown (one set of tables each) or hidden", str
    )
    rule: str | Rule = option("td", f"{', '.join(RULES)}, or FILE.py:NAME")
    lam: float = option(
        0.0, "how far back an error reaches, from 0 up to 1", float, "L", "--lambda"
    )
    delay: bool = option(True, "learn online at every error", flag="--no-delay")
    traces: str = option("accumulating", "of the afterstates: " + ", ".join(TRACES))
    order: str = option("forward", "in which a game is learned from: " + ", ".join(ORDERS))
    error: str = option("fresh", "which value stands in the error: " + ", ".join(ERRORS))
    epsilon: float = option(0.0, "share of random actions", float, "E")

    @classmethod
    def rate_called(cls, said):
        """Return what the rate is called by the rule that is said."""
        return find(said.get("rule") or "td").rate

    @property
    def the_rule(self) -> Rule:
        """The rule itself, also where `rule` is its name."""
        return find(self.rule)

    @property
    def rate_symbol(self) -> str:
        """How the rule's rate is written: α, β, μ, …"""
        return self.the_rule.symbol

    @property
    def learner_name(self) -> str:
        """The name of the rule."""
        return str(self.rule)

    def _own(self, network, said):
        rule = find(said.get("rule") or "td")  # once: one in a file is read here
        known = RULES.get(rule.name)
        if known and known is not rule:
            raise ValueError(f"a rule of your own needs a name of its own: {rule} is taken")
        return super()._own(network, said | {"rule": rule.name if known else rule})

    @classmethod
    def of_game(cls, network, game=None):
        """Return a network's one name, which says its game."""
        return with_game(network, game)

    def _meant(self):
        rate = self.the_rule.default
        shown = NEXT[0] if self.game.rules.SHOWN else None
        return {"rate": rate, "promotion": bool(self.stages), "lanes": 2, "next": shown}

    def _check(self):
        if self.order not in ORDERS:
            raise ValueError(f"unknown order {self.order!r}: use {' or '.join(ORDERS)}")
        if self.error not in ERRORS:
            raise ValueError(f"unknown error {self.error!r}: use {' or '.join(ERRORS)}")
        if self.traces not in TRACES:
            raise ValueError(f"unknown traces {self.traces!r}: use {' or '.join(TRACES)}")
        check_decay(self.lam, 1 if self.order == "backward" else 1 - 2**-53)
        if self.lam > 0 and not self.the_rule.decays:
            raise ValueError(f"lambda {self.lam}: the rule {self.rule} is defined for 0 only")
        if self.traces == "dutch":
            self._check_dutch()
        check_starts(self.starts, self.geometry().stages.phases, self.game)
        check_range(self, "epsilon", 0, 1, numbers.Real, "a share from 0 to 1")

    def _unused(self):
        yield from super()._unused()
        if not self.stages:
            yield "promotion", "without stages"

    def _check_numbers(self):
        super()._check_numbers()
        if self.actions and self.held >= self.actions:
            raise ValueError(
                f"before {self.before}: the weights are held for {self.held:,} actions, and then "
                f"none of the {self.actions:,} is left to learn from"
            )

    def _check_dutch(self):
        """Raise ValueError, in one line, where true online TD(λ) is not defined."""
        needs = {"rule": "td", "delay": False, "order": "forward", "error": "fresh"}
        for name, needed in needs.items():
            if getattr(self, name) != needed:
                said = f"{name}={needed!r}"
                raise ValueError(f"dutch traces are for TD that learns online: they need {said}")

    @property
    def held(self):
        """For how many actions the weights of a file are held before they learn; by TC alone."""
        return (self.before or 0) // HELD if self.rule == TC.name else 0

    def geometry(self):
        """Return all of the network but its weights: `Geometry`."""
        return Geometry(*(getattr(self, name) for name in NETWORK_OPTIONS))

    def new_network(self):
        """Return the network, all weights 0."""
        return Network(*(getattr(self, name) for name in NETWORK_OPTIONS))

    def new_learner(self, network):
        """Return what trains a network."""
        return TableLearner(network, self)

    def needed_bytes(self):
        """Return the most memory that a process needs which trains by these settings, in bytes.

        Tables count with what the rule keeps beside them and with all their stages, as if all
        were reached and no weight were left untouched.
        """
        tables = self.geometry().nbytes * (1 + self.the_rule.memory)
        return tables + (PROCESS_MIB << 20)


class TableLearner(Crew):
    """Trains look-up tables: a crew of games in the one episode loop, and what its rule keeps.

    TC that goes on with weights of a file knows nothing of the errors that they have met: all its
    rates would begin at 1, and the network forget most of what it knows.  So where the settings say
    from how many actions the weights have learned (`before`), they are held for the run's first
    actions, a hundredth of those, while TC's sums take the errors in.  Then the sums become those
    of a hundred times as many errors (see `rules.multiply_meetings`), and learning begins.
    """

    batches, batch_columns = (), ()

    def __init__(self, network, settings):
        rule = learned_by(network, settings.rule)
        if settings.held and rule.keeps != TC.keeps:
            raise ValueError("before: is for TC, which keeps E and A, and nothing of your own")
        self._stage_bytes = network.stage_nbytes * (1 + rule.memory)
        if rule.memory:
            check_memory(f"training {network.name} by {rule}", self._stage_bytes)
        self._memory = new_memory(network.size, rule)
        super().__init__(network, settings, self._memory)
        online = settings.order == "forward" and not settings.delay
        self._learn_together = int(self.members[0].method.slots) if online else 1  # by one error
        self._held = settings.held
        self.tested = network
        self.first_chunk = settings.threads * (FIRST_CHUNK if self.own is None else 1)

    @property
    def memory(self):
        """What the rule keeps beside the weights; see `Run.memory`."""
        wide, network = self.rule.memory, self.network
        columns = (self._memory[column::wide] for column in range(wide))
        return {name: _Tables(network, numbers) for name, numbers in zip(self.rule.keeps, columns)}

    def prepare(self):
        """Compile, or load, what playing needs, and the first checkpoint."""
        self.network.game.bind(play_kernel)()
        for array in storage.network_arrays(Network("cells:0")).values():
            np.asarray(array)

    def play(self, last_action, rows):
        """Play and learn, see `Crew.play`; no further than to where held weights begin to learn."""
        if self.actions >= self._held:
            return super().play(last_action, rows)
        self.set_rate(0)  # until a run sets its own, as it does for each chunk
        found = super().play(min(last_action, self._held), rows)
        if self.actions >= self._held:
            meetings = self._held * self.network.lookups_per_board * self._learn_together
            multiply_meetings(self.network.weights, self._memory, meetings, HELD)
        return found

    def blame(self, error):
        """Return what is wrong with the reader's own functions; see `Learner.blame`."""
        if self.own is None:
            return None
        if isinstance(error, StillBusy):
            return f"your own function {error}", False
        return self.own.blame(error, self.boards, self.network, self.learned)

    def check_room(self):
        """Raise MemoryError when there is no room for a stage that may be reached."""
        phases = self.network.stages.phases
        if phases > 1 and np.count_nonzero(self.visits) < phases:
            need = self._stage_bytes + (SPARE_MIB << 20)
            check_memory("the next stage", need, "take a smaller network, or fewer stages")

    def arrays(self):
        """Return all that a resume needs, as a dict of arrays; its tables are `Member`s."""
        arrays = storage.network_arrays(self.network, self._memory, finite=True)
        for games, start in self._named():
            arrays |= {start + name: array for name, array in games.state().items()}
        return arrays

    def check(self, arrays, path):
        """Raise ValueError, in one line, where arrays are not what `arrays` returns."""
        storage.check_fits(self.network, arrays, path)
        storage.check_memory_arrays(self.network, self.rule.memory, arrays, path)
        for games, start in self._named():
            games.check(Part(arrays, start), path)

    def restore(self, arrays, path):
        """Take up what `arrays` returned, once all of it is checked; path: named in errors."""
        self.check(arrays, path)
        check_seal(arrays)
        storage.take_up(self.network, arrays)
        storage.take_up_memory(self.network, self._memory, arrays)
        for games, start in self._named():
            games.restore(Part(arrays, start))

    def _named(self):
        """Yield the games of each thread with how the names of their arrays begin."""
        for k, games in enumerate(self.members):
            yield games, f"{k}_" if len(self.members) > 1 else ""

    def export(self, folder):
        """Write nothing: the run's own file of weights is what others read."""


# ---------------------------------------------------------------- what a rule keeps


class _Tables:
    """One of the numbers that a rule keeps beside each weight, in the network's own geometry."""

    def __init__(self, network, numbers):
        self._network, self._numbers = network, numbers

    def __getitem__(self, number):
        """Return a copy of those of one tuple: float32[16^n], as `Network.table` has its weights.

        number: of the tuple, or (number of the tuple, stage or action).
        """
        where = number if isinstance(number, tuple) else (number,)
        return self._numbers[self._network.positions(*where)]

    def at(self, places):
        """Return a copy of those of the weights at these places, as `Network.places` has them."""
        return self._numbers[places].copy()

    def __len__(self):
        return len(self._network.tuples)

    @property
    def flat(self):
        """A copy of all of them, in the order of `Network.weights`: float32[size]."""
        return self._numbers.copy()
