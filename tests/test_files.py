"""A file that is read as a whole is a plain one of some size; all else is one clear line."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lib2048.machine.files import read_bytes, read_csv, read_json, read_text, write_text

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


def test_two_threads_may_write_one_file(tmp_path):
    texts = ["a" * 100_000, "b" * 100_000]
    with ThreadPoolExecutor() as pool:
        for _ in pool.map(lambda n: write_text(tmp_path / "file", texts[n % 2]), range(60)):
            assert read_text(tmp_path / "file") in texts
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@needs_fifos
def test_nothing_is_written_in_place_of_what_is_no_file(tmp_path, refused):
    folder = odd_files(tmp_path)
    for name in ("folder", "fifo", "link-to-fifo"):
        refused(lambda: write_text(folder / name, "text"), "where a file is to be written")  # noqa: B023
    refused(lambda: write_text("", "text"), "give the name of a file")
    refused(lambda: read_text(" "), "give the name of a file")
    assert {path.name for path in folder.iterdir()} == set(ODD) - {"none"}


def test_a_table_says_where_it_is_damaged(tmp_path, refused):
    path, columns = tmp_path / "a.csv", {"games": int}
    path.write_text("games,mean\n3,x\n4,y\n")
    assert [row["games"] for row in read_csv(path, columns)] == ["3", "4"]
    path.write_text("games,mean\n3,x\nmany,y\n")
    refused(lambda: read_csv(path, columns), f"{path}: damaged: in row 2, games is 'many'")
    path.write_text("mean\n3\n")
    refused(lambda: read_csv(path, columns), "in row 1, games is None")
    path.write_text('games\n"3')
    refused(lambda: read_csv(path, columns), "is no table")
