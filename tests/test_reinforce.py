"""What a policy network learns: the gradient, the advantages, and a learner that a run can hold."""

import numpy as np
import pytest
import torch
from torch.distributions import Categorical

from lib2048 import Run, Settings, SmallGame, load
from lib2048.deep.critic import advantages, standardised, to_go
from lib2048.deep.moves import legal_actions, record_games
from lib2048.deep.policy import new_policy_network
from lib2048.deep.reinforce import PolicyLearner, epsilon_greedy, surrogate
from lib2048.game.board import initial, slide, spawn, tile_sum
from lib2048.game.game import new_game
from lib2048.game.rng import stream
from lib2048.learn.lockstep import FOREVER

torch.set_num_threads(1)
TWO = new_game(2, 2)


@pytest.fixture(scope="module")
def boards():
    """Return the states of some random games: uint64[n]."""
    return record_games("random", 3, seed=5).boards


def policy(**options):
    """Return settings by which a policy network learns."""
    return Settings(network="policy", **options)


def asked(**options):
    """Return the same as somebody asks for them on the command line."""
    return Settings.asked(network="policy", games=10, **options)


# ---------------------------------------------------------------- gradients


def logits_gradient(logits, legal, actions, advantages, entropy=0.0):
    logits = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    policy = Categorical(
        logits=logits.masked_fill(~torch.from_numpy(legal), -torch.inf), validate_args=False
    )
    surrogate(policy, actions, advantages, entropy).backward()
    return -logits.grad.numpy(), policy.probs.detach().numpy()  # ascent


def some_moves(boards, count=30):
    rng = np.random.default_rng(2)
    legal = legal_actions(boards[:count])
    actions = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
    return rng.normal(size=(count, 4)), legal, actions, rng.normal(size=count)


def test_the_gradient_at_the_logits_is_R_times_A_minus_P_and_not_A_minus_log_P(boards):
    logits, legal, actions, returns = some_moves(boards)
    found, p = logits_gradient(logits, legal, actions, returns)
    taken = np.eye(4)[actions]
    np.testing.assert_allclose(found, returns[:, None] * (taken - p), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    assert (found[~legal] == 0).all()
    rows = legal.all(axis=1)
    printed, size = returns[rows, None] * (taken[rows] - np.log(p[rows])), np.abs(returns[rows])
    assert (np.abs(printed - found[rows]).max(axis=1) > size).all()
    assert (np.abs(printed.sum(axis=1)) > size).all()  # it would push all logits the same way


def test_masked_reinforce_has_the_gradient_of_finite_differences(boards):
    network = new_policy_network(1, hidden=(6, 5))
    network.module.double()
    network.module.register_forward_pre_hook(lambda _, planes: planes[0].double())
    _, _, actions, returns = some_moves(boards)
    loss = lambda: surrogate(network.distribution(boards[:30]), actions, returns, 0.3)  # noqa: E731
    loss().backward()
    rng, step = np.random.default_rng(1), 1e-6
    for weights in network.module.parameters():
        flat, grad = weights.data.view(-1), weights.grad.view(-1)
        touched = np.flatnonzero(grad.numpy())
        for k in rng.choice(touched, 8):
            values = []
            for sign in (1, -1):
                flat[k] += sign * step
                values.append(loss().item())
                flat[k] -= sign * step
            assert (values[0] - values[1]) / (2 * step) == pytest.approx(float(grad[k]), abs=1e-6)


def test_the_entropy_bonus_pulls_towards_even_probabilities(boards):
    logits, legal, actions, _ = some_moves(boards)
    found, p = logits_gradient(logits, legal, actions, np.zeros(len(actions)), entropy=1.0)
    several = legal.sum(axis=1) > 1
    likeliest, least = p.argmax(axis=1), np.where(legal, p, 2).argmin(axis=1)
    rows = np.flatnonzero(several)
    assert (found[rows, likeliest[rows]] < 0).all() and (found[rows, least[rows]] > 0).all()


def test_epsilon_greedy_takes_the_best_or_any_and_learns_by_R_times_A_minus_P(boards):
    p = new_policy_network(1).probabilities(boards)
    legal, best = legal_actions(boards), p.argmax(axis=1)
    how = epsilon_greedy(p, legal, 0.2)
    rows = np.arange(len(boards))
    np.testing.assert_allclose(how[rows, best], 0.8 + 0.2 / legal.sum(axis=1))
    np.testing.assert_allclose(how.sum(axis=1), 1)
    assert (how[~legal] == 0).all()

    network = new_policy_network(1)
    settings = policy(epsilon=0.2, batch="games4")
    states, actions, advantages = first_step(PolicyLearner(network, settings), 4)
    network = new_policy_network(1)
    greedy = network.probabilities(states).argmax(axis=1)
    others = float((legal_actions(states).sum(axis=1) > 1).mean())
    assert 0.04 < (greedy != actions).mean() < 0.2 * others
    learner = PolicyLearner(network, settings)
    learner.step(states, actions, advantages)
    p = new_policy_network(1).probabilities(states)
    by_hand = (advantages[:, None] * (np.eye(4)[actions] - p)).astype(np.float32)
    fresh = new_policy_network(1)
    legal = legal_actions(states)
    fresh.module(fresh.encode(states)).backward(torch.from_numpy(-np.where(legal, by_hand, 0)))
    for mine, theirs in zip(fresh.module.parameters(), network.module.parameters()):
        np.testing.assert_allclose(mine.grad, theirs.grad, rtol=1e-3, atol=1e-3)


# ---------------------------------------------------------------- the learner


def learner_of(seed=1, hidden=(16,), board=TWO, **options):
    network = new_policy_network(seed, hidden, board)
    return PolicyLearner(network, policy(seed=seed, **options))


def weights_of(learner):
    return torch.cat([w.detach().reshape(-1) for w in learner.network.module.parameters()]).numpy()


def first_step(learner, games):
    """Let a learner play games; return (boards, actions, advantages) of its first step."""
    seen, step = [], learner.step
    learner.step = lambda *moves: seen.append(moves) or step(*moves)
    learner.play(FOREVER, games)
    return seen[0]


def test_a_batch_learns_from_standardised_tile_sums():
    learner, twin = (learner_of(board=new_game(), batch="games6") for _ in range(2))
    moves = record_games(learner.network.player(explore=True), 6, seed=1)  # the same games
    results = twin.play(FOREVER, 6)
    np.testing.assert_array_equal(results[np.argsort(results[:, 0])], moves.results)
    boards, actions, advantages = first_step(learner, 6)
    assert len(boards) == len(moves.boards)
    last = [record_last(moves, g) for g in range(6)]
    off = (np.array(last) - np.mean(last)) / np.std(last)
    found = dict(zip(boards.tolist(), advantages))
    ends = moves.boards[moves.ends - 1].tolist()
    np.testing.assert_allclose([found[board] for board in ends], off, rtol=1e-6)
    row = learner.batches[0]
    assert row[:2].tolist() == [6, learner.actions] and row[4] == np.mean(last)
    assert row[2] == results[:, 1].mean() and row[3] == results[:, 2].mean()


def record_last(moves, game):
    """Return the sum of the tiles on the last board of a game, found by playing it again."""
    board, random = initial(stream(1, game))
    first = 0 if game == 0 else moves.ends[game - 1]
    for action in moves.actions[first : moves.ends[game]]:
        board, random = spawn(slide(board, int(action))[0], random)
    return tile_sum(board)


def test_games_that_are_all_equal_teach_nothing():
    assert standardised(np.full(5, 12)).tolist() == [0] * 5


def test_points_to_go_are_discounted_and_compared_at_the_same_turn():
    gone = -np.inf
    rewards = np.array([[4, 0, 8], [0, 4, gone], [8, gone, gone]])
    expected = [[6, 2, 8], [4, 4, 0], [8, 0, 0]]
    assert to_go(rewards, 0.5).tolist() == expected
    live = np.isfinite(rewards)
    off = standardised(to_go(rewards, 0.5), live)
    assert off[2].tolist() == [0, 0, 0] and off[1].tolist() == [0, 0, 0]  # equal, or alone
    assert off[0, 1] < off[0, 0] < off[0, 2] and (off[~live] == 0).all()


def test_advantages_with_lambda_1_are_returns_minus_values():
    rng = np.random.default_rng(1)
    live = np.arange(9)[:, None] < np.array([9, 4, 1])
    rewards, values = rng.normal(size=(2, *live.shape)) * live
    full = advantages(rewards, values, live, 0.9, 1.0)
    expected = np.where(live, to_go(np.where(live, rewards, -np.inf), 0.9) - values, 0)
    np.testing.assert_allclose(full, expected, atol=1e-12)
    one = advantages(rewards, values, live, 0.9, 0.0)
    after = np.vstack([values[1:], np.zeros(3)])
    np.testing.assert_allclose(one, np.where(live, rewards + 0.9 * after - values, 0), atol=1e-12)


CRITIC = {"returns": "critic", "optimiser": "adam", "entropy": 0.02, "discount": 0.99, "lam": 0.9}
OPTIONS = [{"batch": "games10"}, CRITIC | {"batch": "games20", "steps": 2}]
OPTIONS = [options | {"learning_rate": 0.003} for options in OPTIONS]


@pytest.mark.parametrize(("options", "share"), [*zip(OPTIONS, (0.3, 0.7))])
def test_learning_on_2x2_closes_a_share_of_the_gap_to_optimal_play(options, share):
    game = SmallGame(2, 2, progress=False)
    random, best = game.follow("random").start, game.optimal().start
    learner = learner_of(hidden=(32,), **options)
    learner.play(FOREVER, 3000)
    scores = learner.network.player().play_games(0, 1000, 77)[:, 1]
    assert scores.mean() > random + share * (best - random)


def test_it_stops_exactly_and_goes_on_with_the_same_games():
    whole, pieces = learner_of(batch="games5"), learner_of(batch="games5")
    expected = whole.play(400, FOREVER)
    found = []
    for end in [0, 1, 2, 3, 17, 17, 101, 250, 399, 400]:
        found.append(pieces.play(end, FOREVER))
        assert pieces.actions == end and pieces.visits.tolist() == [end]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    np.testing.assert_array_equal(weights_of(pieces), weights_of(whole))
    assert len(whole.batches) > 1 and pieces.finite


def test_it_stops_at_a_number_of_games():
    whole, pieces = learner_of(batch="games5"), learner_of(batch="games5")
    expected = whole.play(FOREVER, 20)
    found = [pieces.play(FOREVER, rows) for rows in (1, 3, 1, 7, 8)]
    assert list(map(len, found)) == [1, 3, 1, 7, 8]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    np.testing.assert_array_equal(weights_of(pieces), weights_of(whole))
    assert sorted(expected[:, 0].tolist()) == list(range(20))


MORE = {"half_life": 3.0, "batch": "games7"}


@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[1] | MORE])
@pytest.mark.parametrize("pause", [3, 150, 155, 333])
def test_a_resume_goes_on_bit_for_bit(options, pause):
    whole = learner_of(**options)
    results = [whole.play(pause, FOREVER), whole.play(900, FOREVER)]
    first = learner_of(**options)
    first.play(pause, FOREVER)
    kept = {name: array.copy() for name, array in first.arrays().items()}
    second = PolicyLearner(new_policy_network(99, (16,), TWO), first.settings)
    second.restore(kept, "here")
    assert second.actions == pause
    np.testing.assert_array_equal(second.play(900, FOREVER), results[1])
    np.testing.assert_array_equal(weights_of(second), weights_of(whole))
    np.testing.assert_array_equal(second.batches, whole.batches)
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(second.arrays()[name], array)


def test_the_rate_is_set_and_halved():
    learner = learner_of(batch="games2", half_life=4.0)
    rate = lambda: learner.optimiser.param_groups[0]["lr"]  # noqa: E731
    assert rate() == 0.01
    learner.play(FOREVER, 8)
    assert rate() == pytest.approx(0.005)
    learner.set_rate(0.1)
    assert rate() == pytest.approx(0.05)
    learner.play(FOREVER, 8)
    assert rate() == pytest.approx(0.025)


def test_weights_that_are_no_numbers_are_seen():
    learner = learner_of()
    assert learner.finite
    next(learner.network.module.parameters()).data[0, 0] = torch.nan
    assert not learner.finite


# ---------------------------------------------------------------- what is refused

REFUSED = [
    (lambda: policy(batch="games1"), "unknown batch 'games1'"),
    (lambda: policy(learning_rate=0), "learning_rate 0: use a rate above 0 and up to 1"),
    (lambda: policy(epsilon=1.5), "epsilon 1.5: use a share from 0 to 1"),
    (lambda: policy(entropy=-1), "entropy -1: use 0 or more"),
    (lambda: policy(entropy=float("nan")), "entropy nan: use 0 or more"),
    (lambda: policy(half_life=0), "half_life 0: use batches, above 0"),
    (lambda: policy(steps=0.5), "steps 0.5: use 1 or more"),
    (lambda: policy(starts="restart"), "starts restart: a policy network learns from whole games"),
    (lambda: policy(returns="all"), "unknown returns 'all': use sum, to-go, critic"),
    (lambda: policy(optimiser="sgd"), "unknown optimiser 'sgd': use rmsprop, adam"),
    (lambda: learner_of(batch="games3").restore(learner_of(batch="games4").arrays(), "run"),
     "run: holds a batch of 4 games, not of 3"),
    (lambda: learner_of(hidden=(4,)).restore(learner_of(hidden=(5,)).arrays(), "run"),
     "run: its weights do not fit network policy"),
    (lambda: asked(discount=0.9), "discount has no effect on the sum of tiles: leave it out"),
    (lambda: asked(lam=0.5), "lambda has no effect without returns=critic: leave it out"),
    (lambda: asked(returns="to-go", lam=0.5), "lambda has no effect without returns=critic"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_makes_no_sense_is_refused_in_one_line(call, said, refused):
    refused(call, said)


# ---------------------------------------------------------------- the same Run


def test_a_run_stops_goes_on_and_leaves_a_network_that_plays_the_same(tmp_path):
    whole, first = Run(policy(games=40)), Run(policy(games=40), tmp_path)
    whole.go(progress=False)
    first.go(actions=1234, progress=False)
    again = Run(policy(games=40), tmp_path, resume=True)
    again.go(progress=False)
    assert (again.history.scores == whole.history.scores).all() and again.history.count == 40
    found = load(tmp_path / "weights.safetensors")
    boards = record_games("random", 1, seed=6).boards
    np.testing.assert_array_equal(found.probabilities(boards), whole.network.probabilities(boards))


def test_a_policy_does_not_look_ahead():
    with pytest.raises(ValueError, match="no values to search over"):
        new_policy_network(1).player(depth=2)
