"""Which exercises the reader has passed, once; kept in the reader's record."""

from lib2048.course.reader import folder as mine

SECTION, WHOLE = "passed", "whole"


def keep_passed(exercise, part):
    """Keep that an answer passed all cases of an exercise (part None), or those of a part."""
    mine.change(SECTION, exercise.name, lambda old: _with(old, part or WHOLE))


def _with(old, part):
    """Return an entry with one part more, and when that was; what has passed stays so."""
    parts = _parts(old)
    return old if part in parts else {"parts": [*parts, part], "when": mine.now()}


def is_passed(exercise, entry):
    """Say whether an exercise was passed, as a whole or part by part.

    entry: what `mine` keeps of it, {} for nothing.
    """
    parts, all_of_them = set(_parts(entry)), {*exercise.parts, *exercise.looks}
    return WHOLE in parts or bool(all_of_them) and parts >= all_of_them


def _parts(entry):
    """Return the parts that an entry names, whatever else somebody has written into it."""
    parts = entry.get("parts")
    return [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
