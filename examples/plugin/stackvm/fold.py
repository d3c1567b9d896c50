"""Do at compile time what a program does with numbers that it pushes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import FunctionPass, PassContext

from .dialect import AddOp, ProgramOp, PushOp

__all__ = ["FoldPushes", "fold_pushes"]


def fold_pushes(program: ProgramOp, limit: int) -> int:
    """Replace `push a; push b; add` by `push a+b` where the sum is at most `limit`; how often."""
    folded = 0
    for op in list(program.body.ops):
        if not isinstance(op, AddOp):
            continue
        second = op.prev_op
        first = None if second is None else second.prev_op
        if isinstance(first, PushOp) and isinstance(second, PushOp):
            total = first.value.value.data + second.value.value.data
            if total <= limit:
                program.body.block.insert_op_before(PushOp(total), first)
                for old in (op, second, first):
                    program.body.block.erase_op(old)
                folded += 1
    return folded


@dataclass(frozen=True)
class FoldPushes(FunctionPass[ProgramOp]):
    """Add numbers that are pushed one after the other."""

    name = "stackvm-fold"
    opt_level = 1

    limit: int = 1 << 31

    def transform_function(self, func: ProgramOp, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("folded", fold_pushes(func, self.limit))
