"""tir-use-assume-to-reduce-branches: drop branches by what is assumed about buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice, product
from typing import cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, FloatAttr, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.hints import isa

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.arith.expressions import is_expression
from ...compiler.analysis.arith.linear_form import ZERO
from ...compiler.analysis.memory.assumptions import (
    MAX_EXPRESSION,
    Assumption,
    Substitution,
    assumed_value,
    assumptions_of,
    expression_values,
)
from ...compiler.analysis.memory.effects import Epochs, Memory, Stamp
from ...dialects.tir.ops import AssumeOp, ForOp, PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ...passmanager.names import Rounding
from ..generic.dead_code_elimination import remove_dead_operations
from ..loops import inline_branch
from .base import PrimFuncPass
from .hoist_if_then_else import cannot_trap

MAX_ASSUMPTIONS = 16
"""The most assumptions that are known at one place: each load in a branch is compared with all."""

MAX_ZEROS = 4
"""The most elements of one branch that are assumed to be 0.0: each may be -0.0, too."""

Pair = tuple[SSAValue, SSAValue]
"""What the first and the second side of a branch compute for the same purpose."""


def reduce_branches(func: PrimFuncOp, actions: Actions = SILENT) -> int:
    """Replace each `scf.if` and `arith.select` of `func` by one of its sides, if both compute the
    same where the other one is taken; return how many.

    The elements of buffers have there the values that a `tir.assume` before says. A side that then
    runs more often has only operations that cannot fail: it stores what the other one stores, to
    the same places.
    """
    reducer = BranchReducer(func, actions)
    reducer.visit_block(func.body.block)
    if reducer.reduced:
        actions.count("branches", reducer.reduced)
        remove_dead_operations(func)
    return reducer.reduced


class BranchReducer:
    """A walk over a function that knows which assumptions hold."""

    def __init__(self, func: PrimFuncOp, actions: Actions) -> None:
        self.actions = actions
        self.memory = Memory(func)
        self.epochs = Epochs(self.memory)
        self.analyzer = Analyzer()
        self.assumptions: list[Assumption] = []
        self.loaded: dict[SSAValue, Stamp] = {}
        """The version of the memory that each load has read."""
        self.reduced = 0

    def visit_block(self, block: Block) -> None:
        """Visit the operations of a block in order."""
        op = block.first_op
        while op is not None:
            next = op.next_op
            self.visit(op)
            op = next

    def visit(self, op: Operation) -> None:
        """Note what an operation says and writes, or reduce it."""
        match op:
            case AssumeOp():
                self.analyzer.assume(op.condition)
                self.note(op)
            case memref.LoadOp():
                if (stamp := self.stamp_of(op.memref)) is not None:
                    self.loaded[op.res] = stamp
            case arith.SelectOp():
                self.reduce_select(op)
            case _ if op.regions:
                self.visit_regions(op)
            case _:
                self.note_writes(op)

    def stamp_of(self, buffer: SSAValue) -> Stamp | None:
        """Return the version of the memory of `buffer`; None if it is not known what that is."""
        root = self.memory.root(buffer)
        return None if root is None else self.epochs.stamp(root)

    def note_writes(self, op: Operation) -> None:
        """Note that an operation writes, after which assumptions on that memory do not hold."""
        effects = self.memory.of(op)
        self.epochs.change(effects.writes, effects.is_opaque)

    def note(self, op: AssumeOp) -> None:
        """Note what an assumption says about loaded values that are still in memory."""
        for load, value, conditions in assumptions_of(op):
            stamp = self.stamp_of(load.memref)
            if stamp is None or self.loaded.get(load.res) != stamp:
                continue
            known = [a for a in self.assumptions if a.stamp == self.stamp_of(a.load.memref)]
            if len(known) < MAX_ASSUMPTIONS:
                known.append(Assumption(load, value, conditions, stamp))
            self.assumptions = known

    def visit_regions(self, op: Operation) -> None:
        """Visit the regions of an operation; then reduce it."""
        around = self.assumptions
        after = [*around]
        effects = self.memory.of(op)
        for number, region in enumerate(op.regions):
            for block in region.blocks:
                with self.epochs.scope(), self.analyzer.scope():
                    if isinstance(op, scf.IfOp):
                        self.analyzer.assume(op.cond, number == 0)
                    else:  # an iteration runs after others: they may have written
                        self.epochs.change(effects.writes, effects.is_opaque)
                    inside = self.analyzer.inside(op) if isinstance(op, ForOp) else nullcontext()
                    with inside:
                        self.visit_block(block)
                new = (a.outside(op, number) for a in self.assumptions if a not in around)
                after += filter(None, new)
                self.assumptions = around
        self.assumptions = after[-MAX_ASSUMPTIONS:]
        self.note_writes(op)
        if isinstance(op, scf.IfOp):
            self.reduce_if(op)

    # Reductions

    def reduce_select(self, op: arith.SelectOp) -> None:
        """Replace a select by one of its operands."""
        for truth in (True, False):
            with self.analyzer.assuming(op.cond, truth), Substitution(self.analyzer) as copies:
                is_equal = self.assumed_equal([(op.lhs, op.rhs)], copies) is not None
            if is_equal:
                if self.is_reduced(op):
                    op.result.replace_all_uses_with(op.rhs if truth else op.lhs)
                    erase(op)
                return

    def reduce_if(self, op: scf.IfOp) -> None:
        """Replace an `scf.if` by the operations of one of its regions."""
        if (pairs := self.pairs_of(op)) is None:
            return
        for truth in (True, False):
            with self.analyzer.assuming(op.cond, truth), Substitution(self.analyzer) as copies:
                if (known := self.assumed_equal(pairs, copies)) is None:
                    continue
                kept = op.false_region if truth else op.true_region
                failing = next((o for o in kept.block.ops if not self.may_run(o, known)), None)
            if failing is None:
                if self.is_reduced(op):
                    inline_branch(op, not truth)
                return
            self.actions.missed(op, "NotReduced", f"'{failing.name}' might fail without the branch")

    def is_reduced(self, op: Operation) -> bool:
        """Return whether an operation may be replaced, and report that it is."""
        if not self.actions.allowed(op):
            return False
        self.reduced += 1
        self.actions.passed(op, "Reduced", "both sides are equal by an assumption")
        return True

    def pairs_of(self, op: scf.IfOp) -> Sequence[Pair] | None:
        """Return what the sides yield and store; None if that is not all that they do, or they
        store to different places."""
        sides = [region.block for region in op.regions if region.blocks]
        if len(sides) < 2:
            return None
        stores: list[list[memref.StoreOp]] = []
        for block in sides:
            found = [inner for inner in block.ops if isinstance(inner, memref.StoreOp)]
            stores.append(found)
            known = memref.LoadOp | memref.StoreOp
            for inner in block.ops:
                if not isinstance(inner, known) and not is_expression(inner):
                    if not inner.has_trait(IsTerminator, value_if_unregistered=False):
                        return None
        if len(stores[0]) != len(stores[1]):
            return None
        form = self.analyzer.linear
        for one, other in zip(*stores, strict=True):
            places = [[*map(form, store.indices)] for store in (one, other)]
            if one.memref is not other.memref or places[0] != places[1]:
                return None
        ends = [block.last_op for block in sides]
        yielded = [() if end is None else end.operands for end in ends]
        stored = [(one.value, other.value) for one, other in zip(*stores, strict=True)]
        return [*zip(*yielded, strict=True), *stored]

    def may_run(self, op: Operation, known: Mapping[memref.LoadOp, SSAValue]) -> bool:
        """Return whether an operation cannot fail here: what an assumption is about was loaded
        before, and is in its buffer."""
        if isinstance(op, memref.LoadOp):
            return op in known or self.is_inside(op)
        return isinstance(op, memref.StoreOp) or not is_expression(op) or cannot_trap(op)

    def is_inside(self, load: memref.LoadOp) -> bool:
        """Return whether the indices of a load are inside of its buffer, of known size."""
        type = load.memref.type
        assert isa(type, MemRefType)
        prove, form = self.analyzer.can_prove, self.analyzer.linear
        return all(
            size != DYNAMIC_INDEX
            and prove("sge", form(index), ZERO)
            and prove("slt", form(index), ZERO + size)
            for index, size in zip(load.indices, type.get_shape(), strict=True)
        )

    def assumed_equal(
        self, pairs: Sequence[Pair], copies: Substitution
    ) -> Mapping[memref.LoadOp, SSAValue] | None:
        """Return the loads that have an assumed value here, with that value, if the values of each
        pair are equal with these; None if they are not, or no load is assumed."""
        values = [*islice(expression_values(v for pair in pairs for v in pair), MAX_EXPRESSION)]
        loads = [value.owner for value in values if isinstance(value.owner, memref.LoadOp)]
        if len(values) == MAX_EXPRESSION or not self.assumptions:
            return None
        known = {load: v for load in loads if (v := self.value_of(load, copies)) is not None}
        # Two loads of one element are one value.
        elements: dict[object, SSAValue] = {}
        same: dict[SSAValue, SSAValue] = {}
        for load in loads:
            if (stamp := self.loaded.get(load.res)) is not None:
                element = load.memref, stamp, tuple(map(self.analyzer.linear, load.indices))
                same[load.res] = elements.setdefault(element, load.res)
        zeros = [load for load, value in known.items() if _is_zero(value)]
        if not known or len(zeros) > MAX_ZEROS:
            return None
        for signs in _signed_zeros(zeros, copies):
            chosen = same | {load.res: value for load, value in known.items()} | signs
            for pair in pairs:
                one, other = (copies.of(value, chosen) for value in pair)
                if _is_zero(one) and _is_zero(other) and zeros:
                    continue
                if self.analyzer.linear(one) != self.analyzer.linear(other):
                    return None
        return known

    def value_of(self, load: memref.LoadOp, copies: Substitution) -> SSAValue | None:
        """Return the value that a load has by an assumption."""
        for assumption in self.assumptions:
            if assumption.load.memref is not load.memref:
                continue
            if assumption.stamp == self.loaded.get(load.res):
                value = assumed_value(assumption, load, self.analyzer, copies)
                if value is not None:
                    return value
        return None


def _is_zero(value: SSAValue) -> bool:
    """Return whether a value is the constant 0.0 or -0.0."""
    op = value.owner
    return (
        isinstance(op, arith.ConstantOp)
        and isinstance(op.value, FloatAttr)
        and op.value.value.data == 0
    )


def _signed_zeros(
    zeros: Sequence[memref.LoadOp], copies: Substitution
) -> Iterator[dict[SSAValue, SSAValue]]:
    """Yield each choice of 0.0 or -0.0 for the loads: a comparison with 0.0 does not tell them."""
    choices: list[Sequence[SSAValue]] = [
        [copies.constant(FloatAttr(zero, cast("AnyFloat", load.res.type))) for zero in (0.0, -0.0)]
        for load in zeros
    ]
    for chosen in product(*choices):
        yield {load.res: zero for load, zero in zip(zeros, chosen, strict=True)}


@dataclass(frozen=True)
class UseAssumeToReduceBranches(PrimFuncPass):
    """Drop a branch whose sides are equal by an assumption on a buffer, such as that its padding
    is 0; source: `s_tir.UseAssumeToReduceBranches`.

    Before:

        tir.prim_func @f(%a: memref<16xi32>, %b: memref<16xi32>) {
          %c0 = arith.constant 0 : index
          %c14 = arith.constant 14 : index
          %c16 = arith.constant 16 : index
          %zero = arith.constant 0 : i32
          tir.for %i = %c0 extent %c16 {
            %0 = arith.cmpi slt, %i, %c14 : index
            %1 = memref.load %a[%i] : memref<16xi32>
            %2 = arith.cmpi eq, %1, %zero : i32
            %3 = arith.ori %0, %2 : i1
            tir.assume %3
          }
          tir.for %i = %c0 extent %c16 {
            %0 = arith.cmpi sge, %i, %c14 : index
            %1 = memref.load %a[%i] : memref<16xi32>
            %2 = arith.addi %1, %1 : i32
            %3 = arith.select %0, %zero, %2 : i32
            memref.store %3, %b[%i] : memref<16xi32>
          }
        }

    After:

        tir.prim_func @f(%a: memref<16xi32>, %b: memref<16xi32>) {
          %c0 = arith.constant 0 : index
          %c14 = arith.constant 14 : index
          %c16 = arith.constant 16 : index
          %zero = arith.constant 0 : i32
          tir.for %i = %c0 extent %c16 {
            %0 = arith.cmpi slt, %i, %c14 : index
            %1 = memref.load %a[%i] : memref<16xi32>
            %2 = arith.cmpi eq, %1, %zero : i32
            %3 = arith.ori %0, %2 : i1
            tir.assume %3
          }
          tir.for %i = %c0 extent %c16 {
            %1 = memref.load %a[%i] : memref<16xi32>
            %2 = arith.addi %1, %1 : i32
            memref.store %2, %b[%i] : memref<16xi32>
          }
        }
    """

    name = "tir-use-assume-to-reduce-branches"
    acts_on = (AssumeOp,)
    rounds = Rounding(0, ("sign of zero may change",))

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not func.is_declaration:
            reduce_branches(func, ctx.actions)
