"""hw08: equally good actions, and what its tables are asked."""

from lib2048 import from_tiles
from lib2048.course.labs import hw08
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
    assert answers[0] == 50 and answers[2] == -20_000


def test_what_is_asked_of_a_table_is_said_in_words():
    case = from_tiles(hw08.CORNERS), (1, 2, 0), (hw08.FIFTY,), {}
    assert hw08.asked(case)["asked in turn"] == "for 1, 2 and 0 plies"
