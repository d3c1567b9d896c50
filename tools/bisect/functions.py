"""Modules that are mixed of two versions: some functions of before, some of after a pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import IRNode, Operation, SSAValue

from ...passmanager.ir.clone import clone
from ...passmanager.ir.edit import insert_before
from ...passmanager.ir.symbols import symbol_of

__all__ = ["changed_functions", "restore_functions"]


def changed_functions(before: ModuleOp, after: ModuleOp) -> Iterator[str]:
    """Yield the names of the symbols that are in both modules and differ, in order."""
    old = _symbols(before)
    for name, op in _symbols(after).items():
        blocks: dict[IRNode | SSAValue, IRNode | SSAValue] = {before.body.block: after.body.block}
        if name in old and not old[name].is_structurally_equivalent(op, blocks):
            yield name


def restore_functions(module: ModuleOp, before: ModuleOp, kept: Collection[str]) -> None:
    """Put the functions of `before` back into `module`, but for those in `kept`; new functions
    stay, and removed ones return."""
    new = _symbols(module)
    for name, op in _symbols(before).items():
        if name not in new:
            module.body.block.add_op(clone(op))
        elif name not in kept:
            insert_before(new[name], clone(op))
            new[name].detach()


def _symbols(module: ModuleOp) -> dict[str, Operation]:
    return {name: op for op in module.ops if (name := symbol_of(op))}
