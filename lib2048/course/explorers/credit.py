"""Who has heard of a surprise: the afterstates of a game light up, game after game."""

from traitlets import Dict, Int, validate

from lib2048.show import draw
from lib2048.show.widgets.base import BrowserWidget
from lib2048.show.words import escaped

LIT, FAINT = "#d55e00", "#888888"
BRIGHTEST = 0.75  # of 1, so that what is written on a light can be read
SIDE, CELL, GAP = 84, 44, 6  # pixels of a picture: a board, a light, between two rows
NAMES = 34  # the height of the names above
STILL = 4  # how many of the games a picture shows


class CreditWidget(BrowserWidget):
    """Step from game to game, and see which afterstates have heard of a surprise, and how much.

    The boards stand under one another, the one that met the surprise last. ``.game`` is how many
    games are over, from 1 on; set it to jump.

    Args:
        boards: the afterstates in the order of the game: rows of tiles, or packed.
        heard: {way to learn: rows, one a game, of the share that each afterstate has heard, from 0
            to 1}; all of them tell of equally many games.

    Raises:
        ValueError: where rows and boards, or the numbers of games, do not fit.
    """

    entry = "credit.js"
    story = Dict().tag(sync=True)
    game = Int(1).tag(sync=True, echo_update=False)
    tells = ("game",)

    def __init__(self, boards, heard):
        self._boards = [draw.board(board, size=SIDE) for board in boards]
        self._shares = {name: [[*map(float, row)] for row in rows] for name, rows in heard.items()}
        self._games = min(map(len, self._shares.values()), default=0)
        rows = [row for rows in self._shares.values() for row in rows]
        if not rows or len(rows) != self._games * len(self._shares):
            raise ValueError("heard needs as many games of each way to learn, one or more")
        if any(len(row) != len(self._boards) for row in rows):
            raise ValueError(f"a row of heard needs a share of each of {len(self._boards)} boards")
        pictures = [{"svg": picture.svg, "text": picture.text} for picture in self._boards]
        super().__init__(story={"boards": pictures, "heard": self._shares, "games": self._games})

    @validate("game")
    def _one_of_them(self, proposal):
        return max(1, min(proposal["value"], self._games))

    def static(self):
        """Return a `Picture` of the first games and of the last one, side by side."""
        shown = sorted({*range(1, min(STILL, self._games + 1)), self._games})
        high, wide = SIDE + GAP, CELL * len(shown)
        left, body = SIDE + 16, [_text(SIDE / 2, NAMES - 4, "after games")]
        for number, (name, rows) in enumerate(self._shares.items()):
            x = left + number * (wide + 16)
            body.append(_text(x + wide / 2, 10, name, bold=True))
            for column, game in enumerate(shown):
                at = x + column * CELL
                body.append(_text(at + CELL / 2, NAMES - 4, f"{game}"))
                for row, share in enumerate(rows[game - 1]):
                    body.append(_light(at, NAMES + row * high, share))
        boards = [
            f'<g transform="translate(0 {NAMES + row * high})">{picture.body}</g>'
            for row, picture in enumerate(self._boards)
        ]
        width = left + len(self._shares) * (wide + 16) - 16
        height = NAMES + high * len(boards) - GAP
        return draw.Picture("\n".join(boards + body), width, height, self._in_words(shown))

    def _in_words(self, shown):
        """Say what the picture shows: how many afterstates have heard at least half."""
        told = "; ".join(
            f"{name}: " + ", ".join(str(sum(s >= 0.5 for s in rows[game - 1])) for game in shown)
            for name, rows in self._shares.items()
        )
        games = ", ".join(map(str, shown))
        return f"afterstates that have heard half or more after {games} games: {told}"


def _light(x, y, share):
    """Draw what an afterstate has heard: a cell that is the brighter the more it is."""
    size = f'width="{CELL - 4}" height="{SIDE}" rx="4"'
    edge = f'fill="{LIT}" fill-opacity="{BRIGHTEST * share:.3f}" stroke="{FAINT}"'
    words = _text(x + CELL / 2, y + SIDE / 2 + 4, f"{100 * share:.0f}") if share >= 0.005 else ""
    return f'<rect x="{x + 2}" y="{y}" {size} {edge}/>{words}'


def _text(x, y, words, bold=False):
    look = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="13" fill="#222"{look}>{escaped(words)}</text>'
