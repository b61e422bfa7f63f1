"""The Gymnasium environments: the rules of `spec`, the library's games, the ecosystem's checks."""

import functools
import warnings

import gymnasium
import numpy as np
import pages
import pytest
from gymnasium import wrappers
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from lib2048 import envs
from lib2048.game import board as boards
from lib2048.game import mdp, spec
from lib2048.game.game import parse_game
from lib2048.play.evaluation import evaluate
from lib2048.play.players import greedy_player, player


def make(**how):
    return gymnasium.make(envs.NAME, **how)


def make_vec(count, **how):
    how = {"vectorization_mode": "vector_entry_point"} | how
    return gymnasium.make_vec(envs.NAME, num_envs=count, **how)


def legal(rng, masks):
    """Choose a legal action by each mask."""
    return np.argmax(masks * rng.random(masks.shape), axis=-1)


def tiles_of(observation):
    return [[1 << int(e) if e else 0 for e in row] for row in observation]


@pytest.mark.parametrize(
    "how", [{}, {"render_mode": "ansi"}, {"render_mode": "rgb_array"}, {"illegal_ends": True}]
)
def test_gymnasium_s_own_checks(how):
    check_env(make(**how).unwrapped)


def test_every_step_keeps_to_the_rules():
    env, rng = make(), np.random.default_rng(5)
    observation, info = env.reset(seed=7)
    refused = 0
    for _ in range(400):
        state, action = tiles_of(observation), int(rng.integers(4))
        before, score = env.unwrapped.board, info["score"]
        observation, reward, over, cut, info = env.step(action)
        after, paid = spec.slide(state, action)
        if after == state:
            refused += 1
            assert (env.unwrapped.board, reward) == (before, 0)
        else:
            frozen = mdp.frozen(tiles_of(observation))
            assert frozen in [board for _, board in mdp.next_states(mdp.frozen(after))]
            assert reward == paid
        assert info["score"] == score + reward and not cut
        legal_now = [a in mdp.choices(mdp.frozen(tiles_of(observation))) for a in range(4)]
        assert info["action_mask"].tolist() == legal_now == env.unwrapped.action_masks().tolist()
        assert over == (not any(legal_now))
        assert (observation == boards.to_exponents(info["board"]).reshape(4, 4)).all()
        if over:
            observation, info = env.reset()
    assert refused > 10


def play(env, player, seed):
    """Play a game with a library's player; return its score."""
    _, info = env.reset(seed=seed)
    over = False
    while not over:
        _, _, over, _, info = env.step(player.choose(info["board"]))
    return info["score"]


def test_its_games_are_those_of_the_library():
    wanted = evaluate(greedy_player(), 3, 11).scores
    env = make()
    found, seed = [], 11
    for _ in range(3):
        found.append(play(env, greedy_player(), seed))
        seed = None  # the next game of the same seed
    assert found == wanted.tolist()


@pytest.mark.parametrize("game", ["2048@3x4", "2048:four=0.5@1x3", "2048@2x1"])
def test_another_board_and_other_odds(game):
    check_env(make(game=game, render_mode="rgb_array").unwrapped)
    env, many, who = make(game=game), make_vec(3, game=game), player("greedy", game)
    rows, columns = parse_game(game).rows, parse_game(game).columns
    assert play(env, who, 11) == evaluate(who, 1, 11).mean
    assert env.observation_space.shape == (rows, columns)
    observations, info = many.reset(seed=11)
    ended, scores = 0, {}
    for _ in range(600):
        actions = [who.choose(board) or 0 for board in info["board"]]
        observations, _, over, _, info = many.step(np.array(actions))
        assert many.observation_space.contains(observations)
        for score in info["final_info"]["score"][over] if over.any() else ():
            scores[ended], ended = score, ended + 1
    wanted = evaluate(who, ended, 11).scores.tolist()
    assert abs(np.mean(list(scores.values())) - np.mean(wanted)) <= np.ptp(wanted)


@pytest.mark.parametrize("game", ["threes", "threes@2x3"])
def test_threes_shows_its_next_card(game):
    """Gymnasium checks it; its games are the library's, alone or many at once, ends included."""
    check_env(gymnasium.make(envs.THREES, game=game, render_mode="rgb_array").unwrapped)
    env, who = gymnasium.make(envs.THREES, game=game), player("greedy", game)
    assert play(env, who, 11) == evaluate(who, 1, 11).mean
    points = env.unwrapped.game.rules.points
    many = gymnasium.make_vec(envs.THREES, 3, "vector_entry_point", game=game)
    alone = [gymnasium.make(envs.THREES, game=game).unwrapped for _ in range(3)]
    observations, info = many.reset(seed=9)
    told = [each.reset(seed=9) for each in alone]
    for number in range(3):
        for _ in range(number):
            told[number] = alone[number].reset()
    rng, ended = np.random.default_rng(1), np.zeros(3, bool)
    for _ in range(300):
        for n in np.flatnonzero(~ended):
            assert data_equivalence({k: v[n] for k, v in observations.items()}, told[n][0])
            assert info["score"][n] == told[n][1]["score"] == points(info["board"][n])
        actions = legal(rng, info["action_mask"])
        observations, rewards, over, _, info = many.step(actions)
        assert many.observation_space.contains(observations)
        for n in np.flatnonzero(~ended):
            seen, reward, end, _, about = alone[n].step(actions[n])
            told[n] = seen, about
            assert (reward, end) == (rewards[n], over[n])
            if end:
                assert data_equivalence(info["final_obs"][n], told[n][0])
                assert info["final_info"]["score"][n] == about["score"] == points(about["board"])
        ended |= over
    assert ended.all()
    board = boards.from_tiles([[3] * env.unwrapped.game.columns] * env.unwrapped.game.rows, game)
    for each in (env, many):
        seen, info = each.reset(seed=1, options={"board": board})
        assert np.all(info["score"] == points(board)) and seen["next"].max() < 3


def test_a_seed_repeats_its_games_and_another_has_others():
    one, two = make(), make()
    assert data_equivalence(one.reset(seed=3), two.reset(seed=3))
    assert data_equivalence(one.reset(), two.reset())
    assert one.unwrapped.board != make().reset(seed=4)[1]["board"]
    # Two first boards are the same once in 180 times, six of them once in 10^11.
    first = {int(make().reset()[1]["board"]) for _ in range(6)}
    assert len(first) > 1, "no seed: another each time"


def test_it_begins_from_a_board_that_is_asked_for():
    env, board = make(), boards.from_tiles([[2, 2, 0, 0]] + [[0] * 4] * 3)
    observation, info = env.reset(seed=1, options={"board": board})
    assert tiles_of(observation)[0] == [2, 2, 0, 0] and info["score"] == 0
    afterstates, rewards = env.unwrapped.afterstates()
    assert rewards.tolist() == [-np.inf, 4, 0, 4]
    assert tiles_of(boards.to_exponents(afterstates[3]).reshape(4, 4))[0] == [4, 0, 0, 0]


def test_spawns_are_those_of_the_rules():
    after = boards.from_tiles([[2, 4, 8, 16], [4, 8, 16, 2], [8, 16, 2, 4], [16, 2, 0, 0]])
    states, chances = envs.spawns(after)
    told = {mdp.frozen(boards.to_tiles(state)): chance for state, chance in zip(states, chances)}
    assert told == pytest.approx(
        {board: chance for chance, board in mdp.next_states(mdp.frozen(boards.to_tiles(after)))}
    )
    assert [len(part) for part in envs.spawns(0x1111111111111111)] == [0, 0]


def test_what_it_renders():
    env = make(render_mode="ansi")
    _, info = env.reset(seed=2)
    assert env.render() == boards.to_text(info["board"])
    env = make(render_mode="rgb_array")
    env.reset(options={"board": boards.from_tiles([[2048, 0, 0, 2]] + [[0] * 4] * 3)})
    picture = env.render()
    assert picture.shape == (400, 400, 3) and picture.dtype == np.uint8
    assert picture[30, 20].tolist() == [0xED, 0xC2, 0x2E], "a 2048 is gold"
    assert picture[30, 120].tolist() == [0xCD, 0xC1, 0xB4], "an empty cell"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda env: env.step(4), "action 4: say 0"),
        (lambda env: env.reset(options={"bord": 1}), "option 'bord' of reset"),
        (lambda env: env.reset(options={"board": 0}), "no action is legal"),
        (lambda env: envs.TwentyFortyEight("human"), "render_mode 'human'"),
        (lambda env: envs.TwentyFortyEight().step(0), "begin a game first"),
        (lambda env: envs.TwentyFortyEight().action_masks(), "begin a game first"),
        (lambda env: envs.TwentyFortyEightVector(2).action_masks(), "begin the games first"),
        (lambda env: envs.TwentyFortyEightVector(2).afterstates(), "begin the games first"),
        (lambda env: envs.TwentyFortyEight(game="2048@5x5"), "use 1 to 4 rows"),
        (lambda env: make(game="2048@2x2").reset(options={"board": 0x1100}), "tiles outside"),
        (lambda env: envs.TwentyFortyEightVector(0), "num_envs is 0"),
        (lambda env: envs.TwentyFortyEightVector(1.5), "num_envs is 1.5"),
        (lambda env: envs.TwentyFortyEightVector("4"), "num_envs is '4'"),
    ],
)
def test_wrong_use_is_told_in_a_line(wrong, said):
    env = make().unwrapped
    env.reset(seed=1)
    with pytest.raises((ValueError, gymnasium.error.ResetNeeded), match=said):
        wrong(env)


@pytest.mark.parametrize("action", [1, True, np.int64(1), np.uint8(1), np.array(1)])
def test_every_form_of_an_action_is_the_same_action(action):
    """What gymnasium's space takes for one: agents return numpy's numbers."""
    env, other = make(), make()
    env.reset(seed=1)
    other.reset(seed=1)
    assert data_equivalence(env.step(action), other.step(1))


def test_many_games_are_those_of_gymnasium_s_own_vector():
    """The same games by one environment each, as long as none ends: luck is by number."""
    many = make_vec(6)
    observations, info = many.reset(seed=9)
    alone = [make().unwrapped for _ in range(6)]
    for number, env in enumerate(alone):
        env.reset(seed=9)
        for _ in range(number):
            env.reset()
    rng, ended = np.random.default_rng(1), np.zeros(6, bool)
    for _ in range(300):
        actions = rng.integers(0, 4, 6)
        observations, rewards, over, cut, info = many.step(actions)
        for number in np.flatnonzero(~ended):
            wanted = alone[number].step(int(actions[number]))
            seen = info["final_obs"] if over[number] else observations
            told = info["final_info"] if over[number] else info
            assert (seen[number] == wanted[0]).all()
            assert (rewards[number], over[number], cut[number]) == wanted[1:4]
            assert told["score"][number] == wanted[4]["score"]
            assert told["board"][number] == wanted[4]["board"]
            if not over[number]:
                assert (info["action_mask"][number] == wanted[4]["action_mask"]).all()
        ended |= over
    assert ended.any(), "a game has ended, and its last observation was compared"


def test_a_game_that_ends_is_followed_in_the_same_step():
    many = RecordEpisodeStatistics(make_vec(64))
    assert many.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    _, info = many.reset(seed=2)
    rng, games, scores = np.random.default_rng(3), 0, []
    for _ in range(300):
        observations, _, over, _, info = many.step(legal(rng, info["action_mask"]))
        games += over.sum()
        for n in np.flatnonzero(over):
            final = mdp.frozen(tiles_of(info["final_obs"][n]))
            assert mdp.choices(final) == {}
            assert info["episode"]["r"][n] == info["final_info"]["score"][n]
            assert info["score"][n] == 0 and (observations[n] > 0).sum() == 2
            scores.append(info["final_info"]["score"][n])
    assert games > 64 and 900 < np.mean(scores) < 1300, "random play makes about 1 090"
    assert many.env.games.begun == 64 + games


@pytest.mark.parametrize("agent", ["random", "stubborn"])
def test_an_illegal_action_ends_the_game_if_it_shall(agent):
    """An agent that looks at no mask; the stubborn one has one answer to each board, as DQN has."""
    env, many = make(illegal_ends=True).unwrapped, make_vec(1, illegal_ends=True)
    rng, games = np.random.default_rng(4), 0
    _, told = env.reset(seed=6)
    seen, _ = many.reset(seed=6)
    for _ in range(2000):
        action = int(rng.integers(4) if agent == "random" else seen.sum() % 4)
        legal = env.action_masks()[action]
        last, reward, over, cut, told = env.step(action)
        seen, rewards, ends, cuts, info = many.step(np.array([action]))
        assert over == (not legal or not env.action_masks().any()) and not cut
        assert (rewards[0], ends[0], cuts[0]) == (reward, over, cut)
        assert legal or reward == 0
        if over:
            games += 1
            assert (info["final_obs"][0] == last).all()
            assert info["final_info"]["score"][0] == told["score"]
            assert info["final_info"]["board"][0] == told["board"]
            _, told = env.reset()
        assert (info["board"][0], info["score"][0]) == (told["board"], told["score"])
        assert (info["action_mask"][0] == told["action_mask"]).all()
    assert games > 50 and many.games.begun == games + 1


def test_a_stubborn_agent_without_the_option_never_ends():
    """Why there is the option: the board stays, so the answer does."""
    env = make()
    env.reset(seed=1)
    steps = [env.step(0) for _ in range(500)]
    assert not any(over or cut for _, _, over, cut, _ in steps)
    env = make(illegal_ends=True)
    env.reset(seed=1)
    assert any(env.step(0)[2] for _ in range(500))


WRAPPED = {  # the right column of the page's table: what stands around the vector environment
    "TransformAction": {"func": lambda actions: 3 - actions},
    "ClipReward": {"min_reward": 0, "max_reward": 8},
    "TransformReward": {"func": np.log1p},
    "VectorizeTransformReward": {"wrapper": wrappers.TransformReward, "func": np.log1p},
    "DictInfoToList": {},
    "NormalizeReward": {},
    "RecordEpisodeStatistics": {},
}
REFUSED = {
    "NormalizeObservation": {},
    "FlattenObservation": {},
    "ReshapeObservation": {"shape": (16,)},
}


@pytest.mark.parametrize("name", WRAPPED)
def test_wrappers_around_many_games(name):
    many = getattr(wrappers.vector, name)(make_vec(8, illegal_ends=True), **WRAPPED[name])
    many.reset(seed=2)
    rng, length, returns, ended = np.random.default_rng(3), np.zeros(8, int), np.zeros(8), 0
    for _ in range(60):
        _, rewards, over, _, info = many.step(rng.integers(0, 4, 8))
        length, returns = length + 1, returns + rewards
        if name == "RecordEpisodeStatistics" and over.any():
            assert (info["episode"]["l"][over] == length[over]).all()
            assert (info["episode"]["r"][over] == returns[over]).all()
        if name == "DictInfoToList":
            assert all(("final_info" in told) == over[n] for n, told in enumerate(info))
        ended += over.sum()
        length[over] = returns[over] = 0
    assert ended > 20
    if name == "NormalizeReward":
        assert many.return_rms.count == pytest.approx(60 * 8, abs=1), "no step is left out"


@pytest.mark.parametrize("name", REFUSED)
def test_wrappers_that_refuse_take_games_one_by_one(name):
    with pytest.raises(ValueError, match="SAME_STEP"):
        getattr(wrappers.vector, name)(make_vec(2), **REFUSED[name])
    wrap = functools.partial(getattr(wrappers, name), **REFUSED[name])
    many = make_vec(2, vectorization_mode="sync", wrappers=[wrap])
    observations, _ = many.reset(seed=1)
    assert observations.shape == (2, *many.single_observation_space.shape)


def test_what_is_returned_is_not_used_again():
    many = make_vec(3)
    first = many.reset(seed=1)
    copies = first[0].copy(), {name: value.copy() for name, value in first[1].items()}
    many.step(legal(np.random.default_rng(0), first[1]["action_mask"]))
    assert data_equivalence(first, copies)


def test_gymnasium_s_own_vectors_run_it_too():
    many = make_vec(3, vectorization_mode="sync")
    _, info = many.reset(seed=[1, 2, 3])
    for _ in range(200):
        _, _, _, _, info = many.step(legal(np.random.default_rng(0), info["action_mask"]))


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([0, 1], "actions must be 3 integers"),
        ([0.0] * 3, "must be 3 integers"),
        ([0, 1, 4], "an action is 0"),
        ([0, -1, 1], "an action is 0"),
    ],
)
def test_wrong_actions_are_told_in_a_line(actions, said):
    many = make_vec(3)
    many.reset(seed=1)
    with pytest.raises(ValueError, match=said):
        many.step(np.array(actions))
    with pytest.raises(gymnasium.error.ResetNeeded):
        make_vec(3).step(np.zeros(3, int))


def test_the_agent_of_the_page_learns_and_plays():
    pytest.importorskip("sb3_contrib", reason="pip install sb3-contrib")
    (code,) = pages.code_of("docs/environments.md")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        printed = pages.run(code, {"STEPS, GAMES = 300_000, 100": "STEPS, GAMES = 4096, 2"})
    assert printed.endswith(" points\n")


def test_many_games_begin_from_boards_that_are_asked_for():
    env, boards_asked = make_vec(3), np.array([0x11, 0x1234, 0x22], np.uint64)
    for asked in (boards_asked, 0x1122):
        observations, info = env.reset(seed=3, options={"board": asked})
        assert (info["board"] == asked).all() and (info["score"] == 0).all()
        alone = [make() for _ in range(3)]
        for n, one in enumerate(alone):
            board = np.broadcast_to(asked, 3)[n]
            observation, about = one.reset(options={"board": board})
            assert (observations[n] == observation).all()
            assert (info["action_mask"][n] == about["action_mask"]).all()
    assert (env.reset(seed=3)[1]["board"] == make_vec(3).reset(seed=3)[1]["board"]).all()


ODD_OPTIONS = [{"x": 1}, {5: 1}, {"board": "x"}, {"board": -1}, {"board": 2.5}, {"board": None},
               {"board": [1, 2]}, {"board": 2**70}, {"board": 0}]  # fmt: skip


@pytest.mark.parametrize("options", ODD_OPTIONS, ids=str)
def test_other_options_of_reset_are_refused(refused, options):
    for env in (make().unwrapped, make_vec(3)):
        env.reset(seed=1)
        refused(lambda: env.reset(options=options))  # noqa: B023
