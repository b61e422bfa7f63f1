"""A real JupyterLab on this machine, and a real browser in front of it.

Nothing of the user's is read or written but the cache of compiled code, and nothing is fetched: the
server listens on 127.0.0.1 only, and the browser is told that no other host exists.
"""

import ast
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import nbformat
import pytest

from lib2048.machine.kernels import CACHE, LIBRARY

for needed in ("jupyterlab", "anywidget", "playwright"):
    pytest.importorskip(needed, reason="pip install -e '.[all]'")

HOW = "install a browser (apt install chromium), and playwright into .venv (make)"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
START_SECONDS, IDLE_SECONDS = 120, 300
PATIENCE = 120_000  # milliseconds until a page is taken for dead
# What JupyterLab complains of when a kernel restarts, and when a saved notebook is opened.
ITS_OWN = ("Could not restore the debugger state", "widget model not found")
# Without a word from us, JupyterLab asks its home page for news and updates.
QUIET = {
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
    "docmanager-extension/plugin": '{"autosave": false}',
}
OPTIONS = (
    "--no-browser --allow-root --expose-app-in-browser --ServerApp.ip=127.0.0.1 "
    "--ServerApp.port_retries=0 --LabApp.extension_manager=readonly --LabApp.news_url= "
    f"--ServerApp.shutdown_no_activity_timeout={IDLE_SECONDS}"
).split()

KERNEL = "window.jupyterapp?.shell.currentWidget?.sessionContext.session?.kernel"


def settings(home):
    """Write JupyterLab's settings."""
    for name, text in QUIET.items():
        path = home / "config/lab/user-settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def environment(home):
    """Return the environment of a user who has nothing yet, apart from compiled code."""
    places = {
        "HOME": "",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    ours = {name: str(home / place) for name, place in places.items()}
    path = os.pathsep.join(filter(None, [str(LIBRARY.parent), os.environ.get("PYTHONPATH")]))
    return {**os.environ, **ours, "NUMBA_CACHE_DIR": str(CACHE.parents[1]), "PYTHONPATH": path}


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def server(folder, **variables):
    """Run JupyterLab over a folder; yield what makes an address of a notebook's name."""
    home, port, token = folder / ".home", free_port(), secrets.token_hex(16)
    settings(home)
    ours = {"ServerApp.port": port, "ServerApp.root_dir": folder, "IdentityProvider.token": token}
    command = [sys.executable, "-m", "jupyterlab", *OPTIONS]
    command += [f"--{name}={value}" for name, value in ours.items()]
    with (home / "server.txt").open("w") as log:
        surroundings = {"env": environment(home) | variables, "cwd": folder}
        process = subprocess.Popen(command, stdout=log, stderr=log, **surroundings)
        try:
            until_it_answers(f"http://127.0.0.1:{port}/api?token={token}", process, home)
            yield lambda path: f"http://127.0.0.1:{port}/doc/tree/{path}?token={token}"
        finally:
            end(process)


def until_it_answers(address, process, home):
    """Wait for the server; raise RuntimeError with what it said when it does not come."""
    last = time.monotonic() + START_SECONDS
    while time.monotonic() < last and process.poll() is None:
        try:
            return urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.1)
    raise RuntimeError((home / "server.txt").read_text())


def end(process):
    """Ask a process to end, its kernels with it; then make it."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def browser():
    """Run a browser without a window, for which there is no host but this one."""
    from playwright.sync_api import sync_playwright

    alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=[alone])
        try:
            yield started
        finally:
            started.close()


def notebook(path, *sources):
    """Write a notebook of these code cells, ids and all."""
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


class Watched:
    """A page of the browser, and what it complained of or asked for."""

    def __init__(self, started, width=1200, height=900, **more):
        self.context = started.new_context(viewport={"width": width, "height": height}, **more)
        self.page, self.errors, self.requests = self.context.new_page(), [], []
        self.page.on("console", self.heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.set_default_timeout(PATIENCE)

    def heard(self, said):
        """Keep an error, unless JupyterLab makes it by itself."""
        if said.type == "error" and not any(words in said.text for words in ITS_OWN):
            self.errors.append(said.text)

    def abroad(self):
        """Return the requests that left this machine."""
        ours = ("http://127.0.0.1:", "ws://127.0.0.1:", "blob:", "data:", "file:")
        return [url for url in self.requests if not url.startswith(ours)]

    def close(self):
        """Close the page."""
        self.context.close()


class Page(Watched):
    """A notebook that is open in the browser."""

    def __init__(self, started, address, **size):
        super().__init__(started, **size)
        self.page.goto(address)
        self.until_ready()

    def until_ready(self):
        """Wait for the notebook and its kernel: cells that are run before are not run."""
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_function(f"{KERNEL}?.status === 'idle'")

    def reload(self):
        """Load the page again."""
        self.page.reload()
        self.until_ready()

    def command(self, name, arguments="{}"):
        """Execute a command of JupyterLab, without waiting for its end."""
        self.page.evaluate(f"void window.jupyterapp.commands.execute('{name}', {arguments})")

    def run_all(self):
        """Run all cells."""
        self.command("notebook:run-all-cells")

    def save(self):
        """Save the notebook."""
        self.command("docmanager:save")
        self.page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")

    def restart(self):
        """Restart the kernel, as the menu does."""
        self.command("notebook:restart-kernel")
        self.page.click(".jp-Dialog .jp-mod-accept")

    def start(self, code):
        """Let the kernel execute code, without waiting for its end."""
        self.page.evaluate(f"code => void {KERNEL}.requestExecute({{code}})", code)

    def ask(self, expression):
        """Return what the kernel makes of an expression: something that `repr` writes in full."""
        ask = "{code: '', user_expressions: {it: expression}, store_history: false}"
        found = self.page.evaluate(
            f"async expression => (await {KERNEL}.requestExecute({ask}).done).content", expression
        )["user_expressions"]["it"]
        assert found["status"] == "ok", found
        return ast.literal_eval(found["data"]["text/plain"])

    def until(self, expression, wanted):
        """Wait until the kernel makes this of an expression: messages may come by two ways."""
        last = time.monotonic() + PATIENCE / 1000
        while (found := self.ask(expression)) != wanted and time.monotonic() < last:
            self.page.wait_for_timeout(50)
        assert found == wanted, (found, wanted)

    def theme(self, name):
        """Choose a theme of JupyterLab, and wait until the page has it."""
        self.command("apputils:change-theme", json.dumps({"theme": name}))
        light = str("Light" in name).lower()
        self.page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached")
        # JupyterLab takes its splash screen away twice, an error, where two changes follow at once.
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def cells(self):
        """Return (id, type) of every cell of the notebook."""
        cells = "window.jupyterapp.shell.currentWidget.content.widgets"
        return self.page.evaluate(f"{cells}.map(({{model}}) => [model.id, model.type])")


# ---- a widget on a page --------------------------------------------------------------------------


class Widget:
    """One of the notebook's widgets, as its reader sees it."""

    def __init__(self, notebook, number):
        self.page = notebook.page
        self.root = notebook.page.locator(".lib2048").nth(number)

    def press(self, *keys):
        """Press keys, the first of them on the widget itself."""
        self.root.press(keys[0])
        for key in keys[1:]:
            self.page.keyboard.press(key)

    def keeps_keys(self, selector):
        """Click a part of it and press keys that JupyterLab has a use for; return that part."""
        part = self.root.locator(selector).first
        part.click(force=True)
        for key in "ddxbam":
            self.page.keyboard.press(key)
        assert self.page.evaluate("document.activeElement.closest('.lib2048') !== null"), selector
        return part

    def chart(self, number):
        """What a chart says to those who cannot see it."""
        return self.root.locator(".lib-plot").nth(number).get_attribute("aria-label")

    def data(self, name):
        return self.root.get_attribute(f"data-{name}")

    def button(self, text):
        return self.root.get_by_role("button", name=text, exact=True)

    @property
    def message(self):
        return self.root.locator(".lib-message").inner_text()

    def until(self, words):
        """Wait until the message holds these words; return it."""
        self.root.locator(".lib-message", has_text=words).wait_for()
        return self.message


FIELD = """() => document.body.append(Object.assign(document.createElement("input"), {
  id: "elsewhere", style: "position: fixed; top: 0; z-index: 99" }))"""


def paste(widget, text):
    """Paste a text as a person does who has copied it from somewhere else."""
    elsewhere = widget.page.locator("#elsewhere")
    if not elsewhere.count():
        widget.page.evaluate(FIELD)
    elsewhere.fill(text)
    elsewhere.press("Control+a")
    elsewhere.press("Control+c")
    widget.root.press("Control+v")


# The small cells of boards that are no squares, or lie over one another.
CROOKED = """root => {
  const boxes = [...root.querySelectorAll(".lib-mini .lib-tile, .lib-placing i")]
    .filter(e => e.offsetParent)
    .map(e => [e.parentElement, e.getBoundingClientRect(), e.outerHTML]);
  const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return boxes.filter(([board, box], n) => box.width < 2
    || Math.abs(box.width - box.height) > 1
    || boxes.some(([other, there], m) => m !== n && other === board && over(box, there)))
    .map(([, , text]) => text) }"""


# A widget is no wider than its page; what scrolls in a box of its own may be.
FITS = """root => root.scrollWidth <= root.clientWidth && [...root.querySelectorAll('*')].every(
  element => element.closest('.lib-plane > *')
    || element.getBoundingClientRect().right <= innerWidth)"""


# The texts that stand out too little from what is behind them; what cannot be pressed now may.
PALE = """root => {
  const channels = text => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith("color(") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a] };
  const over = ([r, g, b, a], back) => [r, g, b].map((c, i) => a * c + (1 - a) * back[i]);
  const behind = element => {
    if (!element) return [255, 255, 255];
    const own = channels(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, behind(element.parentElement)) };
  const light = colour => {
    const [r, g, b] = colour.map(c => c / 255).map(c =>
      c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05 };
  const contrast = element => {
    const back = behind(element);
    const two = [light(back), light(over(channels(getComputedStyle(element).color), back))];
    return Math.max(...two) / Math.min(...two) };
  const writes = element => element.matches("input:not([type=range], [type=checkbox]), select") ||
    [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  return [...root.querySelectorAll("*")]
    .filter(element => writes(element) && !element.closest("[aria-disabled=true], svg"))
    .map(element => [contrast(element), element.outerHTML]).filter(([found]) => found < 4.5) }"""


# ---- what holds for every widget -----------------------------------------------------------------


def check_keys(notebook, *targets):
    """Press keys on parts of widgets, (number, selector) each: the notebook hears none of them."""
    before = notebook.cells()
    for number, selector in targets:
        Widget(notebook, number).keeps_keys(selector)
    assert notebook.cells() == before


def check_names(notebook, pressed="button, input, select"):
    """Everything to press has a name."""
    names = "e => e.ariaLabel || (e.labels?.[0] ?? e).textContent.trim()"
    for element in notebook.page.locator(f".lib2048 :is({pressed})").all():
        assert element.evaluate(names), element.evaluate("e => e.outerHTML")


def check_looks(notebook, charts=False, height=900):
    """All widgets can be read in both themes, and fit a phone."""
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        notebook.theme(theme)
        for root in notebook.page.locator(".lib2048").all():
            assert root.evaluate(PALE) == [] == root.evaluate(CROOKED)
    notebook.page.set_viewport_size({"width": 400, "height": height})
    if charts:
        narrow = "document.querySelector('.lib-plot canvas').clientWidth < 380"
        notebook.page.wait_for_function(narrow)
    for root in notebook.page.locator(".lib2048").all():
        assert root.evaluate(FITS)
    notebook.page.set_viewport_size({"width": 1200, "height": height})
