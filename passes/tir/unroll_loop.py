"""UnrollLoop: a loop becomes copies of its body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from ...compiler.analysis.constant_evaluator import constant_extent
from ...compiler.analysis.memory.buffers import buffer_type, scope_of
from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.ir.effects import UNKNOWN, WRITES, own_effects
from ...passmanager.ir.walk import walk
from ..loops import ConstantPool, expand_loop
from .base import PrimFuncPass
from .loop_conditions import PRAGMAS, invalid_pragma, unknown_extent, unrollable_loops


class UnrollOptions(NamedTuple):
    """The options of `UnrollLoop`, which pragmas override within an operation."""

    auto_max_step: int
    auto_max_depth: int
    auto_max_extent: int
    explicit_unroll: bool
    unroll_local_access: bool
    max_copies: int


def unroll_loops(func: PrimFuncOp, options: UnrollOptions, *, actions: Actions = SILENT) -> None:
    """Unroll the loops of `func` that are marked `unrolled`, or that `options` select.

    Errors: a marked loop whose extent is not a constant, a loop that exceeds `max_copies`, and a
    pragma that is not an integer.
    """
    unroller = LoopUnroller(func, options.unroll_local_access, actions)
    unroller.visit(func, options)
    unroller.finish()


class CodeSize(NamedTuple):
    """The size of operations, including all nested ones."""

    ops: int = 0
    """The number of operations."""
    steps: int = 0
    """The number of operations that write, or may write (TVM counts stores)."""
    unrolled_depth: int = 0
    """The nesting depth of loops that are unrolled."""
    kept_depth: int = 0
    """The nesting depth of loops that are not unrolled."""

    def then(self, other: CodeSize) -> CodeSize:
        """Return the size of these operations followed by `other`."""
        return CodeSize(
            self.ops + other.ops,
            self.steps + other.steps,
            max(self.unrolled_depth, other.unrolled_depth),
            max(self.kept_depth, other.kept_depth),
        )


class LoopUnroller:
    """Unrolls the loops of one function, inner loops first: the size of an outer body includes the
    copies in it."""

    def __init__(self, func: PrimFuncOp, unroll_local_access: bool, actions: Actions) -> None:
        self.constants = ConstantPool(func)
        self.actions = actions
        self.register_indices = (
            indices_of_registers(func) if unroll_local_access else set[SSAValue]()
        )
        self._has_expanded = False

    def finish(self) -> None:
        """Erase the constants that the copies do not need."""
        if self._has_expanded:
            self.constants.erase_unused()

    def visit(self, op: Operation, options: UnrollOptions) -> CodeSize:
        """Unroll the loops nested in `op`, and `op` itself; return the size of the result."""
        options = self._take_pragmas(op, options)
        size = CodeSize()
        for region in op.regions:
            for block in region.blocks:
                # A copy of the list: a loop is replaced by operations that are counted already.
                for child in tuple(block.ops):
                    size = size.then(self.visit(child, options))
        if isinstance(op, ForOp):
            return self._visit_loop(op, size, options)
        # These are never unrolled here, and so keep the loops around them (`kept_depth`).
        if isinstance(op, scf.ForOp | scf.ParallelOp | scf.WhileOp):
            size = size._replace(kept_depth=size.kept_depth + 1)
        return size._replace(ops=size.ops + 1, steps=size.steps + is_step(op))

    def _take_pragmas(self, op: Operation, options: UnrollOptions) -> UnrollOptions:
        """Remove the pragmas of `op`; return the options within it."""
        for name, option in PRAGMAS.items():
            if (reason := invalid_pragma(op, name)) is not None:
                self.actions.error(op, reason)
                continue
            if not isinstance(value := op.attributes.pop(name, None), IntegerAttr):
                continue
            number = value.value.data
            options = (
                options._replace(auto_max_step=number)
                if option == "auto_max_step"
                else options._replace(explicit_unroll=bool(number))
            )
        return options

    def _visit_loop(self, loop: ForOp, body: CodeSize, options: UnrollOptions) -> CodeSize:
        """Unroll `loop`, whose body has size `body`, if it is marked or the options select it."""
        extent = constant_extent(loop)
        kept = body._replace(ops=body.ops + 1, kept_depth=body.kept_depth + 1)
        body = body._replace(ops=body.ops - 1)  # the terminator is not copied
        is_marked = loop.for_kind is ForKind.UNROLLED
        if extent is None:
            if is_marked:
                self.actions.error(loop, unknown_extent(loop))
            return kept
        is_ordered = loop.for_kind in (ForKind.SERIAL, ForKind.UNROLLED)
        # With the limit 1 a loop is expanded whatever `explicit_unroll` says: nothing is copied.
        is_unit = is_ordered and extent <= options.auto_max_extent == 1
        if not (is_marked or is_unit or self._is_profitable(loop, extent, body, options)):
            return kept
        size = CodeSize(
            body.ops * extent, body.steps * extent, body.unrolled_depth + 1, body.kept_depth
        )
        if options.explicit_unroll or is_unit:
            if max(size.ops, extent) > options.max_copies:  # copies of nothing take time, too
                self._report_too_large(loop, extent, size.ops, options)
                return kept
            if not self.actions.allowed(loop):
                return kept
            self._expand(loop, extent)
            if not extent:
                return CodeSize()
        elif not is_marked and self.actions.allowed(loop):
            loop.kind = ForKindAttr(ForKind.UNROLLED)
            self.actions.count("marked")
        return size

    def _expand(self, loop: ForOp, extent: int) -> None:
        self.actions.passed(loop, "Unrolled", "unrolled", Extent=extent)
        self.actions.count("unrolled")
        expand_loop(loop, extent, self.constants)
        self._has_expanded = True

    def _is_profitable(
        self, loop: ForOp, extent: int, body: CodeSize, options: UnrollOptions
    ) -> bool:
        """Return whether the options select a serial `loop` that is not marked."""
        if loop.for_kind is not ForKind.SERIAL:
            return False
        # Whatever it costs: a buffer with dynamic indices cannot be in registers at all.
        if loop.variable in self.register_indices:
            return True
        # A body that writes nothing counts as one step: copies of it are not free either.
        steps = extent * max(body.steps, 1)
        # As in TVM: around a loop that stays, copies of it would win little.
        if body.kept_depth or body.unrolled_depth > options.auto_max_depth:
            return False
        if steps <= options.auto_max_step or extent <= options.auto_max_extent:
            return True
        if options.auto_max_step or options.auto_max_extent:
            self.actions.missed(
                loop, "TooManySteps", "stays a loop", Steps=steps, Limit=options.auto_max_step
            )
        return False

    def _report_too_large(self, loop: ForOp, extent: int, ops: int, options: UnrollOptions) -> None:
        variable = loop.variable.name_hint
        self.actions.error(
            loop,
            f"{f'over %{variable} ' if variable else ''}is too large to be unrolled: {extent} "
            f"copies of its body are {ops} operations, and the limit is {options.max_copies}",
        ).help(f"raise it with tir-unroll-loop{{max-copies={ops}}}, or make the loop serial")


def is_step(op: Operation) -> bool:
    """Return whether `op` itself, not its regions, writes or may write memory."""
    if op.regions or op.has_trait(IsTerminator, value_if_unregistered=False):
        return False
    return bool(own_effects(op) & (WRITES | UNKNOWN))


def indices_of_registers(func: PrimFuncOp) -> set[SSAValue]:
    """Return the indices of accesses to buffers in registers, and all values they depend on.

    Such a buffer can only be kept in registers if the indices are constants after unrolling.
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
    """Return whether the scope of `buffer` is "local" or "warp", or tagged as in "local.acc"."""
    return scope_of(buffer_type(buffer)).partition(".")[0] in ("local", "warp")


@dataclass(frozen=True)
class UnrollLoop(PrimFuncPass):
    """Replace `unrolled` loops by copies of their bodies, and small serial loops on request.

    An `unrolled` loop must have a constant extent. The attributes `pragma_auto_unroll_max_step` and
    `pragma_unroll_explicit` of an operation override the options within it, and are removed.
    Source: `tir.UnrollLoop`.

    Before:

        tir.prim_func @f(%x: memref<4xf32>, %y: f32) {
          %c0 = arith.constant 0 : index
          %c2 = arith.constant 2 : index
          tir.for unrolled %i = %c0 extent %c2 {
            %0 = arith.addi %i, %c2 : index
            memref.store %y, %x[%0] : memref<4xf32>
          }
        }

    After:

        tir.prim_func @f(%x: memref<4xf32>, %y: f32) {
          %c2 = arith.constant 2 : index
          %0 = arith.constant 3 : index
          memref.store %y, %x[%c2] : memref<4xf32>
          memref.store %y, %x[%0] : memref<4xf32>
        }
    """

    name = "tir-unroll-loop"
    requires = (unrollable_loops,)

    auto_max_step: int = field(default=0, metadata={"minimum": 0})
    """Also unroll serial loops that become at most this many writing operations."""
    auto_max_depth: int = field(default=8, metadata={"minimum": 0})
    """The deepest nesting of unrolled loops in a serial loop that is unrolled."""
    auto_max_extent: int = field(default=0, metadata={"minimum": 0})
    """Also unroll serial loops of up to this extent, however many operations they become."""
    explicit_unroll: bool = True
    """Make copies; if false, the loops only get the kind `unrolled`."""
    unroll_local_access: bool = False
    """Unroll serial loops whose variable indexes a "local" or "warp" buffer."""
    max_copies: int = field(default=1 << 18, metadata={"minimum": 1})
    """The most operations that one loop may be expanded to."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        options = UnrollOptions(
            self.auto_max_step,
            self.auto_max_depth,
            self.auto_max_extent,
            self.explicit_unroll,
            self.unroll_local_access,
            self.max_copies,
        )
        unroll_loops(func, options, actions=ctx.actions)
