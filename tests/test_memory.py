"""Memory: what is free, in a machine and in the containers around a process."""

import psutil
import pytest

from lib2048.machine import memory

GIB = 1 << 30
UNLIMITED = 9223372036854771712  # what version 1 says where there is no limit


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("M", (), {"available": 16 * GIB}))


@pytest.fixture
def free(tmp_path):
    """Return a function: what is free, where /proc says so of a process and /sys of its groups."""

    def found(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        return memory.available(tmp_path / "groups", tmp_path / "own")

    return found


def new(folder, limit, used, cache=0):
    """Return the files of a group of version 2."""
    stat = f"anon {used - cache}\nfile {cache}\ninactive_file {cache}"
    texts = {"memory.max": limit, "memory.current": used, "memory.stat": stat}
    return {f"{folder}/{name}": text for name, text in texts.items()}


def old(folder, limit, used, cache=0):
    """Return the files of a group of version 1; inactive_file counts without the groups below."""
    stat = f"cache {cache}\ninactive_file 0\ntotal_inactive_file {cache}"
    names = {"limit_in_bytes": limit, "usage_in_bytes": used, "stat": stat}
    return {f"memory/{folder}/memory.{name}": text for name, text in names.items()}


def test_without_groups_it_is_what_the_machine_has(free):
    assert free("", {}) == 16 * GIB
    assert memory.available("/nowhere", "/nowhere") == 16 * GIB
    assert free("0::/\n", {"cgroup.procs": "1"}) == 16 * GIB


def test_a_limit_counts_less_what_is_used_and_cannot_be_given_back(free):
    assert free("0::/job", new("job", 4 * GIB, 3 * GIB)) == GIB
    assert free("0::/job", new("job", 4 * GIB, 3 * GIB, cache=GIB)) == 2 * GIB
    assert free("4:memory:/job", old("job", 4 * GIB, 3 * GIB)) == GIB
    assert free("4:memory:/job", old("job", 4 * GIB, 3 * GIB, cache=GIB)) == 2 * GIB


def test_the_smallest_of_all_enclosing_groups_counts(free):
    groups = new("slice", 8 * GIB, 7 * GIB) | new("slice/job", 4 * GIB, GIB)
    assert free("0::/slice/job\n", groups) == GIB
    groups |= new("slice/job", 4 * GIB, 4 * GIB - 5)
    assert free("0::/slice/job\n", groups) == 5
    groups = old("slice", 8 * GIB, 7 * GIB) | old("slice/job", 4 * GIB, GIB)
    assert free("12:cpu,memory:/slice/job\n1:pids:/\n", groups) == GIB


def test_no_limit_is_none(free):
    assert free("0::/job", new("", "max", GIB) | new("job", "max", GIB)) == 16 * GIB
    assert free("4:memory:/job", old("job", UNLIMITED, GIB)) == 16 * GIB
    assert free("0::/job", new("job", 64 * GIB, GIB)) == 16 * GIB


@pytest.mark.parametrize("own", ["0::/docker/4711", "4:memory:/docker/4711", "0::/../../other"])
def test_in_a_container_the_path_may_be_the_hosts(free, own):
    """Then its own group is at the top of what it sees."""
    assert free(own, new(".", 2 * GIB, GIB) | old(".", 2 * GIB, GIB)) == GIB


def test_a_group_that_uses_more_than_its_limit_leaves_nothing(free):
    assert free("0::/job", new("job", GIB, 2 * GIB)) == 0


@pytest.mark.parametrize("text", ["", "a lot", "-", "\n\n", "1 2"])
def test_what_is_no_number_is_passed_over(free, text):
    assert free("0::/job", new("job", text, GIB)) == 16 * GIB
    assert free("0::/job", new("job", GIB, 0) | {"job/memory.current": text}) == 16 * GIB
    assert free(f"0::/job\n{text}\n:::\nmemory", {}) == 16 * GIB


def test_what_does_not_fit_into_a_container_is_refused(free, monkeypatch):
    left = free("0::/job", new("job", GIB, GIB // 2))
    monkeypatch.setattr(memory, "available", lambda: left)
    memory.check_memory("half", GIB // 2)
    with pytest.raises(MemoryError, match="needs 513 MiB, and 512 MiB are free"):
        memory.check_memory("more", GIB // 2 + (1 << 20))
