"""What a widget reports to the kernel, and what the kernel's answer does (jupyter.js)."""

import json
from pathlib import Path

import pytest

pytest.importorskip("anywidget")

from on_node import address, evaluated, needs_node  # noqa: E402

import lib2048  # noqa: E402
from lib2048.show.widgets.base import front_end  # noqa: E402

SCRIPT = """
const pause = () => new Promise((done) => setTimeout(done, 260));
let [position, changed] = [5, null];
const [told, went] = [[], []];
const model = { get: () => position, on: (_, then) => { changed = then; } };
const set = (there) => { position = there; changed(); };
const send = (message) => told.push(message.position);
const moved = reporting(model, send, (there) => went.push(there));
moved(141); moved(142);  // one after the other: the last is reported
await pause();
moved(176);
set(142);  // the answer to the report before
await pause();
set(176);
set(9);  // somebody in the notebook
console.log(JSON.stringify({ told, went }));
"""


@needs_node
def test_an_answer_to_a_report_sets_nobody_back():
    source = front_end(Path(lib2048.__file__).parent / "show/widgets/jupyter.js")
    module = json.dumps(address(f"{source}\n{SCRIPT}"))
    assert evaluated(f"await import({module});") == {"told": [142, 176], "went": [9]}
