"""A command in a pseudo-terminal, with keys that are pressed in it."""

import os
import pty
import sys

import pytest


def pressed(words, ready, keys, term="xterm-256color", status=0):
    """Carry out a command of lib2048, press keys once it shows `ready`; return what it wrote."""
    child, end = pty.fork()
    if not child:
        os.environ.update(TERM=term, COLUMNS="100", LINES="40")
        os.execv(sys.executable, [sys.executable, "-m", "lib2048.cli", *words.split()])
    seen = b""
    while ready not in seen:
        seen += os.read(end, 4096)
    for key in keys:
        os.write(end, key.encode())
    with pytest.raises(OSError):  # the other end is gone
        while more := os.read(end, 4096):
            seen += more
        raise OSError
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == status
    return seen
