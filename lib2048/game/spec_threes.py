"""The rules of Threes! in plain Python, written to be read.

A board is a list of rows, a row a list of tiles: 0 for an empty cell, else 1, 2, 3, 6, 12 …  Beside
it there are a deck, a list of cards that are left, and the card that is shown: it comes next.  The
rules are those of the game by Asher Vollmer (2014), as its players have found them out; where it
differs is said below.  Everything that is fast is tested against this, as it is with 2048's `spec`.
"""

from lib2048.game.spec import turned

LARGEST_TILE = 12288  # two of these do not merge; in the game itself one ends the game
DECK = [1, 2, 3] * 4
BONUS = "bonus"  # what is shown of a bonus card: not which one it is
BONUS_CHANCE = 1 / 21  # where a 48 or more is on the board
DEALT = 9 / 16  # of the cells, rounded down, get a card from the deck at the start


def merged(a, b):
    """Return what two tiles become, 0 where they do not merge: 1 + 2, or equal ones from 3 on."""
    if {a, b} == {1, 2}:
        return 3
    return 2 * a if a == b and 3 <= a < LARGEST_TILE else 0


def points(tile):
    """Return what a tile is worth: 3 for a 3, three times as much for each doubling, 1 and 2 none.

    A game's score is what the tiles on its last board are worth; an action's reward is by how much
    its merges raise that.
    """
    return 3 ** (tile // 3).bit_length() if tile >= 3 else 0


def slide_row(row):
    """Slide a row one step to the left; return (the new row, its reward).

    The first empty cell is filled by its neighbour, or the first two neighbours that can merge, and
    all behind them move up by one cell.
    """
    for i, (tile, other) in enumerate(zip(row, row[1:])):
        if tile == 0 or merged(tile, other):
            new = merged(tile, other) if tile else other
            reward = points(new) - points(tile) - points(other) if tile else 0
            return [*row[:i], new, *row[i + 2 :], 0], reward
    return list(row), 0


def slide(board, action):
    """Slide a board; return (the afterstate, the reward); it is not legal if nothing changes."""
    turns = (1, 2, 3, 0)[action]  # quarter turns to the left that bring this action to Left
    rows, rewards = zip(*(slide_row(row) for row in turned(board, turns)), strict=True)
    return turned(rows, 4 - turns), sum(rewards)


def legal_actions(board):
    """Return the actions (0..3, in that order) that change the board."""
    board = [list(row) for row in board]
    return [action for action in range(4) if slide(board, action)[0] != board]


def entries(board, afterstate, action):
    """Return the (row, column) where a card may enter: behind each row or column that moved."""
    rows, columns = len(board), len(board[0])
    edge = (rows - 1, 0, 0, columns - 1)[action]
    if action % 2:
        return [(r, edge) for r in range(rows) if board[r] != afterstate[r]]
    moved = [a != b for a, b in zip(zip(*board), zip(*afterstate), strict=True)]
    return [(edge, c) for c in range(columns) if moved[c]]


def bonus_cards(board):
    """Return the bonus cards that may come: 6, 12 … up to an eighth of the largest tile."""
    largest = max(tile for row in board for tile in row)
    return [3 << k for k in range(1, 12) if 3 << k <= largest / 8]


def next_cards(board, deck):
    """Return {what is shown next: its chance}; an empty deck is dealt anew."""
    deck = deck or DECK
    rare = BONUS_CHANCE if bonus_cards(board) else 0.0
    chances = {card: (1 - rare) * deck.count(card) / len(deck) for card in (1, 2, 3)}
    return {card: chance for card, chance in (chances | {BONUS: rare}).items() if chance}


def draw(board, deck, rng):
    """Draw the next card; return (what is shown, the deck without it).

    Args:
        rng: a `random.Random`.
    """
    cards = next_cards(board, deck)
    (card,) = rng.choices(list(cards), cards.values())
    deck = list(deck or DECK)
    if card != BONUS:
        deck.remove(card)
    return card, deck


def enter(board, afterstate, action, shown, deck, rng):
    """Let the shown card enter; return (the board, what is shown next, the deck).

    Every row or column that moved is as likely, and every bonus card that may come.
    """
    row, column = rng.choice(entries(board, afterstate, action))
    board = [list(tiles) for tiles in afterstate]
    board[row][column] = rng.choice(bonus_cards(afterstate)) if shown == BONUS else shown
    return board, *draw(board, deck, rng)


def initial(rng, rows=4, columns=4):
    """Return a start of the game: cards in random cells, what is shown, and the deck."""
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    board, deck = [[0] * columns for _ in range(rows)], []
    for row, column in rng.sample(cells, int(DEALT * len(cells))):
        board[row][column], deck = draw(board, deck, rng)
    return board, *draw(board, deck, rng)


def score(board):
    """Return what the tiles of a board are worth."""
    return sum(points(tile) for row in board for tile in row)


def play(choose, rng):
    """Play one game; return (the last board, its score, the number of actions).

    Args:
        choose: a function (board, list of legal actions, what is shown) → action.
    """
    (board, shown, deck), actions = initial(rng), 0
    while legal := legal_actions(board):
        action = choose(board, legal, shown)
        after, _ = slide(board, action)
        board, shown, deck = enter(board, after, action, shown, deck, rng)
        actions += 1
    return board, score(board), actions
