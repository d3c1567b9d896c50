"""An instrument that prints the size of programs before and after each pass."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PassInfo, PassInstrument

from .dialect import ProgramOp

__all__ = ["ProgramSizes"]


@dataclass
class ProgramSizes(PassInstrument):
    """A printer of the number of instructions, on stderr, after each pass that changes it.

    A pipeline is a pass too, which changes it by its passes: it is left out.
    """

    _before: list[int] = field(default_factory=list[int])

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._before.append(size(module))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        before, after = self._before.pop(), size(module)
        if before != after and not info.composite:
            print(f"{info.name}: {before} -> {after} instructions", file=sys.stderr)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self._before.pop()


def size(module: ModuleOp) -> int:
    """Return the number of instructions of all programs of the module."""
    return sum(len(list(op.body.ops)) for op in module.ops if isinstance(op, ProgramOp))
