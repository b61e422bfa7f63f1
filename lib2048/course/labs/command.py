"""The command line of homework: lib2048 labs check | pack | generate | collect | grade | …"""

import sys

from lib2048.course.labs.exercise import LABS
from lib2048.course.labs.messages import say
from lib2048.course.labs.seeds import OWN


def add(commands, parser_class):
    """Add the group `labs` to the command line; commands: of argparse.  Returns its parsers."""
    group = commands.add_parser("labs", help="homework: check, hand in, grade")
    labs = group.add_subparsers(dest="labs", parser_class=parser_class)
    _add_students(labs)
    _add_graders(labs)
    return list(labs.choices.values())


def _add_students(labs):
    check = _lab(labs, "check", "check the functions of a lab in a Python file")
    check.add_argument("file", help="a Python file, such as player.py")
    check.add_argument("--only", metavar="NAME", help="one function, such as update")
    check.add_argument("--seed", type=int, help="that the cases are drawn from")
    pack = _lab(labs, "pack", "make the one file to hand in, and say what is missing")
    pack.add_argument("folder", nargs="?", default=".", help="where the notebook lies")
    pack.add_argument("--out", help="the file to write, LAB-STUDENT.zip by default")
    pack.add_argument("--student", help="your number, by default that in the notebook")


def _add_graders(labs):
    make = _lab(labs, "generate", "make a lab ready to be graded in a course's folder")
    _course(make)
    make.add_argument("--from", dest="sources", metavar="FOLDER", help="of the source labs")
    make.add_argument("--seed", type=int, help="that the class's zip was made with")
    make.add_argument("--game", help="likewise; with a seed by default own")
    make.add_argument("--lab-seed", type=int, help="that hidden checks draw from")
    take = labs.add_parser("collect", help="take what Moodle or Canvas gives to download")
    take.add_argument("zip", help="the zip file of all hand-ins")
    take.add_argument("--into", dest="course", metavar="COURSE", required=True)
    take.add_argument("--lab", choices=LABS, metavar="LAB", help="where several are in it")
    take.add_argument("--due", metavar="TIME", help="'2026-03-01 23:59': later is late")
    grade = _course(_lab(labs, "grade", "grade all hand-ins of a lab"))
    grade.add_argument("--processes", type=int, default=2, metavar="N", help="kernels at a time")
    grade.add_argument("--again", action="store_true", help="also what is graded already")
    slow = "times the limits of time, for a slow or busy machine"
    grade.add_argument("--patience", type=float, default=1, metavar="X", help=slow)
    train = grade.add_mutually_exclusive_group()
    text = "that hidden cells of hw04 train"
    train.add_argument("--games", type=int, default=20_000, metavar="N", help=text)
    full = {"dest": "games", "action": "store_const", "const": 100_000}
    train.add_argument("--full", **full, help="as many as a student's report shows")
    export = _course(_lab(labs, "export", "write the grades as CSV"))
    export.add_argument("--out", help="by default COURSE/grades-LAB.csv")
    _course(_lab(labs, "feedback", "write one HTML page a student"))


def _lab(labs, name, text):
    parser = labs.add_parser(name, help=text)
    parser.add_argument("lab", choices=LABS, metavar="LAB", help="hw01, hw02, …")
    return parser


def _course(parser):
    parser.add_argument("course", metavar="COURSE", help="the course's folder")
    return parser


def run(options):
    """Carry out a command of the group; return (what --json prints, the text)."""
    return COMMANDS[options.labs](options)


def _check(options):
    from lib2048.course.labs.player_file import check_file
    from lib2048.course.labs.result import FAILED

    results = check_file(options.lab, options.file, options.seed, options.only)
    said = ("name", "status", "cases", "reason")
    data = {
        "lab": options.lab,
        "passed": sum(one.passed for one in results),
        "failed": sum(one.status == FAILED for one in results),
        "checks": [{key: getattr(one, key) for key in said} for one in results],
    }
    return data, "\n\n".join(map(str, results))


def _pack(options):
    from lib2048.course.labs.pack import pack

    done = pack(options.lab, options.folder, options.out, options.student)
    data = {"file": str(done.path), "student": done.student, "files": done.files}
    return data | {"missing": done.missing}, str(done)


def _generate(options):
    from lib2048.course.labs.course_folder import SOURCES, generate

    sources, game = options.sources or SOURCES, options.game
    if game is None and options.seed is not None:
        game = OWN  # which is what `make class` draws from its seed
    course = generate(options.lab, options.course, sources, options.seed, options.lab_seed, game)
    release = course.folder / "release" / options.lab / f"{options.lab}.ipynb"
    data = {"course": str(course.folder), "seed": course.seed, "lab_seed": course.lab_seed}
    words = {"lab": options.lab, "course": course.folder, "seed": course.seed, "game": course.game}
    data |= {"game": course.game, "release": str(release)}
    return data, say("grading.generated", **words)


def _collect(options):
    from lib2048.course.labs.collect import collect

    done = collect(options.zip, options.course, options.lab, options.due)
    lines = [*done["taken"], *(say("hand_in.look", problem=line) for line in done["problems"])]
    lines += [say("hand_in.not_taken", **done)] if done["failed"] else []
    return done, "\n".join([*lines, say("hand_in.collected", **done)])


def _grade(options):
    from lib2048.course.labs.course_folder import open_course
    from lib2048.course.labs.grading import grade
    from lib2048.course.labs.marks import rows, summary

    tell = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
    numbers = options.processes, options.again, options.patience, options.games
    done = grade(options.lab, options.course, *numbers, tell=tell)
    data = {"lab": options.lab, "graded": len(done), "seconds": sum(one.seconds for one in done)}
    data |= summary(rows(open_course(options.course), options.lab))
    data["failed"] = sum(one.failed for one in done)
    lines = [say("grading.not_graded_all", **data)] if data["failed"] else []
    return data, "\n".join([*lines, say("grading.graded", **data)])


def _export(options):
    from lib2048.course.labs.course_folder import open_course
    from lib2048.course.labs.marks import export, rows, summary

    path = export(options.lab, options.course, options.out)
    data = {"file": str(path), **summary(rows(open_course(options.course), options.lab))}
    lines = [say("grading.not_graded_all", **data)] if data["failed"] else []
    return data, "\n".join([*lines, say("grading.exported", path=path, **data)])


def _feedback(options):
    from lib2048.course.labs.marks import feedback

    lines = []
    paths = feedback(options.lab, options.course, lines.append)
    data = {"pages": len(paths), "files": [str(path) for path in paths], "failed": len(lines)}
    lines.append(say("grading.pages", pages=len(paths), course=options.course))
    return data, "\n".join(lines)


COMMANDS = {
    "check": _check, "pack": _pack, "generate": _generate, "collect": _collect, "grade": _grade,
    "export": _export, "feedback": _feedback,
}  # fmt: skip
