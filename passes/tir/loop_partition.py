"""tir-loop-partition: split loops where the conditions in them change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.arith.deduce_bound import BoundDeducer, KnownIntervals, is_block_bound
from ...compiler.analysis.arith.expressions import INDEX
from ...compiler.analysis.arith.scoped_walk import scoped_blocks
from ...compiler.analysis.iteration_ranges import (
    HINT,
    IGNORED,
    IterationRange,
    find_middle,
    has_hint,
    known_conditions,
    partition_conditions,
    split_range,
)
from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, LikelyOp, PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ...passmanager.ir.walk import walk
from ...passmanager.rewriting import apply_patterns
from .base import PrimFuncPass
from .loop_parts import LoopPartBuilder, count_ops, ops_between, proved_comparisons, replace_known


def partition_loops(
    func: PrimFuncOp,
    *,
    partition_const_loop: bool = False,
    no_unroll_loop_with_extent_one: bool = False,
    unroll_loop_with_partition_hint_no_interval: bool = False,
    max_growth: int = 64,
    actions: Actions = SILENT,
) -> None:
    """Split the loops of `func` where their conditions change; remove `tir.likely` and the hints.

    A loop is split by its conditions under `tir.likely`; a loop with a hint, by all comparisons in
    it. It becomes up to three loops: in the middle one the conditions hold together, or else they
    fail together (`find_middle`). Conditions that are known in a part are removed from it. For the
    options see `LoopPartition`.
    """
    ops = list(walk(func))
    partitioner = LoopPartitioner(
        LoopPartBuilder(Analyzer(), keep_unit_loops=no_unroll_loop_with_extent_one),
        partition_constant=partition_const_loop,
        unroll_hinted=unroll_loop_with_partition_hint_no_interval,
        # Each split may triple a loop, and so do the loops in it: without a limit, 3^depth.
        growth_left=(max_growth - 1) * len(ops),
        actions=actions,
    )
    if any(isinstance(op, LikelyOp) or has_hint(op) for op in ops):
        partitioner.visit_block(func.body.block)
        ops = list(walk(func))
    for op in ops:
        op.attributes.pop(IGNORED, None)
        if isinstance(op, ForOp):
            op.attributes.pop(HINT, None)
        elif isinstance(op, LikelyOp):
            Rewriter.replace_op(op, [], [op.condition])
    # The index arithmetic of conditions that are gone is dead.
    if partitioner.is_changed:
        apply_patterns(func, (), remove_dead=True)


class LoopPartitioner:
    """Splits loops, outer loops first; each part is visited again, as other conditions may split
    it further, and then the loops nested in it.

    `growth_left` is the number of operations by which the function may still grow.
    """

    def __init__(
        self,
        builder: LoopPartBuilder,
        *,
        partition_constant: bool,
        unroll_hinted: bool,
        growth_left: int,
        actions: Actions,
    ) -> None:
        self.builder = builder
        self.analyzer = builder.analyzer
        self.partition_constant = partition_constant
        self.unroll_hinted = unroll_hinted
        self.growth_left = growth_left
        self.actions = actions
        self.is_changed = False
        self.comparing: dict[Operation, bool] = {}
        """Whether there may be a comparison in an operation; it stays so in the branches that are
        inserted into it, and when the comparison is removed."""
        self.final: set[ForOp] = set()
        """Loops that are not split again."""

    def visit_block(self, block: Block) -> None:
        """Split the loops directly in `block` and their parts, then the loops nested in them."""
        before: Operation | None = None
        while (op := block.first_op if before is None else before.next_op) is not None:
            if isinstance(op, ForOp) and self.visit_loop(op):
                continue  # visit the operations that took its place
            before = op
            if op in self.builder.bound_ops or _is_constant_index(op):
                self.analyzer.make_available(op.results[0])
            if not op.regions or not self.has_comparison(op):
                continue
            for inner, scope in [*scoped_blocks(op)]:
                with scope(self.analyzer):
                    self.visit_block(inner)

    def visit_loop(self, loop: ForOp) -> bool:
        """Remove known comparisons from `loop` or split it; return whether to visit the operations
        now in its place."""
        if loop in self.final or not self.has_comparison(loop) or not self.is_candidate(loop):
            return False
        comparisons = partition_conditions(loop)
        if not comparisons:
            return False
        with self.analyzer.scope():
            for bound in (loop.min, loop.extent):
                self.analyzer.make_available(bound)
            return self.partition(loop, comparisons)

    def has_comparison(self, op: Operation) -> bool:
        """Return whether there may be a comparison in `op`: only then is there a loop to split.

        One walk answers it for all operations nested in `op`.
        """
        if op not in self.comparing:
            for inner in walk(op):
                if inner.regions:
                    self.comparing.setdefault(inner, False)
                elif isinstance(inner, arith.CmpiOp):
                    around = inner.parent_op()
                    while around is not None and not self.comparing.get(around):
                        self.comparing[around] = True
                        around = None if around is op else around.parent_op()
        return self.comparing[op]

    def is_candidate(self, loop: ForOp) -> bool:
        """Return whether the kind, hint and bounds of `loop` allow splitting it."""
        # The threads of a block run one program together: a split would let them diverge.
        if loop.for_kind is ForKind.THREAD_BINDING and not is_block_bound(loop):
            return False
        if has_hint(loop) or self.partition_constant:
            return True
        # Constant loops are left to unrolling, as in TVM, unless asked for.
        return any(self.analyzer.linear(bound).terms for bound in (loop.min, loop.extent))

    def partition(self, loop: ForOp, comparisons: Sequence[arith.CmpiOp]) -> bool:
        """Erase `loop` if it has no iterations; else remove the comparisons that are known in all
        of them; if there are none, split it.

        Return whether to visit the operations now in its place.
        """
        analyzer, actions = self.analyzer, self.actions
        first = analyzer.linear(loop.min)
        end = analyzer.add(first, analyzer.linear(loop.extent))
        whole = IterationRange(first, end, [first], [end - 1])
        # A launch of no threads is for the driver to judge.
        if analyzer.can_prove("sge", first, end) and loop.for_kind is not ForKind.THREAD_BINDING:
            self.is_changed = True
            erase(loop)
            return True
        conditions = BoundDeducer(analyzer, loop).deduce(comparisons)
        known = known_conditions(analyzer, whole, conditions)
        # Before the loop is split: most conditions of a tile that divides the size are decided
        # here.
        known |= proved_comparisons(analyzer, comparisons)
        if known:
            self.is_changed = True
            replace_known(known)
            return True
        middle = find_middle(analyzer, conditions, whole, keep_first=has_hint(loop))
        parts = [] if middle is None else split_range(analyzer, whole, middle.interval)
        # The middle may be empty, where only the tails are left.
        if middle is None or not any(part.is_middle for part in parts):
            self.unroll_or_report(loop, conditions)
            return False
        if reason := self.reason_not_to_split(loop, parts):
            actions.missed(loop, "NotPartitioned", reason)
            return False
        if not actions.allowed(loop):
            return False
        for part in parts:
            part.known = known_conditions(analyzer, part, conditions)
            if part.is_middle:
                part.known |= middle.known
        actions.count("partitioned")
        message = "split where its conditions change"
        actions.passed(loop, "Partitioned", message, Parts=len(parts))
        self.is_changed = True
        # One loop with branches in it: a thread-bound loop is a dimension of the launch.
        if loop.for_kind is ForKind.THREAD_BINDING:
            self.final.add(loop)
            middle_part = next(part for part in parts if part.is_middle)
            self.growth_left -= self.builder.insert_choices(loop, middle_part, whole)
            return False
        self.replace_by_parts(loop, parts, comparisons)
        return True

    def reason_not_to_split(self, loop: ForOp, parts: Sequence[IterationRange]) -> str:
        """Return why `loop` is not split into `parts`; empty if it may be."""
        if self.growth_left <= 0:
            return "the function has grown too much"
        bounds = [self.analyzer.linear(bound) for bound in (loop.min, loop.extent)]
        if loop.for_kind in (ForKind.VECTORIZED, ForKind.UNROLLED):
            is_constant = not any(bound.terms for bound in bounds)
            # A vector needs a constant number of lanes, and unrolling a constant number of copies.
            if is_constant and not all(part.is_constant for part in parts):
                return f"a {loop.for_kind} loop has a constant extent, its parts would not"
        return ""

    def unroll_or_report(self, loop: ForOp, conditions: Sequence[KnownIntervals]) -> None:
        """Mark a loop without a middle part for unrolling if it has a hint and `unroll_hinted` is
        set, or report that it is not split."""
        extent = self.analyzer.constant_of(loop.extent)
        if not conditions:
            return
        if (
            self.unroll_hinted
            and has_hint(loop)
            and loop.for_kind is ForKind.SERIAL
            and extent is not None
            and extent > 1
        ):
            loop.kind = ForKindAttr(ForKind.UNROLLED)
        else:
            reason = "there is no interval in which its conditions are known"
            self.actions.missed(loop, "NotPartitioned", reason)

    def replace_by_parts(
        self, loop: ForOp, parts: Sequence[IterationRange], comparisons: Sequence[arith.CmpiOp]
    ) -> None:
        """Replace `loop` by copies of it over `parts`."""
        before = loop.prev_op
        copies = self.builder.insert_parts(loop, parts, comparisons)
        if not all(part.is_constant for part in parts):
            # The clamped bounds of a tail may hide that its conditions are known: it would be
            # split by the same conditions again and again.
            self.final.update(
                copy
                for part, copy in zip(parts, copies, strict=True)
                if copy is not None and not part.is_middle
            )
        self.growth_left += count_ops(loop) - sum(map(count_ops, ops_between(before, loop)))
        erase(loop)


def _is_constant_index(op: Operation) -> bool:
    return isinstance(op, arith.ConstantOp) and op.result.type == INDEX


@dataclass(frozen=True)
class LoopPartition(PrimFuncPass):
    """Split loops where conditions under `tir.likely` change, so that most iterations do not test
    them; remove `tir.likely`; source: `tir.LoopPartition`.

    Before:

        tir.prim_func @f(%a: memref<?xf32>, %n: index, %m: index, %x: f32) {
          %c0 = arith.constant 0 : index
          tir.for %i = %c0 extent %n {
            %inside = arith.cmpi slt, %i, %m : index
            %likely = tir.likely %inside
            scf.if %likely {
              memref.store %x, %a[%i] : memref<?xf32>
            }
          }
        }

    After:

        tir.prim_func @f(%a: memref<?xf32>, %n: index, %m: index, %x: f32) {
          %c0 = arith.constant 0 : index
          %0 = arith.minsi %n, %m : index
          %1 = arith.maxsi %c0, %0 : index
          tir.for %i = %c0 extent %1 {
            memref.store %x, %a[%i] : memref<?xf32>
          }
        }
    """

    name = "tir-loop-partition"

    partition_const_loop: bool = False
    """Split loops with constant bounds, too."""
    no_unroll_loop_with_extent_one: bool = False
    """Keep a loop around a part of one iteration."""
    unroll_loop_with_partition_hint_no_interval: bool = False
    """Mark a loop with a hint that cannot be split for unrolling."""
    max_growth: int = field(default=64, metadata={"minimum": 1})
    """How many times its size a function may grow to, in operations."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        partition_loops(
            func,
            partition_const_loop=self.partition_const_loop,
            no_unroll_loop_with_extent_one=self.no_unroll_loop_with_extent_one,
            unroll_loop_with_partition_hint_no_interval=(
                self.unroll_loop_with_partition_hint_no_interval
            ),
            max_growth=self.max_growth,
            actions=ctx.actions,
        )
