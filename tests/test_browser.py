"""The widgets in a real JupyterLab, in a real browser: what a first user met is tested here."""

import itertools
import json
import random
import re
import shutil
from pathlib import Path

import lab
import pytest
from learners import legal

from lib2048.game import board as rules
from lib2048.game.game import parse_game
from lib2048.play.evaluation import record_game
from lib2048.play.players import player
from lib2048.show.widgets.game import Game, from_hex, to_hex, told
from lib2048.show.widgets.play import PlayWidget

pytestmark = pytest.mark.usefixtures("in_order")

LESSON = Path(__file__).resolve().parents[1] / "notebooks/00_start_here.ipynb"
ACTIONS = ["Up", "Right", "Down", "Left"]
KEYS = {f"Arrow{name}": action for action, name in enumerate(ACTIONS)}
KEYS |= {key: action for keys in ("wdsa", "WDSA") for action, key in enumerate(keys)}
PLAYERS = """
import time
from pathlib import Path
from lib2048 import PlayWidget, ReplayWidget, afterstates, record_game

class Slow:
    name = "slow"
    def choose(self, board):
        time.sleep(3)
        return afterstates(board)[0][0]

class Broken:
    name = "broken"
    def choose(self, board):
        raise KeyError("no such pattern")

game = PlayWidget(seed=3, player="heuristic")
game
"""
CELLS = [
    PLAYERS.strip(),
    "replay = ReplayWidget(record_game('heuristic', seed=2))\nreplay",
    "PlayWidget(player=Slow())",
    "PlayWidget(player=Broken())",
    "PlayWidget(player='gone.npz')",
    "game",
]
GAME, REPLAY, SLOW, BROKEN, GONE, AGAIN = range(6)
LAST = AGAIN


def fill(folder):
    shutil.copy(LESSON, folder)


@pytest.fixture
def game(notebook):
    return lab.Widget(notebook, GAME)


@pytest.fixture
def replay(notebook):
    return lab.Widget(notebook, REPLAY)


def as_in_the_library(notebook, game):
    """Return the game of the first widget, played by the library."""
    notebook.until("f'{int(game.board):016x}'", game.data("board"))
    told = notebook.ask("game.game")
    return Game(int(told["seed"]), told["number"]).following(told)


def new_game(notebook, game):
    """Begin another game and return it, as the library has it."""
    game.press("n")
    number = int(game.root.get_by_label("Number of the game").input_value())
    game.page.keyboard.press("Enter")
    notebook.until("(game.game['number'], game.actions)", (number, 0))
    return Game(3, number)


def play_on(game, twin, count):
    """Press the key of a random legal action, so many times."""
    for _ in range(count):
        action = random.Random(int(twin.here.board)).choice(legal(twin.here.board))
        twin.act(action)
        game.press(list(KEYS)[action])


STANDS = "e => [e.dataset.board, e.dataset.actions, e.querySelector('.lib-message').innerText]"


# ---- play ----------------------------------------------------------------------------------------


@pytest.mark.ci
def test_a_game_is_played_by_keys_as_the_library_plays_it(notebook, game):
    twin = Game(3, 0)
    for key in random.Random(1).choices(list(KEYS), k=60):
        game.press(key)
        fine = twin.act(KEYS[key]) is not None
        stands = to_hex(twin.here.board), str(len(twin.turns) - 1)
        *where, message = game.root.evaluate(STANDS)
        assert tuple(where) == stands
        assert ACTIONS[KEYS[key]] in message and ("not legal" in message) != fine
    score = game.root.locator(".lib-scores b").first.inner_text()
    assert score.replace("\u202f", "") == str(twin.here.score)
    notebook.until("(game.game['actions'], game.score)", (twin.actions, twin.here.score))


def test_a_new_game_asks_before_it_throws_one_away(notebook, game):
    play_on(game, new_game(notebook, game), 3)
    before = game.data("board")
    game.press("n")
    assert "throws away your game" in game.root.locator(".lib-form").inner_text()
    game.page.keyboard.press("Escape")
    assert game.data("board") == before
    game.press("n")
    game.root.get_by_label("Seed").fill("77")
    game.root.get_by_label("Number of the game").fill("5")
    game.button("Start").click()
    assert game.data("board") == to_hex(Game(77, 5).here.board)
    notebook.until("(game.seed, game.actions)", (77, 0))
    game.press("n")
    game.root.get_by_label("Seed").fill("luck")
    game.button("Start").click()
    assert game.message == "A seed is a whole number."
    game.root.get_by_label("Seed").fill("3")
    game.button("Start").click()


def test_the_kernel_moves_the_board_too(notebook, game):
    twin = new_game(notebook, game)
    action = legal(twin.here.board)[0]
    twin.act(action)
    notebook.ask(f"game.act({action})")
    game.page.wait_for_function("e => e.dataset.actions === '1'", arg=game.root.element_handle())
    assert game.data("board") == to_hex(twin.here.board)


def test_a_game_that_is_shown_twice_is_one_game(notebook, game):
    twin, again = new_game(notebook, game), lab.Widget(notebook, AGAIN)
    play_on(game, twin, 3)
    assert again.data("board") == game.data("board") == to_hex(twin.here.board)
    play_on(again, twin, 2)
    again.press("u")
    twin.undo()
    assert again.data("board") == game.data("board") == to_hex(twin.here.board)
    notebook.until("game.game['actions']", twin.actions)


def test_positions_are_pasted_and_impossible_ones_refused_in_words(notebook, game):
    before = game.data("board")
    for text, says in [
        ("[[8, 8], [8, 8]]", "16 cells"),
        ("7 " * 16, "7 is not a tile"),
        ("32768 " * 16, "no 2 and no 4"),
    ]:
        lab.paste(game, text)
        assert says in game.message and game.data("board") == before
    tiles = [[2, 4, 8, 16], [0] * 4, [0] * 4, [32768, 0, 0, 2]]
    lab.paste(game, str(tiles))
    game.button("Play from here").click()
    board = rules.from_tiles(tiles)
    assert game.data("board") == to_hex(board)
    notebook.until("int(game.board)", int(board))
    game.press("ArrowDown")
    after, _ = rules.slide(board, 2)
    assert from_hex(game.data("board")) & after == after


def test_a_position_is_edited_by_the_keyboard_alone(notebook, game):
    new_game(notebook, game)
    game.press("e")
    for tile in ("2", "3", *["0"] * 14):
        game.page.keyboard.type(tile)
        game.page.keyboard.press("Tab")
    game.root.locator("[data-field='0']").press("Enter")
    assert game.message.startswith("This position cannot be: 3 is not a tile")
    game.root.locator("[data-field='1']").press("Control+a")
    game.page.keyboard.type("1024")
    game.page.keyboard.press("Enter")
    assert game.data("board") == to_hex(rules.from_tiles([[2, 1024, 0, 0], *[[0] * 4] * 3]))


# ---- the keyboard stays here ---------------------------------------------------------------------


def test_no_key_reaches_the_notebook(notebook):
    of_game = (".lib-board", ".lib-message", ".lib-scores", "button:has-text('Undo')", "select",
               "input[type=range]", "input[type=checkbox]")  # fmt: skip
    of_replay = (".lib-track", "button:has-text('▶')", "input[type=number]", ".lib-board >> nth=0")
    parts = [(GAME, part) for part in of_game] + [(REPLAY, part) for part in of_replay]
    lab.check_keys(notebook, *parts)


def test_escape_tab_and_shift_enter_belong_to_the_notebook(notebook, game):
    where = "document.activeElement.closest('.lib2048') !== null"
    cell = "document.activeElement.matches('.jp-Cell')"
    play_on(game, new_game(notebook, game), 3)
    game.page.keyboard.press("Escape")
    assert game.page.evaluate(cell)
    game.root.focus()
    parts = game.root.locator(":is(button, input, select):visible").count()
    for _ in range(parts):
        game.page.keyboard.press("Tab")
        assert game.page.evaluate(where)
    game.page.keyboard.press("Tab")
    assert game.page.evaluate(cell)
    lab.Widget(notebook, REPLAY).root.click()
    count = notebook.ask("len(In)")
    game.page.keyboard.press("Shift+Enter")
    notebook.until("len(In)", count + 1)


def test_a_form_that_closes_keeps_the_keyboard(notebook, game):
    before = notebook.cells()
    for keys in (["n", "Escape"], ["n", "Enter"], ["e", "Escape"], ["e", "Enter"]):
        game.press(*keys, "d", "d")
    game.press("n")
    game.button("Keep playing").click()
    for key in "dd":
        game.page.keyboard.press(key)
    assert notebook.cells() == before


# ---- a player beside it --------------------------------------------------------------------------


def test_a_hint_is_the_players_choice(notebook, game):
    twin = new_game(notebook, game)
    play_on(game, twin, 5)
    game.press("h")
    action, values = player("heuristic").decide(twin.here.board)
    assert game.until("would choose").startswith(f"heuristic would choose {ACTIONS[action]}. ")
    assert game.root.locator(".lib-cross .lib-best").inner_text() == ACTIONS[action]
    bars, best = game.root.locator(".lib-worths-row"), max(values.values())
    for a in range(4):
        shown = bars.nth(a).locator("b").inner_text()
        less = best - values.get(a, 0)
        digits = 2 if less < 10 else 0
        said = f"−{less:,.{digits}f}".replace(",", "\u202f") if less else "best"
        assert shown == (said if a in values else "–")
        if a in values:
            worth = f"worth {values[a]:,.0f}".replace(",", "\u202f")
            assert bars.nth(a).get_attribute("title") == worth


def test_values_follow_every_action_where_that_is_wanted(notebook, game):
    new_game(notebook, game)
    game.root.get_by_label("values after every action").check()
    for _ in range(3):
        game.root.locator(".lib-best").wait_for()
        name = game.root.locator(".lib-best").inner_text().split()[0]
        game.press(f"Arrow{name}")
    game.root.locator(".lib-best").wait_for()
    game.root.get_by_label("values after every action").uncheck()
    assert game.root.locator(".lib-best").count() == 0


def test_autoplay_plays_the_players_game(notebook, game):
    twin = new_game(notebook, game)
    set_speed(game, 60)
    game.press("p")
    game.page.wait_for_function("e => e.dataset.actions > 20", arg=game.root.element_handle())
    game.press("p")
    assert game.message == "Paused: it is your turn."
    actions = int(game.data("actions"))
    steps = record_game("heuristic", 3, twin.number)[:actions]
    for step in steps:
        twin.act(step.action)
    assert game.data("board") == to_hex(twin.here.board)
    notebook.until("(game.game['actions'], game.helped)", (twin.actions, True))
    notebook.until("(game.own_actions, game.own_score)", (0, 0))


def set_speed(widget, rate):
    slider = """(e, rate) => {
      e.value = Math.ceil(100 * Math.log(rate) / Math.log(200)); e.oninput() }"""
    widget.root.locator("input[type=range]").evaluate(slider, rate)


def test_autoplay_ends_with_the_game_and_says_so(notebook, game):
    new_game(notebook, game)
    game.root.locator("select").select_option(label="random")
    set_speed(game, 200)
    game.press("p")
    assert game.until("The game is over").startswith("The game is over: no action is legal.")
    assert legal(from_hex(game.data("board"))) == []
    game.root.locator("select").select_option(label="heuristic")


def test_a_busy_kernel_makes_hints_late_and_nothing_else(notebook, game, folder):
    twin = new_game(notebook, game)
    notebook.start("while not Path('go').exists(): time.sleep(0.05)")
    try:
        play_on(game, twin, 4)
        game.press("h")
        game.until(re.compile("The kernel is busy|would choose"))  # JupyterLab may find a way
        play_on(game, twin, 1)
        game.press("h")
        assert game.data("board") == to_hex(twin.here.board)
    finally:
        (folder / "go").touch()
    assert game.until("would choose").startswith("heuristic would choose")
    notebook.until("int(game.board)", int(twin.here.board))


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (SLOW, ["slow is thinking", "slow would choose"]),
        (BROKEN, ["broken failed with KeyError: 'no such pattern'"]),
        (GONE, ["The weights of gone.npz are gone"]),
    ],
)
def test_slow_broken_and_missing_players_are_told_in_words(number, says, notebook):
    widget = lab.Widget(notebook, number)
    for key, words in [("h", says), ("p", says[:1])]:
        widget.press(key)
        for text in words:
            widget.until(text)
    widget.press("u", "ArrowUp", "ArrowLeft")  # which ends what slow was asked for
    assert int(widget.data("actions")) > 0, "the board still plays"


def test_the_best_score_is_that_of_ones_own_games(notebook, game):
    best = game.root.locator(".lib-scores b").nth(1)
    game.page.evaluate("localStorage.removeItem('lib2048 best score')")
    twin = new_game(notebook, game)
    play_on(game, twin, 30)
    own = f"{twin.here.score:,}".replace(",", "\u202f")
    assert best.inner_text() == own != "0"
    game.press("p")  # from here on the points are the player's
    game.page.wait_for_function("e => e.dataset.actions > 60", arg=game.root.element_handle())
    game.press("p")
    assert best.inner_text() == own
    new_game(notebook, game)
    assert best.inner_text() == own


def test_a_new_largest_tile_is_celebrated_and_the_end_is_on_the_board(notebook, game):
    over = game.root.locator(".lib-over:not(.lib-moment)")
    lab.paste(game, "1024 1024 4 2  4 2 4 2  2 4 2 4  4 2 4 2")
    game.button("Play from here").click()
    game.press("ArrowLeft")
    assert game.message.startswith("You made a 2048! Left: 2\u202f048 points")
    assert over.is_hidden()
    lab.paste(game, "2 4 2 4  4 2 4 2  2 4 2 4  4 2 4 2")
    game.button("Play from here").click()
    assert over.is_visible() and game.message.startswith("The game is over")
    new_game(notebook, game)
    assert over.is_hidden()


# ---- a recorded game -----------------------------------------------------------------------------


@pytest.mark.ci
def test_a_click_on_the_curve_jumps(notebook, replay):
    steps = record_game("heuristic", seed=2)
    last = len(steps) - 1
    track = replay.root.locator(".lib-track")
    box = track.bounding_box()
    track.click(position={"x": box["width"] / 2, "y": 30})
    assert int(replay.data("position")) == pytest.approx(last / 2, abs=1)
    step = steps[int(replay.data("position"))]
    tiles = [tile for row in rules.to_tiles(step.board) for tile in row]
    board = replay.root.locator(".lib-board").first
    shown = board.evaluate("e => [...e.querySelectorAll('.lib-tile')].map(t => t.innerText)")
    assert shown == [str(tile) for tile in tiles if tile]
    notebook.until("replay.position", int(replay.data("position")))  # told a little later
    notebook.ask("setattr(replay, 'position', 7)")
    replay.until("action 8 of")


def test_keys_and_the_number_box_move_along_the_game(replay):
    replay.press("Home", "ArrowRight", "ArrowRight", "PageDown", "ArrowLeft")
    assert replay.data("position") == "11"
    replay.root.get_by_label("Number of the action").fill("40")
    replay.page.keyboard.press("Enter")
    assert replay.data("position") == "39" and replay.message.startswith("action 40 of")
    replay.root.get_by_label("Number of the action").fill("100000")
    replay.page.keyboard.press("Enter")
    assert replay.data("position") == "39" and "no action 100000" in replay.message
    replay.press("End")
    count = len(record_game("heuristic", seed=2)) - 1
    assert replay.message.startswith(f"the end after {count} actions")


def test_the_next_large_error_is_where_the_curve_jumps_most(replay):
    steps = record_game("heuristic", seed=2)
    scores = itertools.accumulate(step.reward for step in steps)
    curve = [score + step.value for score, step in zip(scores, steps)]
    jumps = {i: abs(b - a) for i, (a, b) in enumerate(itertools.pairwise(curve), 1)}
    large = sorted(sorted(jumps, key=jumps.get)[-20:])
    replay.press("Home")
    for position in large[:5]:
        replay.press("e")
        assert int(replay.data("position")) == position


FRAMES = """async button => { const { dataset } = button.closest('.lib2048');
  const { position } = dataset;
  for (let n = 0; n < 10; n++) await new Promise(requestAnimationFrame);
  return dataset.position - position }"""


def test_a_recorded_game_plays_itself(replay):
    set_speed(replay, 200)
    replay.press("Home", " ")
    replay.page.wait_for_function("e => e.dataset.position > 50", arg=replay.root.element_handle())
    replay.press(" ")
    assert not replay.button("Play").evaluate(FRAMES), "it stands still"


# ---- how it looks --------------------------------------------------------------------------------


def test_it_fits_a_phone_and_everything_has_a_name(notebook, game):
    lab.paste(game, " ".join(str(2**exponent) for exponent in [*range(15, 0, -1), 1]))
    assert game.root.evaluate(lab.PALE) == [], "the form of a position"
    game.button("Play from here").click()
    lab.paste(game, "nonsense")
    lab.check_looks(notebook)
    lab.check_names(notebook)
    for board in notebook.page.locator(".lib2048 .lib-board").all():
        words = r"\w+: ((\d+|empty)[, ]*){16}"
        assert re.fullmatch(words, board.get_attribute("aria-label"))


# ---- a plain page, as in a book ------------------------------------------------------------------

PLAIN = """
const root = document.querySelector("#here");
window.asked = [];
const send = (question) => window.asked.push(question);
const rules = rulesOf(TOLD);
window.view = new Play(root, { game: { seed: "3" }, rules, players: ["sloth"], send });
"""


@pytest.fixture(params=["2048"])
def plain(chromium, request):
    page, about = chromium.new_page(), json.dumps(told(parse_game(request.param)))
    page.set_content('<div id="here"></div>')
    page.add_script_tag(type="module", content=PlayWidget._esm + PLAIN.replace("TOLD", about))
    page.wait_for_function("window.view")
    page.locator("#here").focus()
    yield page
    page.close()


@pytest.mark.parametrize("plain, name", [(n, n) for n in ("2048", "2048@1x4", "threes@3x4")],
                         indirect=["plain"])  # fmt: skip
def test_on_a_plain_page_it_plays_and_says_that_nobody_answers(plain, name):
    page, twin, root = plain, Game(3, 0, game=parse_game(name)), plain.locator("#here")
    for key in "wasdwasd":
        page.keyboard.press(key)
        twin.act(KEYS[key])
    page.keyboard.press("h")
    root.locator(".lib-message", has_text="The kernel is busy").wait_for()
    page.keyboard.press("s")
    twin.act(2)
    assert root.get_attribute("data-board") == to_hex(twin.here.board)
    cells = root.locator(".lib-cell")
    assert cells.count() == twin.game.rows * twin.game.columns
    assert twin.game.shown(twin.here.word) == root.locator(".lib-next .lib-tile").inner_text()


def test_a_question_that_waits_for_an_older_one_says_so_too(plain):
    waits = plain.locator(".lib-message", has_text=re.compile(r"sloth is thinking: \d+ s"))
    plain.keyboard.press("h")
    plain.evaluate("view.hear({ kind: 'working', id: asked[0].id, doing: 'sloth is thinking' })")
    waits.wait_for()
    plain.keyboard.press("a")  # and nobody waits for the answer any more
    assert plain.locator(".lib-message").inner_text().startswith("Left")
    plain.keyboard.press("h")
    waits.wait_for()
    assert len(plain.evaluate("asked")) == 1, "one at a time"
    plain.evaluate("view.hear({ kind: 'answer', id: asked[0].id, action: 0, values: null })")
    assert [question["kind"] for question in plain.evaluate("asked")] == ["advise"] * 2


# ---- reload, restart, lesson 00 ------------------------------------------------------------------


def test_the_board_is_back_after_a_reload(notebook, game):
    twin = new_game(notebook, game)
    play_on(game, twin, 6)
    notebook.save()
    notebook.reload()
    game.root.wait_for()
    assert game.data("board") == to_hex(twin.here.board)
    play_on(game, twin, 2)
    assert game.data("board") == to_hex(twin.here.board)
    notebook.until("int(game.board)", int(twin.here.board))


def test_a_restarted_kernel_is_told_in_words_and_the_board_plays_on(notebook, game):
    twin = as_in_the_library(notebook, game)
    notebook.restart()
    game.until("The kernel has ended or was restarted")
    play_on(game, twin, 3)
    assert game.data("board") == to_hex(twin.here.board)
    game.press("h")
    game.until("then run this cell")


def test_a_saved_notebook_shows_pictures_and_what_to_do(notebook, folder):
    notebook.save()
    saved = json.loads((folder / "page.ipynb").read_text(encoding="utf-8"))
    assert "widgets" not in saved["metadata"]
    assert (folder / "page.ipynb").stat().st_size < 100_000
    notebook.reload()
    pictures = notebook.page.locator(".lib2048-still")
    pictures.nth(AGAIN).wait_for()
    for cell in notebook.page.locator(".jp-CodeCell").all():
        cell.scroll_into_view_if_needed()  # what is out of sight is not drawn
        gone = cell.locator(".jupyter-widgets", has_text="model not found")
        gone.wait_for(state="attached")  # JupyterLab looks for the widget for two seconds
        assert cell.locator(".lib2048-still img").is_visible()
        assert "run this cell" in cell.inner_text()
        assert "model not found" not in cell.inner_text()


def test_lesson_00_runs_from_top_to_bottom(at, chromium):
    lesson = lab.Page(chromium, at(LESSON.name))
    lesson.run_all()
    lesson.page.locator(".lib2048").nth(1).wait_for()
    last = lesson.page.locator(".jp-CodeCell .jp-InputPrompt").last
    lesson.page.wait_for_function("e => /\\d/.test(e.textContent)", arg=last.element_handle())
    lab.Widget(lesson, 0).press("ArrowUp", "ArrowLeft", "ArrowUp")
    assert int(lab.Widget(lesson, 0).data("actions")) > 0
    lab.Widget(lesson, 0).press("h")
    lab.Widget(lesson, 0).until("our network 42-33-tuned would choose")
    assert lesson.page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert lesson.errors == [] == lesson.abroad()
    lesson.close()
