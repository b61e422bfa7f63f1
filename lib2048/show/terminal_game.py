"""A game in the terminal: by arrow keys, with a player's hint beside the board, or it plays."""

import contextlib
import os

from lib2048.game import board as rules
from lib2048.game.game import parse_game
from lib2048.game.spec import ACTIONS
from lib2048.machine.extras import told
from lib2048.machine.printed import coloured, thousands
from lib2048.show.draw import tile_colour
from lib2048.show.widgets.game import HINTED, OWN, PLAYERS, Game

KEYS = "arrows or W A S D slide · U undo · N new game · H hint · P it plays · Q quits"
PLAYING = "{name} plays: + faster, - slower, P stops it, Q quits."
LETTERS = {"w": 0, "d": 1, "s": 2, "a": 3}
PAUSE = 0.15  # seconds between two actions of a player, at first
PAUSES = 0.01, 1.0
CELL = 7  # letters


class TerminalGame:
    """What a game shows and what its keys do; nothing of the terminal itself.

    Args:
        seed: of the games, any integer.
        mind: who gives hints, a `mind.Mind` or anything with its `advise`, or None.
        game: a `Game` or its name.
    """

    def __init__(self, seed, mind, game=rules.WHOLE):
        self.mind, self.rules = mind, parse_game(game)
        self.game, self.plays, self.done, self.said = self._new(seed, 0), False, False, KEYS
        self.advice, self.pause = None, PAUSE

    def _new(self, seed, number):
        return Game(seed, number, game=self.rules)

    @property
    def over(self):
        """Whether no action is legal."""
        return rules.is_over(self.game.here.board, self.rules, self.game.here.word)

    def pressed(self, key):
        """Do what a key asks for: a letter, or the number of an action."""
        letter = key.lower() if isinstance(key, str) else ""
        action = key if isinstance(key, int) else LETTERS.get(letter)
        if action is not None:
            self.plays = False
            self.act(action)
        elif letter == "u":
            self.plays, self.advice = False, None
            self.said = "Taken back: the same tile comes again."
            self.game.undo()
        elif letter == "n":
            self.game, self.advice = self._new(self.game.seed, self.game.number + 1), None
            self.said = f"Game {self.game.number} of seed {self.game.seed} begins."
        elif letter == "h" and self.mind and not self.over:
            self.advice = self.mind.advise(self.game.here.board, self.game.here.word)
            self.said = f"{self.advice['name']} would choose {ACTIONS[self.advice['action']]}."
        elif letter == "p" and self.mind:
            self.play_on(not self.plays)
        elif letter in ("+", "-"):
            pause = self.pause * (0.5 if letter == "+" else 2)
            self.pause = min(max(pause, PAUSES[0]), PAUSES[1])
        elif letter == "q":
            self.done = True

    def play_on(self, plays):
        """Let the player play, or no more."""
        self.plays, self.advice = plays and not self.over, None
        self.said = PLAYING.format(name=self.mind.name) if self.plays else KEYS

    def act(self, action, by=None):
        """Take an action, and say what came of it; by: whose it is, if not one's own."""
        reward = self.game.act(action, by or (HINTED if self.advice else OWN))
        self.advice = None
        self.said = f"{ACTIONS[action]} changes nothing." if reward is None else (
            f"{ACTIONS[action]}: {thousands(reward)} points."
        )  # fmt: skip
        if self.over:
            self.plays, self.said = False, "The game is over: no action is legal. N begins another."

    def step(self):
        """Let the player take an action."""
        said = self.said
        advice = self.mind.advise(self.game.here.board, self.game.here.word)
        self.act(advice["action"], PLAYERS)
        self.said = said if self.plays else self.said

    def lines(self):
        """Return the lines that are shown, each [(text, tile or None for no colour), …]."""
        here, found = self.game.here, []
        score = f"{self.rules.name}   score {thousands(here.score)}   "
        score += f"actions {thousands(len(self.game.turns) - 1)}"
        card = self.rules.shown(here.word)
        found.append([(f"{score}   next {card}" if card else score, None)])
        found += _cells(rules.whole(here.board, here.word, self.rules), self.rules)
        found += [[("", None)], [(self.said, None)], *self._worths()]
        return [*found, [("", None)], [(KEYS, None)]] if self.said != KEYS else found

    def _worths(self):
        """Return a line for each legal action: how much less than the best it is worth."""
        worths = (self.advice or {}).get("values") or []
        best = max((worth for worth in worths if worth is not None), default=0)
        for action, worth in enumerate(worths):
            if worth is not None:
                less = "best" if worth == best else f"−{thousands(best - worth)}"
                yield [(f"  {ACTIONS[action]:6}{less}", None)]


def _cells(board, game):
    """Return the lines of a board, each [(text, tile), …]."""
    found = []
    for row in rules.to_tiles(board, game):
        blank = [(" " * CELL, tile) for tile in row]
        numbers = [((str(tile) if tile else "·").center(CELL), tile) for tile in row]
        found += [blank, numbers, blank]
    return found


def drawn(board, game=rules.WHOLE):
    """Return a board as text: in colours where stdout shows them, else its numbers alone."""
    lines = _cells(board, game)
    if not coloured():
        return "\n".join("".join(text for text, _ in line).rstrip() for line in lines[1::3])
    return "\n".join("".join(_painted(*part, game) for part in line) for line in lines)


def _painted(text, tile, game):
    back, ink = map(_nearest, tile_colour(tile, game))
    return f"\x1b[48;5;{back};38;5;{ink};1m{text}\x1b[0m"


def mind_of(who, game):
    """Return the `Mind` of a player.  Raises `extras.Missing` without the widgets' packages."""
    with told("a player to watch"):
        from lib2048.show.widgets.mind import mind_of

        return mind_of(who, game)


def helper(game=rules.WHOLE):
    """Return who gives hints in a game, a `Mind`; None where the widgets' packages are missing."""
    try:
        from lib2048.show.widgets.mind import SHIPPED, minds
    except ImportError:
        return None
    return minds(SHIPPED, game)[0]


def play(seed, mind, game=rules.WHOLE, plays=False):
    """Play in this terminal until Q is pressed; return the `TerminalGame`.

    plays: whether the player begins.

    Raises:
        ValueError: where Python has no curses, or curses does not know the terminal.
    """
    try:
        import curses
    except ImportError:
        said = "playing in a terminal needs curses, which Windows lacks: PlayWidget is the board"
        raise ValueError(said) from None
    shown = TerminalGame(seed, mind, game)
    if plays:
        shown.play_on(True)
    try:
        curses.wrapper(lambda screen: _loop(curses, screen, shown))
    except curses.error as error:
        kind = f"TERM={os.environ.get('TERM', '')}"
        how = "set TERM=xterm-256color, or another that it knows"
        said = f"this machine does not know this terminal, {kind} ({error}): {how}"
        raise ValueError(said) from None
    return shown


def _loop(curses, screen, shown):
    arrows = {curses.KEY_UP: 0, curses.KEY_RIGHT: 1, curses.KEY_DOWN: 2, curses.KEY_LEFT: 3}
    with contextlib.suppress(curses.error):  # of a terminal that cannot hide its cursor
        curses.curs_set(0)
    pairs = _pairs(curses, shown.rules)
    while not shown.done:
        screen.erase()
        for number, line in enumerate(shown.lines()):
            at = 0
            for text, tile in line:
                try:
                    screen.addstr(number, at, text, pairs(tile))
                except curses.error:  # the window is too small for it
                    break
                at += len(text)
        screen.refresh()
        screen.timeout(round(1000 * shown.pause) if shown.plays else -1)
        key = screen.getch()
        if key == -1 and shown.plays:
            shown.step()
        elif key in arrows:
            shown.pressed(arrows[key])
        elif 0 < key < 256:
            shown.pressed(chr(key))


def _pairs(curses, game):
    """Return a function from a tile to its colours, the nearest that the terminal has."""
    if not curses.has_colors() or curses.COLORS < 256:
        return lambda tile: curses.A_REVERSE if tile else curses.A_NORMAL
    curses.use_default_colors()
    numbers = {}

    def pair(tile):
        if tile is None:
            return curses.A_NORMAL
        if tile not in numbers:
            numbers[tile] = len(numbers) + 1
            back, ink = map(_nearest, tile_colour(tile, game))
            curses.init_pair(numbers[tile], ink, back)
        return curses.color_pair(numbers[tile]) | curses.A_BOLD

    return pair


def _nearest(colour):
    """Return the number, of the 6×6×6 colours of a terminal, that is nearest to '#rrggbb'."""
    red, green, blue = (round(int(colour[at : at + 2], 16) / 51) for at in (1, 3, 5))
    return 16 + 36 * red + 6 * green + blue
