"""What a widget reports to the kernel, and what the kernel's answer does (jupyter.js)."""

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("anywidget")

import lib2048  # noqa: E402
from lib2048.show.widgets.base import front_end  # noqa: E402

NODE = shutil.which("node")
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


@pytest.mark.skipif(NODE is None, reason="node is not installed: it runs jupyter.js here")
def test_an_answer_to_a_report_sets_nobody_back():
    source = front_end(Path(lib2048.__file__).parent / "show/widgets/jupyter.js")
    module = f"{source}\n{SCRIPT}"
    url = f"data:text/javascript;base64,{base64.b64encode(module.encode()).decode()}"
    command = [NODE, "--input-type=module", "--eval", f"await import({json.dumps(url)});"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"told": [142, 176], "went": [9]}
