"""tir-common-subexpr-elim: compute and load equal values once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import IfOp
from xdsl.ir import Block, Operation, SSAValue

from ...compiler.analysis.arith.expressions import cannot_trap
from ...compiler.analysis.memory.effects import Epochs, Memory, has_nested_effects
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import Fields, insert_before
from ..generic.arith_families import COMMUTATIVE, REORDERABLE
from ..generic.common_subexpressions import CommonSubexprEliminator, Frame
from ..generic.cse import is_pure
from .base import PrimFuncPass

MAX_TERMS = 32
"""A sum or product of more terms is compared operand by operand: its key would be long."""

LOADS = memref.LoadOp | vector.LoadOp | vector.MaskedLoadOp


def eliminate_common_subexpressions(
    func: PrimFuncOp, *, identify_equiv_terms: bool = False, actions: Actions = SILENT
) -> None:
    """Replace operations of `func` by equal ones that were computed before.

    Operations are equal if they are pure, without regions, and have the same operands; so are loads
    if nothing may have written their memory in between. If equal operations are in several regions,
    the first one is moved to the innermost block around all of them, unless it is a load or may
    trap there. With `identify_equiv_terms` the order of the terms of integer sums and products does
    not matter: `(a + b) + c` equals `b + (c + a)`. On floats, only the two operands of an operation
    may be swapped.
    """
    HoistingEliminator(func, identify_equiv_terms, actions).run(func)


class HoistingEliminator(CommonSubexprEliminator):
    """The policy that merges loads too, and hoists operations that equal ones cannot see."""

    def __init__(self, func: PrimFuncOp, identify_equiv_terms: bool, actions: Actions) -> None:
        super().__init__(actions)
        self.identify_equiv_terms = identify_equiv_terms
        self.memory = Memory(func)
        self.epochs = Epochs(self.memory)
        self.mergeable = is_pure
        self.path: list[Block] = []
        """The blocks around the current operation, outermost first."""
        self.depths: dict[Block, int] = {}
        """The index in `path` that a block has, or had before the walk left it."""
        self.terms: dict[SSAValue, tuple[SSAValue, ...]] = {}
        """The terms of a sum or product, nested ones of the same operation included."""

    def is_isolated(self, op: Operation) -> bool:
        return False

    def open(self, op: Operation) -> Frame:
        frame = super().open(op)
        if self.frames and not has_nested_effects(op):
            frame.blocks = iter(())
        return frame

    def enter_block(self, frame: Frame, block: Block) -> None:
        # An operation stays available after its region: it may be hoisted.
        self.depths[block] = len(self.path)
        self.path.append(block)
        frame.mark = self.epochs.mark()
        # An earlier iteration of a loop may write.
        if len(self.frames) > 1 and not isinstance(frame.owner, IfOp):
            self.change(frame.owner)

    def leave_block(self, frame: Frame) -> None:
        self.path.pop()
        self.epochs.rollback(frame.mark)

    def close(self, frame: Frame) -> None:
        if self.frames:
            self.change(frame.owner)

    def change(self, op: Operation) -> None:
        """Record the effects of `op` on memory."""
        access = self.memory.of(op)
        self.epochs.change(access.writes, access.is_opaque)

    def visit(self, op: Operation, fields: Fields, frame: Frame) -> None:
        is_load = isinstance(op, LOADS)
        if not fields[1] or not (is_load or self.mergeable[type(op)]):
            self.change(op)
            return
        ids = [*map(id, fields[0])]
        operands: Iterable[object] = ids
        cls = type(op)
        # With `nsw` the order matters: another one may overflow on the way.
        if self.identify_equiv_terms and cls in REORDERABLE and not has_flags(op):
            operands = sorted(map(id, self.terms_of(op)))
            fields = (*fields[:2], {}, *fields[3:])  # flags that are all off are none
        elif self.identify_equiv_terms and cls in COMMUTATIVE:
            operands = sorted(ids)
        elif is_load:
            reads = self.memory.of(op).reads
            if not reads:  # of unknown memory
                return
            # Two loads are equal at equal stamps: no write may have come between them.
            operands = (*ids, *map(self.epochs.stamp, reads))
        key, existing = self.find(op, fields, operands)
        # If `existing` cannot be made visible, `op` takes its place: later operations can see that
        # one.
        if existing is None or not self.make_visible(existing):
            self.available.put(key, op)
        else:
            self.merge(op, existing)

    def terms_of(self, op: Operation) -> tuple[SSAValue, ...]:
        """Return the terms of a sum, product or other operation in REORDERABLE."""
        terms = list[SSAValue]()
        for operand in op.operands:
            owner = operand.owner
            # `(a + b) + c` has the terms a, b, c; nested sums have their terms already, as operands
            # are visited first.
            nested = self.terms.get(operand) if isinstance(owner, type(op)) else None
            terms += (operand,) if nested is None else nested
        if len(terms) > MAX_TERMS:
            terms = [*op.operands]
        self.terms[op.results[0]] = found = tuple(terms)
        return found

    def make_visible(self, existing: Operation) -> bool:
        """Return whether the results of `existing` can be used at the current operation.

        If it is in another region, it is moved to the innermost block around both if possible: it
        must not trap there, and its operands must be visible.
        """
        block, around = existing.parent, None
        # Up from `existing`, to the first block that is around the current operation, too.
        while block is not None and not self.is_in_path(block):
            around = block.parent_op()
            block = None if around is None else around.parent
        if block is None:
            return False
        if around is None:
            return True
        if not cannot_trap(existing) or not all(
            self.is_visible(operand, block) for operand in existing.operands
        ):
            return False
        self.actions.passed(existing, "Hoisted", "equal operations are in several regions")
        self.actions.count("hoisted")
        existing.detach()
        insert_before(around, existing)
        return True

    def is_in_path(self, block: Block) -> bool:
        """Return whether `block` is one of the blocks around the current operation."""
        # Constant time: `path` still has the block at that index if the walk has not left it.
        depth = self.depths.get(block, len(self.path))
        return depth < len(self.path) and self.path[depth] is block

    def is_visible(self, value: SSAValue, block: Block) -> bool:
        """Return whether `value` is defined in `block`, which is in the path, or around it."""
        home = value.owner if isinstance(value.owner, Block) else value.owner.parent
        if home is None or not self.is_in_path(home):
            return False
        return self.depths[home] <= self.depths[block]


def has_flags(op: Operation) -> bool:
    """Return whether `op` must not overflow: a sum in another order might."""
    flags = op.properties.get("overflowFlags")
    return flags is not None and flags != arith.IntegerOverflowAttr("none")


@dataclass(frozen=True)
class CommonSubexprElim(PrimFuncPass):
    """Compute and load equal values once; source: `tir.CommonSubexprElimTIR`.

    Before:

        tir.prim_func @f(%a: memref<8xf32>, %b: memref<8xf32>, %i: index, %j: index) {
          %0 = memref.load %a[%i] : memref<8xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %b[%i] : memref<8xf32>
          %2 = memref.load %a[%i] : memref<8xf32>
          %3 = arith.addf %2, %2 : f32
          memref.store %3, %b[%j] : memref<8xf32>
        }

    After:

        tir.prim_func @f(%a: memref<8xf32>, %b: memref<8xf32>, %i: index, %j: index) {
          %0 = memref.load %a[%i] : memref<8xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %b[%i] : memref<8xf32>
          memref.store %1, %b[%j] : memref<8xf32>
        }
    """

    name = "tir-common-subexpr-elim"

    enable_cse_tir: bool = True
    """Run the pass; if false, it changes nothing."""
    identify_equiv_terms: bool = False
    """Ignore the order of the terms of sums and products."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not self.enable_cse_tir:
            return
        eliminate_common_subexpressions(
            func, identify_equiv_terms=self.identify_equiv_terms, actions=ctx.actions
        )
