"""Type a command line of the library, as a reader would; used by the recording scripts."""

import json
import os
import subprocess
import sys


def lib2048(command):
    """Run a command line of the library; return its JSON and the most memory that it had, MiB."""
    words = [sys.executable, "-m", "lib2048.cli", *command.split(), "--json"]
    child = subprocess.Popen(words, stdout=subprocess.PIPE)
    text = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"stopped: lib2048 {command}")
    return json.loads(text) | {"peak_mib": used.ru_maxrss >> 10}
