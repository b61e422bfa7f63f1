"""What is told to a person: lines on stderr, bars of progress, texts that a terminal can show."""

import codecs
import contextlib
import difflib
import functools
import io
import os
import sys

ASCII = {
    "±": "+-", "…": "...", "→": "->", "−": "-", "–": "-", "×": "x", "·": "*", "≥": ">=", "≤": "<=",
    "α": "alpha", "β": "beta", "λ": "lambda", "μ": "mu", "′": "'", "“": '"', "”": '"', "’": "'",
    "○": "o", "●": "*", "✓": "+", "✗": "x", "\u202f": " ",
}  # fmt: skip
PLAIN = "lib2048.plain"  # names how `plainly` is asked for what an encoding cannot write


@functools.cache
def say(text):
    """Print a line on stderr, once a process; nothing where there is no stderr."""
    if sys.stderr is not None:
        print(f"lib2048: {text}", file=sys.stderr, flush=True)


def one_line(text):
    r"""Return a text in one line: what cannot be seen, such as a line break, as \n."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def in_short(thing):
    """Return how Python writes a thing, in one line that is not too long."""
    return one_line(repr(thing))[:100]


def meant(said, known):
    """Return ": is it 'train'?" for a word that is close to one that is known, else ''.

    known: the words themselves, in any order.
    """
    by_small = {str(word).lower(): word for word in known}
    near = difflib.get_close_matches(str(said).lower(), by_small, 1)
    return f": is it {by_small[near[0]]!r}?" if near else ""


# ---------------------------------------------------------------- progress


class _NoBar(contextlib.nullcontext):
    """A bar that shows nothing."""

    n = 0

    def __enter__(self):
        return self

    def update(self, count, refresh=True):
        """Move on by a count, unseen."""

    set_postfix_str = set_description_str = update


def bar(wanted, **how):
    """Return a bar of progress, on stderr or in the notebook, that goes when its `with` ends.

    how: what tqdm takes.  Nothing is shown where it is not wanted, or where there is no stderr.
    """
    if not wanted or sys.stderr is None:
        return _NoBar()
    from tqdm.auto import tqdm

    return tqdm(file=sys.stderr, leave=False, **how)


# ---------------------------------------------------------------- streams


class Steady:
    """A stream that takes what it can: a disk that is full, or nobody who reads, ends no work."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        """Write a text, or as much of it as there is room for."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self):
        """Let what was written go its way."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name):
        return getattr(self._stream, name)


def plainly(error):
    """Write ± as +-, and so on, where an encoding has no such letter: a handler of `codecs`."""
    letters = error.object[error.start : error.end]
    return "".join(ASCII.get(c) or ascii(c)[1:-1] for c in letters), error.end


codecs.register_error(PLAIN, plainly)


def steady_streams():
    """Let stdout and stderr write every letter somehow, and stderr never fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    sys.stderr = Steady(sys.stderr)
