"""The zip for a class: the seed is in its wheel, nothing of the sources is anywhere in it."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import labs
import lessons
import make_class
import pytest


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """Build the zip of class 7 and return {name: bytes}."""
    path = tmp_path_factory.mktemp("class") / "class.zip"
    assert make_class.main(["--seed", "7", "--out", str(path)]) == 0
    with zipfile.ZipFile(path) as archive:
        return {
            name.removeprefix("2048-course/"): archive.read(name) for name in archive.namelist()
        }


def wheel(held):
    [name] = [name for name in held if name.endswith(".whl")]
    return name, zipfile.ZipFile(io.BytesIO(held[name]))


def test_it_holds_what_students_need(held):
    names = {path.name for path in lessons.lessons()}
    assert {f"notebooks/{name}" for name in names} <= set(held)
    for lab in labs.labs():
        inside = f"notebooks/homework/release/{lab}/{lab}.ipynb"
        assert held[inside] == labs.path_of(lab, labs.RELEASE).read_bytes()
    assert "data/published/sources.csv" in held and "LICENSE-text" in held


def test_it_holds_no_sources_hidden_tests_outputs_or_weights(held):
    name, inner = wheel(held)
    everything = held | {f"wheel/{one}": inner.read(one) for one in inner.namelist()}
    for path, data in everything.items():
        assert "source/" not in path and "/weights/" not in path and not path.endswith(".npz"), path
        if path.endswith(".ipynb"):
            assert b"BEGIN SOLUTION" not in data and b"HIDDEN TESTS" not in data, path
            cells = json.loads(data)["cells"]
            assert not any(cell.get("outputs") for cell in cells), path


def test_the_readme_names_the_wheel_and_the_seed(held):
    name, _ = wheel(held)
    text = held["README.md"].decode()
    assert f'"./{name}[course]"' in text and "drawn from your class's number, 7." in text
    assert "{" not in text


def test_the_wheel_draws_from_the_classs_seed(held, tmp_path):
    name, inner = wheel(held)
    assert "+class.7-" in name
    inner.extractall(tmp_path)
    program = (
        "import lib2048; from lib2048.course import labs; from lib2048.course.labs import seeds\n"
        "print(lib2048.__file__, seeds.lab_seed(), labs.variant('s1') == labs.variant('S1', 7))"
    )
    run = [sys.executable, "-c", program]
    done = subprocess.run(
        run,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    where, seed, same = done.stdout.split()
    assert Path(where).is_relative_to(tmp_path) and (seed, same) == ("7", "True")


def test_a_stale_release_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(labs, "RELEASE", tmp_path)
    with pytest.raises(ValueError, match="not that of its source: make release"):
        make_class.released_labs()


def test_a_wrong_seed_or_place_is_refused(capsys, tmp_path):
    for arguments in (["--seed", "-1"], ["--seed", "x"], ["--seed", "1", "--out", str(tmp_path)]):
        with pytest.raises(SystemExit, match="2"):
            make_class.main(arguments)
    assert list(tmp_path.iterdir()) == []
