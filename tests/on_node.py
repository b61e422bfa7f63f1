"""What our JavaScript says in node, for the tests of widgets and pages."""

import base64
import json
import shutil
import subprocess

import pytest

LIMIT = 300  # seconds, for a script that does not end
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")


def address(module):
    """Return the address by which a script imports a module, a text."""
    return f"data:text/javascript;base64,{base64.b64encode(module.encode()).decode()}"


def output(*words, questions=None):
    """Run node with some words, its script the first; return what it prints, as data.

    questions: what it reads, data.
    """
    text = json.dumps(questions)
    command = ["node", *map(str, words)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def evaluated(program, *words):
    """Run a program, a text, with some words; return what it prints, as data."""
    return output("--input-type=module", "--eval", program, *words)
