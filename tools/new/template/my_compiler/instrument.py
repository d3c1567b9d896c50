"""An instrument that counts the operations of the dialect before and after each pass."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PassInfo, PassInstrument

from .dialect import MyCompiler

__all__ = ["CountOps", "count_ops"]


def count_ops(module: ModuleOp) -> int:
    """Return the number of operations of the dialect in `module`."""
    return sum(op.dialect_name() == MyCompiler.name for op in module.walk())


@dataclass
class CountOps(PassInstrument):
    """A printer of the number of operations of the dialect, on stderr, where a pass changes it."""

    _before: list[int] = field(default_factory=list[int])
    """The numbers before the passes that are running; pipelines contain passes."""

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._before.append(count_ops(module))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        before, after = self._before.pop(), count_ops(module)
        if before != after and not info.composite:
            print(f"{info.name}: {before} -> {after} operations", file=sys.stderr)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self._before.pop()
