"""Neural networks, as far as the rooms below `deep` know them: by their names.

`room` is the one way up from below: by name, when a neural network is first asked for.
"""

import importlib
import importlib.util

VALUE_NETWORKS = ("cnn22", "cnn22s", "cnn22ss", "cnn22sss", "cnn22acg", "cnn12", "mlp")
OWN = "own:"  # begins the name of a reader's own module
SUFFIX = ".safetensors"
SYMMETRIES = ("simple", "ave", "max", "min")


def is_neural(name):
    """Say whether a network's name is that of a neural network."""
    return name.lower() in VALUE_NETWORKS or name.startswith(OWN)


def room(module):
    """Return a module of `lib2048.deep`.  Raises ValueError, in one line, without torch."""
    for package in ("torch", "safetensors"):
        if importlib.util.find_spec(package) is None:
            raise ValueError(f"neural networks need {package}, which is not installed: "
                             'pip install -e ".[deep]"')  # fmt: skip
    return importlib.import_module(f"lib2048.deep.{module}")


class Outline:
    """All of a neural network but its weights: what `Geometry` is for look-up tables.

    name: 'cnn22' or another of VALUE_NETWORKS, or 'own:' and the name of a reader's own module;
    symmetry: how a board's eight images are used, see `ValueNetwork`.
    """

    def __init__(self, name, symmetry="simple"):
        self.name, self.symmetry = name, symmetry

    def arguments(self):
        """Return what it was made from, by name."""
        return {"name": self.name, "symmetry": self.symmetry}
