"""Wrong answers by the hundred: right ones with one small change, which some check has to notice.

    python tests/mutants.py hw04 [hw04.update …] [--seed 1] [--show]

Each change is of a kind that people make: a comparison turned, a sign, an index one off, a line
left out, `max` for `min`.  Printed are those that pass; a few of them are right answers still, and
somebody has to look.
"""

import argparse
import ast
import copy
import inspect
import sys
import textwrap
from collections import Counter

from lib2048.course.labs import checks
from lib2048.course.labs.checks import check_text
from lib2048.course.labs.exercise import find, of_lab

COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitOr,
}  # fmt: skip
CALLS = {"max": "min", "min": "max", "abs": "float", "any": "all", "all": "any", "sum": "max"}
TURNS = ast.Add, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor  # the same in either order
HEAD = "import importlib\nglobals().update(vars(importlib.import_module({!r})))\n"
LEFT_OUT = ast.Expr, ast.Assign, ast.AugAssign, ast.If


def mutants(function):
    """Return the texts of a function with one thing changed each, no text twice."""
    text = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(text[text.index("def ") :])
    first = tree.body[0]
    if isinstance(first.body[0], ast.Expr) and isinstance(first.body[0].value, ast.Constant):
        del first.body[0]
    made = {ast.unparse(tree)}
    for n, _ in enumerate(ast.walk(tree)):
        for k in range(4):
            other = copy.deepcopy(tree)
            if _change([*ast.walk(other)][n], k):
                made.add(ast.unparse(ast.fix_missing_locations(other)))
    return sorted(made - {ast.unparse(tree)})


def _change(node, k):
    """Change a node in the k-th way; return whether there is one."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARE and k == 0:
        node.ops[0] = COMPARE[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC and k < 2:
        if k == 0:
            node.op = ARITHMETIC[type(node.op)]()
        elif isinstance(node, ast.BinOp) and not isinstance(node.op, TURNS):
            node.left, node.right = node.right, node.left
        else:
            return False
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float) and k < 3:
        node.value = [node.value + 1, node.value - 1, 2 * node.value + 3][k]
    elif isinstance(node, ast.BoolOp) and k == 0:
        node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and k < 2:
        return _change_call(node, k)
    elif isinstance(node, ast.IfExp) and k == 0:
        node.body, node.orelse = node.orelse, node.body
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        node.elts.reverse()
        return k == 0
    else:
        return _leave_out(node, k)
    return True


def _change_call(node, k):
    if k == 0 and node.func.id in CALLS:
        node.func.id = CALLS[node.func.id]
    elif k == 1 and len(node.args) > 1:
        node.args[0], node.args[1] = node.args[1], node.args[0]
    else:
        return False
    return True


def _leave_out(node, k):
    """Leave the k-th statement of a block out."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and k < len(body) and isinstance(body[k], LEFT_OUT):
        body[k] = ast.Pass()
        return True
    return False


def passing(exercise, seed):
    """Return (the wrong answers that pass, how often what was said of the others)."""
    passed, said = [], Counter()
    for mutant in mutants(exercise.truth):
        text = HEAD.format(exercise.truth.__module__) + mutant
        text += f'\nFUNCTIONS = {{"function": {exercise.function}}}\n'
        result = check_text(exercise, text, None, seed)
        if result.passed:
            passed.append(mutant)
        said[result.status if not result.reason else result.reason] += 1
    return passed, said


def main():
    """Try the labs or exercises that are named; print what passes, and what was said."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="+", help="a lab, or an exercise: hw04.update")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="also what the others are told")
    options = parser.parse_args()
    checks.SECONDS = 2
    for name in options.name:
        for exercise in [find(name)] if "." in name else of_lab(name).values():
            passed, said = passing(exercise, options.seed)
            bare = said["The answer is not the expected one."]
            tried = f"{said.total()} tried, {len(passed)} passed, {bare} told nothing"
            print(f"== {exercise.name}: {tried}")
            print(*passed, sep="\n--\n", end="\n" if passed else "")
            for text, count in said.most_common() if options.show else ():
                print(f"{count:4d} {text}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
