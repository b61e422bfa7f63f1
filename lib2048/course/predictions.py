"""What the reader says before a result is shown: kept, returned, and marked in the result."""

import re

import numpy as np

from lib2048.course.reader import folder as mine
from lib2048.machine.files import read_json
from lib2048.machine.printed import set_apart
from lib2048.machine.terminal import in_notebook

SECTION = "predictions"
YOURS = "#8b1a62"  # of the reader's mark; no curve has it
DASHED = (0, (6, 2, 1, 2))
LONGEST = 80  # characters of an answer in words
# What people write for a number: 12 000, 0,5, ~30 %, 12 k, 1.5 million points, 1e6, × 3.
NUMBER = re.compile(
    r"(?:~|≈|×|about)? *(?P<sign>[-−+]?)"
    r"(?P<digits>[1-9]\d{0,2}(?:[ ,_'’\xa0\u202f]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?(?:e[-+]?\d+)?)"
    r" *(?P<size>[kK](?!\w)|M(?!\w)|thousand|million)?"
    r" *(?:%|per ?cent|×|x|times|points?|actions?|games?|moves?|tiles?|boards?|seconds?|s)?"
)
SIZES = {None: 1, "k": 1e3, "K": 1e3, "thousand": 1e3, "M": 1e6, "million": 1e6}
PREDICT = re.compile(r"""\bpredict\(\s*["']((?:\d\d|A\d)\.\d+)["']""")  # in a lesson's cell

_unkept = {}  # what could not be written: it counts in this session
_drawn = {}  # the widgets on which predictions are drawn in this session


def predict(name, value=None, *more, axis=None, over=None):
    """Keep the reader's prediction, print one line about it, and return it.

    With an axis a notebook also shows it, empty: the reader drags a dot there instead of writing a
    number, or draws a line whose end is the number.

    A name that no lesson asks for is kept all the same, and the line says so.

    It is kept, with the time, in `my/progress.json` where `lib2048 lessons start` has made that
    folder, otherwise in the user's data folder; the variable LIB2048_MY names another.  Where it
    cannot be written, one line says so and it counts in this session.

    Args:
        name: lesson and number, "06.1".
        value: a number, also as people write it ("12 k", "50 %"), or a few words ("more slowly").
            Said again, the newest counts, and the line names the first.  None says nothing new: the
            prediction made before is returned, or, with an invitation, None.
        axis: (low, high, unit) of the number, or with a fourth what it says, in words.
        over: (low, high, unit) of the axis below a line: it is drawn over this.

    Raises:
        ValueError: for another name or value, in one line.
    """
    if more:
        raise ValueError(
            f"prediction {name}: one number is needed; 12,000 is two of them, so "
            "write 12000 or 12_000"
        )
    name = _named(name)
    before = _entry(name)
    now = before if value is None else _keep(name, _plain(name, value), before)
    if axis and in_notebook():
        _show(name, axis, over, _line(name, before, now, drawn=True))
    else:
        print(_line(name, before, now))
    return now["last"]["value"] if now else None


def predicted(name):
    """Return the reader's newest prediction, a number or words; None where there is none."""
    entry = _entry(_named(name))
    return entry["last"]["value"] if entry else None


def you_said(name, unit="", truth=None):
    """Return what is printed beside a result: 'you said 12 000 points', or where it would stand.

    Args:
        unit: what stands behind a number, and not behind words.
        truth: the result, a number: it is drawn on the axis beside the guess.
    """
    _reveal(_named(name), truth)
    if (value := predicted(name)) is None:
        return f"your guess ({_named(name)}) would stand here"
    return f"you said {as_said(value)} {unit if not isinstance(value, str) else ''}".rstrip()


def _named(name):
    """Return the name of a prediction as lessons write it; "6.1" and 6.1 are "06.1"."""
    if found := re.fullmatch(r"(A\d|\d{1,2})(\.\d+)", str(name).strip().upper()):
        return found[1].zfill(2) + found[2]
    raise ValueError(f'prediction {name!r}: a name is lesson and number, such as "06.1"')


def _entry(name):
    """Return {"first": …, "last": …}, each {"value", "when"}; {} where nothing was predicted."""
    entry = _unkept.get(name) or mine.entries(SECTION).get(name, {})
    return entry if _is_whole(entry) else {}


def _is_whole(entry):
    said = [entry.get(key) for key in ("first", "last")]
    return all(isinstance(s, dict) and isinstance(s.get("value"), int | float | str) for s in said)


def _keep(name, value, before, line=None):
    """Write a prediction behind the first one; return its entry.  line: [[x, y]] that was drawn."""

    def changed(old):
        if _is_whole(old) and old["last"]["value"] == value and old["last"].get("line") == line:
            return old
        said = {"value": value, "when": mine.now()} | ({"line": line} if line else {})
        return {"first": old["first"] if _is_whole(old) else said, "last": said}

    _unkept.pop(name, None)
    kept = mine.change(SECTION, name, changed)
    if kept is None:
        kept = _unkept[name] = changed(before)
    return kept


def _plain(name, value):
    """Return a number of Python's, or words in one line."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str) and (found := NUMBER.fullmatch(value.strip())):
        value = _read(**found.groupdict())
    if isinstance(value, str) and 0 < len(text := " ".join(value.split())) <= LONGEST:
        return text
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18:
        return value
    shown = f"{value!r}"[:60]
    raise ValueError(f"prediction {name}: a number is needed, or a few words, not {shown}")


def _read(sign, digits, size):
    """Return the number that somebody wrote: a comma before three digits sets thousands apart."""
    if re.fullmatch(r"\d+,(\d{1,2}|\d{4,})|0,\d+", digits):
        digits = digits.replace(",", ".")
    number = float(re.sub(r"[^\de.+-]", "", digits)) * SIZES[size]
    number = -number if sign in ("-", "−") else number
    return int(number) if number.is_integer() else number


def as_said(value):
    """Write a prediction as people read numbers: 12 000; words in quotation marks."""
    if isinstance(value, str):
        return f"“{value}”"
    return set_apart(f"{value:,}" if isinstance(value, int) else f"{value:,.10g}")


def _line(name, before, now, drawn=False):
    """Return what is said to the reader; drawn: whether there is an axis for it."""
    if not now:
        ways = "draw it. Or write it in place of None" if drawn else "write it in place of None,"
        return f"{name} waits for your guess: {ways} and run this cell again."
    first, last = (as_said(now[key]["value"]) for key in ("first", "last"))
    at_first = f" (at first {first})" if first != last else ""
    if before == now:
        return f"{name}: you said {last}{at_first}."
    return f"{name}: you say {last}{at_first}. {_unasked(name) or 'Now see what happens.'}"


def _unasked(name):
    """Say that no lesson asks for a prediction; "" where one does, or where nobody knows."""
    lesson, folder = name.partition(".")[0], mine.lessons()
    if folder is None:
        return ""
    [*found] = folder.glob(f"{lesson}_*.ipynb")
    names = [one for path in found for one in _asked(path)]
    if not found:
        return f"It is kept, though there is no lesson {lesson}."
    asks = f"lesson {lesson} asks for {', '.join(names) or 'none'}"
    return "" if name in names else f"It is kept, though no lesson asks for it: {asks}."


def _asked(path):
    """Return the names of the predictions that a notebook asks for; none where it is damaged."""
    try:
        cells = read_json(path)["cells"]
        codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, LookupError, TypeError):
        return []
    return list(dict.fromkeys(PREDICT.findall("\n".join(codes))))


# ---------------------------------------------------------------- on an axis


def _show(name, axis, over, said):
    """Show the axes on which a prediction is drawn, and what was drawn there before."""
    from IPython.display import display

    from lib2048.course.explorers.guess import Axis, Guess

    def keep(value, line):
        before = _entry(name)
        return _line(name, before, _keep(name, value, before, line))

    if name in _drawn:
        _drawn[name].close()
    kept = predicted(name), _drawn_line(name)
    _drawn[name] = Guess(name, Axis(*axis), over and Axis(*over), kept, said, keep)
    display(_drawn[name])


def _drawn_line(name):
    """Return the line that was drawn as a prediction, [[x, y]]; None where a number was said."""
    entry = _entry(name)
    return entry["last"].get("line") if entry else None


def _reveal(name, truth):
    """Draw the truth, a number or [(x, y)], over the prediction where it was drawn."""
    if truth is not None and name in _drawn:
        _drawn[name].reveal(truth)


# ---------------------------------------------------------------- in a figure


def mark_prediction(ax, name, history=None):
    """Mark the reader's prediction of a height in a figure of a result; return ax.

    The axis makes room for a number near its range; one far outside gets an arrow at the edge.
    Words stand above the figure.

    Args:
        ax: what `plot.curves` and others return.
        history: the `History` that the figure shows, where a line over its seconds was to be
            drawn: the line is drawn into the figure, and the history over the line.
    """
    value, drawn = predicted(name), None
    if history is not None:
        drawn = _against(_named(name), history)
    if drawn and _make_room(ax, max(drawn[1])) is None:
        ax.plot(*drawn, color=YOURS, linestyle=DASHED, linewidth=1.8)
        note = {"color": YOURS, "fontsize": 11, "ha": "right", "va": "bottom"}
        ax.annotate(f"you said {as_said(value)}", (drawn[0][-1], drawn[1][-1]), **note)
        return ax
    if isinstance(value, str):
        ax.set_title(f"you said {as_said(value)}", loc="right", fontsize=11, color=YOURS)
    elif value is not None:
        _mark(ax, value)
    return ax


def _against(name, history):
    """Draw a history over a prediction that was drawn; return the line as (actions, heights)."""
    rows = history.table() or [history.latest()]
    _reveal(name, [(row["seconds"], row["mean"]) for row in rows])
    if not (line := _drawn_line(name)):
        return None
    seconds, actions = zip((0, 0), *((row["seconds"], row["actions"]) for row in rows))
    x, heights = zip(*line)
    return np.interp(x, seconds, actions).tolist(), list(heights)


def _mark(ax, value):
    """Draw a line at the number, or an arrow towards it, and write the number there."""
    note = {"color": YOURS, "fontsize": 11, "textcoords": "offset points", "annotation_clip": False}
    note["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.5}
    edge, said = _make_room(ax, value), f"you said {as_said(value)}"
    if edge is None:
        ax.axhline(value, color=YOURS, linestyle=DASHED, linewidth=1.8)
        note |= {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom"}
        ax.annotate(said, (1, value), (-4, 3), **note)
    else:  # at the left, where rising curves leave room
        note |= {"xycoords": "axes fraction", "ha": "left", "va": "top" if edge else "bottom"}
        ax.annotate(f"{'↓↑'[edge]} {said}", (0, edge), (4, -3 if edge else 3), **note)


def _make_room(ax, value):
    """Let the axis reach the number; 0 or 1, its lower or upper end, where that is too far."""
    ends, scale = ax.get_ylim(), ax.yaxis.get_transform()
    low, high, at = scale.transform(np.array([*sorted(ends), value], float))
    far, margin = high - low, (high - low) / 20
    if not low - far <= at <= high + far:
        return int(at > high)
    if not low <= at <= high:
        reach = np.array([min(low, at - margin), max(high, at + margin)])
        ax.set_ylim(sorted(scale.inverted().transform(reach), reverse=bool(ends[0] > ends[1])))
    return None
