"""GenerateRuntimeVerification: check operations when the program runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.printer import Printer

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import insert_before
from ...passmanager.ir.runtime_verification import RUNTIME_VERIFIABLE, RuntimeCheck
from ...passmanager.ir.walk import walk


def add_runtime_checks(root: Operation, verbose: bool = True, actions: Actions = SILENT) -> int:
    """Insert the checks of the operations in `root` before them, as `cf.assert`; return the number
    of them.

    A check that stands before the operation already is not inserted again.
    """
    added = 0
    for op in [*walk(root)]:
        if (interface := RUNTIME_VERIFIABLE[type(op)]) is None or op.parent is None:
            continue
        present = _checks_before(op)
        for check in interface.get_checks(op):
            message = _message(op, check, verbose)
            if message in present or not actions.allowed(op):
                continue
            _insert(op, check, message)
            actions.passed(op, "Checked", check.message)
            actions.count("checks")
            added += 1
    return added


def _insert(op: Operation, check: RuntimeCheck, message: str) -> None:
    from xdsl.dialects.cf import AssertOp

    new = [*check.ops, AssertOp(check.condition, StringAttr(message))]
    for inner in new:
        inner.location = op.location
    insert_before(op, *new)


def _checks_before(op: Operation) -> set[str]:
    """Return the messages of the checks directly before `op`."""
    found: set[str] = set()
    before = op.prev_op
    while before is not None and (before.name == "cf.assert" or _may_be_of_check(before)):
        message = before.get_attr_or_prop("msg")
        if before.name == "cf.assert" and isinstance(message, StringAttr):
            found.add(message.data)
        before = before.prev_op
    return found


_OF_CHECKS = frozenset(("arith.andi", "arith.cmpi", "arith.constant", "memref.dim", "tensor.dim"))


def _may_be_of_check(op: Operation) -> bool:
    return op.name in _OF_CHECKS


def _message(op: Operation, check: RuntimeCheck, verbose: bool) -> str:
    """Return the text of an assertion: what failed, on which operation, and where that is."""
    text = "ERROR: Runtime op verification failed\n"
    if verbose:
        stream = StringIO()
        Printer(stream, print_generic_format=True).print_op(op)
        # Without the names of results, which depend on what stands before it.
        shown = stream.getvalue()
        text += f"{shown[shown.index(chr(34)) :]}\n^ {check.message}\n"
    return f"{text}Location: {op.location}"


@dataclass(frozen=True)
class GenerateRuntimeVerification(ModulePass):
    """Insert an assertion before each operation that is undefined for some operands.

    These are accesses out of bounds, and casts and copies between shapes that differ. Source:
    MLIR's pass of this name.
    """

    name = "generate-runtime-verification"
    nestable = True

    verbose_level: int = field(default=1, metadata={"minimum": 0})
    """0: messages have the location alone; 1: also the operation."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        add_runtime_checks(module, self.verbose_level > 0, ctx.actions)
