"""Functions as source text: what travels, and what stays at home, in words."""

import math
import pickle
import rlcompleter  # one of those that have `__main__` among their names
import threading
import types
import xml.etree.ElementTree
from fractions import Fraction
from functools import partial

import numba
import numpy as np
import pytest
import torch

from lib2048.game import board as boards
from lib2048.game.board import slide
from lib2048.machine import kernels
from lib2048.machine.child import load, load_all, source_of
from lib2048.machine.source_text import LARGEST

# ---------------------------------------------------------------- what a reader may write

LIMIT, NOTHING, WORDS = 10**40, None, ("día", b"\0", True, -0.0)
FAR, NOWHERE = -math.inf, math.nan
MASK, SHORT, YES = np.uint64(2**64 - 1), np.float32(0.1), np.bool_(True)
GRID = np.arange(6.0).reshape(2, 3)
COLUMNS = np.asfortranarray(GRID)
FIXED = np.array([1 + 2j, np.nan])
FIXED.flags.writeable = False
EMPTY, POINT = np.zeros((0, 3), np.int8), np.array(5, ">u2")
NESTED = {"a": [1, (2.5,)], 3: {"grid": GRID}}
TOGETHER = [NESTED, NESTED]
counter = 0


def constants():
    return LIMIT, NOTHING, WORDS, FAR, NOWHERE, MASK, SHORT, YES, NESTED, TOGETHER


def arrays():
    return GRID, COLUMNS, FIXED, EMPTY, POINT


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def count():
    global counter
    counter += 1
    return counter


def counted():
    return count() + counter


@numba.njit(error_model="numpy")
def half(x):
    return (x & MASK) / np.uint64(0)


@numba.njit
def halves(x):
    total = 0.0
    for _ in range(3):
        total += half(x)
    return total


@numba.njit
def factorial(n):
    return n * factorial(n - 1) if n > 1 else 1


@numba.njit("int64(int64)")
def fixed_types(x):
    return x


def libraries(text):
    tree = xml.etree.ElementTree.fromstring(text)
    return tree.tag, Fraction(1, 3), np.add(1, 2), boards.initial, slide, kernels.SOURCE_HASH


def with_defaults(a, b=LIMIT, /, c=3, d=GRID, *, e, f=is_even, g="g"):
    return a, b, c, d, e, f(4), g


def annotated():
    class Gone:
        pass

    def f(x: Gone, y: Gone = 1) -> Gone:
        return x + y

    return f


def same_name(k):
    def f(x):
        return x * k

    return f


def counting():
    n = 0

    def up():
        nonlocal n
        n += 1
        return n

    def see():
        return n

    return up, see


def walking():
    text = """one
  two
three"""

    def walk(n):
        words = """four
  five
six"""
        return [text, words] if n == 0 else walk(n - 1)

    return walk


def numpy():
    return "a name that the text needs too"


def float(x):  # the text says float("inf") somewhere
    return f"mine {x}"


def shadowing():
    return numpy(), float(FAR)


def back(**functions):
    """The functions after their journey, in this process."""
    return load(source_of(functions))


def same(a, b):
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same([*a.items()], [*b.items()])
    if isinstance(a, np.ndarray):
        flags = a.flags.writeable == b.flags.writeable and a.flags.fnc == b.flags.fnc
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() and flags
    return type(a) is type(b) and (repr(a) == repr(b))


# ---------------------------------------------------------------- the text


def test_numbers_texts_and_lists_arrive_as_they_are():
    there = back(f=constants)["f"]()
    assert same(there, constants())
    assert there[-1][0] is there[-1][1] is there[-2]  # one dict stays one
    assert there[-2] is not NESTED


def test_arrays_arrive_bit_for_bit():
    there = back(f=arrays)["f"]()
    assert same(there, arrays())
    there[0][0, 0] = 7
    assert GRID[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        there[2][0] = 0


def test_functions_that_need_each_other():
    there = back(f=is_even, g=counted)
    assert there["f"](10) and not there["f"](11)
    assert there["f"].__globals__ is not is_even.__globals__
    before = counter
    assert [there["g"](), there["g"]()] == [2 * before + 2, 2 * before + 4]
    assert counter == before


def test_compiled_entries_become_plain_and_their_helpers_stay_compiled():
    there = back(f=halves, g=factorial)
    assert isinstance(there["f"], types.FunctionType)
    helper = there["f"].__globals__["half"]
    assert helper.targetoptions["error_model"] == "numpy"
    assert numba.njit(there["f"])(np.uint64(3)) == math.inf  # by zero, as the helper's options say
    assert there["g"](5) == numba.njit(there["g"])(5) == 120


def test_libraries_are_imported():
    tag, third, three, *ours = back(f=libraries)["f"]("<a/>")
    assert (tag, third, three) == ("a", Fraction(1, 3), 3)
    assert ours == [boards.initial, slide, kernels.SOURCE_HASH]
    text = source_of({"f": libraries})
    assert "import lib2048.game.board as" in text
    assert "from lib2048.game.board import slide as" in text
    assert "__import__('xml.etree.ElementTree')" in text  # `import xml` alone would not do


def test_what_a_package_has_need_not_be_written_by_hand():
    assert back(f=np.add)["f"] is np.add


def test_defaults_are_those_of_now():
    there, expected = back(f=with_defaults)["f"], with_defaults(1, e=2)
    assert same(there(1, e=2), expected)
    assert same(there(1, 2, 3, 4, e=5, f=bool, g=6), (1, 2, 3, 4, 5, True, 6))
    late = [lambda x, k=k: x * k for k in range(4)]
    assert [f(10) for f in back(a=late[1], b=late[3]).values()] == [10, 30]


def test_annotations_are_left_alone():
    assert back(f=annotated())["f"](1) == 2


def test_one_name_for_two_functions():
    there = back(index=same_name(2), value=same_name(np.float32(0.5)))
    assert there["index"](10) == 20
    assert there["value"](10) == 5


def test_one_name_in_two_modules(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "theirs_2048.py").write_text(
        "LIMIT = 1\n\ndef is_even(n):\n    return 'theirs', LIMIT\n\ndef go():\n"
        "    return is_even(3)\n"
    )
    import theirs_2048

    there = back(ours=is_even, theirs=theirs_2048.go, constants=constants)
    assert (there["ours"](3), there["theirs"]()) == (False, ("theirs", 1))
    assert there["constants"]()[0] == 10**40
    assert "import theirs_2048" not in source_of({"f": theirs_2048.go})  # it need not be there


def test_names_that_the_text_uses_itself():
    assert back(first=float, f=shadowing)["f"]() == shadowing()


def test_outer_variables_are_shared_as_before():
    up, see = counting()
    up()
    there = back(up=up, see=see)
    assert (there["up"](), there["up"](), there["see"]()) == (2, 3, 3)
    assert see() == 1


def test_the_places_of_all_that_is_called_are_known():
    def helper(x):
        return x

    @decorated
    def f(x):
        return helper(x), is_even(x)

    loaded = load_all(source_of({"f": f}))
    [odd] = [room["is_odd"] for room in loaded.rooms if "is_odd" in room]
    [mine] = [c.cell_contents for c in loaded.cells if c.cell_contents.__name__ == "helper"]
    loaded.replace(odd, lambda n: "odd")
    loaded.replace(mine, lambda x: "mine")
    assert loaded.functions["f"](2) == ("around", ("mine", "odd"))
    by_hand = load_all("def g():\n    return 1\nFUNCTIONS = {'f': lambda: g()}")
    by_hand.replace(by_hand.rooms[0]["g"], lambda: 2)
    assert by_hand.functions["f"]() == 2


def old():
    return "old"


def takes(a=old, *, b=old):
    return a() + b()


class Holds:
    own, also = staticmethod(old), old

    def __init__(self):
        self.kept = old


HELD = [old], {"a": old}, (1, (old,)), partial(old), Holds()


def held():
    a, b, (_, (c,)), d, e = HELD
    return [a[0](), b["a"](), c(), d(), e.own(), Holds.also(), e.kept(), takes(), [old()]]


def test_a_helper_is_replaced_in_whatever_holds_it():
    loaded = load_all(source_of({"f": held}))
    before = loaded.functions["f"]()
    [room] = [room for room in loaded.rooms if "old" in room]
    loaded.replace(room["old"], lambda *_: "new")
    after = loaded.functions["f"]()
    assert repr(after) == repr(before).replace("old", "new") and "new" in after


def test_a_variable_that_has_no_value_yet():
    def too_early():
        return later + nowhere  # noqa: F821

    with pytest.raises(NameError, match="'later'"):
        back(f=too_early)["f"]()
    later = 1
    with pytest.raises(NameError, match="'nowhere'"):
        back(f=too_early)["f"]()


def test_inner_functions_keep_their_texts_and_themselves():
    assert back(f=walking())["f"](3) == walking()(3) == ["one\n  two\nthree", "four\n  five\nsix"]


def test_lambdas_that_share_a_line():
    a, b, c = lambda x: x + 1, lambda x: (x, lambda y: -y), lambda ä="ä", *, k=LIMIT: (ä, k)
    there = back(a=a, b=b, inner=b(0)[1], c=c)
    assert (there["a"](1), there["b"](1)[1](5), there["inner"](7)) == (2, -5, -7)
    assert there["c"]() == ("ä", LIMIT)
    over_lines = [
        lambda x: (
            x  # a word
            * 3
        )
    ]
    assert back(f=over_lines[0])["f"](4) == 12
    alike = [lambda k=1: k, lambda k=2: k]
    assert [f() for f in back(a=alike[0], b=alike[1]).values()] == [1, 2]


def test_errors_of_numba_show_the_line():
    def wrong(x):
        return x.nothing_of_the_kind

    with pytest.raises(numba.TypingError, match="return x.nothing_of_the_kind"):
        numba.njit(back(f=wrong)["f"])(1)


def decorated(function):
    def around(*arguments):
        return "around", function(*arguments)

    around.__wrapped__ = function  # as functools.wraps has it: misleads whoever follows it
    return around


def test_a_decorator_of_ones_own():
    @decorated
    def f(x):
        return x + len(WORDS)

    assert back(f=f)["f"](1) == ("around", 5)


def test_the_text_is_the_same_each_time():
    functions = {"a": with_defaults, "b": libraries, "c": halves}
    text = source_of(functions)
    assert text == source_of(functions)
    assert source_of(load(text)) != ""  # and a loaded function can travel on
    assert same(back(**load(text))["a"](1, e=2), with_defaults(1, e=2))


# ---------------------------------------------------------------- what stays at home


def needs(thing):
    def update(x):
        return x, thing

    return update


class Mine:
    pass


class Pickled:
    def __reduce__(self):
        return pickle.loads, (b"N.",)


shut = open(__file__)  # noqa: SIM115  a thing that cannot travel
shut.close()
itself = ([],)
itself[0].append(itself)
REFUSED = [
    (shut, "`update` uses `thing`, a TextIOWrapper, which cannot travel to the process that tries "
           "it: make it inside the function"),
    ((n for n in "ab"), "`thing`, a generator, which"),
    (threading.Lock(), "`thing`, a lock, which"),
    (np.zeros(LARGEST + 1), "`thing`, an array of 262145 float64, and at most 262,144 of them"),
    (np.array([shut]), "`thing`, a TextIOWrapper, which"),
    ([0] * (LARGEST + 1), "`thing`, a list of 262145, and at most 262,144 of them travel to the "
                          "process that tries it: make it when it is needed"),
    ([{1: shut}], "`thing`, a TextIOWrapper, which"),
    (rlcompleter.__main__, "`thing`, a module, which"),
    (fixed_types, "`thing`, compiled for fixed types: leave them out"),
    (itself, "`update` uses `thing`, a tuple of 1 that holds itself"),
    (torch.zeros(2).untyped_storage(), "`thing`, an UntypedStorage, which"),
    (Pickled(), "`thing`, a Pickled, which"),
]  # fmt: skip


@pytest.mark.parametrize("thing, said", REFUSED, ids=lambda each: str(each)[:20])
def test_what_cannot_travel_is_refused_in_one_line(refused, thing, said):
    refused(lambda: source_of({"update": needs(thing)}), said)


def test_the_one_who_uses_it_is_named():
    def helper():
        return shut

    with pytest.raises(ValueError, match="^`helper` uses `shut`, a TextIOWrapper"):
        source_of({"index": lambda: helper()})
    thing = Mine()
    thing.file = shut
    with pytest.raises(ValueError, match="^`index` uses `thing`, a TextIOWrapper"):
        source_of({"index": lambda: thing})


@pytest.mark.parametrize("entry, said", [(3, "an int"), (Mine(), "a Mine"), ("f", "a str")])
def test_what_is_no_function_is_refused(entry, said):
    with pytest.raises(ValueError, match=f"^`index` is {said}: give a function"):
        source_of({"index": entry})


def test_functions_without_a_source_are_refused():
    room = {}
    exec("def f(x):\n    return x\ng = lambda x: x", room)
    for who, function in (("f", room["f"]), ("index", room["g"])):
        with pytest.raises(ValueError, match=f"^the source of `{who}` cannot be found: define it"):
            source_of({"index": function})


def test_a_file_that_was_edited_meanwhile(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "edited_2048.py"
    file.write_text("def f(x):\n    return x\n")
    import edited_2048

    assert load(source_of({"f": edited_2048.f}))["f"](3) == 3
    for text in ("x = 1\n\ndef f(x):\n    return -x\n", "def f(x:\n"):
        file.write_text(text)
        with pytest.raises(ValueError, match="the source of `f` cannot be found"):
            source_of({"f": edited_2048.f})
