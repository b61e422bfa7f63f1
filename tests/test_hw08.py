"""hw08: equally good actions, what its tables are asked, and endgames as the engine solves them."""

import handins
import pytest

from lib2048 import afterstates, endgame, from_tiles
from lib2048.course.labs import hw08
from lib2048.course.labs.cases import trial
from lib2048.course.labs.exercise import changed


def test_any_of_several_equally_good_actions_will_do():
    square = from_tiles([[2, 0, 0, 2], [0] * 4, [0] * 4, [2, 0, 0, 2]])
    case = square, 1, lambda board: 0.0
    choose = changed(hw08.choose, "max(worth,", "max(reversed(worth),")  # the last of equals
    assert choose(*case) != hw08.choose(*case)
    told = {hw08.first_choice(case, function(*case)) for function in (choose, hw08.choose)}
    assert len(told) == 1


def test_each_value_function_is_asked_with_a_table_of_its_own():
    case = from_tiles(hw08.CORNERS), (0, 1), (hw08.FIFTY, hw08.FAR), {}
    answers, _ = hw08.kept(case, hw08.answered(hw08.tabled, *case))
    assert answers[0] == 50 and answers[2] == hw08.FAR(0)


def test_what_is_asked_of_a_table_is_said_in_words():
    case = from_tiles(hw08.CORNERS), (1, 2, 0), (hw08.FIFTY,), {}
    assert hw08.asked(case)["asked in turn"] == "for 1, 2 and 0 plies"


def test_endgames_have_the_chances_of_the_engines_tables():
    tables = [
        endgame.solve(shape, 1 << goal, progress=False, exact=True)
        for goal, shapes in hw08.SHAPES.items()
        for shape in shapes
    ]
    tried, compared = trial("hw08.success", 7), 0
    for board, goal in map(tried.case, tried.picks()):
        kept = sum(
            hw08._larger(s, goal) == hw08._larger(board, goal) for _, s, _ in afterstates(board)
        )
        for table in tables:
            # A table knows only what can be reached: of some drawn boards it lacks an action.
            if (
                table.formation.exponent == goal
                and table.knows(board)
                and len(table.chances(board)) == kept
            ):
                assert hw08.success(board, goal) == pytest.approx(table.success(board), abs=1e-12)
                compared += 1
    assert compared > 10


@pytest.mark.parametrize(
    "new",
    ["min(reward, 100) + value(after)", "len(afterstates(state)) > 1 and (reward + value(after))"],
)
def test_a_large_reward_and_a_single_action_count(new):
    result = handins.check_changed("hw08.best", ("reward + value(after)", new))
    assert result.status == "failed", result
