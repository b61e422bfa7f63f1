"""Every kind of network where a network is taken: it works, or one line says what is taken."""

import numpy as np
import pytest
from learners import SMALL

from lib2048 import Network, NetworkPlayer, SearchPlayer, Settings, ValuePlayer, evaluate, player
from lib2048 import save as save_any

torch = pytest.importorskip("torch")
from lib2048 import deep  # noqa: E402
from lib2048.deep.network import ValueNetwork  # noqa: E402
from lib2048.deep.policy import PolicyNetwork  # noqa: E402
from lib2048.machine.memory import lacked  # noqa: E402


class Linear(torch.nn.Module):
    """A network of one layer; answer: what becomes of it."""

    def __init__(self, outputs=1, answer=lambda layer, planes: layer(planes)):
        super().__init__()
        self.layer, self.answer = torch.nn.Linear(256, outputs), answer

    def forward(self, planes):
        return self.answer(self.layer, planes.flatten(1))


class Embedding(torch.nn.Module):
    """A network that no gradient leads through to the board; at first it says 0 of each."""

    def __init__(self):
        super().__init__()
        self.cells, self.last = torch.nn.Embedding(16, 2), torch.nn.Linear(32, 1)
        torch.nn.init.zeros_(self.last.weight)

    def forward(self, planes):
        return self.last(self.cells(planes.argmax(1)).flatten(1)).squeeze()


def unused():
    module = Linear()
    module.more = torch.nn.Linear(3, 3)
    return module


GOOD = {"layer": Linear, "embedding": Embedding}
WRONG = {
    "one for all": (lambda: Linear(answer=lambda f, x: f(x).mean()), "boards gave shape"),
    "too many": (lambda: Linear(3), "boards gave shape"),
    "not finite": (lambda: Linear(answer=lambda f, x: f(x) / 0), "finite"),
    "whole numbers": (lambda: Linear(answer=lambda f, x: f(x).long()), "float"),
    "no tensor": (lambda: Linear(answer=lambda f, x: None), "not a tensor"),
    "always the same": (lambda: Linear(answer=lambda f, x: f(x * 0)), "depend on the board"),
    "cut off": (lambda: Linear(answer=lambda f, x: f(x).detach()), "no gradient reaches"),
    "unused": (unused, "no gradient reaches its weights more.weight"),
    "another type": (lambda: Linear().double(), "use float32"),
    "raises": (lambda: Linear(answer=lambda f, x: x.view(-1, 7)), "fails on 1 boards"),
    "no weights": (torch.nn.Flatten, "no weights"),
    "no module": (lambda: np.mean, "torch module"),
    "nowhere": (lambda: Linear().to("meta"), "lie on meta"),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_module_that_fits_is_taken_and_stays_as_it_is(name):
    module = GOOD[name]()
    before = {key: x.clone() for key, x in module.state_dict().items()}
    luck = torch.random.get_rng_state()
    assert np.isfinite(ValueNetwork(module, "mine").value(0x1100))
    assert torch.equal(torch.random.get_rng_state(), luck)
    assert all(torch.equal(x, before[key]) for key, x in module.state_dict().items())
    assert all(x.grad is None for x in module.parameters())


@pytest.mark.parametrize("make, said", WRONG.values(), ids=list(WRONG))
def test_a_module_that_does_not_fit_is_refused_in_one_line(make, said, refused):
    refused(lambda: ValueNetwork(make(), "mine"), said)


def test_a_policy_says_four_numbers_of_each_board(refused):
    for module in (Linear(), Linear(3), Linear(4, lambda f, x: f(x)[0])):
        refused(lambda module=module: PolicyNetwork(module), "4 numbers a board")
    PolicyNetwork(Linear(4))


@pytest.mark.parametrize("name", ["two\nlines", "", "\x07", 5])
def test_a_name_that_cannot_be_shown_is_refused(name, refused):
    refused(lambda: ValueNetwork(Linear(), name), "name")
    refused(lambda: PolicyNetwork(Linear(4), name), "name")


@pytest.mark.parametrize("device", ["meta", "cuda:99", "nonsense", None])
def test_a_device_that_is_not_here_is_refused(device, refused):
    refused(lambda: ValueNetwork("cnn22sss", device=device), "device")


# ---------------------------------------------------------------- wherever one is taken

KINDS = {
    "tables": lambda: Network(SMALL),
    "folded": lambda: Network("cells:0123,012").folded(),
    "q": lambda: Network(SMALL, form="q"),
    "state": lambda: Network(SMALL, form="state"),
    "small": lambda: Network("cells:0145@2x2"),
    "value": lambda: ValueNetwork("cnn22sss"),
    "own": lambda: ValueNetwork(Linear(), "mine"),
    "policy": deep.new_policy_network,
    "module": Linear,
    "text": lambda: "two\nlines",
    "nothing": lambda: None,
}
BOARD = np.uint64(0x11)
TAKES = {
    "NetworkPlayer": lambda x: NetworkPlayer(x).choose(BOARD),
    "SearchPlayer, 1": lambda x: SearchPlayer(x, 1).choose(BOARD),
    "SearchPlayer, 2": lambda x: SearchPlayer(x, 2).choose(BOARD),
    "SearchPlayer, time": lambda x: SearchPlayer(x, seconds=0.001).choose(BOARD),
    "ValuePlayer, 1": lambda x: ValuePlayer(x, 1).choose(BOARD),
    "ValuePlayer, 2": lambda x: ValuePlayer(x, 2).choose(BOARD),
    "player": lambda x: player(x).choose(BOARD),
    "MCTS": lambda x: deep.MCTSPlayer(deep.MCTS(x, 2)).choose(BOARD),
    "settings": lambda x: Settings.of(x, actions=2),
    "warm start": lambda x: deep.warm_start(x, ([BOARD, BOARD], [1, 1]), 0),
    "a name": lambda x: Settings(network=x, actions=2),
}


@pytest.mark.parametrize("take", TAKES.values(), ids=list(TAKES))
@pytest.mark.parametrize("kind", KINDS)
def test_every_player_takes_a_network_or_says_in_one_line_what_it_takes(kind, take):
    try:
        take(KINDS[kind]())
    except ValueError as error:
        assert "\n" not in str(error) and len(str(error)) < 400


def test_what_is_saved_is_a_network(tmp_path, refused):
    refused(lambda: save_any(Linear(), tmp_path / "a.npz"), "Network")
    refused(lambda: deep.save(Network(SMALL), tmp_path / "a.safetensors"), "neural")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["fold v.safetensors f.npz", "convert v.safetensors f.npz"])
def test_commands_for_tables_refuse_a_neural_network(
    command, tmp_path, monkeypatch, one_line_error
):
    monkeypatch.chdir(tmp_path)
    deep.save(ValueNetwork("cnn22sss"), "v.safetensors")
    one_line_error(*command.split())
    assert [path.name for path in tmp_path.iterdir()] == ["v.safetensors"]


def test_a_lack_of_memory_is_told_in_one_line():
    assert "ask for less" in lacked(MemoryError("std::bad_alloc"))
    assert "ask for less" in lacked(MemoryError())
    assert "ask for less" in lacked(RuntimeError("[enforce] can't allocate memory: 9\nmore"))
    assert lacked(MemoryError("take fewer")) == "take fewer"
    assert lacked(RuntimeError("anything else")) is None


def test_test_games_of_a_bare_module_are_refused(refused):
    refused(lambda: evaluate(Linear(), 1), "unknown player")
