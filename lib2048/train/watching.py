"""What a person at the keyboard sees of a run, and how they stop it."""

import functools
import signal
import threading
from contextlib import contextmanager

from lib2048.machine.printed import thousands
from lib2048.machine.terminal import bar, in_notebook, tell

# JupyterLab shows whatever ends a cell in red: this hides it, behind the same words as plain news.
ENDED = (
    '<style class="lib2048-stopped">.jp-OutputArea-child:has(.lib2048-stopped) + '
    ".jp-OutputArea-child {display: none}</style>"
)


class Stopped(KeyboardInterrupt):
    """Someone stopped a run; nothing that it has learned is lost.

    run: the `Run`, which can go on.  In a notebook it ends the cell, and the cells that wait
    behind it, with one line instead of a traceback.
    """

    def __init__(self, run, text):
        super().__init__(text)
        self.run, self._told = run, False

    def _render_traceback_(self):
        if in_notebook() and not self._told:  # IPython asks more than once
            tell(str(self), after=ENDED)
            self._told = True
        return [str(self)]


@contextmanager
def stop_asked(stop):
    """Turn Ctrl-C, the Stop button and a polite kill into a flag, looked at between two chunks.

    stop: a `threading.Event`.  Yields an event that is set only when it was one of these.  What is
    ignored, as a shell lets Ctrl-C be for what it starts in the background, stays so.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def press(*_):
        pressed.set()
        stop.set()

    before = {kind: signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)}
    before = {kind: how for kind, how in before.items() if how is not signal.SIG_IGN}
    for kind in before:
        signal.signal(kind, press)
    try:
        yield pressed
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


@contextmanager
def progress_bar(wanted, run, unit, total):
    """Yield a function that shows a run's progress; tqdm's bar, on stderr or in the notebook.

    wanted: whether to show one, or a function to call with the run instead; unit: 'games',
    'actions' or 'seconds', of which it is to go on for `total`.
    """
    if callable(wanted):
        yield functools.partial(wanted, run)
        return
    start = run.done(unit)
    with progress_line(wanted, unit, total) as tell:

        def show():
            rate = run.actions / max(run.seconds, 1e-9)
            speed = f"{rate / 1e6:.1f} M" if rate > 1e5 else f"{rate / 1e3:.1f} k"
            tell(run.done(unit) - start, f"{speed} actions/s, {last_mean(run)}")

        yield show if wanted else lambda: None


@contextmanager
def progress_line(wanted, unit, total):
    """Yield a function of (how much is done, what else to say) that moves a line on.

    It says amounts as people do: "9.7 of 20 M actions".
    """
    form = "{desc} {percentage:3.0f}%|{bar}| [{elapsed}<{remaining}{postfix}]"
    with bar(wanted, total=total, bar_format=form) as shown:

        def tell(done, text):
            shown.set_description_str(f"{amount(done, total)} {unit}", refresh=False)
            shown.update(min(done, total) - shown.n)
            shown.set_postfix_str(text)

        yield tell


def last_mean(run):
    """Say what a run's last 1000 training games were worth."""
    return f"last mean {thousands(run.history.mean_last())}"


def amount(number, of):
    """Write how much of a budget is done: '9.7 of 20 M', '12 of 300'."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if of >= 10 * size or (of >= size and size > 1e3):
            return f"{number / size:.3g} of {of / size:.3g}{letter}"
    return f"{number:.3g} of {of:.3g}"
