"""tir-hoist-expression: move invariant expressions and conditions out of loops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.arith.expressions import BOOLEAN, cannot_trap, is_expression
from ...dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import ops_of, walk
from .base import PrimFuncPass
from .hoist_if_then_else import IfHoister, hoist_ifs, runs
from .remove_no_op import remove_no_ops
from .simplify import simplify

MAX_SWEEPS = 4
"""How often a function is simplified, and looked at again."""

MAX_CONDITIONS = 3
"""How many conditions may leave a loop, each of which doubles the number of its copies."""


def hoist_expressions(
    func: PrimFuncOp,
    *,
    let_bindings: bool = True,
    if_else_expr: bool = True,
    boolean_expression: bool = True,
    through_threads: bool = False,
    actions: Actions = SILENT,
) -> None:
    """Move what is invariant in loops of `func` out of them: expressions (`let_bindings`), and the
    conditions of branches, of `arith.select` (`if_else_expr`), and members of conjunctions and
    disjunctions (`boolean_expression`).

    A loop is then in both branches of an `scf.if`, in which the condition is known. A condition
    only leaves a loop with at most one operation that has an effect. The function is simplified
    afterwards, if something has moved, and what is invariant then moves, too.
    """
    kinds: list[type[Operation]] = []
    if if_else_expr:
        kinds.append(arith.SelectOp)
    if boolean_expression:
        kinds += [arith.AndIOp, arith.OrIOp]
    for _ in range(MAX_SWEEPS):
        hoister = ExpressionHoister(func, through_threads, actions)
        hoister.run(func, let_bindings, tuple(kinds))
        if not hoister.moved:
            break
        simplify(func, actions=actions)
        remove_no_ops(func, actions)


class ExpressionHoister:
    """Moves expressions out of loops, and loops into the branches of conditions."""

    def __init__(self, func: PrimFuncOp, through_threads: bool, actions: Actions) -> None:
        self.ifs = IfHoister(func, through_threads, actions)
        self.through_threads = through_threads
        self.actions = actions
        self.moved = 0

    def run(self, func: PrimFuncOp, let_bindings: bool, kinds: tuple[type[Operation], ...]) -> None:
        """Move expressions, conditions of operations of `kinds`, and conditions of branches."""
        # In preorder, so that the last one is an inner loop: what leaves it may leave the next one.
        for loop in reversed(ops_of(func, ForOp)):
            if let_bindings:
                self.move_expressions(loop)
        for loop in ops_of(func, ForOp):
            self.split(loop, kinds)
        self.moved += hoist_ifs(func, through_threads=self.through_threads, actions=self.actions)

    def move_expressions(self, loop: ForOp) -> None:
        """Move the expressions directly in `loop` whose operands are defined outside before it."""
        if loop.for_kind is ForKind.THREAD_BINDING and not self.through_threads:
            return
        block = loop.body.block
        inside: set[SSAValue] = set(block.args)
        for op in [*block.ops]:
            is_invariant = is_expression(op) and not any(v in inside for v in op.operands)
            # Before a loop without iterations, a division would be executed where it was not.
            if is_invariant and (runs(loop) or cannot_trap(op)) and self.actions.allowed(op):
                op.detach()
                Rewriter.insert_op(op, InsertPoint.before(loop))
                if not isinstance(op, arith.ConstantOp):
                    self.actions.passed(op, "Hoisted", "moved out of the loop")
                    self.actions.count("hoisted")
                    self.moved += 1
            else:
                inside.update(op.results)

    def split(self, loop: ForOp, kinds: tuple[type[Operation], ...]) -> None:
        """Move an innermost loop into the branches of conditions of operations of `kinds` in it."""
        if loop.for_kind is ForKind.THREAD_BINDING and not self.through_threads:
            return
        found = conditions_in(loop, kinds)
        if not found or self.ifs.only_effect(loop) is None:
            return
        if len(found) > MAX_CONDITIONS:
            self.actions.missed(
                loop, "NotHoisted", "too many conditions", Found=len(found), Limit=MAX_CONDITIONS
            )
            return
        loops = [loop]
        for condition in found:
            if self.actions.allowed(loop):
                self.actions.passed(loop, "Hoisted", "a condition moved out of the loop")
                self.actions.count("hoisted")
                self.moved += 1
                loops = [copy for each in loops for copy in branch_around(each, condition)]


def conditions_in(loop: ForOp, kinds: tuple[type[Operation], ...]) -> list[SSAValue]:
    """Return the conditions, defined before `loop`, of the operations of `kinds` in it; none if
    there is a loop in it."""
    inside: set[SSAValue] = set(loop.body.block.args)
    found: dict[SSAValue, None] = {}
    for op in walk(loop):
        if isinstance(op, ForOp) and op is not loop:
            return []
        inside.update(op.results)
        inside.update(arg for region in op.regions for block in region.blocks for arg in block.args)
        if isinstance(op, kinds):
            values = [op.cond] if isinstance(op, arith.SelectOp) else [*op.operands]
            found |= dict.fromkeys(value for value in values if value.type == BOOLEAN)
    return [v for v in found if v not in inside and not isinstance(v.owner, arith.ConstantOp)]


def branch_around(loop: ForOp, condition: SSAValue) -> list[ForOp]:
    """Replace `loop` by an `scf.if` with a copy of it in both branches, in each of which
    `condition` is known; return the loops."""
    copies = [loop, loop.clone()]
    blocks: list[Block] = []
    place = InsertPoint.before(loop)
    for copy, truth in zip(copies, (True, False), strict=True):
        known = arith.ConstantOp(BoolAttr.from_bool(truth))
        for op in walk(copy):
            if condition in op.operands:
                op.operands = [known.result if v is condition else v for v in op.operands]
        blocks.append(Block([known]))
    outer = scf.IfOp(condition, (), blocks[:1], blocks[1:])
    outer.location = loop.location
    Rewriter.insert_op(outer, place)
    loop.detach()
    for copy, block in zip(copies, blocks, strict=True):
        block.add_ops([copy, scf.YieldOp()])
    return copies


@dataclass(frozen=True)
class HoistExpression(PrimFuncPass):
    """Move expressions and conditions out of the loops in which they are invariant; source:
    `s_tir.HoistExpression`.

    Before:

        tir.prim_func @f(%a: memref<64xf32>, %x: f32, %y: f32, %n: index, %c: i1) {
          %c0 = arith.constant 0 : index
          tir.for %i = %c0 extent %n {
            %0 = arith.addf %x, %y : f32
            %1 = arith.select %c, %0, %x : f32
            memref.store %1, %a[%i] : memref<64xf32>
          }
        }

    After:

        tir.prim_func @f(%a: memref<64xf32>, %x: f32, %y: f32, %n: index, %c: i1) {
          %c0 = arith.constant 0 : index
          %0 = arith.addf %x, %y : f32
          %1 = arith.select %c, %0, %x : f32
          tir.for %i = %c0 extent %n {
            memref.store %1, %a[%i] : memref<64xf32>
          }
        }
    """

    name = "tir-hoist-expression"
    opt_level = 4
    before = ("tir-vectorize-loop",)

    hoist_let_bindings: bool = True
    """Move expressions whose operands are invariant."""
    hoist_if_else_expr: bool = True
    """Move the conditions of `arith.select`."""
    hoist_boolean_expression: bool = True
    """Move invariant members of conjunctions and disjunctions."""
    support_block_scope_hoisting: bool = False
    """Move out of thread-bound loops, too."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not func.is_declaration:
            hoist_expressions(
                func,
                let_bindings=self.hoist_let_bindings,
                if_else_expr=self.hoist_if_else_expr,
                boolean_expression=self.hoist_boolean_expression,
                through_threads=self.support_block_scope_hoisting,
                actions=ctx.actions,
            )
