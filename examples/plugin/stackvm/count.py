"""A plain xDSL pass, which does not depend on Passline."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from .dialect import ProgramOp

__all__ = ["CountInstructions"]


@dataclass(frozen=True)
class CountInstructions(ModulePass):
    """Annotate each program with its number of instructions."""

    name = "stackvm-count"

    attribute: str = "instructions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, ProgramOp):
                count = len(list(program.body.ops))
                program.attributes[self.attribute] = IntegerAttr(count, i64)
