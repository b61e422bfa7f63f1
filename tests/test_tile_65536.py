"""Two 32768s merge: games beyond them, beside a plain game whose tiles have no largest."""

import itertools
import json
import random

import numpy as np
import pytest

import lib2048
from lib2048 import (
    Network,
    PlayWidget,
    ReplayWidget,
    SearchPlayer,
    draw,
    evaluate,
    record_game,
    review,
)
from lib2048.envs import TwentyFortyEight, TwentyFortyEightVector
from lib2048.game import board as rules
from lib2048.game.batch import options
from lib2048.game.bits import WHOLE
from lib2048.game.rng import stream
from lib2048.learn.games import FOREVER, Games, choose_actions, method_of
from lib2048.learn.lockstep import Lockstep
from lib2048.learn.settings import Settings
from lib2048.play.evaluation import boards_of, reached, scores_after, shown, statistics_block
from lib2048.play.players import (
    NetworkPlayer,
    ValuePlayer,
    first_legal_player,
    greedy_player,
    heuristic_player,
    play_out,
    random_player,
)
from lib2048.show.terminal_game import TerminalGame
from lib2048.show.widgets.game import Game
from tests import reference

TILE, EXPONENT = 65536, 16
SEEDS = range(40)

# ------------------------------------------------- the plain game: rows of tiles, without a largest


def plain_row(row):
    tiles, new, reward = [tile for tile in row if tile], [], 0
    while tiles:
        tile = tiles.pop(0)
        if tiles[:1] == [tile]:
            tile += tiles.pop(0)
            reward += tile
        new.append(tile)
    return new + [0] * (len(row) - len(new)), reward


def plain_slide(board, action):
    """Slide rows of tiles (Up, Right, Down, Left); return (rows, reward)."""
    lines = [list(line) for line in (board if action % 2 else zip(*board))]
    back = action in (1, 2)
    slid = [plain_row(line[::-1] if back else line) for line in lines]
    lines = [line[::-1] if back else line for line, _ in slid]
    lines = lines if action % 2 else [list(line) for line in zip(*lines)]
    return lines, sum(reward for _, reward in slid)


def plain_legal(board):
    return [action for action in range(4) if plain_slide(board, action)[0] != board]


def plain_game(board, luck, choose):
    """Play on to the end; return [(board, action, reward)], the last with action None."""
    turns, luck = [], int(luck)
    while legal := plain_legal(board):
        action = choose(board, legal)
        after, reward = plain_slide(board, action)
        turns.append((board, action, reward))
        spawned, luck = reference.spawn(after, luck)
        board = [list(row) for row in spawned]
    return [*turns, (board, None, 0)]


def start_of(seed):
    """Return rows on which two 32768s soon meet, or a 65536 is beside a 32768 or soon makes one."""
    luck = random.Random(seed)
    small = luck.choices([0, 0, 0, 2, 4, 8, 16], k=14)
    large = [[32768, 32768], [TILE, 32768], [TILE, 16384]][seed % 4 % 3]
    cells = large + small
    if large == [TILE, 16384]:
        cells[2:4] = [8192, 8192]
    luck.shuffle(cells)
    cells[luck.randrange(16)] += 0
    return [cells[at : at + 4] for at in range(0, 16, 4)]


STARTS = [start_of(seed) for seed in SEEDS]
OVER = [[TILE, 32768, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 8, 2]]
CLOSE = [[32768, 32768, 4, 2], [2, 8, 0, 0], [0] * 4, [0] * 4]  # they meet at once


def largest_of(board):
    return max(map(max, board))


def chooser(kind, seed):
    luck = random.Random(seed)

    def heuristic(board, legal):
        return max(legal, key=lambda a: (plain_slide(board, a)[1], a in (0, 3), a == 3))

    return {"random": lambda board, legal: luck.choice(legal), "heuristic": heuristic}[kind]


# ---------------------------------------------------------------- the rules


@pytest.mark.parametrize("kind", ["random", "heuristic"])
def test_every_turn_is_that_of_a_game_without_a_largest_tile(kind):
    made = 0
    for seed, start in zip(SEEDS, STARTS, strict=True):
        turns = plain_game(start, stream(seed, 0), chooser(kind, seed))
        (board, word), luck = rules.parts(rules.from_tiles(start)), stream(seed, 0)
        for tiles, action, reward in turns:
            whole = rules.whole(board, word)
            assert rules.to_tiles(whole) == tiles
            assert [a for a, _, _ in rules.afterstates(board, word=word)] == plain_legal(tiles)
            assert rules.is_over(whole) == rules.is_over(board, word=word) == (action is None)
            assert (1 << rules.max_exponent(whole)) == largest_of(tiles)
            assert rules.tile_sum(whole) == sum(map(sum, tiles))
            if action is not None:
                after, found = rules.slide(board, action, word=word)
                assert found == reward
                slid = rules.whole(after, rules.word_after(board, word, action))
                assert rules.to_tiles(slid) == plain_slide(tiles, action)[0]
                board, word, _, luck = rules.next_state(board, word, action, luck)
        made += largest_of(start) < TILE <= largest_of(turns[-1][0])
    assert made >= 10  # of 20 that begin without one


@pytest.mark.parametrize("kind", [greedy_player, first_legal_player, random_player])
def test_compiled_games_go_on_as_in_python(kind):
    who, found = kind(), []
    for seed, start in zip(SEEDS, STARTS, strict=True):
        state = rules.parts(rules.from_tiles(start))
        luck, score, length = stream(seed, 1), 0, 0
        (board, word), end = state, play_out(who.policy, 0, WHOLE, *state, stream(seed, 1))
        while True:
            action, after, reward, luck = map(
                int, who.policy(0, WHOLE, board, word, np.uint64(luck))
            )
            if action == 4:
                break
            assert rules.slide(board, action, word=word) == (after, reward)
            board, word, _, luck = rules.next_state(board, word, action, luck)
            score, length = score + reward, length + 1
        assert tuple(map(int, end)) == (
            score, length, rules.max_exponent(rules.whole(board, word)), luck
        )  # fmt: skip
        found.append(int(end[2]))
    assert found.count(EXPONENT) > 20


@pytest.fixture(scope="module")
def network():
    network = Network("cells:0123,4567,0145")
    network.weights[:] = np.random.default_rng(1).normal(0, 50, network.size)
    return network


def followed(start, luck, actions):
    """Play these actions by the plain rules: return (score, last board); all must be legal."""
    score, board, played = 0, start, iter(actions)
    for tiles, _, reward in plain_game(start, luck, lambda board, legal: next(played)):
        score, board = score + reward, tiles
    assert next(played, None) is None
    return score, board


def test_a_network_plays_and_learns_on(network):
    """The one loop, in all forms: its scores and largest tiles are those of its own actions."""
    tops = []
    for form, seed in itertools.product(("afterstate", "state", "q"), range(6)):
        start = CLOSE if seed % 2 else STARTS[seed]
        learner = Network(network.name, form=form)
        board, word = rules.parts(rules.from_tiles(start))
        settings = Settings(network=network.name, form=form, actions=1)
        boards, words = np.zeros((2, 20_000), np.uint64)
        boards[0], words[0] = board, word
        count, actions, _ = choose_actions(
            learner, Games(learner, method_of(learner), 1).functions, method_of(learner),
            boards, words, stream(seed, 0),
        )  # fmt: skip
        score, last = followed(start, stream(seed, 0), actions.tolist())
        assert rules.to_tiles(rules.whole(boards[count], words[count])) == last
        learning = method_of(learner, settings)._replace(rate=np.float32(0))
        for rule in (method_of(learner), learning):
            games = Games(learner, rule, 1, lanes=1)
            games.lanes[0]["number"], games.lanes[0]["start"] = 0, 0
            games.lanes[0]["board"], games.lanes[0]["word"] = board, word
            games.lanes[0]["random"] = stream(seed, 0)
            games.counters[1] = 1
            results, _ = games.play(FOREVER, 10, 1)
            top = largest_of(last).bit_length() - 1
            assert results[0, 1:4].tolist() == [score, len(actions), top]
            tops.append(top)
    assert tops.count(EXPONENT) > len(tops) / 2


def test_a_network_of_states_knows_a_lost_board_beside_a_65536():
    rest = [32768, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 8, 8]
    learner = Network("cells:0123", form="state")
    learner.weights[:] = 9  # a board that is not lost is worth 72
    found, plain = (
        NetworkPlayer(learner).values(*rules.parts(rules.from_tiles([[tile, *rest[0]], *rest[1:]])))
        for tile in (TILE, 16384)
    )
    assert found == plain and found[3] == pytest.approx(16 + 0.1 * 72)  # only a 4 merges again


def test_searches_do_not_merge_beside_a_65536(network):
    beside = rules.parts(
        rules.from_tiles([[TILE, 32768, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 8, 2]])
    )
    for who in (SearchPlayer(network, 1), SearchPlayer(network, 3), NetworkPlayer(network),
                ValuePlayer(network.values), ValuePlayer(network.values, 2)):  # fmt: skip
        assert who.decide(*beside)[0] is None and who.decide(*beside)[1] == {}
        assert who.decide(beside[0])[0] in (1, 3)  # two 32768s
    open_board = rules.parts(rules.from_tiles([[TILE, 32768, 2, 4], [0] * 4, [0] * 4, [0] * 4]))
    flat = heuristic_player(2)
    flat.network.weights[:] = 0
    search = SearchPlayer(flat.network, 2)  # what it counts is what an action, and the next, pays
    assert (
        max(search.values(*open_board).values())
        < TILE
        <= max(search.values(open_board[0]).values())
    )


def test_games_in_step_and_their_boards_are_the_same(network):
    starts = [rules.parts(rules.from_tiles(start)) for start in STARTS]
    games = Lockstep(len(starts), 3, last_game=len(starts))
    boards, words = np.array(starts, np.uint64).T
    games.begin_from(boards, words)
    luck = games.places["random"].copy()
    expected = [
        plain_game(start, int(state), lambda board, legal: legal[0])
        for start, state in zip(STARTS, luck)
    ]
    results = []
    while games.live.any():
        results.append(games.act(np.isfinite(games.rewards).argmax(axis=1)))
    results = np.concatenate(results)
    for game, score, actions, largest, _ in results.tolist():
        turns = expected[game]
        assert score == sum(reward for *_, reward in turns) and actions == len(turns) - 1
        assert 1 << largest == largest_of(turns[-1][0])
    assert (results[:, 3] == EXPONENT).sum() > 20
    after, rewards = options(boards, words=words)
    for start, paid in zip(STARTS, rewards):
        assert np.flatnonzero(np.isfinite(paid)).tolist() == plain_legal(start)


def test_where_no_two_32768s_meet_nothing_is_other_than_it_was():
    """The numbers were made by the library before it knew the tile."""
    result = evaluate("random", games=2000, seed=5)
    assert (result.moves, int(result.scores.sum())) == BEFORE["random"]
    result = evaluate("heuristic", games=20, seed=5)
    assert (result.moves, int(result.scores.sum())) == BEFORE["heuristic"]


BEFORE = {"random": (237_655, 2_203_980), "heuristic": (6154, 75_856)}

# ---------------------------------------------------------------- what is said of it


def test_results_tell_how_many_reached_it():
    largest = np.array([15, 16, 16, 11])
    assert reached(largest)[TILE] == 0.5 and list(reached(largest))[-1] == TILE
    assert "65536\t50.0%\t(50.0%)" in statistics_block(np.array([1, 2, 3, 4]), largest)


@pytest.fixture(scope="module")
def game():
    """A game of the widget's that two 32768s begin and that a player ends: its `Game`."""
    game, luck = Game(7, start=rules.from_tiles(CLOSE)), random.Random(3)
    while legal := rules.afterstates(game.here.board, word=game.here.word):
        game.act(luck.choice(legal)[0])
    return game


def test_a_recorded_game_replays_and_shows_it(game):
    steps = game.steps()
    tiles = [rules.to_tiles(shown(step)[0]) for step in steps]
    assert largest_of(tiles[0]) == 32768 and largest_of(tiles[-1]) == TILE
    assert scores_after(steps)[-1] == game.here.score >= TILE
    again = Game(7).following(json.loads(json.dumps(game.as_dict())))
    assert again.turns == game.turns
    replay = ReplayWidget(steps)
    assert "65536" in replay.static().text
    assert replay.record["words"] == [turn.word for turn in game.turns]
    first = next(n for n, step in enumerate(steps) if step.reward >= TILE)
    assert [word > 0 for word in replay.record["afterwords"]].index(True) == first
    found = review(steps, "heuristic")
    assert found.scores[-1] + steps[-2].reward == game.here.score


def test_a_player_s_game_is_recorded_with_it(monkeypatch, network):
    start = rules.parts(rules.from_tiles(CLOSE))
    began = lambda luck, game=WHOLE: (*start, luck)  # noqa: E731
    for module in ("play.evaluation", "play.players"):
        monkeypatch.setattr(f"lib2048.{module}.begin", began)
    for who in ("greedy", "first-legal", "heuristic", NetworkPlayer(network), OnlyBoards()):
        steps = record_game(who, 4)
        board = boards_of(lib2048.play.players.player(who), 4)[-1]
        assert rules.max_exponent(shown(steps[-1])[0]) == rules.max_exponent(board) == EXPONENT
        score, last = followed(CLOSE, stream(4, 0), [s.action for s in steps[:-1]])
        assert sum(step.reward for step in steps) == score and rules.to_tiles(board) == last


class OnlyBoards:
    """A reader's player, which knows of no words."""

    name = "mine"

    def choose(self, board):
        legal = rules.afterstates(board)
        return legal[0][0] if legal else None

    def play_games(self, first_game, count, seed):
        raise NotImplementedError


# ---------------------------------------------------------------- boards that people give


def test_a_board_with_it_is_an_integer_of_more_bits():
    rows = [[2, TILE, 32768, 4], [0] * 4, [0] * 4, [0, 0, 0, 2]]
    board = rules.from_tiles(rows)
    assert board == 2 << 64 | 0x1000_0000_0000_2FF1 and rules.to_tiles(board) == rows
    assert "65536" in rules.to_text(board) and "65536" in draw.board(board).text
    assert rules.parts(board) == (0x1000_0000_0000_2FF1, 2)
    assert isinstance(rules.from_tiles(CLOSE), np.uint64)


@pytest.mark.parametrize("take", [rules.from_tiles, lambda b: PlayWidget(board=b, player=None)])
def test_two_of_them_are_refused_in_one_line(take):
    with pytest.raises(ValueError, match=r"^a board holds one 65536 at most$"):
        take([[TILE, TILE, 2, 4], [0] * 4, [0] * 4, [0] * 4])
    with pytest.raises(ValueError, match="131072 is not a tile: use 0 for an empty cell, or 2, 4"):
        take([[2 * TILE, 2, 2, 4], [0] * 4, [0] * 4, [0] * 4])


@pytest.mark.parametrize("board", [-1, 17 << 64, 1 << 64, 2 << 64 | 0xF, 1 << 80])
def test_an_integer_that_is_no_board_is_refused(board):
    for take in (rules.to_tiles, rules.parts, draw.board, rules.is_over):
        with pytest.raises(ValueError, match="is no board: 64 bits, and above them where a 65536"):
            take(board)


def test_what_takes_64_bits_alone_says_so(network):
    board = rules.from_tiles([[TILE, 2, 2, 4], [0] * 4, [0] * 4, [0] * 4])
    for take in (network.value, lambda b: options([b]), lambda b: lib2048.TreeWidget(board=b)):
        with pytest.raises(ValueError, match="64 bits, from 0 on; of one with a 65536"):
            take(board)


# ---------------------------------------------------------------- widgets, terminal, environments


def test_an_action_that_changes_nothing_beside_it_is_said_to_be_that():
    rows = [[TILE, 32768, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 0]]
    widget = PlayWidget(player=None, board=rows)
    widget.act("Up")
    assert widget.message == "Up changes nothing: it is not legal, and no tile spawns."


def test_the_board_to_play_knows_it():
    widget = PlayWidget(seed=2, board=CLOSE, player="heuristic")
    widget.act("Left")
    assert widget.score == TILE and rules.to_tiles(widget.board)[0][0] == TILE
    assert "65536" in widget.static().text and widget.hint() in range(4)
    again = PlayWidget(seed=2, board=widget.board, player=None)
    assert again.board == widget.board
    again.act("Down")
    assert TILE in sum(rules.to_tiles(again.board), []) and again.board != widget.board
    again.undo()
    assert again.board == widget.board


def test_the_terminal_shows_it():
    shown_game = TerminalGame(1, None)
    shown_game.game = Game(1, start=rules.from_tiles([[TILE, 2, 2, 4], [0] * 4, [0] * 4, [0] * 4]))
    assert any("65536" in text for line in shown_game.lines() for text, _ in line)
    shown_game.pressed("s")
    assert rules.to_tiles(rules.whole(*shown_game.game.here[:2]))[3][0] == TILE


def test_the_environment_observes_it():
    env = TwentyFortyEight(render_mode="ansi")
    seen, info = env.reset(seed=3, options={"board": rules.from_tiles(CLOSE)})
    assert env.observation_space.high.max() == EXPONENT and seen.max() == 15
    seen, reward, over, _, info = env.step(3)
    assert reward == TILE and seen[0, 0] == EXPONENT and not over and "65536" in env.render()
    assert env.observation_space.contains(seen) and info["score"] == TILE
    again, _ = env.reset(options={"board": info["board"]})
    assert (again == seen).all()
    with pytest.raises(ValueError, match="no action is legal"):
        env.reset(options={"board": rules.from_tiles(OVER)})


def test_environments_side_by_side_observe_it_to_the_end():
    count, one = 6, TwentyFortyEight()
    many = TwentyFortyEightVector(count)
    board = rules.from_tiles(CLOSE)
    seen, info = many.reset(seed=8, options={"board": board})
    alive, tops = np.ones(count, bool), []
    singles = [one_game(board, many.games.places["random"][g]) for g in range(count)]
    for turn in itertools.count():
        actions = info["action_mask"].argmax(axis=1)
        seen, rewards, over, _, info = many.step(actions)
        for g in np.flatnonzero(alive):
            tiles = singles[g][turn + 1][0]
            assert rewards[g] == singles[g][turn][2] and over[g] == (
                singles[g][turn + 1][1] is None
            )
            observed = info["final_obs"][g] if over[g] else seen[g]
            assert [[1 << e if e else 0 for e in row] for row in observed.tolist()] == tiles
            tops += [observed.max()] if over[g] else []
        alive &= ~over
        if not alive.any():
            break
    assert max(tops) == EXPONENT and one.action_space.n == 4


def one_game(board, luck):
    """Return the plain game of the first legal action from a board on."""
    return plain_game(rules.to_tiles(board), int(luck), lambda board, legal: legal[0])
