"""The rules of 2048 in plain Python, written to be read.

A board is a list of rows, a row a list of tiles: 0 for an empty cell, else 2, 4, 8 …  Any number
of rows and columns will do.  Nothing here is fast; everything that is fast in this library is
tested against it.
"""

ACTIONS = ("Up", "Right", "Down", "Left")
UP, RIGHT, DOWN, LEFT = range(4)
LARGEST_TILE = 65536  # two of these do not merge: nobody has come near, and no board here holds two
FOUR_CHANCE = 0.1


def slide_row(row):
    """Slide a row to the left; return (the new row, its reward).

    Tiles move as far as they can; two equal neighbours merge into one of twice the size, each
    tile at most once a slide; a merge pays the tile it makes.
    """
    tiles = [tile for tile in row if tile]
    new, reward = [], 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile and tile < LARGEST_TILE:
            tile += tiles.pop(0)
            reward += tile
        new.append(tile)
    return new + [0] * (len(row) - len(new)), reward


def slide(board, action):
    """Slide a board; return (the afterstate, the reward).

    An action that changes nothing is not legal; the caller sees it by afterstate == board.

    Args:
        action: Up, Right, Down, Left = 0..3.
    """
    turns = (1, 2, 3, 0)[action]  # quarter turns to the left that bring this action to Left
    rows, rewards = zip(*(slide_row(row) for row in turned(board, turns)), strict=True)
    return turned(rows, 4 - turns), sum(rewards)


def turned(board, turns):
    """Return a board turned to the left by so many quarter turns."""
    board = [list(row) for row in board]
    for _ in range(turns % 4):
        board = [list(column) for column in zip(*board, strict=True)][::-1]
    return board


def legal_actions(board):
    """Return the actions (0..3, in that order) that change the board."""
    board = [list(row) for row in board]
    return [action for action in range(4) if slide(board, action)[0] != board]


def is_over(board):
    """Say whether no action is legal."""
    return not legal_actions(board)


def empty_cells(board):
    """Return the (row, column) of every empty cell, row by row."""
    return [(r, c) for r, row in enumerate(board) for c, tile in enumerate(row) if tile == 0]


def spawn(board, rng, four=FOUR_CHANCE):
    """Return the board with a 2 (probability 0.9) or a 4 (0.1) in a random empty cell.

    Every empty cell is as likely as every other.

    Args:
        rng: a `random.Random`.
        four: the chance of a 4.
    """
    row, column = rng.choice(empty_cells(board))
    board = [list(tiles) for tiles in board]
    board[row][column] = 4 if rng.random() < four else 2
    return board


def initial(rng, rows=4, columns=4, four=FOUR_CHANCE):
    """Return a start of the game: an empty board with two spawned tiles."""
    return spawn(spawn([[0] * columns for _ in range(rows)], rng, four), rng, four)


def play(choose, rng):
    """Play one game; return (the last board, its score, the number of actions).

    Args:
        choose: a function (board, list of legal actions) → action.
    """
    board, score, actions = initial(rng), 0, 0
    while legal := legal_actions(board):
        afterstate, reward = slide(board, choose(board, legal))
        board, score, actions = spawn(afterstate, rng), score + reward, actions + 1
    return board, score, actions
