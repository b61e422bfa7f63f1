"""The command line of readers: lib2048 lessons start | update, and lib2048 progress."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from lib2048.course.reader import copies
from lib2048.course.reader import folder as mine
from lib2048.course.reader.jupyter_settings import arrange


def add(commands, parser_class):
    """Add `lessons` and `progress` to the command line; commands: of argparse.

    Returns the parsers of the group `lessons`.
    """
    commands.add_parser("progress", help=DOES["progress"])
    group = commands.add_parser("lessons", help="copies of the lessons that are your own")
    lessons = group.add_subparsers(dest="lessons", parser_class=parser_class)
    lessons.add_parser("start", help=DOES["lessons start"])
    update = lessons.add_parser("update", help=DOES["lessons update"])
    update.add_argument(
        "--beside", action="store_true", help="put the newer one beside yours, as NAME.new.ipynb"
    )
    return list(lessons.choices.values())


def lessons(options):
    """Carry out `lessons start` or `lessons update`; return (what --json prints, the text).

    Without either it says what there is to do.
    """
    if options.lessons is None:
        return _choices()
    done = copies.update(getattr(options, "beside", False))
    text = _done(done, getattr(options, "beside", False))
    text += f"\n{TABS}" * arrange()
    if options.lessons == "start":
        done["open"] = str(Path(done["folder"], copies.FIRST))
        text += f"\nOpen them by: {shlex.join([_jupyter(), 'lab', copies.shown(done['open'])])}"
    return done, text


def progress(options):
    """Carry out `progress`; return (what --json prints, the text)."""
    from lib2048.course.reader.progress import progress

    found = progress()
    return found.as_dict(), str(found)


def _choices():
    """Say what `lib2048 lessons` can do, and what comes first here."""
    copies.originals()  # or say where they are
    folder = mine.folder()
    there = os.path.isdir(folder)
    lines = [f"{f'lib2048 {command}':34}{does}" for command, does in DOES.items()]
    first = f"Your copies are in {copies.shown(folder)}/." if there else BEGIN
    data = {"folder": str(folder), "started": there, "commands": [*DOES]}
    return data, "\n".join([*lines, "", first])


def _jupyter():
    """Return how Jupyter is called here: it may lie beside Python, and not where a shell looks."""
    beside = Path(sys.executable).with_name("jupyter")
    return "jupyter" if shutil.which("jupyter") or not beside.exists() else copies.shown(beside)


def _done(done, beside):
    """Say what was done, in a line for each kind."""
    words = {"count": len(done["added"]), "folder": copies.shown(done["folder"])}
    lines = [(NEW if done["added"] else NOTHING_NEW).format(**words)]
    lines += [text.format(names=", ".join(done[key])) for key, text in KINDS.items() if done[key]]
    return "\n".join(lines + [ASK] * (bool(done["newer"]) and not beside))


DOES = {
    "lessons start": "copy lessons and labs into my/, and say how to open them",
    "lessons update": "add new ones; say which of yours have a newer original",
    "lessons update --beside": "and put the newer one beside yours, as NAME.new.ipynb",
    "progress": "how far you have come, and the next step",
}
BEGIN = "You have no copies yet: begin with `lib2048 lessons start`."
NEW = (
    "{count} notebooks are new in {folder}/, without outputs. They are yours: nothing will "
    "overwrite them."
)
NOTHING_NEW = "{folder}/ has all lessons and labs."
TABS = (
    "In JupyterLab, close the tab of a lesson that you are done with: its kernel ends with it, and "
    "its memory is free."
)
ASK = "To have the new ones beside yours: lib2048 lessons update --beside"
KINDS = {
    "newer": "Newer than what you copied: {names}. Yours stay as they are.",
    "beside": "Put beside yours: {names}.",
    "kept": "There already, and left alone (move them away for newer ones): {names}.",
    "unread": "No notebooks any more, and left alone: {names}.",
}
