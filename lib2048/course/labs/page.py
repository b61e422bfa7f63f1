"""One student's page of feedback, made in a process of its own: what a hand-in holds may take long.

nbconvert and nbgrader's template make it.  They show whatever HTML they meet, so all that can come
from a student, the Markdown of cells and the HTML of outputs, goes through `harmless`.
"""

import functools
import re

import nbformat
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearHiddenTests, GetGrades

from lib2048.course.labs.course_folder import HARMLESS
from lib2048.course.labs.messages import say
from lib2048.course.labs.release import quietly, resources
from lib2048.course.safely import harmless

# Absolute ones, of Unix and of Windows; colours of a traceback may stand before them.
FOLDERS = re.compile(
    r"(?:(?<![\w/\\:.<])|(?<=\x1b\[32m))(?:[A-Za-z]:[/\\]|~?/)(?:[^\s/\\:'\"<>\x1b]+[/\\])+"
)


@pass_context
def markdown(context, source):
    """Return Markdown as HTML of which nothing runs, as nbconvert's templates want it."""
    return harmless(_plain().markdown2html(context, source))


_plain = functools.cache(HTMLExporter)


@functools.cache
def _exporter():
    """Return what turns a notebook into a page, as nbgrader sets it up."""
    config = GenerateFeedback(coursedir=CourseDirectory()).config
    config.merge(type(config)(HARMLESS))
    exporter = HTMLExporter(config=config)
    exporter.register_preprocessor(GetGrades, enabled=True)
    exporter.register_preprocessor(CSSHTMLHeaderPreprocessor, enabled=True)
    return exporter


def page(message):
    """Return {"page": HTML} of one hand-in; a task of `child.ask`.

    message: {"file": the notebook as it ran, "lab", "student", "database", "notes": lines}.
    """
    about = resources(message["lab"], message["student"], message["database"])
    with quietly():
        notebook = nbformat.read(message["file"], as_version=4)
        notebook, _ = ClearHiddenTests(enforce_metadata=False).preprocess(notebook, about)
        _hide_tracebacks(notebook)
        _hide_places(notebook)
        if message["notes"]:
            lines = [f"### {say('grading.feedback_title')}", *(f"- {n}" for n in message["notes"])]
            notebook.cells.insert(0, nbformat.v4.new_markdown_cell("\n".join(lines)))
        text, _ = _exporter().from_notebook_node(notebook, about)
    return {"page": text}


def _hide_tracebacks(notebook):
    """Leave of a test what it shows, or what its error says: a traceback shows hidden tests."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("locked"):
            shown = [out for out in cell.get("outputs", []) if out.output_type != "error"]
            for out in cell.get("outputs", []):
                if out.output_type == "error":
                    out.traceback = [out.evalue]
            cell.outputs = shown or cell.get("outputs", [])  # the error says the same again


def _hide_places(notebook):
    """Leave of the files in errors and warnings their names: the folders are the grader's."""
    for cell in notebook.cells:
        for out in cell.get("outputs", []):
            if out.output_type == "error":
                out.traceback = [FOLDERS.sub("", line) for line in out.traceback]
            elif out.get("name") == "stderr":
                out.text = FOLDERS.sub("", out.text)
