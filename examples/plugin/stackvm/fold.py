"""A function pass of Passline: constant folding of programs for the stack machine."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import SILENT, Actions, FunctionPass, PassContext

from .dialect import AddOp, ProgramOp, PushOp

__all__ = ["FoldPushes", "fold_pushes"]


def fold_pushes(program: ProgramOp, limit: int, actions: Actions = SILENT) -> None:
    """Replace `push a; push b; add` by `push a+b` where the sum is at most `limit`."""
    for op in list(program.body.ops):
        if not isinstance(op, AddOp):
            continue
        second = op.prev_op
        first = None if second is None else second.prev_op
        if isinstance(first, PushOp) and isinstance(second, PushOp):
            total = first.value.value.data + second.value.value.data
            if total <= limit and actions.allowed(op):
                program.body.block.insert_op_before(PushOp(total), first)
                for old in (op, second, first):
                    program.body.block.erase_op(old)
                actions.count("folded")


@dataclass(frozen=True)
class FoldPushes(FunctionPass[ProgramOp]):
    """Add numbers at compile time that a program pushes one after the other.

    Before:

        stackvm.program @main {
          stackvm.push 1
          stackvm.push 2
          stackvm.add
          stackvm.print
        }

    After:

        stackvm.program @main {
          stackvm.push 3
          stackvm.print
        }
    """

    name = "stackvm-fold"
    opt_level = 1

    limit: int = 1 << 31

    def transform_function(self, func: ProgramOp, module: ModuleOp, ctx: PassContext) -> None:
        fold_pushes(func, self.limit, actions=ctx.actions)
