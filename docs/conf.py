"""How Sphinx makes the book. `tools/book.py` puts its pages in place and then runs it."""

import importlib.util
import re
import shutil
from itertools import zip_longest
from pathlib import Path

from docutils import nodes

project = "2048, learned step by step"
author = "The authors of lib2048"
copyright = "the authors of lib2048; text and figures CC BY 4.0, code MIT"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
]
root_doc = "index"
exclude_patterns = ["_static", "_templates"]
nitpicky = True
nitpick_ignore_regex = [  # what has no page here: others' classes, and code that is no name
    ("py:class", r"(numpy|pathlib|collections\.abc|lib2048\.(learn|game))\..*|t\.Any"),
    ("py:exc|py:obj", "(?s).*"),
]
show_warning_types = True
highlight_language = "none"  # a block without a language is what a terminal shows
smartquotes = False  # what stands in quotes is often code

# ---- pages: Markdown and notebooks, as they are stored
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_block"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js = {}  # our widgets carry a picture of themselves; nothing comes from the network

# ---- the reference
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_inherit_docstrings = False
default_role = "py:obj"  # `words` are code, and a link where the reference has them
napoleon_numpy_docstring = False
napoleon_use_param = False  # "a, b: …" says of two arguments what is true of both
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# ---- sources of the course
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

# ---- what it looks like; nothing here asks another machine
html_theme = "sphinx_book_theme"
html_title = "2048, learned step by step"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["book.css"]
html_favicon = "_static/tile.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "home_page_in_toc": True,
    "navbar_start": [],  # what there is to press stands at the left and above the page
    "navbar_center": [],
    "navbar_end": [],
    "navbar_persistent": [],
    "show_navbar_depth": 1,
    "show_toc_level": 1,
    "navigation_with_keys": False,
    "use_download_button": False,
    "use_repository_button": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
# Where the repository is, such as "https://github.com/OWNER/NAME".  With it, lessons and labs have
# buttons that open them on Binder and Colab; without it there are none.
REPOSITORY = ""
if REPOSITORY:
    places = {
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
    }
    html_theme_options |= {
        "repository_url": REPOSITORY,
        "repository_branch": "main",
        "launch_buttons": {"notebook_interface": "jupyterlab", **places},
    }
MATHJAX = "mathjax/tex-svg.js"  # one file: formulas as drawings, which need no fonts
mathjax_path = MATHJAX
mathjax3_config = {"options": {"enableMenu": False}}  # the menu would ask for more files


def _copy_mathjax(app, _):
    """Put the one file of MathJax that the pages load beside the theme's."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    source = Path(package.origin).parent / "static/mathjax" / Path(MATHJAX).name
    target = Path(app.outdir) / "_static" / MATHJAX
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _icons_by_font(app, _):
    """Leave out the theme's 1.6 MB of drawn icons: its style sheet has the same ones as a font."""
    path = Path(app.outdir) / "_static/scripts/fontawesome.js"
    if path.exists():
        path.write_text("// icons come from the style sheet's font\n", encoding="utf-8")


def _skip(app, what, name, member, skip, options):
    """Leave out the fields of named tuples, whose docstrings say nothing."""
    return True if (getattr(member, "__doc__", "") or "").startswith("Alias for field") else skip


def _own(app, what, name, thing, options, lines):
    """Say nothing of a number or a dictionary: what Python has is of its type."""
    if what == "data":
        lines.clear()


def _launch(app, page, template, context, doctree):
    """Lead launch buttons to where a notebook lies: on Binder to the reader's own copy."""
    folder, _, name = page.partition("/")
    place = {"lessons": name, "labs": f"homework/release/{name}/{name}"}.get(folder)
    for group in context.get("header_buttons", ()):
        for button in group["buttons"] if group.get("label") == "launch-buttons" and place else ():
            mine = "my" if button["text"] == "Binder" else "notebooks"
            button["url"] = button["url"].replace(f"{page}.ipynb", f"{mine}/{place}.ipynb")


THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)")  # 100 000
PERCENT = re.compile(r"(?<=\d) (?=%)")
POWER = re.compile(r"(?<=\d)\^(\d+)")  # 10^9
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# All that a cell of numbers has in it.
NUMBERS = re.compile(r"(?:[\d\s.,:±%×+−–⁰¹²³⁴⁵⁶⁷⁸⁹()kMGxhof-]|(?<=\d)·(?=\d))+")
NOTHING = "–"  # in a cell; it stands as those of its column do
LONG = 40  # letters of a cell from which on its column needs room
AS_THEY_ARE = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def _numbers(app, doctree):
    """Write numbers as print has them, and tell the style sheet of cells that hold nothing else.

    The spaces within thousands and before % do not break, and powers are raised.
    """
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, AS_THEY_ARE):
            apart = THOUSANDS.sub(lambda found: found[0].replace(" ", "\u202f"), text)
            apart = PERCENT.sub("\u202f", apart)
            apart = POWER.sub(lambda found: found[1].translate(SUPERSCRIPTS), apart)
            text.parent.replace(text, nodes.Text(apart))
    for table in doctree.findall(nodes.tgroup):
        for cells in zip_longest(*(row.children for row in table.findall(nodes.row))):
            column = {cell: cell.astext() for cell in cells if cell is not None}
            numbers = {words for words in column.values() if NUMBERS.fullmatch(words)}
            for cell, words in column.items():
                if words in numbers and numbers != {NOTHING}:
                    cell["classes"].append("number")
                elif len(words) > LONG:
                    cell["classes"].append("long")


def setup(app):
    """Tell Sphinx what is done beside its own work."""
    app.connect("html-page-context", _launch, priority=502)  # just after the theme's own
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _own)
    app.connect("doctree-read", _numbers)
    app.connect("build-finished", _copy_mathjax)
    app.connect("build-finished", _icons_by_font)
