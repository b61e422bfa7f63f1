"""Value networks: their sizes, what they see, what they learn, and that a run of one can stop."""

import copy
import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch")

from lib2048 import Run, Settings, SmallGame, evaluate, load, player, save  # noqa: E402
from lib2048.cli import main  # noqa: E402
from lib2048.deep import ValueNetwork, make  # noqa: E402
from lib2048.deep.architectures import weight_count  # noqa: E402
from lib2048.deep.batches import Queue, parse  # noqa: E402
from lib2048.deep.learner import ValueLearner  # noqa: E402
from lib2048.deep.replay import Replayed  # noqa: E402
from lib2048.game.batch import exponents, images, one_hot, options  # noqa: E402
from lib2048.game.board import afterstates, symmetries  # noqa: E402
from lib2048.game.game import new_game  # noqa: E402
from lib2048.machine.data import data  # noqa: E402
from lib2048.play.experience import collect  # noqa: E402
from lib2048.search.batched import BatchSearch  # noqa: E402

SMALL = {"network": "cnn22sss", "seed": 3}
BOARDS = collect("random", 20, 5).afterstates


@pytest.fixture(scope="module")
def network():
    return ValueNetwork("cnn22sss", seed=7)


# ---------------------------------------------------------------- architectures


SIZES = pd.read_csv(data("published/matsuzaki2021_table2_networks.csv"))[["network", "weights"]]


@pytest.mark.parametrize(("name", "weights"), SIZES.values.tolist())
def test_a_network_has_as_many_weights_as_table_2_says(name, weights):
    module = make(name)
    assert weight_count(module) == weights
    assert module(torch.zeros(3, 16, 4, 4)).shape == (3,)


def test_the_initial_weights_are_those_of_the_paper():
    weights = torch.cat([x.flatten() for x in make("cnn22ss", 4).parameters() if x.dim() > 1])
    assert weights.abs().max() <= 0.2
    assert 0.085 < weights.std() < 0.09  # 0.88 of the deviation is left after the cut
    assert torch.equal(make("mlp", 1).head[0].weight, make("mlp", 1).head[0].weight)
    assert not torch.equal(make("mlp", 1).head[0].weight, make("mlp", 2).head[0].weight)


def test_patches_are_torchs_convolutions():
    module = make("cnn22sss", 5)
    planes = torch.from_numpy(one_hot(BOARDS[:40])).permute(0, 3, 1, 2).float()
    weights = module.first.linear.weight.reshape(-1, 2, 2, 16).permute(0, 3, 1, 2)
    plain = torch.nn.functional.conv2d(planes, weights, module.first.linear.bias).relu()
    ours = module.first(planes.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    torch.testing.assert_close(ours, plain)


def test_cnn12_sees_a_board_and_its_transposed_image_by_the_same_filters():
    module = make("cnn12", 1)
    board = BOARDS[30]
    tower = [
        module._tower(ValueNetwork(module).encode([b]).permute(0, 2, 3, 1))
        for b in (board, symmetries(board)[4])
    ]
    cells = ValueNetwork(module).encode([board]).permute(0, 2, 3, 1)
    torch.testing.assert_close(module._tower(cells.transpose(1, 2)), tower[1])


# ---------------------------------------------------------------- boards


def test_an_encoded_board_decodes_to_itself():
    boards = np.concatenate([BOARDS, np.array([0, (1 << 64) - 1], np.uint64)])
    planes = one_hot(boards)
    assert planes.shape == (len(boards), 4, 4, 16)
    assert (planes.sum(axis=3) == 1).all()
    assert (planes.argmax(axis=3) == exponents(boards)).all()
    assert planes[0, 1, 2].argmax() == int(boards[0]) >> 4 * 6 & 15


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_boards_are_encoded_on_the_device_as_before_they_are_sent(precision):
    boards = np.concatenate([BOARDS, np.array([0, (1 << 64) - 1], np.uint64)])
    one = ValueNetwork("cnn22sss", precision=precision)
    assert torch.equal(one.encode(one.sent(boards)), one.encode(boards))


def test_options_are_what_the_actions_lead_to():
    after, rewards = options(BOARDS[:300])
    for board, makes, pays in zip(BOARDS[:300], after, rewards):
        legal = {a: (s, r) for a, s, r in afterstates(board)}
        for action in range(4):
            if action in legal:
                assert (makes[action], pays[action]) == legal[action]
            else:
                assert pays[action] == -np.inf


def test_images_of_many_boards():
    assert (images(BOARDS[:9]) == [symmetries(board) for board in BOARDS[:9]]).all()


# ---------------------------------------------------------------- values


def test_symmetric_boards_differ_for_simple_and_agree_for_the_others():
    boards = images(BOARDS[50:60])
    plain = ValueNetwork("cnn22sss", seed=7).values(boards.reshape(-1)).reshape(-1, 8)
    assert (np.ptp(plain, axis=1) > 0.02).all()
    for how, pick in (("ave", np.mean), ("max", np.max), ("min", np.min)):
        found = ValueNetwork("cnn22sss", seed=7, symmetry=how).values(boards.reshape(-1))
        np.testing.assert_allclose(
            found.reshape(-1, 8), np.tile(pick(plain, axis=1)[:, None], 8), rtol=1e-4, atol=1e-3
        )


def test_no_boards_have_no_values(network):
    assert network.values([]).shape == (0,)


def test_bfloat16_changes_values_a_little_and_not_their_last_layer(network):
    low = ValueNetwork("cnn22sss", seed=7, precision="bfloat16")
    plain, rounded = network.values(BOARDS), low.values(BOARDS)
    assert rounded.dtype == np.float32
    spread = plain.std()
    assert 0 < np.abs(plain - rounded).max() < 0.2 * spread
    assert not (rounded == torch.from_numpy(rounded).bfloat16().float().numpy()).all()


def test_a_network_plays_by_reward_and_value(network):
    who = player(network)
    for board in BOARDS[40:60]:
        worth = {a: r + network.value(s) for a, s, r in afterstates(board)}
        action = who.choose(board)
        assert worth[action] == pytest.approx(max(worth.values()), abs=1e-3)


def test_games_in_step_are_the_search_to_one_ply(network):
    fast = evaluate(network, 5, seed=1)
    slow = player(network)
    slow.search = BatchSearch(network.values, 1, symmetric=False, pays=1.0)
    slow._best = slow._searched
    assert (evaluate(slow, 5, seed=1).scores == fast.scores).all()


# ---------------------------------------------------------------- batches


@pytest.mark.parametrize(("name", "size", "together"), [
    ("batch1K", 1024, 1), ("batch64", 64, 1), ("shuffle1K", 1024, 5), ("shuffle32", 32, 5),
    ("position", 1, 1), ("game", 0, 1),
])  # fmt: skip
def test_the_modes_of_experiment_1(name, size, together):
    mode = parse(name)
    assert (mode.size, mode.together) == (size, together)


@pytest.mark.parametrize("name", ["batch", "batch0", "K", "shuffle-3", "all", None])
def test_an_unknown_mode_is_refused(name, refused):
    refused(lambda: parse(name), "unknown batch")


def fed(name, turns=9, places=4):
    """Put positions 0, 1, 2, … of games in step into a queue; return the batches that it gives."""
    queue, found = Queue(parse(name), 1), []
    for turn in range(turns):
        numbers = np.arange(turn * places, (turn + 1) * places, dtype=np.uint64)
        queue.add(numbers, numbers, np.arange(places))
        over = np.array([turn % places]) if turn > 3 else np.array([], int)
        found += [boards.tolist() for boards, _ in queue.ready(over)]
    return found, queue


def test_batches_are_taken_in_order_and_none_is_lost():
    found, queue = fed("batch8")
    assert sum(found, []) == list(range(32))
    assert queue.boards.tolist() == [32, 33, 34, 35]
    assert fed("position")[0] == [[n] for n in range(36)]


def test_shuffled_batches_are_mixed_out_of_five():
    found, _ = fed("shuffle6")
    assert list(map(len, found)) == [6] * 5
    assert sorted(sum(found, [])) == list(range(30))
    assert found[0] != list(range(6))


def test_a_game_is_trained_when_it_is_over():
    found, queue = fed("game")
    assert found[0] == [0, 4, 8, 12, 16]  # place 0, whose game ends in turn 4
    assert found[1] == [1, 5, 9, 13, 17, 21]
    assert sum(map(len, found)) + len(queue.boards) == 36


# ---------------------------------------------------------------- learning


def learner(name="cnn22sss", **options):
    settings = Settings(network=name, seed=3, **options)
    return ValueLearner(settings.new_network(), settings)


def test_a_step_moves_the_value_towards_its_target():
    one = learner()
    board = BOARDS[30:31]
    before = one.network.values(board)[0]
    for goal in (before + 50, before - 50):
        start = abs(one.network.values(board)[0] - goal)
        one.step(board, np.array([goal], np.float32))
        assert abs(one.network.values(board)[0] - goal) < start


def test_what_is_learned_is_the_next_reward_and_value():
    """Every target is r + V(s′) of the next afterstate of the same game, or 0 at its end."""
    one, seen = learner(batch="batch4096", lanes=3), []
    one.queue.add = lambda *what: seen.append([np.array(x) for x in what])
    one.play(1200, 10**6)
    boards, targets, places = map(np.concatenate, zip(*seen))
    ends = np.flatnonzero(targets == 0)
    assert len(ends) > 3
    for place in range(3):
        mine = np.flatnonzero(places == place)
        for now, then in zip(mine[:200], mine[1:201]):
            if now in ends:
                continue
            reward = targets[now] - one.network.value(boards[then])
            assert reward == pytest.approx(round(float(reward) / 4) * 4, abs=0.02)


def test_the_errors_of_all_batches_are_read_when_play_returns():
    one = learner(batch="batch64", lanes=8)
    one.play(1000, 100)
    assert len(one.batches) == 15
    assert all(isinstance(loss, float) for _, loss in one.batches)


def test_augmented_batches_teach_all_images():
    plain, eight = learner(augment=False), learner(augment=True)
    board, image = BOARDS[70:71], images(BOARDS[70:71])[0, 3:4]
    goal = np.array([500.0], np.float32)
    for one in (plain, eight):
        for _ in range(60):
            one.step(board, goal)
    assert abs(eight.network.values(image)[0] - 500) < abs(plain.network.values(image)[0] - 500)


# ---------------------------------------------------------------- what a GPU replays, by a stand-in


@pytest.fixture
def recorded(monkeypatch):
    """Let a stand-in record graphs; return a list with the replays of each."""
    found = []

    class Graph:
        def __init__(self):
            self.number = len(found)
            found.append(0)

        def replay(self):
            found[self.number] += 1

    stream = SimpleNamespace(wait_stream=lambda other: None)
    for name in ("Stream", "current_stream"):
        monkeypatch.setattr(torch.cuda, name, lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, stream: nullcontext())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    return found


def test_a_task_is_recorded_once_it_is_warm_and_then_replayed(recorded):
    done = []
    task = Replayed(lambda x: done.append(x.item()) or x.clone())
    for n in range(7):
        task(torch.tensor(n))
    assert done == [0, 1, 2, 3] and recorded == [4], "three to warm up, and one that is recorded"
    assert task.inputs[0].item() == 6, "a replay reads what was given last"
    task.forget()
    for n in range(5):
        task(torch.tensor(n))
    assert done[4:] == [0, 1, 2, 3] and recorded == [4, 2]


def test_a_network_of_the_library_is_replayed_and_one_of_your_own_is_not(monkeypatch):
    own = ValueNetwork(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(256, 1)), "flat")
    for one, replays in ((ValueNetwork("cnn22sss"), True), (own, False)):
        assert not one.replays
        monkeypatch.setattr(one, "device", torch.device("cuda"))
        assert one.replays == replays


def test_another_rate_is_recorded_anew(recorded):
    one = learner(batch="batch64")
    one._replayed = Replayed(one._trained)
    batch = BOARDS[:64], np.zeros(64, np.float32)
    for rate in (0.001, 0.001, 0.0001):
        one.set_rate(rate)
        for _ in range(5):
            one.step(*batch)
    assert recorded == [7, 2], "the same rate goes on with the same graph"


class Tiny(torch.nn.Module):
    """A network for boards of 2×2."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        layers = [torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)]
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, planes):
        return 20 * self.layers(planes[:, :, :2, :2].flatten(1)).squeeze(1)


@pytest.mark.ci
def test_on_2x2_values_approach_what_its_own_play_is_worth():
    from lib2048.learn.lockstep import Lockstep

    settings = Settings(network="cnn22sss", batch="batch16", learning_rate=0.003, seed=2)
    network = ValueNetwork(Tiny(), "tiny")
    one, game = ValueLearner(network, settings), SmallGame(2, 2, progress=False)
    one.games = Lockstep(16, 2, game=new_game(2, 2))
    before = game.marks(network.values)
    one.play(80_000, 10**6)
    one.set_rate(0.0003)
    one.play(160_000, 10**6)
    after = game.marks(network.values)
    assert after["own error"] < 6 < 12 < before["own error"]  # points; a game makes about 65
    assert before["share"] < 0.5 and after["share"] > 0.95


# ---------------------------------------------------------------- the same Run


def kept(run):
    """Return what a run keeps, but the clock."""
    arrays = {name: array.tobytes() for name, array in run.arrays().items()}
    return {name: array for name, array in arrays.items() if name[:7] not in ("seconds", "history")}


@pytest.mark.parametrize("how", [
    {},
    {"batch": "shuffle64"},
    {"batch": "game"},
    {"batch": "batch64", "starts": "restart"},
    {"symmetry": "ave", "augment": True, "batch": "batch64"},
    {"precision": "bfloat16", "average": 0.9},
], ids=str)  # fmt: skip
def test_a_run_that_stops_and_goes_on_is_one_that_never_stopped(tmp_path, how):
    settings = Settings(**SMALL, **how, lanes=8)
    whole = Run(settings)
    whole.go(actions=2400, progress=False)
    first = Run(settings, tmp_path / "run")
    first.go(actions=701, progress=False)
    first.go(games=3, progress=False)
    again = Run(settings, tmp_path / "run", resume=True)
    again.go(actions=2400 - again.actions, progress=False)
    assert again.actions == whole.actions == 2400
    assert kept(again) == kept(whole)
    assert (again.history.scores == whole.history.scores).all()


def test_a_finished_run_leaves_a_network_that_plays_the_same(tmp_path, capsys):
    settings = Settings(**SMALL, actions=2000, eval_every=1000, eval_games=3)
    run = Run(settings, tmp_path / "run")
    history = run.go(progress=False)
    assert [row["actions"] for row in history.evaluations] == [1000, 2000]
    found = load(tmp_path / "run" / "weights.safetensors")
    assert (found.values(BOARDS) == run.network.values(BOARDS)).all()
    main(["info", str(tmp_path / "run"), "--json"])  # the folder stands for that file
    assert json.loads(capsys.readouterr().out)["network"] == run.network.name
    again = Run(replace(settings, actions=3000), tmp_path / "run", resume=True)
    assert again.go(progress=False).actions == 3000


def test_a_network_of_ones_own_trains_and_is_kept(tmp_path):
    network = ValueNetwork(Tiny(), "Tiny")
    before = network.values(BOARDS)
    assert network.values([]).shape == (0,)
    run = Run(Settings.of(network, batch="batch64"), network=network)
    run.go(actions=500, progress=False)
    assert (network.values(BOARDS) != before).any()
    save(network, tmp_path / "tiny.safetensors", why="a test")
    from lib2048 import deep

    again = deep.load(tmp_path / "tiny.safetensors", module=Tiny())
    assert again.name == "own:Tiny"
    for name in ("Tiny", "own:Tiny"):
        deep.load(tmp_path / "tiny.safetensors", name, module=Tiny())
    begun = Settings.of(network, weights=tmp_path / "tiny.safetensors")
    other = Run(begun, network=ValueNetwork(Tiny(), "Tiny")).network
    assert (other.values(BOARDS) == network.values(BOARDS)).all()
    assert (again.values(BOARDS) == network.values(BOARDS)).all()


def test_half_the_size_and_nearly_the_same_values(tmp_path, network):
    save(network, tmp_path / "whole.safetensors")
    save(network, tmp_path / "half.safetensors", compact=True)
    sizes = [(tmp_path / f"{kind}.safetensors").stat().st_size for kind in ("half", "whole")]
    assert sizes[0] < 0.52 * sizes[1]
    np.testing.assert_allclose(
        load(tmp_path / "half.safetensors").values(BOARDS), network.values(BOARDS), atol=0.05
    )


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(("settings", "words"), [
    ({"stages": 2}, "stages"),
    ({"rule": "tc"}, "rule tc"),
    ({"lam": 0.5}, "lambda"),
    ({"form": "q"}, "form q"),
    ({"starts": "carousel"}, "carousel"),
    ({"order": "backward"}, "order"),
    ({"epsilon": 0.1}, "epsilon"),
    ({"alpha": 0.1}, "alpha"),
    ({"batch": "some"}, "unknown batch"),
    ({"learning_rate": 2.0}, "learning_rate"),
    ({"delay": False}, "delay"),
], ids=lambda x: str(x)[:30])  # fmt: skip
def test_what_a_neural_network_does_not_have_is_refused(settings, words, refused):
    refused(lambda: Settings(**SMALL, **settings), words)


@pytest.mark.parametrize("settings", [
    {"batch": "game"}, {"symmetry": "ave"}, {"learning_rate": 0.01}, {"device": "cpu"},
    {"augment": True}, {"precision": "bfloat16"},
], ids=str)  # fmt: skip
def test_what_tables_do_not_have_is_refused(settings):
    with pytest.raises(ValueError, match="is for value .*networks, and 4x6 is none"):
        Settings(network="4x6", **settings)


def test_a_device_that_is_not_here_is_refused():
    with pytest.raises(ValueError, match="torch has none here"):
        Settings(**SMALL, device="hpu").new_network()


def test_a_batch_larger_than_memory_is_refused():
    with pytest.raises(MemoryError, match="smaller batch"):
        learner(batch="batch900000000")


def test_weights_of_another_architecture_are_refused(tmp_path, network):
    named_otherwise = copy.copy(network)
    named_otherwise.name = "cnn22ss"
    save(network, tmp_path / "w.safetensors")
    save(named_otherwise, tmp_path / "v.safetensors")
    with pytest.raises(ValueError, match="(not a file|architecture)"):
        load(tmp_path / "v.safetensors")
    with pytest.raises(ValueError, match="holds weights of network cnn22sss, not of cnn22"):
        load(tmp_path / "w.safetensors", "cnn22")


@pytest.mark.parametrize("damage", ["cut", "bit", "foreign", "missing"])
def test_a_damaged_file_is_refused_in_one_line(tmp_path, network, damage):
    path = tmp_path / "w.safetensors"
    save(network, path)
    text = bytearray(path.read_bytes())
    text[-9] ^= 4
    content = {"cut": text[:-100], "bit": text, "foreign": b"PK" + bytes(3000)}
    path.unlink() if damage == "missing" else path.write_bytes(content[damage])
    with pytest.raises(ValueError, match=f"{path.name}: (not a file|damaged|no such)") as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_without_torch_the_message_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "lib2048.deep.network", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match=r'needs torch, .*pip install -e "\.\[deep\]"'):
        Settings(**SMALL).new_network()
