"""What students wrote, for those who open it: no formula in a spreadsheet, no script in a page."""

import csv
import io

import hostile_handins
import pytest

from lib2048.course.safely import csv_of, harmless
from lib2048.show.words import image

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    " =1",
    "\n=1",
    "＝1",
    "－1",
    "a;=1",
    "a\n+1",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_spreadsheet_takes_a_text_for_a_text(text):
    found = csv_of([text, "n"], [{text: text, "n": -1.5}])
    [head, row] = csv.reader(io.StringIO(found, newline=""))
    assert head[0] == row[0] and row[1] == "-1.5"
    for piece in row[0].split(";"):
        assert not piece.lstrip().startswith(hostile_handins.START)


def test_other_texts_stay_as_they_are():
    rows = [{"a": "late; 3 - 4 = -1, O'Neill", "b": "x=1"}]
    assert list(csv.DictReader(io.StringIO(csv_of(["a", "b"], rows)))) == rows


PIECES = [
    hostile_handins.SCRIPT, "<svg onload=1>", "<scr<script>ipt>1</script>",
    "<a href='javascript:1'>x</a>", "<a href='java\tscript:1'>x</a>", "<a href='data:text/html,'>x",
    "<a href='&#x6a;avascript:1'>x</a>", "<math><mi xlink:href='javascript:1'>", "<base href=//x>",
    "<iframe srcdoc='<script>1</script>'>", "<meta http-equiv=refresh content='0;url=//x'>",
    "<img src='//x/y.png'>", "<form action='//x'><input>", "<object data=x>", "<svg><script>1",
    "<b onclick=1 style='background:url(//x)'>b</b>", "<!--><script>1</script>",
    "<noscript><p title='</noscript><img src=x onerror=1>'>", "<style>@import '//x'</style>",
    "<video><source onerror=1>", "<details ontoggle=1>", "<template><script>1</script>",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_nothing_of_a_page_is_run_or_asked_for(piece):
    found = harmless(piece)
    assert hostile_handins.runs(f"<body>{found}</body>") == [] and "url(" not in found


def test_texts_tables_links_and_pictures_stay():
    picture = image("image/svg+xml", b"<svg/>", "a board")
    page = '<h1>a</h1><table><tbody><tr><td>1</td></tr></tbody></table><a href="https://x.org/#a">x</a>'
    assert harmless(page) == page
    assert harmless(picture) == picture.replace("100%", "100%;")
    frame = "<div><style scoped>.dataframe {}</style><table><tbody></tbody></table></div>"
    assert harmless(frame) == "<div><table><tbody></tbody></table></div>"
