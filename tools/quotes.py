"""Say of every result that a lesson quotes where it comes from, and check that it is there.

    python tools/quotes.py            list what is quoted without a source, or with a wrong one
    python tools/quotes.py 06 07      only in these lessons

A result is a score, a share, a speed or a time in the prose: a number with one of `UNITS`, or one
of four digits or more, written as 68 800, that counts nothing and is no tile.  In
`notebooks/quotes.toml` each lesson has a table, and there each result, in the lesson's words, its
source.  That is one of

    {line = "TEXT"}    a line with this text, shown by one of the lesson's cells
    {code = "TEXT"}    a line of code with this text: what is asserted there, or set
    {data = "FILE", where = "…", value = "…"}    rows of data/FILE by pandas, the mean of a column;
                       a list of columns for what is quoted with its ±
    {sum = "…"}        arithmetic, as of a worked example; a list of two with a ±
    {given = "WHY"}    nothing that was measured: a supposition, a definition

and `lesson = "02"` beside line or code takes it from that lesson.

Such a line must hold a number, the data or the sum must make one, that rounds to what is quoted;
for a share in per cent also its hundredth.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pandas as pd
from lessons import LESSONS, ROOT, code_cells, lessons, texts

LIST = LESSONS / "quotes.toml"
EVERYWHERE = "all"  # the table of what any lesson may say

SPACE = "[ \u00a0\u202f]"
NUMBER = rf"[−+-]?\d{{1,3}}(?:{SPACE}\d{{3}})+(?:\.\d+)?|[−+-]?\d+(?:\.\d+)?"
THINGS = "(?:moves|actions|positions|games|boards)"
UNITS = (
    r"%|per cent|points?|k\b|times|GiB|MiB|GB|MB|KB"
    rf"|hours?|minutes?|seconds?|ms\b|µs\b|(?<={SPACE})s(?= (?:a|for)\b)"
    rf"|(?:M |k |million )?{THINGS}(?:/s| a second| an hour)"
)
COUNTS = (
    "actions?|afterstates?|boards?|cells?|entries|episodes?|games?|look-ups?|moves?|nodes?|numbers?"
    "|pairs?|parameters|patterns?|positions?|seeds?|states?|tiles?|times|tuples?|turns?|weights?"
)
QUOTE = re.compile(
    rf"(?<![\w.^·/*×{{−+-])(?<!\w\()(?P<number>(?>{NUMBER}))(?:{SPACE}?±{SPACE}?(?>{NUMBER}))?"
    rf"(?:{SPACE}?(?P<unit>{UNITS}))?(?![\w^])(?! (?:[a-z]+ )?(?:{COUNTS})\b)"
)
TILES = {2.0**k for k in range(18)}
LEFT_OUT = (
    *(r"```.*?```", r"\$\$.*?\$\$", r"\$[^$]*\$", r"`[^`]*`", r"<code>.*?</code>"),
    *(r"\]\([^)]*\)", r"</?\w[^>]*>"),
)


# ---- what is quoted ------------------------------------------------------------------------------


def quoted(notebook: nbformat.NotebookNode) -> Iterator[tuple[int, str]]:
    """Yield (cell, words) of every result in the prose, the title cell's apart."""
    for n, cell in enumerate(notebook.cells[1:], 1):
        if cell.cell_type == "markdown":
            found = QUOTE.finditer(prose(cell.source))
            yield from ((n, quote[0].strip()) for quote in found if is_result(quote))


def prose(markdown: str) -> str:
    """Return the prose of a cell on one line: no code, equations, tags or addresses of links."""
    for left_out in LEFT_OUT:
        markdown = re.sub(left_out, " ", markdown, flags=re.DOTALL)
    return " ".join(markdown.split())


def is_result(quote: re.Match) -> bool:
    """Say whether a number of the prose has a unit, or four digits and is neither year nor tile."""
    number = quote["number"]
    long = bool(re.search(SPACE, number)) or size(number) > 9999
    return bool(quote["unit"]) or (long and size(number) not in TILES)


def size(number: str) -> float:
    """Return the number that a text writes, with thousands apart and a minus of any kind."""
    return float(re.sub(SPACE, "", number).replace("−", "-"))


# ---- where it comes from -------------------------------------------------------------------------


def rounds_to(value: float, words: str) -> bool:
    """Say whether a value is what these words say first, to the last digit that is not a zero."""
    number = re.search(NUMBER, words)[0]
    digits, decimals = re.sub(r"\D", "", number), len(number.partition(".")[2])
    zeros = 0 if decimals else len(digits) - len(digits.rstrip("0"))
    unit = 10.0 ** (min(zeros, len(digits) - 1) - decimals)
    scales = (1, 100) if re.search("%|per cent", words) else (1, 1e-3) if " k" in words else (1,)
    wanted = abs(size(number))
    return any(abs(abs(value) * k - wanted) <= 0.5 * unit * (1 + 1e-9) for k in scales)


def in_a_line(lines: Iterator[str], text: str, words: str) -> bool:
    """Say whether lines with this text hold every number of these words, rounded as there."""
    found = [size(n) for line in lines if text in line for n in re.findall(NUMBER, plain(line))]
    return all(any(rounds_to(n, said) for n in found) for said in each(words))


def each(words: str) -> list[str]:
    """Return the numbers of these words, each with their unit."""
    unit = re.sub(NUMBER, "", words)
    return [number + unit for number in re.findall(NUMBER, words)]


def say(values: list[float], words: str) -> bool:
    """Say whether these values, in turn, are the numbers of these words."""
    said = each(words)
    return len(values) == len(said) and all(map(rounds_to, values, said))


def plain(line: str) -> str:
    """Return a line whose thousands are not apart by a comma or an underscore."""
    return re.sub(r"(?<=\d)[,_](?=\d{3})", "", line)


def shown(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """Yield every line that the cells of a lesson show; a row of a table is a line."""
    for _, cell in code_cells(notebook):
        for output in cell.outputs:
            alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
            for text in [*texts(output), alt]:
                yield from re.sub(r"</t[dh]>\s*<t[dh][^>]*>", "  ", text).splitlines()


def written(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """Yield every line of code of a lesson."""
    for _, cell in code_cells(notebook):
        yield from cell.source.splitlines()


def of_data(source: dict) -> list[float]:
    """Return the mean of each value over the rows of a file of data/."""
    rows = pd.read_csv(ROOT / "data" / source["data"]).query(source["where"])
    if rows.empty:
        raise ValueError(f"no row of {source['data']} has {source['where']}")
    return [rows.eval(value).mean() for value in listed(source["value"])]


def listed(what: str | list[str]) -> list[str]:
    """Return a list as it is, a text as a list of it alone."""
    return [what] if isinstance(what, str) else what


def arithmetic(text: str) -> float:
    """Return what a sum of numbers makes; raise ValueError if it holds anything else."""
    tree = ast.parse(text, mode="eval")
    known = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    if not all(isinstance(node, known) for node in ast.walk(tree)):
        raise ValueError(f"{text!r} is no arithmetic")
    return eval(compile(tree, "sum", "eval"))  # numbers and + - * / ** alone


def holds(words: str, source: dict, notebook: nbformat.NotebookNode) -> bool:
    """Say whether a source carries what is quoted."""
    match source:
        case {"lesson": number, **there}:
            return holds(words, there, nbformat.read(*lessons([number]), as_version=4))
        case {"line": text}:
            return in_a_line(shown(notebook), text, words)
        case {"code": text}:
            return in_a_line(written(notebook), text, words)
        case {"data": _, "where": _, "value": _}:
            return say(of_data(source), words)
        case {"sum": text}:
            return say(list(map(arithmetic, listed(text))), words)
        case {"given": why}:
            return len(why.split()) > 1
    raise ValueError(f"{source} is no source: see tools/quotes.py")


# ---- a lesson's complaints -----------------------------------------------------------------------


def sourced() -> dict[str, dict]:
    """Return the list: {lesson: {words: source}}."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def complaints(path: Path) -> list[str]:
    """Return what of a lesson's results has no source or a wrong one, and what sources are idle."""
    notebook, known = nbformat.read(path, as_version=4), sourced()
    here, said = known.get(path.name[:2], {}), dict(reversed([q[::-1] for q in quoted(notebook)]))
    missing = [words for words in said if words not in here | known[EVERYWHERE]]
    wrong = [words for words in here if not holds(words, here[words], notebook)]
    return (
        [f"cell {said[words]}: {words!r} has no source" for words in reversed(missing)]
        + [f"{words!r} is not in {here[words]}" for words in wrong]
        + [f"{words!r} is not quoted" for words in here if words not in said]
    )


def main() -> int:
    """Print all complaints; return 1 if there are any."""
    wrong = [f"{path.name}: {line}" for path in lessons(sys.argv[1:]) for line in complaints(path)]
    print("\n".join(wrong) or "every result has its source")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
