"""JupyterLab as `make lab` opens it: a kernel ends with its tab, and nbgrader's menus are away."""

import json
import os
import re
import time
import urllib.request
from urllib.parse import urlsplit

import lab
import pytest

from lib2048.course.reader.jupyter_settings import SETTINGS, VARIABLE

CELLS = ["print('begun')"]
LEARNER = os.pathsep.join([str(SETTINGS / "learner"), str(SETTINGS)])


@pytest.fixture
def learners(folder):
    """Return what makes an address, of a JupyterLab of many tabs, as a learner has it."""
    with lab.server(folder, **{VARIABLE: LEARNER}) as at:
        yield lambda path: in_tabs(at(path))


def in_tabs(address):
    """Return the address of a page of many tabs, of which none is open yet."""
    return address.replace("/doc/tree/", "/lab/tree/") + "&reset"


def asked(address, what):
    """Return what the server of an address answers to a path of its REST interface."""
    parts = urlsplit(address)
    return urllib.request.urlopen(f"{parts.scheme}://{parts.netloc}/{what}?{parts.query}").read()


def kernels(address):
    """Return the ids of the kernels that run."""
    return {kernel["id"] for kernel in json.loads(asked(address, "api/kernels"))}


def until(found, wanted):
    """Wait until a function returns what is wanted."""
    last = time.monotonic() + lab.PATIENCE / 1000
    while found() != wanted and time.monotonic() < last:
        time.sleep(0.1)
    assert found() == wanted


def test_a_closed_tab_ends_its_kernel_and_no_other(learners, chromium, folder):
    lab.notebook(folder / "other.ipynb", *CELLS)
    page = lab.Page(chromium, learners("page.ipynb"))
    [first] = kernels(learners(""))
    page.page.evaluate("jupyterapp.commands.execute('docmanager:open', {path: 'other.ipynb'})")
    until(lambda: len(kernels(learners(""))), 2)
    page.page.wait_for_function(f"{lab.KERNEL}?.status === 'idle'")
    page.save()
    tab = page.page.locator("#jp-main-dock-panel .lm-TabBar-tab", has_text="other.ipynb")
    tab.locator(".lm-TabBar-tabCloseIcon").click()
    until(lambda: kernels(learners("")), {first})
    page.reload()
    assert first in kernels(learners("")), "a page that is loaded again keeps its kernel"
    page.close()
    assert first in kernels(learners("")), "and so does a browser that is closed"


def test_a_learner_sees_nothing_of_nbgrader_and_a_grader_does(folder, learners, chromium):
    pytest.importorskip("nbgrader")
    page = lab.Page(chromium, learners("page.ipynb"))
    assert "nbgrader" not in page.page.locator("#jp-MainMenu").inner_text().lower()
    menus = page.page.locator("#jp-MainMenu .lm-MenuBar-item").count()
    assert menus > 4 and page.page.locator("text='Create Assignment'").count() == 0
    page.close()
    with lab.server(folder) as at:
        page = lab.Page(chromium, in_tabs(at("page.ipynb")))
        page.page.locator("#jp-MainMenu", has_text=re.compile("nbgrader", re.I)).wait_for()
        page.close()


def test_what_is_not_used_for_an_hour_is_ended_and_what_computes_is_not(folder):
    settings = json.loads((SETTINGS / "jupyter_server_config.d/lib2048.json").read_text())
    kept = settings["MappingKernelManager"]
    assert kept["cull_idle_timeout"] == 3600 and not kept["cull_busy"] | kept["cull_connected"]
