"""Parts of prepared modules that are compiled independently of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp

from ...passmanager.ir.walk import walk
from .llvm_ir import llvm_ir

__all__ = ["Part", "parts_of"]

PART_WORK = 1500
"""The least operations for which a process of its own pays: it starts in about 0.1 s."""


@dataclass(frozen=True)
class Part:
    """The LLVM IR of a module, with the bodies of some of its functions."""

    ir: str
    exported: tuple[str, ...]
    """The functions in it that others call."""


def parts_of(module: ModuleOp, entry: str, count: int, inlined: str) -> list[Part]:
    """Return a module as up to `count` parts of about the same size, one if it is small.

    A function is in one part, and declared in the others; one whose name starts with `inlined`, and
    constants, are in each part. A module with variables is one part.
    """
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, llvm.FuncOp) and op.body.first_block is not None
    }
    divided = [name for name in functions if not name.startswith(inlined)]
    sizes = {name: sum(1 for _ in walk(functions[name])) for name in divided}
    count = min(count, len(divided), sum(sizes.values()) // PART_WORK)
    if count < 2 or not all(map(is_constant, module.ops)):
        return [Part(llvm_ir(module, exported=(entry,)), (entry,))]
    groups: list[list[str]] = [[] for _ in range(count)]
    totals = [0] * count
    for name in sorted(divided, key=lambda name: -sizes[name]):  # the largest ones first
        least = totals.index(min(totals))
        groups[least].append(name)
        totals[least] += sizes[name]
    called = {name: called_by(functions[name]) for name in divided}
    parts: list[Part] = []
    for group in groups:
        others = {name for other in divided if other not in group for name in called[other]}
        exported = tuple(name for name in group if name == entry or name in others)
        left_out = {*divided}.difference(group)
        parts.append(Part(llvm_ir(module, exported=exported, declared=left_out), exported))
    return parts


def is_constant(op: object) -> bool:
    """Return whether each part of a module may have `op`: it is no variable."""
    return not isinstance(op, llvm.GlobalOp) or op.constant is not None or op.value is None


def called_by(function: llvm.FuncOp) -> Sequence[str]:
    """Return the names of the functions that a function refers to."""
    found: list[str] = []
    for op in walk(function):
        if isinstance(op, llvm.CallOp) and op.callee is not None:
            found.append(op.callee.string_value())
        elif isinstance(op, llvm.AddressOfOp):
            found.append(op.global_name.string_value())
    return found
