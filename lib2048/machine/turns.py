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
from numba.core.ir_utils import build_definitions
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import intrinsic

MOST = 10_000_000  # turns of a call: some hundredths of a second
ENDLESS = "it has not come to an end after 10 million turns of its loops"


@intrinsic
def _turn(typing_context, turns):
    """Return one turn more, or let the function that asks raise RuntimeError."""

    def build(context, builder, signature, arguments):
        more = builder.add(arguments[0], llvm.IntType(64)(1))
        over = builder.icmp_unsigned(">", more, llvm.IntType(64)(MOST))
        with builder.if_then(over, likely=False):
            context.call_conv.return_user_exc(builder, RuntimeError, (ENDLESS,))
        return more

    return types.int64(types.int64), build


@register_pass(mutates_CFG=False, analysis_only=False)
class _CountTurns(FunctionPass):
    """Put a `_turn` at the head of each loop, those of comprehensions included."""

    _name = "count_turns"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        blocks = state.func_ir.blocks
        heads = {loop.header for loop in compute_cfg_from_blocks(blocks).loops().values()}
        if not heads:
            return False
        entry = blocks[min(blocks)]
        count, more = (entry.scope.redefine(name, entry.loc) for name in ("$turns", "$turn"))
        for head in heads:
            loc = blocks[head].loc
            call = ir.Expr.call(more, [count], (), loc)
            blocks[head].body.insert(0, ir.Assign(call, count, loc))
        begin = [(ir.Const(0, entry.loc), count), (ir.Global("_turn", _turn, entry.loc), more)]
        entry.body[:0] = [ir.Assign(value, name, entry.loc) for value, name in begin]
        state.func_ir._definitions = build_definitions(blocks)
        return True


class Counted(CompilerBase):
    """How numba compiles a function whose turns are counted: the `pipeline_class` of its jit."""

    def define_pipelines(self):
        """Return numba's own passes, and ours once closures are part of the function."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_CountTurns, InlineClosureLikes)
        passes.finalize()
        return [passes]
