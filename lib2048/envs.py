"""2048 and Threes! as Gymnasium environments: for algorithms that other libraries have.

Make one, or thousands::

    import gymnasium
    import lib2048.envs

    env = gymnasium.make("lib2048/TwentyFortyEight-v0")
    many = gymnasium.make_vec("lib2048/TwentyFortyEight-v0", num_envs=4096,
                              vectorization_mode="vector_entry_point")

An observation is uint8[4, 4], the exponents of the tiles: 0 empty, 1 a 2, … 16 a 65536.  With
`game="2048@3x4"`, another board, it has that many rows and columns; `game="2048:four=0.2"` changes
the odds.  Actions are Up, Right, Down, Left = 0..3.  The reward is what merges pay.  An illegal
action changes nothing, pays 0 and ends nothing; `info["action_mask"]`, int8[4], and
`action_masks()` say which are legal.  A game ends (`terminated`) when no action is legal, and is
never truncated.

`lib2048/Threes-v0` is Threes!, any other `game=` whatever rules it names.  Where a game shows more
than its board, an observation is a dict: `board`, as above, and `next`, a number that says what is
shown (in Threes! 0, 1, 2 for a 1, a 2, a 3, and 3 for a bonus card).  `info["score"]` is the game's
own: in Threes! what the tiles are worth, those that were dealt included, which pay no reward.

An agent that looks at no mask may choose the same illegal action for ever: for
such a one, `illegal_ends=True` lets that end the game as well.

`reset(seed=s)` begins game 0 with the luck of s, and every `reset()` after it the next game: the
same games as those of `lib2048 play --seed s`.
"""

import numbers

import numpy as np

from lib2048.game import board as boards
from lib2048.game.batch import ILLEGAL, check_cells, exponents, options
from lib2048.game.bits import WHOLE
from lib2048.game.game import parse_game
from lib2048.game.rng import stream
from lib2048.game.tile_65536 import EXPONENT, TILE
from lib2048.game.turn import next_state
from lib2048.learn.lockstep import Lockstep
from lib2048.learn.records import NEXT_GAME
from lib2048.machine.extras import told

with told("lib2048.envs"):
    import gymnasium
    from gymnasium.spaces import Box, Dict, Discrete
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space

NAME, THREES = "lib2048/TwentyFortyEight-v0", "lib2048/Threes-v0"
ACTIONS = Discrete(4)


class TwentyFortyEight(gymnasium.Env):
    """One game at a time.

    `info` holds action_mask, score (points since the start) and board (uint64, as all of lib2048
    takes it; with a 65536 on it the integer that `board.whole` returns). `reset(options={"board":
    …})` begins from that board instead.

    Args:
        render_mode: None, "ansi" (text) or "rgb_array" (uint8[400, 400, 3]).
        illegal_ends: an illegal action ends the game.
        game: what is played, a `Game` or its name.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 10}
    action_space = ACTIONS

    def __init__(self, render_mode=None, illegal_ends=False, game=WHOLE):
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f'render_mode {render_mode!r}: say None, "ansi" or "rgb_array"')
        self.render_mode, self.board, self._seed = render_mode, None, None
        self.illegal_ends, self.game = illegal_ends, parse_game(game)
        self.observation_space = _observations(self.game)
        self._answer = self.game.bind(next_state)  # each action's legality is known here

    def reset(self, *, seed=None, options=None):
        """Begin a game; return (observation, info)."""
        asked = _asked_for(options, self.game)
        super().reset(seed=seed)
        self._game = 0 if _is_new(self, seed) else self._game + 1
        luck = stream(self._seed, self._game)
        self.board, self._word, self._random = boards.begin(luck, self.game)
        if asked is not None:
            self.board, self._word = asked[0][()], self._word if asked[1] is None else asked[1]
        self.score = int(self.game.rules.points(self.board))
        self._look()
        return self._observation(), self._info()

    def step(self, action):
        """Take an action; return (observation, reward, terminated, False, info)."""
        self._begun()
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r}: say 0 (Up), 1 (Right), 2 (Down) or 3 (Left)")
        action = int(action)  # True is an action, and no index
        reward = self._rewards[action]
        legal = reward != ILLEGAL
        if legal:
            state = self.board, self._word, np.uint64(action), self._afterstates[action]
            found = self._answer(*state, self._random, self.game)
            self.board, self._word, dealt, self._random = map(np.uint64, found)
            self.score += int(reward) + int(dealt)
            self._look()
        over = (self.illegal_ends and not legal) or not self.action_masks().any()
        return self._observation(), max(float(reward), 0.0), over, False, self._info()

    def action_masks(self):
        """Say which actions are legal: bool[4] (the name that sb3-contrib asks for)."""
        self._begun()
        return self._rewards != ILLEGAL

    def afterstates(self):
        """Return what the four actions make: (uint64[4], rewards float32[4], −∞ if illegal)."""
        self._begun()
        return self._afterstates.copy(), self._rewards.copy()

    def render(self):
        """Return the board as text or as pixels, None without a render_mode."""
        self._begun()
        if self.render_mode == "ansi":
            shown = self.game.shown(self._word)
            return boards.to_text(self._whole, self.game) + (f"\nnext: {shown}" if shown else "")
        if self.render_mode == "rgb_array":
            with told("a picture"):
                from lib2048.show.raster import pixels

            return pixels(self._whole, game=self.game)

    @property
    def _whole(self):
        return boards.whole(self.board, self._word, self.game)

    def _look(self):
        found = options([self.board], self.game, [self._word])
        self._afterstates, self._rewards = (each[0] for each in found)

    def _observation(self):
        return _each(_observed([self.board], np.array([self._word]), self.game))[0]

    def _info(self):
        mask = self.action_masks().astype(np.int8)
        return {"action_mask": mask, "score": self.score, "board": self._whole}

    def _begun(self):
        if self.board is None:
            raise gymnasium.error.ResetNeeded("begin a game first: reset()")


class TwentyFortyEightVector(VectorEnv):
    """Many games, one action in each at a time, on numba kernels.

    A game that ends is followed by the next one in the same step (autoreset mode SAME_STEP): the
    observation is then the new game's, `info["final_obs"]` and `info["final_info"]` are of the old
    one.  With `reset(seed=s)` the games are those with the luck of s, numbered in the order in
    which they begin.  `reset(options={"board": …})` begins all of them from that board, or from
    uint64[n], one each; the games that follow begin as usual.  In these 64 bits of a board, and in
    those of `info`, a 65536 is a 32768; observations tell them apart.

    Args:
        num_envs: how many.
        illegal_ends: an illegal action ends its game.
        game: what is played, a `Game` or its name.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}
    single_action_space = ACTIONS

    def __init__(self, num_envs=1, illegal_ends=False, game=WHOLE):
        if not isinstance(num_envs, numbers.Integral) or num_envs < 1:
            raise ValueError(f"num_envs is {num_envs!r}: a whole number, at least one game")
        self.num_envs, self.games, self.illegal_ends = num_envs, None, illegal_ends
        self.game = parse_game(game)
        self.single_observation_space = _observations(self.game)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(ACTIONS, num_envs)
        self._seed, self._every = None, np.arange(num_envs)

    def reset(self, *, seed=None, options=None):
        """Begin all games anew; return (observations, info)."""
        asked = _asked_for(options, self.game, (self.num_envs,))
        super().reset(seed=seed)
        first = 0 if _is_new(self, seed) else self.games.begun
        self.games = Lockstep(self.num_envs, self._seed, first, game=self.game)
        if asked is not None:
            self.games.begin_from(*asked)
            self.games.places["score"] = [self.game.rules.points(board) for board in asked[0]]
        return self._observations(), self._info()

    def step(self, actions):
        """Take an action in each game.

        Args:
            actions: int[n].

        Returns:
            (observations, rewards float64[n], terminated bool[n], truncated bool[n], info).
        """
        actions = self._checked(actions)
        paid = self.games.rewards[self._every, actions]
        rewards = np.maximum(paid, 0).astype(np.float64)
        remembers = self.game.rules.SHOWN or paid.max() >= TILE or self.games.places["word"].any()
        before = self.games.places.copy() if remembers else self.games.places
        results = self.games.act(actions)
        over, scores = self.games.places["final"] != 0, self.games.places["score"].copy()
        scores[over] = results[:, 1]
        words = self._last_words(before, actions, over & bool(remembers))
        if self.illegal_ends:
            over |= self._ended(paid == ILLEGAL)
        info = self._info() | self._final(over, scores, words)
        return self._observations(), rewards, over, np.zeros_like(over), info

    def action_masks(self):
        """Say which actions are legal: bool[n, 4]."""
        self._begun()
        return self.games.rewards != ILLEGAL

    def afterstates(self):
        """Return what the actions make: (uint64[n, 4], rewards float32[n, 4], −∞ if illegal)."""
        self._begun()
        return self.games.afterstates.copy(), self.games.rewards.copy()

    def _begun(self):
        if self.games is None:
            raise gymnasium.error.ResetNeeded("begin the games first: reset()")

    def _checked(self, actions):
        self._begun()
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(f"actions must be {self.num_envs} integers, one for each game")
        if actions.min() < 0 or actions.max() > 3:
            raise ValueError("an action is 0 (Up), 1 (Right), 2 (Down) or 3 (Left)")
        return actions

    def _ended(self, which):
        """Let the next games begin where these are, bool[n]; return which."""
        if which.any():
            count = np.count_nonzero(which)
            fresh = Lockstep(count, self._seed, self.games.begun, game=self.game)
            fresh.places["lost"] = self.games.boards[which]
            for name in ("places", "afterstates", "rewards"):
                getattr(self.games, name)[which] = getattr(fresh, name)
            self.games.counters[NEXT_GAME] = fresh.begun
        return which

    def _info(self):
        every = np.ones(self.num_envs, bool)
        told = {"action_mask": self.action_masks().astype(np.int8)}
        told |= {name: self.games.places[name].copy() for name in ("score", "board")}
        return told | {f"_{name}": every for name in told}

    def _observations(self):
        return _observed(self.games.boards, self.games.places["word"], self.game)

    def _last_words(self, before, actions, over):
        """Return the words of all games' last states, uint64[n]; before: the places in this turn.

        Those of games that have just ended are worked out again: nobody keeps them.
        """
        words = before["word"].copy()
        for i in np.flatnonzero(over):
            state = before["board"][i], words[i], int(actions[i]), before["random"][i]
            words[i] = boards.next_state(*state, self.game)[1]
        return words

    def _final(self, over, scores, words):
        """Return what `info` says of the games that ended, in Gymnasium's form.

        scores, words: of all games.
        """
        if not over.any():
            return {}
        lost = self.games.places["lost"]
        observations = np.full(self.num_envs, None, object)
        seen = _each(_observed(lost[over], words[over], self.game))
        for i, observation in zip(np.flatnonzero(over), seen):
            observations[i] = observation
        last = {"score": np.where(over, scores, 0), "board": np.where(over, lost, np.uint64(0))}
        last |= {f"_{name}": over.copy() for name in last}
        return {
            "final_obs": observations,
            "_final_obs": over.copy(),
            "final_info": last,
            "_final_info": over.copy(),
        }


def spawns(afterstate, game=WHOLE):
    """Return what luck can make of an afterstate: (states uint64[m], chances float64[m]).

    Every empty cell is as likely; a 2 comes with 0.9, a 4 with 0.1, or as the game says.  Raises
    ValueError for a game that shows what comes, which is more than a board says.
    """
    game = parse_game(game)
    if game.rules.SHOWN:
        raise ValueError(f"{game.name}: what comes depends on what is shown: see Game.outcomes")
    pairs = game.outcomes(afterstate)
    states = np.array([state for _, state in pairs], np.uint64)
    return states, np.array([chance for chance, _ in pairs], np.float64)


def _is_new(env, seed):
    """Give an environment its seed; say whether it is one that was not there before."""
    new = seed is not None or env._seed is None
    if new:
        env._seed = int(env.np_random.integers(2**63)) if seed is None else seed
    return new


def _observations(game):
    """Return the space of what is observed: the board, or that and what is shown."""
    most, shown = len(boards.tiles_of(game)) - 1, len(game.rules.SHOWN)
    board = Box(0, most, (game.rows, game.columns), np.uint8)
    return Dict(board=board, next=Discrete(shown)) if shown else board


def _observed(states, words, game):
    """Return what is observed of many states, uint64[n] each: an array, or a dict of two."""
    board = exponents(states)
    if game.rules is WHOLE.rules:
        large = np.flatnonzero(words)
        board.reshape(-1, 16)[large, words[large].astype(np.int64) - 1] = EXPONENT
    board = board[:, : game.rows, : game.columns]
    if not game.rules.SHOWN:
        return board
    return {"board": board, "next": (words & game.rules.SEEN).astype(np.int64)}


def _each(observations):
    """Return the observations of many games one by one."""
    if not isinstance(observations, dict):
        return observations
    return [dict(zip(observations, one)) for one in zip(*observations.values(), strict=True)]


def _asked_for(options, game, shape=()):
    """Return (boards, word) that the options of a reset name, None for none.

    boards: uint64 of a shape; word: None where no integer of one board told it, see `board.whole`.
    """
    unknown = [repr(name) for name in options or {} if name != "board"]
    if unknown:
        raise ValueError(f"option {unknown[0]} of reset: there is only board, a uint64")
    if not options:
        return None
    found, word = options["board"], None
    if isinstance(found, int) and found >> 64 > 0 and game.rules is WHOLE.rules:
        found, word = boards.parts(found)
    found = np.asarray(found)
    whole = found.dtype.kind == "u" or found.dtype.kind == "i" and (found >= 0).all()
    if not whole or found.shape not in ((), shape):
        many = f", or {shape[0]} of them" if shape else ""
        raise ValueError(f"option board of reset is {options['board']!r}: say a uint64{many}")
    found = np.broadcast_to(found.astype(np.uint64), shape)
    check_cells(found, game, "option board of reset")
    if any(boards.is_over(board, game, word or 0) for board in found.reshape(-1)):
        raise ValueError("on this board no action is legal: begin from another")
    return found, word


for _name, _game in ((NAME, WHOLE.name), (THREES, "threes")):
    gymnasium.register(
        _name,
        entry_point=f"{__name__}:TwentyFortyEight",
        vector_entry_point=f"{__name__}:TwentyFortyEightVector",
        kwargs={"game": _game},
    )
