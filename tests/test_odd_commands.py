"""Odd command lines, a few of those that `python tests/odd_commands.py` draws."""

import os
import subprocess
import sys

import odd_commands
import pytest

from lib2048 import cli

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="forks and fifos")


@pytest.mark.slow
def test_odd_command_lines_do_something_or_are_refused_in_one_line():
    """In a process of its own: a fork of pytest would have its streams and its folders."""
    words = [sys.executable, odd_commands.__file__, "--rounds", "40", "--seed", "7"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_is_drawn():
    every = {words for words, _ in odd_commands.leaves(cli._parser())}
    lines = odd_commands.Lines(["a.npz"])
    drawn = {words for words, _ in lines.leaves}
    assert drawn == every and {words[0] for words in every} == set(cli.COMMANDS)


def test_what_is_wrong_with_a_line_is_seen():
    judged = odd_commands.judged
    assert judged([], 2, False, 1, "", "lib2048: x.npz: no such file\n", True) == ""
    assert judged([], 2, False, 1, "", "lib2048: x.npz: no such file\n", False) != ""
    assert judged([], 2, False, 1, "", "Traceback (most recent call last)\n", True) == "traceback"
    assert judged([], 2, False, 1, "", "lib2048: a\nlib2048: b\n", True) == "not one line"
    assert judged(["play"], 130, True, 0.1, "", "lib2048: stopped\n", True) != ""
    assert judged([], -11, False, 1, "", "", True) == "status -11"
    assert judged([], 0, False, 1, "", "", True) == "nothing said"
