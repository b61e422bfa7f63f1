"""Widgets do with a press of a button what the rules say, and hide no error."""

import numpy as np
import pytest

pytest.importorskip("ipywidgets")

from lib2048.game import board as rules  # noqa: E402
from lib2048.game.rng import stream  # noqa: E402
from lib2048.play.evaluation import Step, record_game  # noqa: E402
from lib2048.show.drawing import draw_board  # noqa: E402
from lib2048.show.widgets import ExploreWidget, PlayWidget, ReplayWidget  # noqa: E402


class Stubborn:
    """A player that always names the same action."""

    name = "stubborn"

    def __init__(self, action):
        self.action = action

    def choose(self, board):
        return self.action


def buttons(widget):
    """Return every button inside a widget by its name."""
    found, todo = {}, [widget]
    while todo:
        child = todo.pop()
        todo.extend(getattr(child, "children", ()))
        if type(child).__name__ == "Button":
            found[child.description] = child
    return found


def legal(board):
    return [action for action, _, _ in rules.afterstates(board)]


def pressed(widget, presses):
    """Press the first legal action's button a few times; return the boards seen on the way."""
    boards = [int(widget.board)]
    for _ in range(presses):
        widget.act(legal(widget.board)[0])
        boards.append(int(widget.board))
    return boards


def play_out(widget):
    while actions := legal(widget.board):
        widget.act(actions[0])


# ------------------------------------------------------------------------------------------- play


def test_a_game_begins_as_the_seed_says():
    widget = PlayWidget(seed=7)
    assert int(widget.board) == int(rules.initial(stream(7, 0))[0])
    assert (widget.score, widget.actions) == (0, 0)
    assert widget.image.value == draw_board(widget.board, size=300).svg.encode()


def test_a_button_slides_and_spawns_and_counts():
    widget = PlayWidget(seed=3)
    start, state = rules.initial(stream(3, 0))
    action = legal(start)[-1]
    afterstate, reward = rules.slide(start, action)
    buttons(widget)[["Up", "Right", "Down", "Left"][action]].click()
    assert int(widget.board) == int(rules.spawn(afterstate, state)[0])
    assert (widget.score, widget.actions) == (reward, 1)
    assert "· 1 action<" in widget.tally.value


def test_the_score_is_the_sum_of_the_rewards():
    widget, score = PlayWidget(seed=2), 0
    for _ in range(60):
        action = legal(widget.board)[0]
        score += rules.slide(widget.board, action)[1]
        widget.act(action)
    assert widget.score == score > 0


def test_an_action_may_be_named():
    one, other = PlayWidget(), PlayWidget()
    action = legal(one.board)[0]
    one.act(action)
    other.act(["Up", "Right", "Down", "Left"][action])
    assert int(one.board) == int(other.board) and one.actions == 1


def test_an_illegal_action_spawns_nothing_and_says_so():
    widget = PlayWidget(seed=1)
    while len(legal(widget.board)) == 4:
        widget.act(legal(widget.board)[0])
    before = (int(widget.board), widget.score, widget.actions)
    wrong = next(action for action in range(4) if action not in legal(widget.board))
    widget.act(wrong)
    assert (int(widget.board), widget.score, widget.actions) == before
    assert "not legal" in widget.message.value


def test_undo_goes_back_one_by_one_and_luck_repeats():
    widget = PlayWidget(seed=5)
    boards = pressed(widget, 3)
    undo = buttons(widget)["Undo"]
    undo.click()
    assert int(widget.board) == boards[2] and widget.actions == 2
    pressed(widget, 1)
    assert int(widget.board) == boards[3]
    for _ in range(5):
        undo.click()
    assert int(widget.board) == boards[0] and widget.score == 0 and undo.disabled


def test_new_game_is_another_game_of_the_seed():
    widget = PlayWidget(seed=5)
    pressed(widget, 3)
    buttons(widget)["New"].click()
    assert int(widget.board) == int(rules.initial(stream(5, 1))[0])
    assert (widget.score, widget.actions) == (0, 0) and buttons(widget)["Undo"].disabled


def test_a_hint_marks_the_button_of_the_players_action_until_the_next_press():
    widget = PlayWidget(player=Stubborn(2))
    buttons(widget)["Hint"].click()
    styles = {name: button.button_style for name, button in buttons(widget).items()}
    assert [name for name in styles if styles[name]] == ["Down"]
    assert widget.message.value == "stubborn would choose Down."
    pressed(widget, 1)
    assert not any(button.button_style for button in buttons(widget).values())


def test_without_a_player_there_is_no_hint_and_a_name_will_do():
    assert "Hint" not in buttons(PlayWidget())
    widget = PlayWidget(player="greedy")
    widget.hint()
    assert widget.message.value.startswith("greedy would choose")


def test_the_end_is_said_and_nothing_moves_any_more():
    widget = PlayWidget(seed=4, player=Stubborn(0))
    play_out(widget)
    assert widget.message.value.startswith("The game is over")
    last = int(widget.board)
    widget.act("Left")
    widget.hint()
    assert int(widget.board) == last and widget.message.value.startswith("The game is over")


def test_an_error_in_a_callback_is_shown_and_not_swallowed():
    widget = PlayWidget(player=Stubborn(9))
    with pytest.raises(IndexError):
        widget.hint()
    assert "IndexError" in widget.message.value and "Traceback" in widget.message.value
    with pytest.raises(ValueError):
        widget.act("up")


def test_an_unknown_player_is_refused_in_one_line():
    with pytest.raises(ValueError, match="unknown player 'deep blue'"):
        PlayWidget(player="deep blue")


# ----------------------------------------------------------------------------------------- replay


@pytest.fixture(scope="module")
def steps():
    return record_game("greedy", seed=2)


def test_a_replay_shows_the_step_under_the_slider(steps):
    widget = ReplayWidget(steps)
    first = widget.image.value
    widget.position = 40
    assert widget.image.value != first
    for board in (steps[40].board, steps[40].afterstate):
        assert draw_board(board, size=200).body in bytes(widget.image.value).decode()
    score = sum(step.reward for step in steps[:41])
    assert f"action 41 of {len(steps) - 1} · score {score:,}".replace(",", "\u202f") in (
        widget.message.value
    )


def test_the_slider_covers_the_game_and_ends_where_it_is_over(steps):
    widget = ReplayWidget(steps)
    widget.position = 10**6
    assert widget.position == len(steps) - 1
    assert "no action is legal" in bytes(widget.image.value).decode()
    assert widget.message.value.startswith("the end of")


def test_values_are_shown_where_there_are_any():
    step = Step(np.uint64(0x11), 3, 4, np.uint64(0x2), 1000.4)
    assert ReplayWidget([step]).message.value.endswith("value 1\u202f000 · together 1\u202f004")
    assert "value" not in ReplayWidget([step._replace(value=None)]).message.value


def test_an_error_while_replaying_is_shown(steps):
    widget = ReplayWidget([*steps[:2], steps[2]._replace(action=9)])
    with pytest.raises(IndexError):
        widget.position = 2
    assert "IndexError" in widget.message.value


def test_nothing_to_replay_is_refused():
    with pytest.raises(ValueError, match="no steps to replay"):
        ReplayWidget([])


# ---------------------------------------------------------------------------------- still pictures


def test_key_moments_are_the_start_the_new_largest_tiles_and_the_end(steps):
    picture = ReplayWidget(steps).static()
    largest = [rules.max_exponent(step.afterstate) for step in steps]
    top = largest.index(max(largest))
    assert "action 1 " in picture.text and f"action {top + 1} " in picture.text
    assert "the end" in picture.text
    assert picture.svg.count("the end") == 1
    assert picture.text.count("score") == 6


def test_the_number_of_moments_is_the_readers_choice(steps):
    assert ReplayWidget(steps).static(moments=3).text.count("score") == 3
    assert ReplayWidget(steps).static(moments=2).text.count("score") == 2


def test_an_output_carries_a_picture_for_pages_without_a_kernel(steps):
    for widget in (PlayWidget(), ReplayWidget(steps)):
        bundle = widget._repr_mimebundle_()
        assert bundle["text/html"] == widget.static()._repr_html_()
        assert "application/vnd.jupyter.widget-view+json" in bundle
        assert len(bundle["text/html"]) < 20_000


# ---------------------------------------------------------------------------------------- explore


def line(height, kind="-"):
    """Draw a line; height 0 is refused."""
    plt = pytest.importorskip("matplotlib.pyplot")
    if height == 0:
        raise ValueError("no line has height 0")
    ax = plt.figure().add_subplot()
    ax.plot([0, 1], [0, height], kind)
    return ax


def test_a_choice_draws_the_figure_anew_and_leaves_none_open():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    widget = ExploreWidget(line, height=[1, 2], kind=["-", ":"])
    first = bytes(widget.image.value)
    widget.choose(height=2, kind=":")
    assert widget.chosen == {"height": 2, "kind": ":"}
    assert first.startswith(b"\x89PNG") and bytes(widget.image.value) != first
    assert plt.get_fignums() == []
    widget.choose(height=1, kind="-")
    assert bytes(widget.image.value) == first


def test_a_figure_is_its_first_choice_where_no_kernel_runs():
    widget = ExploreWidget(line, height=[1, 2])
    first = widget._repr_mimebundle_()["image/png"]
    widget.choose(height=2)
    bundle = widget._repr_mimebundle_()
    assert bundle["image/png"] == first and bundle["text/plain"] == "<figure: height 1>"


def test_a_figure_that_cannot_be_drawn_shows_its_error():
    widget = ExploreWidget(line, height=[1, 0])
    with pytest.raises(ValueError, match="height 0"):
        widget.choose(height=0)
    assert "no line has height 0" in widget.message.value
    with pytest.raises(ValueError, match="'kind': there is nothing"):
        ExploreWidget(line, kind=[])
