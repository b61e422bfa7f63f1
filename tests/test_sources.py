"""What computes: the files that compiled code and recorded rows depend on, and no others."""

import ast
import shutil

from lib2048.machine import kernels
from lib2048.machine.kernels import COMPUTING, LIBRARY, SOURCE_HASH, computing, hash_of

MAKERS = {"kernel", "part", "compiled", "at_once", "jit", "intrinsic"}


def trees(paths):
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def name_of(decorator):
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(made, "id", getattr(made, "attr", None))


def compiled_functions(tree):
    """Return the functions of a file that numba compiles, as far as a decorator tells."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [each for each in functions if {*map(name_of, each.decorator_list)} & MAKERS]


def test_every_file_with_a_kernel_is_in_it():
    engine = [path for path in LIBRARY.rglob("*.py") if "course" not in path.parts]
    found = {path for path, tree in trees(engine).items() if compiled_functions(tree)}
    assert len(found) > 15 and found <= COMPUTING


def test_no_kernel_holds_what_comes_from_elsewhere():
    homes = {*COMPUTING, *(path.parent for path in COMPUTING)}
    for path, tree in trees(COMPUTING).items():
        strangers = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lib2048."):
                home = LIBRARY.joinpath(*node.module.split(".")[1:])
                inside = {home.with_suffix(".py"), home} & homes
                strangers |= set() if inside else {name.asname or name.name for name in node.names}
        for function in compiled_functions(tree):
            used = {node.id for part in function.body for node in ast.walk(part)
                    if isinstance(node, ast.Name)}  # fmt: skip
            assert not used & strangers, (path, function.name)


def test_what_draws_tells_or_teaches_is_not_in_it():
    rooms = {path.relative_to(LIBRARY).parts[0] for path in COMPUTING}
    assert rooms == {"machine", "game", "networks", "learn", "endgame", "search", "play", "train",
                     "deep", "ruler", "exact.py"}  # fmt: skip
    machine = {path.name for path in COMPUTING if path.parent.name == "machine"}
    assert machine == {"kernels.py", "native.py", "turns.py"}
    assert {path.suffix for path in COMPUTING} == {".py"}


EDITS = ["show/widgets/board.css", "show/plotting.py", "course/recorded.py", "cli.py",
         "networks/storage.py", "machine/terminal.py"]  # fmt: skip


def test_an_edit_of_them_changes_nothing_and_one_of_what_computes_does(tmp_path, monkeypatch):
    monkeypatch.setattr(kernels, "LIBRARY", tmp_path / "lib2048")
    shutil.copytree(LIBRARY, kernels.LIBRARY, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (*EDITS, "game/spec.py"):
        with open(kernels.LIBRARY / name, "a", encoding="utf-8") as file:
            file.write("# a word more\n")
        assert (hash_of(computing()) == SOURCE_HASH) == (name in EDITS), name


def test_a_kernel_of_the_course_depends_on_its_own_file_too(tmp_path, monkeypatch):
    inside, outside = tmp_path / "game.py", tmp_path / "course.py"
    monkeypatch.setattr(kernels, "LIBRARY", tmp_path)
    monkeypatch.setattr(kernels, "COMPUTING", {inside})
    inside.write_text("1")
    outside.write_text("1")

    def stamp(path):
        room = {"__name__": "module"}
        exec(compile("def function(): pass", str(path), "exec"), room)
        return kernels._Place(room["function"]).get_source_stamp()

    stamps = [stamp(inside), stamp(outside)]
    assert stamps[0] == "" != stamps[1]
    outside.write_text("2")
    assert stamp(outside) not in stamps
