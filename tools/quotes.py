"""Say of every result that a lesson or a page quotes where it comes from; check that it is there.

    python tools/quotes.py                  list what is quoted without its source
    python tools/quotes.py 06 README.md     only in these lessons and pages

A result is a score, a share, a speed or a time in the prose: a number with one of `UNITS`, or one
of four digits or more, written as 68 800, that counts nothing and is no tile.  On a page it is also
a range (30 to 50 ms), a decimal alone, and a row of a table that holds one, as a whole:
"name: first | second".  In `notebooks/quotes.toml` and `docs/quotes.toml` each lesson and page has
a table, and there each result, in its own words, its source.  That is one of

    {line = "TEXT"}    a line with this text, shown by one of the lesson's cells
    {code = "TEXT"}    a line of code with this text: what is asserted there, or set
    {file = "PATH", line = "TEXT"}    a line with this text in any text file of the repository
    {data = "FILE", where = "…", value = "…"}    rows of data/FILE by pandas, the mean of a column;
                       a list of columns for what is quoted with its ±, and for a row of a table.
                       A list of runs, a network or a run's JSON is one row: value = "`table.key`"
    {sum = "…"}        arithmetic, as of a worked example; a list of two with a ±
    {measured = "COMMAND", on = "MACHINE"}    what no file holds: speeds, sizes and times
    {test = "tests/FILE.py::NAME"}    read again by that test; "table: HEAD" is then a whole table
    {given = "WHY"}    nothing that was measured: a supposition, a definition

and `lesson = "02"` beside line or code takes it from that lesson.  A source that many results share
has a name in the table `sources`; a page says name = ["result", "another"].

Such a line must hold a number, the data or the sum must make one, that rounds to what is quoted;
for a share in per cent also its hundredth, for millions their millionth.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
from lessons import LESSONS, ROOT, code_cells, lessons, texts

LISTS = (LESSONS / "quotes.toml", ROOT / "docs" / "quotes.toml")
EVERYWHERE = "all"  # the table of what any lesson or page may say
SHARED = "sources"  # the table of sources that have a name

GENERATED = {"docs/figures.md", "data/README.md"}  # from their data, by a command that a test runs
FOUND = ("*.md", "docs/*.md", "benchmarks/*.md", "data/**/*.md")

SPACE = "[ \u00a0\u202f]"
APART = "[ ,\u00a0\u202f]"  # thousands
NUMBER = rf"[−+-]?\d{{1,3}}(?:{APART}\d{{3}})+(?:\.\d+)?|[−+-]?\d+(?:\.\d+)?"
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
BEGIN = rf"(?<![\w.,^·/*×{{−+-])(?<!\w\()(?P<number>(?>{NUMBER}))"
PLUS_MINUS = rf"{SPACE}?±{SPACE}?(?>{NUMBER})"
END = rf"(?![\w^·])(?! (?:[a-z]+ )?(?:{COUNTS})\b)"
QUOTE = re.compile(rf"{BEGIN}(?:{PLUS_MINUS})?(?:{SPACE}?(?P<unit>{UNITS}))?{END}")

# A page tells of machines, where a lesson has rates and budgets: more units, and decimals alone.
MORE = rf"{UNITS}|ns\b|(?<={SPACE})s\b|days?\b|(?<=\.\d{SPACE})million"
MANY = r"(?:M\b|million|thousand)(?: an hour| a second)?"  # of what counts nothing
RANGE = rf"(?: to |–)(?>{NUMBER})|(?: or | and )(?>{NUMBER})(?={SPACE}?(?:{MORE}|{MANY}))"
ON_A_PAGE = re.compile(
    rf"{BEGIN}(?:{PLUS_MINUS}|{RANGE})?(?!\.\d)"
    rf"(?:{SPACE}?(?P<unit>{MORE})(?![\w^·])|(?:{SPACE}(?P<many>{MANY}))?{END})"
)
NO_DECIMAL = re.compile(r"(?:[=≈]|Section|Python|BY|doi|arXiv:) ?$")  # α = 0.1, Section 4.1
FIGURES = re.compile(
    rf"(?=.*\d)(?:(?>{NUMBER})(?:{SPACE}(?:{COUNTS}|cores?|threads?|runs?))?"
    rf"|{MORE}|{MANY}|[±·–(),]|to\b|{SPACE})+"
)
TILES = {2.0**k for k in range(18)}
NOTHING = nbformat.v4.new_notebook()  # a page has no cells to take a line from
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


def quoted_on(page: str, tested: Container[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield (line, words) of every result on a page, and "table: HEAD" of each table in tested."""
    for line, block in blocks(page):
        found = of_table(block, tested) if block.startswith("|") else of_prose(block)
        yield from ((line, words) for words in found)


def blocks(page: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of each paragraph and table of a page, its code left out."""
    bare = re.sub(r"(?ms)^```.*?^```", lambda code: "\n" * code[0].count("\n"), page)
    for block in re.finditer(r"(?:\|.*(?:\n|\Z))+|(?:(?!\|).*\S.*(?:\n|\Z))+", bare):
        yield bare.count("\n", 0, block.start()) + 1, block[0]


def of_prose(markdown: str) -> Iterator[str]:
    """Yield the results in a paragraph of a page, or in a cell of a table that has words."""
    text = prose(markdown)
    for quote in ON_A_PAGE.finditer(text):
        alone = quote["many"] or re.search(r"\.|^[−+]", quote["number"])
        if is_result(quote) or (alone and not NO_DECIMAL.search(text[: quote.start()])):
            yield quote[0].strip()


def of_table(table: str, tested: Container[str]) -> Iterator[str]:
    """Yield the results in a table, its name in the place of its rows if a test reads them."""
    head, _, *rows = map(cells_of, table.splitlines())
    name = f"table: {next(filter(None, head))}"
    yield from [name] * (name in tested)
    for row in rows:
        yield from of_row(row, has_unit(head), name in tested)


def of_row(row: list[str], unit: bool, tested: bool) -> Iterator[str]:
    """Yield a row's numbers as one, if there is a result among them; then those in its words."""
    label, *others = row
    figures = [before_words(cell) for cell in others if is_figure(cell)]
    if figures and not tested and (unit or any(map(any, map(of_prose, figures)))):
        yield f"{bare(label)}: {' | '.join(figures)}"
    for cell in [label] * (not figures) + [cell for cell in others if not is_figure(cell)]:
        yield from of_prose(cell)


def cells_of(row: str) -> list[str]:
    """Return the cells of a line of a table."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def has_unit(head: list[str]) -> bool:
    """Say whether the head of a table names the unit of a column."""
    return any(re.search(rf"(?<![\w-])(?:{MORE}|{MANY})", title) for title in head)


def is_figure(cell: str) -> bool:
    """Say whether a cell of a table holds numbers and their units alone, up to a colon."""
    return bool(FIGURES.fullmatch(before_words(cell)))


def before_words(cell: str) -> str:
    """Return what a cell of a table says up to a colon."""
    return cell.partition(": ")[0]


def bare(label: str) -> str:
    """Return the first cell of a row without the marks of code and the address of a link."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", label).replace("`", "").replace("*", "")


def prose(markdown: str) -> str:
    """Return the prose of a cell on one line: no code, equations, tags or addresses of links."""
    for left_out in LEFT_OUT:
        markdown = re.sub(left_out, " ", markdown, flags=re.DOTALL)
    return " ".join(markdown.split())


def is_result(quote: re.Match) -> bool:
    """Say whether a number of the prose has a unit, or four digits and is neither year nor tile."""
    number = quote["number"]
    long = bool(re.search(APART, number)) or (size(number) > 9999 and number[0] != "0")
    return bool(quote["unit"]) or (long and size(number) not in TILES)


def size(number: str) -> float:
    """Return the number that a text writes, with thousands apart and a minus of any kind."""
    return float(re.sub(APART, "", number).replace("−", "-"))


# ---- where it comes from -------------------------------------------------------------------------

SCALES = {"%|per cent": 100, " k|thousand|KB": 1e-3, r"M\b|million": 1e-6, "GiB": 1 / 1024}


def rounds_to(value: float, words: str) -> bool:
    """Say whether a value is what these words say first, to the last digit that is not a zero."""
    number = re.search(NUMBER, words)[0]
    digits, decimals = re.sub(r"\D", "", number), len(number.partition(".")[2])
    zeros = 0 if decimals else len(digits) - len(digits.rstrip("0"))
    unit = 10.0 ** (min(zeros, len(digits) - 1) - decimals)
    scales = [1, *(scale for found, scale in SCALES.items() if re.search(found, words))]
    wanted = abs(size(number))
    return any(abs(abs(value) * k - wanted) <= 0.5 * unit * (1 + 1e-9) for k in scales)


def in_a_line(lines: Iterator[str], text: str | list[str], words: str) -> bool:
    """Say whether lines with this text (or one of several) hold every number of these words."""
    there = [plain(line) for line in lines if any(one in line for one in listed(text))]
    found = [size(number) for line in there for number in re.findall(NUMBER, line)]
    return all(any(rounds_to(n, said) for n in found) for said in each(words))


def each(words: str) -> list[str]:
    """Return the numbers of these words, each with their unit."""
    cells = [(cell, re.sub(NUMBER, "", cell)) for cell in words.rpartition(": ")[2].split(" | ")]
    return [number + unit for cell, unit in cells for number in re.findall(NUMBER, cell)]


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
    rows = rows_of(ROOT / "data" / source["data"]).query(source.get("where", "index == index"))
    if rows.empty:
        raise ValueError(f"no row of {source['data']} has {source['where']}")
    return [np.mean(rows.eval(value)) for value in listed(source["value"])]


@cache
def rows_of(path: Path) -> pd.DataFrame:
    """Return a table of data/; what is no table is one row of it: `collect.hours`, `seconds`."""
    match path.suffix:
        case ".csv":
            return pd.read_csv(path)
        case ".toml":
            return pd.json_normalize(tomllib.loads(path.read_text(encoding="utf-8")))
        case ".json":
            return pd.json_normalize(json.loads(path.read_text(encoding="utf-8")))
    from lib2048.networks import storage

    return pd.json_normalize(storage.info(path)).assign(mib=path.stat().st_size / 2**20)


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


def holds(words: str, source: dict, notebook: nbformat.NotebookNode = NOTHING) -> bool:
    """Say whether a source carries what is quoted.  notebook: the lesson that quotes it, if any."""
    match source:
        case {"lesson": number, **there}:
            return holds(words, there, nbformat.read(*lessons([number]), as_version=4))
        case {"file": path, "line": text}:
            return in_a_line((ROOT / path).read_text(encoding="utf-8").splitlines(), text, words)
        case {"line": text}:
            return in_a_line(shown(notebook), text, words)
        case {"code": text}:
            return in_a_line(written(notebook), text, words)
        case {"data": _, "value": _}:
            return say(of_data(source), words)
        case {"sum": text}:
            return say(list(map(arithmetic, listed(text))), words)
        case {"measured": command, "on": machine}:
            return len(command.split()) > 1 and len(machine.split()) > 1
        case {"test": test}:
            file, _, name = test.partition("::")
            return f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8")
        case {"given": why}:
            return len(why.split()) > 1
    raise ValueError(f"{source} is no source: see tools/quotes.py")


# ---- complaints ----------------------------------------------------------------------------------


def sourced() -> dict[str, dict]:
    """Return both lists as one: {lesson or page: {words: source}}."""
    lists = [tomllib.loads(path.read_text(encoding="utf-8")) for path in LISTS]
    shared = {name: source for one in lists for name, source in one.pop(SHARED, {}).items()}
    return {place: spread(table, shared) for one in lists for place, table in one.items()}


def spread(table: dict, shared: dict) -> dict[str, dict]:
    """Return a table whose lists of words under a shared source have that source, each of them."""
    spread = {words: source for words, source in table.items() if isinstance(source, dict)}
    named = [
        (name, words) for name, listed in table.items() if name not in spread for words in listed
    ]
    return spread | {words: shared[name] for name, words in named}


def pages() -> list[Path]:
    """Return the pages that a person wrote: the README, CONTRIBUTING, and what the book adds."""
    found = {path for pattern in FOUND for path in ROOT.glob(pattern)}
    return sorted(path for path in found if name_of(path) not in GENERATED)


def name_of(path: Path) -> str:
    """Return the name of a lesson's or page's table: its number, its path from the root."""
    return path.name[:2] if path.suffix == ".ipynb" else path.relative_to(ROOT).as_posix()


def complaints(path: Path) -> list[str]:
    """Return what of a text's results has no source or a wrong one, and what sources are idle."""
    known = sourced()
    here, everywhere = known.get(name_of(path), {}), known[EVERYWHERE]
    if path.suffix == ".ipynb":
        place, notebook = "cell", nbformat.read(path, as_version=4)
        found = quoted(notebook)
    else:
        place, notebook = "line", NOTHING
        found = quoted_on(path.read_text(encoding="utf-8"), here)
    said = dict(reversed([quote[::-1] for quote in found]))
    missing = [words for words in said if words not in here | everywhere]
    wrong = [words for words in here if not holds(words, here[words], notebook)]
    return (
        [f"{place} {said[words]}: {words!r} has no source" for words in reversed(missing)]
        + [f"{words!r} is not in {here[words]}" for words in wrong]
        + [f"{words!r} is not quoted" for words in here if words not in said]
    )


def chosen(names: list[str]) -> list[Path]:
    """Return the lessons and pages of these names, or all."""
    marked = [ROOT / name for name in names if name.endswith(".md")]
    numbers = [name for name in names if not name.endswith(".md")]
    return (lessons(numbers) if numbers or not names else []) + (marked if names else pages())


def main() -> int:
    """Print all complaints; return 1 if there are any."""
    texts = chosen(sys.argv[1:])
    wrong = [f"{path.relative_to(ROOT)}: {line}" for path in texts for line in complaints(path)]
    print("\n".join(wrong) or "every result has its source")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
