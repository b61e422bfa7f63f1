"""The library's docstrings in the book: plain prose in, paragraphs, lists and code out.

A docstring of lib2048 is a sentence, and then paragraphs such as "scores: int64[games]; seconds:
time.  Raises ValueError for no game."  Such a paragraph becomes a list of names, with what it says
at its end below; `words` in single quotes are code; what is indented is a block of code.
"""

import re

import lib2048
from lib2048 import course, deep, draw, plot
from lib2048.course import labs

NAME = r"\*{0,2}[a-z_]\w*"
ITEM = re.compile(rf"(?:^|(?<=; )|(?<=\. )|(?<=\): ))({NAME}(?:, {NAME})*): ")
END = re.compile(r"(?<=[.;:]) (?=(?:Returns?|Raises|Where|With) )")
CODE = re.compile(r"(`[^`]+`)")
# What functions of these rooms return, and nobody makes himself.
RETURNED = {
    "play": ["play.evaluation.Result", "play.experience.Experience", "play.statistics.Comparison"],
    "train": ["train.history.History", "train.race.Race"],
}
LINKS = {
    name: f"{module.__name__}.{name}"
    for module in (labs, deep, course, lib2048)
    for name in module.__all__
    if name[0].isupper() or "_" in name
}
LINKS |= {
    name.rpartition(".")[2]: f"lib2048.{name}" for names in RETURNED.values() for name in names
}
LINKS |= {
    f"{room}.{name}": f"lib2048.{room}.{name}"
    for room, module in {"draw": draw, "plot": plot}.items()
    for name in module.__all__
    if callable(getattr(module, name))
}


def setup(app):
    """Let Sphinx ask here about every docstring and every member."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}


def _skip(app, what, name, member, skip, options):
    """Leave out the fields of named tuples, whose docstrings say nothing."""
    return True if (getattr(member, "__doc__", "") or "").startswith("Alias for field") else skip


def _process(app, what, name, member, options, lines):
    lines[:] = rst("\n".join(lines), name.rpartition(".")[2]).split("\n")


def rst(docstring, own=""):
    """Return a docstring as reStructuredText.  own: a name that is not linked, its owner's."""
    blocks = re.split(r"\n\s*\n", docstring.strip("\n"))
    return "\n\n".join(_block(block, own) for block in blocks if block.strip()) + "\n"


def _block(block, own):
    lines = block.split("\n")
    if all(line.startswith("    ") for line in lines):
        return "::\n\n" + block
    if lines[0].startswith("* "):
        return "\n".join(f"* {_inline(item, own)}" for item in _bullets(lines))
    return _paragraph(" ".join(" ".join(lines).split()), own)


def _bullets(lines):
    items = []
    for line in lines:
        if line.startswith("* "):
            items.append(line[2:])
        else:
            items[-1] += " " + line.strip()
    return items


def _paragraph(text, own):
    """Return a paragraph, its "name: what it is" as a list."""
    found = list(ITEM.finditer(text))
    if not found or (found[0].start() and not text[: found[0].start()].endswith("): ")):
        return _inline(text, own)
    ends = [match.start() for match in found[1:]] + [len(text)]
    last, *rest = END.split(text[found[-1].end() :], maxsplit=1)
    bodies = [text[match.end() : end] for match, end in zip(found, ends)][:-1] + [last]
    items = [
        f"* {_names(match[1])}: {_inline(body.rstrip('; '), own)}"
        for match, body in zip(found, bodies)
    ]
    parts = [_inline(text[: found[0].start()], own), "\n".join(items), _inline(" ".join(rest), own)]
    return "\n\n".join(part for part in parts if part)


def _names(text):
    return ", ".join(f"**{_escaped(name)}**" for name in text.split(", "))


def _inline(text, own):
    """Return a line of prose with its code marked, and nothing else that could be markup."""
    parts = CODE.split(text.strip())
    for i in range(1, len(parts), 2):
        beside = parts[i - 1][-1:].strip(), parts[i + 1][:1].strip()
        left, right = ("\\ " if letter else "" for letter in beside)  # markup stands between blanks
        parts[i] = left + _code(parts[i][1:-1], own) + right
    parts[::2] = [_escaped(part) for part in parts[::2]]
    return "".join(parts)


def _code(text, own):
    link = LINKS.get(text) if text != own else None
    return f":py:obj:`{text} <{link}>`" if link else f"``{text}``"


def _escaped(text):
    return re.sub(r"([\\*|_])", r"\\\1", text)
