"""A limit on how long a reader's compiled function may go round in its loops.

A thread inside of compiled code cannot be interrupted from outside.  So each loop of such a
function counts its turns, all loops of a call together, and past `MOST` the call raises.
"""

from llvmlite import ir as llvm
from numba import types
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions, find_const, get_definition, guard
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import intrinsic

MOST = 10_000_000  # turns of a call: some hundredths of a second
SHORT = 16  # turns of a loop that are not worth a count
ENDLESS = "it has not come to an end after 10 million turns of its loops"


@intrinsic
def _turn(typing_context, left):
    """Return how many turns are left, or let the function that asks raise RuntimeError."""

    def build(context, builder, signature, arguments):
        left = builder.sub(arguments[0], llvm.IntType(64)(1))  # down: 0 needs no comparison
        with builder.if_then(builder.icmp_signed("<", left, llvm.IntType(64)(0)), likely=False):
            context.call_conv.return_user_exc(builder, RuntimeError, (ENDLESS,))
        return left

    return types.int64(types.int64), build


@register_pass(mutates_CFG=False, analysis_only=False)
class _CountTurns(FunctionPass):
    """Put a `_turn` at the head of each loop, those of comprehensions included."""

    _name = "count_turns"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        blocks = state.func_ir.blocks
        loops = compute_cfg_from_blocks(blocks).loops()
        inside = [(head, sum(head in loop.body for loop in loops.values()) > 1) for head in loops]
        heads = [
            head for head, deep in inside if not guard(_is_short, state.func_ir, blocks[head], deep)
        ]
        if not heads:
            return False
        entry = blocks[min(blocks)]
        left, turn = (entry.scope.redefine(name, entry.loc) for name in ("$left", "$turn"))
        for head in heads:
            loc = blocks[head].loc
            call = ir.Expr.call(turn, [left], (), loc)
            blocks[head].body.insert(0, ir.Assign(call, left, loc))
        begin = [(ir.Const(MOST, entry.loc), left), (ir.Global("_turn", _turn, entry.loc), turn)]
        entry.body[:0] = [ir.Assign(value, name, entry.loc) for value, name in begin]
        state.func_ir._definitions = build_definitions(blocks)
        return True


def _is_short(function, head, deep):
    """Say whether a loop needs no count, which costs most where a turn is short.

    That is one over range(4) or the like, and outside of other loops one over an argument or
    range(len(argument)).
    """
    step = next(head.find_exprs("iternext"), None)
    rows = step and get_definition(function, get_definition(function, step.value).value)
    if _calls(function, rows, range):
        if _calls(function, length := get_definition(function, rows.args[0]), len):
            rows = get_definition(function, length.args[0])
        else:
            return find_const(function, rows.args[0]) <= SHORT
    return isinstance(rows, ir.Arg) and not deep


def _calls(function, found, what):
    """Say whether a definition is a call of a builtin with one argument."""
    call = isinstance(found, ir.Expr) and found.op == "call" and len(found.args) == 1
    return call and find_const(function, found.func) is what


class Counted(CompilerBase):
    """How numba compiles a function whose turns are counted: the `pipeline_class` of its jit."""

    def define_pipelines(self):
        """Return numba's own passes, and ours once closures are part of the function."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_CountTurns, InlineClosureLikes)
        passes.finalize()
        return [passes]
