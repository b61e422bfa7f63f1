"""What is told to a person: lines of news, bars of progress, texts that a terminal can show.

A terminal has them on stderr.  In a notebook, where stderr is red, they are plain lines.
"""

import codecs
import contextlib
import difflib
import functools
import html
import io
import os
import sys

ASCII = {
    "±": "+-", "…": "...", "→": "->", "−": "-", "–": "-", "×": "x", "·": "*", "≥": ">=", "≤": "<=",
    "α": "alpha", "β": "beta", "λ": "lambda", "μ": "mu", "′": "'", "“": '"', "”": '"', "’": "'",
    "○": "o", "●": "*", "✓": "+", "✗": "x", "\u202f": " ",
}  # fmt: skip
PLAIN = "lib2048.plain"  # names how `plainly` is asked for what an encoding cannot write
NEWS = "lib2048-news"  # the class of what is no result of a cell: stored lessons leave it out


@functools.cache
def say(text):
    """Tell a line of news, once a process; nothing where there is no stderr."""
    if in_notebook():
        tell(text)
    elif sys.stderr is not None:
        print(f"lib2048: {text}", file=sys.stderr, flush=True)


def in_notebook():
    """Say whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython and ipython.get_ipython(), "kernel", None) is not None


def tell(text, before="", after=""):
    """Show a line of news in a notebook, and return what changes it.

    before, after: HTML around it.
    """
    from IPython.display import display

    return display(as_news(text, before, after), raw=True, display_id=True)


def as_news(text="", before="", after=""):
    """Return a line of news as an output of a notebook, or an empty one."""
    line = f'{before}<small class="{NEWS}">{html.escape(text)}</small>{after}' if text else ""
    return {"text/plain": text, "text/html": line}


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


BESIDE = "{desc} {percentage:3.0f}% [{elapsed}<{remaining}{postfix}]"


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
    from tqdm import tqdm

    return _notebook_bar()(**how) if in_notebook() else tqdm(file=sys.stderr, leave=False, **how)


@functools.cache
def _notebook_bar():
    """Return tqdm's bar as an output of a notebook.

    Its own for notebooks is a widget, and of that a saved notebook keeps an error message.
    """
    from tqdm import tqdm

    class Bar(tqdm):
        def __init__(self, *args, **how):
            self._shown = None
            super().__init__(*args, file=io.StringIO(), leave=False, **how)

        def display(self, msg=None, pos=None):
            if self.disable or msg == "":
                return
            about = self.format_dict
            text = self.format_meter(**about | {"bar_format": BESIDE, "ncols": None})
            share = min(1.0, about["n"] / about["total"]) if about["total"] else 0
            meter = f'<progress value="{share:.3f}" style="width: 9em"></progress> '
            if self._shown is None:
                self._shown = tell(text.strip(), meter)
            else:
                self._shown.update(as_news(text.strip(), meter), raw=True)

        def close(self):
            super().close()
            if self._shown is not None:
                self._shown.update(as_news(), raw=True)

    return Bar


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
