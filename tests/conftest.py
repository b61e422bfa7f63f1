"""What several test files share; `reference` is the plain-Python twin that they compare with."""

import os
import re
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run; no deadline, since a first call may compile.
settings.register_profile("here", derandomize=True, deadline=None)
settings.load_profile("here")

sys.path.insert(0, str(Path(__file__).parent))  # so that tests can `import reference`

# What a test passes or predicts is not the developer's own.
_reader = tempfile.TemporaryDirectory()
os.environ["LIB2048_MY"] = _reader.name

# JupyterLab has the course's settings, and no test puts them into the developer's environment.
_settings = Path(__file__).parents[1] / "lib2048/course/reader/jupyter"
os.environ["JUPYTER_CONFIG_PATH"] = str(_settings)

# A shell lets what it starts in the background ignore Ctrl-C, and its children inherit that; some
# tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what a browser is started for as slow, but for one test of each widget.

    Labs and appendices are marked as ci.
    """
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()) and "ci" not in item.keywords:
            item.add_marker("slow")
        if "homework" in item.path.parts or re.match(r"A\d_", item.path.name):
            item.add_marker("ci")


@pytest.fixture(scope="session", autouse=True)
def own_shares(tmp_path_factory):
    """Let the sweeps of these tests share no memory with those of anybody else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("shares")))
        patch.setattr("tempfile.tempdir", None)
        yield


@pytest.fixture(scope="session")
def trained():
    """A small network that has learned a little; for reading only."""
    from lib2048 import Run, Settings

    run = Run(Settings(network="cells:0145,0123", actions=200_000))
    run.go(progress=False)
    return run.network


@pytest.fixture
def refused():
    """Return a check: a call raises ValueError, in one line with these words in it."""

    def check(call, said=""):
        with pytest.raises(ValueError) as error:
            call()
        assert said in str(error.value) and "\n" not in str(error.value)

    return check


@pytest.fixture
def one_line_error(capsys):
    """Return a check: the command refuses in one line on stderr and says nothing else."""
    from lib2048.cli import main

    def check(*arguments):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as exit:  # argparse leaves by itself
            status = exit.code
        said = capsys.readouterr()
        assert status == 2, said.out
        assert said.out == ""
        assert said.err.startswith("lib2048: ") and said.err.count("\n") == 1, said.err
        return said.err

    return check


# ---- a page in a browser: a module's CELLS are its notebook, its `fill` adds files to the folder -


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """The folder that JupyterLab shows."""
    import lab

    folder = tmp_path_factory.mktemp("lab")
    lab.notebook(folder / "page.ipynb", *request.module.CELLS)
    getattr(request.module, "fill", lambda folder: None)(folder)
    return folder


@pytest.fixture(scope="module")
def at(folder):
    """What makes an address of the name of a notebook in the folder."""
    import lab

    with lab.server(folder, LIB2048_QUICK="1") as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    """A browser."""
    import lab

    if lab.CHROMIUM is None:
        pytest.skip(lab.HOW)
    with lab.browser() as started:
        yield started


@pytest.fixture
def opened(chromium):
    """Open a widget in a browser; in the end no page has had an error, or asked a network."""
    import bare

    pages = []

    def open_(widget, **more):
        pages.append(bare.Bare(chromium, widget, **more))
        return pages[-1]

    yield open_
    for page in pages:
        page.close()
        assert page.errors == [] == page.abroad()


@pytest.fixture(scope="module")
def notebook(request, chromium, at):
    """The module's notebook, run until its widget number LAST stands on the page."""
    import lab

    page = lab.Page(chromium, at("page.ipynb"), height=getattr(request.module, "HEIGHT", 900))
    page.run_all()
    page.page.locator(".lib2048").nth(request.module.LAST).wait_for()
    yield page
    page.close()


@pytest.fixture
def in_order(notebook):
    """Every test leaves a page without errors, and a browser that has asked nobody else."""
    yield
    assert notebook.errors == [] == notebook.abroad()
