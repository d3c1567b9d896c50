"""UnrollLoop: a loop becomes the copies of its body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from xdsl.dialects import memref, scf
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator, MemoryEffectKind, get_effects
from xdsl.utils.hints import isa

from ...analysis.constants import integer_constant
from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, PrimFuncOp
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ..rewriting.cloning import Constants, compute, copy_ops
from .base import PrimFuncPass

__all__ = ["UnrollLoop", "constant_extent", "expand"]


def constant_extent(loop: ForOp) -> int | None:
    """How often a loop runs, if that is a constant less than 2^31."""
    extent = integer_constant(loop.extent)
    return None if extent is None or extent >= 1 << 31 else max(extent, 0)


def expand(loop: ForOp, extent: int, constants: Constants) -> None:
    """Replace a loop by `extent` copies of its body, in which the variable is `min`, `min + 1`, ...

    An allocation of the body becomes one in each copy.
    """
    block = loop.parent
    assert block is not None
    *body, _ = loop.body.block.ops
    for number in range(extent):
        copies: list[Operation] = []
        offset = constants.index(number)
        variable = compute(AddiOp, loop.min, offset, constants, copies.append)
        copies += copy_ops(body, {loop.variable: variable}, constants)
        block.insert_ops_before(copies, loop)
    loop.detach()
    loop.erase()


class Size(NamedTuple):
    """What is in a piece of a function; of pieces that follow each other, sums and maxima."""

    ops: int = 0
    steps: int = 0
    """Operations that write, or may."""
    unrolled: int = 0
    """How deep loops that are unrolled are nested."""
    kept: int = 0
    """How deep other loops are."""

    def then(self, other: Size) -> Size:
        return Size(
            self.ops + other.ops,
            self.steps + other.steps,
            max(self.unrolled, other.unrolled),
            max(self.kept, other.kept),
        )


class Unrolling:
    """The unrolling of the loops of one function, from the inside out."""

    def __init__(self, func: PrimFuncOp, ctx: PassContext, local_access: bool) -> None:
        self.constants = Constants(func)
        self.diagnostics = ctx.diagnostics
        self.remarks = ctx.remarks
        self.in_registers = indexes_of_registers(func) if local_access else set[SSAValue]()
        self.expanded = 0
        self.marked = 0

    def visit(self, op: Operation, rules: UnrollLoop) -> Size:
        """Unroll the loops in `op`, and `op` if it is one."""
        rules = self.rules_in(op, rules)
        size = Size()
        for region in op.regions:
            for block in region.blocks:
                for child in tuple(block.ops):
                    size = size.then(self.visit(child, rules))
        if isinstance(op, ForOp):
            return self.visit_loop(op, size, rules)
        if isinstance(op, LOOPS):
            size = size._replace(kept=size.kept + 1)
        return size._replace(ops=size.ops + 1, steps=size.steps + is_step(op))

    def rules_in(self, op: Operation, rules: UnrollLoop) -> UnrollLoop:
        """Take the pragmas off an operation; returns the rules that they make in it."""
        for name, field in PRAGMAS.items():
            if (value := op.attributes.get(name)) is None:
                continue
            if not isinstance(value, IntegerAttr):
                self.diagnostics.error(op, f"has {name} = {value}: expected an integer")
                continue
            del op.attributes[name]
            number = value.value.data
            rules = (
                replace(rules, auto_max_step=number)
                if field == "auto_max_step"
                else replace(rules, explicit_unroll=bool(number))
            )
        return rules

    def visit_loop(self, loop: ForOp, body: Size, rules: UnrollLoop) -> Size:
        """Unroll a loop if the rules say so, whose body is of that size."""
        extent = constant_extent(loop)
        kept = body._replace(ops=body.ops + 1, kept=body.kept + 1)
        body = body._replace(ops=body.ops - 1)  # but for its end
        demanded = loop.for_kind is ForKind.UNROLLED
        if extent is None:
            if demanded:
                self.diagnostics.error(
                    loop,
                    f"cannot be unrolled: the extent{_hint(loop.extent)} is no constant from 0 "
                    "to 2^31 - 1",
                )
            return kept
        free = loop.for_kind in (ForKind.SERIAL, ForKind.UNROLLED)
        unit = free and extent <= rules.auto_max_extent == 1
        if not (demanded or unit or self.is_worth(loop, extent, body, rules)):
            return kept
        size = Size(body.ops * extent, body.steps * extent, body.unrolled + 1, body.kept)
        if rules.explicit_unroll or unit:
            if size.ops > rules.max_copies:
                self.refuse(loop, extent, size.ops, rules)
                return kept
            self.remarks.passed(loop, "Unrolled", "unrolled", Extent=extent)
            expand(loop, extent, self.constants)
            self.expanded += 1
        elif not demanded:
            loop.kind = ForKindAttr(ForKind.UNROLLED)
            self.marked += 1
        return size

    def is_worth(self, loop: ForOp, extent: int, body: Size, rules: UnrollLoop) -> bool:
        """Whether a loop is to be unrolled that does not say so."""
        if loop.for_kind is not ForKind.SERIAL:
            return False
        if loop.variable in self.in_registers:
            return True
        # A body that writes nothing is worth no copies either.
        steps = extent * max(body.steps, 1)
        if body.kept or body.unrolled > rules.auto_max_depth:
            return False
        if steps <= rules.auto_max_step or extent <= rules.auto_max_extent:
            return True
        if rules.auto_max_step or rules.auto_max_extent:
            self.remarks.missed(
                loop, "TooManySteps", "stays a loop", Steps=steps, Limit=rules.auto_max_step
            )
        return False

    def refuse(self, loop: ForOp, extent: int, ops: int, rules: UnrollLoop) -> None:
        variable = loop.variable.name_hint
        self.diagnostics.error(
            loop,
            f"{f'over %{variable} ' if variable else ''}is too large to be unrolled: {extent} "
            f"times its body are {ops} operations, and the limit is {rules.max_copies}",
        ).help(f"raise it with tir-unroll-loop{{max-copies={ops}}}, or let the loop be serial")


PRAGMAS = {
    "pragma_auto_unroll_max_step": "auto_max_step",
    "pragma_unroll_explicit": "explicit_unroll",
}
"""The annotations that set an option for an operation and all in it."""

LOOPS = (scf.ForOp, scf.ParallelOp, scf.WhileOp)


def is_step(op: Operation) -> bool:
    """Whether an operation writes, or may, and not only in its regions."""
    if op.regions or op.has_trait(IsTerminator):
        return False
    effects = get_effects(op)
    return effects is None or any(effect.kind is MemoryEffectKind.WRITE for effect in effects)


def indexes_of_registers(func: PrimFuncOp) -> set[SSAValue]:
    """The values by which elements of buffers in registers are chosen: indices, and what these are
    computed of.
    """
    found = set[SSAValue]()
    pending: list[SSAValue] = []
    for op in walk(func):
        if isinstance(op, memref.LoadOp | memref.StoreOp) and _is_in_registers(op.memref):
            pending += op.indices
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += value.owner.operands if isinstance(value, OpResult) else ()
    return found


def _is_in_registers(buffer: SSAValue) -> bool:
    """Whether a buffer is in scope "local" or "warp", or a part of it as "local.acc"."""
    assert isa(buffer.type, MemRefType)
    scope = buffer.type.memory_space
    return isinstance(scope, StringAttr) and scope.data.partition(".")[0] in ("local", "warp")


def _hint(value: SSAValue) -> str:
    return "" if value.name_hint is None else f" %{value.name_hint}"


@dataclass(frozen=True)
class UnrollLoop(PrimFuncPass):
    """Replace `unrolled` loops by copies of their bodies, and small serial ones if the options say
    so; source: `tir.UnrollLoop`.

    An `unrolled` loop has a constant extent. `pragma_auto_unroll_max_step` and
    `pragma_unroll_explicit` on an operation are options for all in it, and go.
    """

    name = "tir-unroll-loop"

    auto_max_step: int = 0
    """Serial loops are unrolled too, as far as this many writing operations come of one."""
    auto_max_depth: int = 8
    """The most unrolled loops that may be nested in a serial one to be unrolled."""
    auto_max_extent: int = 0
    """Serial loops of no greater extent are unrolled too, whatever their body."""
    explicit_unroll: bool = True
    """Whether there are to be copies; else serial loops become `unrolled`, which stay."""
    unroll_local_access: bool = False
    """Whether serial loops are unrolled whose variable indexes a "local" or "warp" buffer."""
    max_copies: int = 1 << 18
    """The most operations that may be copied of one loop."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        unrolling = Unrolling(func, ctx, self.unroll_local_access)
        unrolling.visit(func, self)
        if unrolling.expanded:
            unrolling.constants.erase_unused()
        ctx.count("unrolled", unrolling.expanded)
        ctx.count("marked", unrolling.marked)
