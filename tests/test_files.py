"""A file that is read as a whole is a plain one of some size; all else is one clear line."""

import os
from pathlib import Path

import pytest

from lib2048.machine.files import read_bytes, read_json, read_text

ODD = {
    "none": "no such file",
    "folder": "is a directory",
    "fifo": "is no plain file",
    "link-to-fifo": "is no plain file",
    "loop": "cannot be read",
    "large": "is larger than 0.5 MiB",
    "latin": "is no text in UTF-8",
}
needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="fifos, where there are such")


def odd_files(folder):
    """Make files that are no plain text, by the names of ODD."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "link-to-fifo").symlink_to("fifo")
    (folder / "loop").symlink_to("loop")
    (folder / "large").write_bytes(bytes(2**19 + 1))
    (folder / "latin").write_bytes("é".encode("latin-1"))
    return folder


@needs_fifos
@pytest.mark.parametrize("name, words", ODD.items())
def test_what_is_no_plain_text_is_refused(tmp_path, refused, name, words):
    path = odd_files(tmp_path) / name
    refused(lambda: read_text(path, 2**19), f"{path}: {words}")
    refused(lambda: read_json(path, 2**19), f"{path}: ")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices, where there are such")
@pytest.mark.parametrize("path", ["/dev/zero", "/proc/self/mem"])
def test_a_file_without_end_is_refused(refused, path):
    refused(lambda: read_bytes(path), path)


def test_a_text_may_begin_by_its_mark_and_end_its_lines_as_windows_does(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert read_text(tmp_path / "a") == "one\ntwo\n"
    assert read_bytes(tmp_path / "a", 12)[3:] == b"one\r\ntwo\n"
