"""What students wrote, for those who open it: no formula in a spreadsheet, no script in a page."""

import re

from lib2048.machine.terminal import one_line
from lib2048.train.history import csv_text

# ---------------------------------------------------------------- spreadsheets

# Where a cell may begin, by a spreadsheet's lights, and what makes a formula of it.
FORMULA = re.compile(r"(^|;)(?=\s*[=+\-@＝＋－＠])")


def csv_of(columns, rows):
    """Return rows, dicts, as CSV text whose texts a spreadsheet takes for texts."""
    rows = [{_text(key): _text(value) for key, value in row.items()} for row in rows]
    return csv_text([*map(_text, columns)], rows)


def _text(value):
    """Put an apostrophe before what would be a formula, and keep a text in its line."""
    return FORMULA.sub(r"\1'", one_line(value)) if isinstance(value, str) else value


# ---------------------------------------------------------------- pages

TAGS = (
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption "
    "figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li ol p pre q s samp small span strong sub "
    "summary sup table tbody td tfoot th thead tr tt u ul var"
).split()
ATTRIBUTES = {"align", "alt", "class", "colspan", "height", "rowspan", "scope", "style", "title"}
STYLES = (
    "background-color border-collapse color font-family font-size font-style font-weight height "
    "margin max-width padding text-align text-decoration vertical-align white-space width"
).split()
# Where an address may stand, and how it must begin: browsers take "java\\tscript:" for a script.
ADDRESSES = {
    "href": ("a", re.compile(r"(https?://|mailto:|#)[^\s<>]*")),
    "src": ("img", re.compile(r"data:image/[\w.+-]+;base64,[\w+/=\s]*")),
}
STYLE = re.compile(r"<style[^<>]*>[^<]*</style>")  # pandas writes one above each table


def harmless(page):
    """Return a piece of HTML of which a browser runs nothing and for which it asks nobody.

    Kept are texts, tables, links and the pictures that are in the piece itself; a tag that is left
    out is shown as it was written.
    """
    import bleach
    from bleach.css_sanitizer import CSSSanitizer

    return bleach.clean(
        STYLE.sub("", page),
        tags=TAGS,
        attributes=_is_harmless,
        protocols=["http", "https", "mailto", "data"],  # see ADDRESSES
        css_sanitizer=CSSSanitizer(allowed_css_properties=STYLES),
    )


def _is_harmless(tag, name, value):
    if name in ADDRESSES:
        only, form = ADDRESSES[name]
        return tag == only and form.fullmatch(value) is not None
    return name in ATTRIBUTES or (name == "width" and tag in ("img", "col", "td", "th", "table"))
