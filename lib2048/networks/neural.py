"""Neural networks, as far as the rooms below `deep` know them: by their names.

`room` is the one way up from below: by name, when a neural network is first asked for.
"""

import importlib
from typing import NamedTuple

from lib2048.machine.extras import told
from lib2048.machine.terminal import in_short

POLICY = "policy"
VALUE_NETWORKS = ("cnn22", "cnn22s", "cnn22ss", "cnn22sss", "cnn22acg", "cnn12", "mlp")
OWN = "own:"  # begins the name of a reader's own module
SUFFIX = ".safetensors"
EXPORT = "weights" + SUFFIX  # in a run's folder, for those who play by it
SYMMETRIES = ("simple", "ave", "max", "min")
PRECISIONS = ("float32", "bfloat16")
RETURNS = ("sum", "to-go", "critic")
OPTIMISERS = ("rmsprop", "adam")
CHOICES = {
    "symmetry": SYMMETRIES,
    "precision": PRECISIONS,
    "returns": RETURNS,
    "optimiser": OPTIMISERS,
}


def check_name(name):
    """Raise ValueError, in one line, for what is no text, and so no name of a network."""
    if not isinstance(name, str):
        raise ValueError(f"network {in_short(name)}: give its name, such as '4x6'")


def kind_of(name):
    """Return what kind of network a name is of: 'n-tuple', 'value' or 'policy'."""
    check_name(name)
    if name.startswith(OWN):
        return "value"
    name = name.partition("@")[0].lower()
    return POLICY if name == POLICY else "value" if name in VALUE_NETWORKS else "n-tuple"


def check_choices(**chosen):
    """Raise ValueError, in one line, for an option of CHOICES that is unknown; None is allowed."""
    for name, choice in chosen.items():
        if choice not in (None, *CHOICES[name]):
            raise ValueError(f"unknown {name} {choice!r}: use {', '.join(CHOICES[name])}")


def one_name(name):
    """Return the name that a network keeps: ours in small letters, a reader's own as it is."""
    return name if name.startswith(OWN) else name.lower()


def is_neural(name):
    """Say whether a network's name is that of a neural network."""
    return kind_of(name) != "n-tuple"


def room(module):
    """Return a module of `lib2048.deep`, or with "" all of it.

    Raises `extras.Missing`, in one line, without torch.
    """
    with told("a neural network"):
        return importlib.import_module(f"lib2048.deep.{module}".rstrip("."))


class Outline(NamedTuple):
    """All of a neural network but its weights: what `Geometry` is for look-up tables.

    name: 'policy', 'cnn22' or another of VALUE_NETWORKS, or 'own:' and the name of a reader's own
    module; symmetry: how a value network uses a board's eight images, see `ValueNetwork`.
    """

    name: str
    symmetry: str | None = None

    def arguments(self):
        """Return what it was made from, by name."""
        return {name: value for name, value in self._asdict().items() if value is not None}
