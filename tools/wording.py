"""Count what can be counted in the prose of lessons, labs and pages, as help for whoever writes.

    python tools/wording.py                 a row a text, and what all lessons have together
    python tools/wording.py 09 README.md    and of these texts every sentence that was counted

What is counted says where to read again, not what is wrong: a short sentence may be a good one.

- short: the share of sentences of fewer than eight words.  Formulas and code count as one word.
- decided: how often this word stands, which is meant for a verdict of `compare`.
- asked: questions to nobody.  A heading, a question in bold or behind something bold in its
  paragraph, and the questions and tasks of a lab or at a lesson's end ask the reader.
- aside: whole sentences in parentheses.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
from lessons import LESSONS, lessons
from quotes import blocks, name_of, pages

MOST_DECIDED = 60  # in all lessons together
MOST_ASKED = 3  # in a lesson
FEWEST_WORDS = 8  # of a sentence that is not short

TASKS = re.compile(r"(?m)^## (?:Five questions|Do next|Go on)$")
NO_PROSE = ("|", "**References.", "**You need**")  # how a block begins that has no sentences
ITEM = re.compile(r"(?m)^\s*(?:[-*]|\d+\.|\*\*\d+\.\*\*) (?=\S)")
LEFT_OUT = re.compile(
    r"(?s)\$\$.*?\$\$|(?m:^#+ .*$)|<summary>.*?</summary>|</?\w[^>]*>|(?m:^> ?)|\]\([^)]*\)|\["
)
ONE_WORD = re.compile(r"\$[^$]+\$|`+[^`]+`+")  # a formula or code within a sentence
BOLD = re.compile(r"\*\*(.+?)\*\*")
CLOSES = "\"”'’*_)"
END = re.compile(rf"[.!?]([{CLOSES}]*)\s+(?=[^\sa-z])")
NO_END = re.compile(r"\b(?:[A-Z]|al|vs|cf|Figs?|Eqs?|e\.g|i\.e|etc|pp?)$")  # before a full stop
WORD = re.compile(r"[^\W_][\w'’.,-]*")


class Sentence(NamedTuple):
    """A sentence of the prose: where it stands, its words, and whether it asks the reader."""

    place: int
    text: str
    to_reader: bool = False

    @property
    def short(self) -> bool:
        """Whether it has few words."""
        return len(WORD.findall(self.text)) < FEWEST_WORDS

    @property
    def asked(self) -> bool:
        """Whether it is a question to nobody."""
        return not self.to_reader and self.text.rstrip(CLOSES).endswith("?")

    @property
    def aside(self) -> bool:
        """Whether the parenthesis that it begins with ends only with it, or later."""
        inside = re.sub(r"\([^()]*\)", "", self.text.strip("*_")[1:])
        return self.text.strip("*_").startswith("(") and ")" not in inside[:-1]


def sentences(path: Path) -> list[Sentence]:
    """Return the sentences of a lesson, a lab or a page."""
    if path.suffix != ".ipynb":
        return [*of_text(path.read_text(encoding="utf-8"))]
    cells, tasks, found = nbformat.read(path, as_version=4).cells, False, []
    for n, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            found += [one._replace(place=n) for one in of_text(cell.source, tasks)]
            tasks = tasks or bool(TASKS.search(cell.source))
    return found


def of_text(markdown: str, tasks: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of Markdown; tasks: whether all of it asks the reader."""
    begin = TASKS.search(markdown)
    first = markdown.count("\n", 0, begin.start()) + 1 if begin else float("inf")
    for line, block in blocks(markdown):
        for part in () if block.startswith(NO_PROSE) else ITEM.split(block):
            yield from of_paragraph(part, line, tasks or line >= first)


def of_paragraph(paragraph: str, line: int, task: bool) -> Iterator[Sentence]:
    """Yield the sentences of a paragraph that begins in this line; its fragments are none."""
    text = " ".join(ONE_WORD.sub("Xx", LEFT_OUT.sub(" ", paragraph)).split())
    bold = BOLD.search(text)
    asks = bold.start() if bold else len(text)
    for begin, end in ends(text):
        sentence = text[begin:end].replace("**", "")
        if sentence.rstrip(CLOSES).endswith((".", "!", "?")) and WORD.search(sentence):
            yield Sentence(line, sentence, task or end > asks)


def ends(text: str) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of each sentence of a text on one line."""
    begin = 0
    for found in END.finditer(text):
        if not NO_END.search(text[: found.start()]):
            yield begin, found.end(1)
            begin = found.end()
    yield begin, len(text)


def decided(found: list[Sentence]) -> int:
    """Count the word "decided"."""
    return sum(len(re.findall(r"(?i)\bdecided\b", one.text)) for one in found)


def row(found: list[Sentence]) -> dict[str, float]:
    """Return what is counted in a text."""
    return {
        "sentences": len(found),
        "short": sum(one.short for one in found) / max(len(found), 1),
        "decided": decided(found),
        "asked": sum(one.asked for one in found),
        "aside": sum(one.aside for one in found),
    }


def texts(names: list[str]) -> list[Path]:
    """Return the lessons, labs and pages of these names, or all of them."""
    labs = sorted((LESSONS / "homework" / "source").glob("*/*.ipynb"))
    every = {name(path): path for path in [*lessons(), *labs, *pages()]}
    if unknown := [one for one in names if one not in every]:
        raise ValueError(f"no such text: {unknown[0]}; there are {', '.join(every)}")
    return [every[one] for one in names or every]


def name(path: Path) -> str:
    """Return the short name of a text: 09, hw05, docs/course.md."""
    lab = path.suffix == ".ipynb" and path.parent != LESSONS
    return path.stem if lab else name_of(path)


def table(chosen: list[Path]) -> Iterator[str]:
    """Yield a line a text, those with the most short sentences first."""
    rows = {name(path): row(sentences(path)) for path in chosen}
    yield f"{'':26}sentences  short  decided  asked  aside"
    for text, n in sorted(rows.items(), key=lambda pair: -pair[1]["short"]):
        counts = f"{n['decided']:9}{n['asked']:7}{n['aside']:7}"
        yield f"{text:26}{n['sentences']:9}  {n['short']:5.0%}{counts}"


def main() -> int:
    """Print what is counted, and of the texts that are named each sentence of it."""
    names = sys.argv[1:]
    try:
        chosen = texts(names)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(*table(chosen), sep="\n")
    for path in chosen if names else ():
        for one in sentences(path):
            kinds = [kind for kind in ("short", "asked", "aside") if getattr(one, kind)]
            kinds += ["decided"] * decided([one])
            if kinds:
                print(f"{name(path)} {one.place}: {', '.join(kinds)}: {one.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
