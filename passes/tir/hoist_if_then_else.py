"""tir-hoist-if-then-else: move loop-invariant branches out of loops (loop unswitching)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import ConstantLike
from xdsl.utils.hints import isa

from ...compiler.analysis.arith.expressions import cannot_trap
from ...compiler.analysis.memory.effects import Memory
from ...dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ...passmanager.ir.effects import own_effects
from ...passmanager.ir.walk import walk
from ..loops import exchange_loop_and_branch
from .base import PrimFuncPass


def hoist_ifs(func: PrimFuncOp, *, through_threads: bool = False, actions: Actions = SILENT) -> int:
    """Move each `scf.if` of `func` out of the loops in which its condition is invariant and it is
    the only operation with an effect; return how often one left a loop.

    Afterwards each branch contains the loop, with its kind and annotations. The operations that
    compute the condition are moved, too: one that may trap only out of a loop that runs at least
    once, and a load only if the loop does not write the buffer. A branch leaves a thread-bound loop
    only if `through_threads`.
    """
    hoister = IfHoister(func, through_threads, actions)
    loops = [op for op in walk(func) if isinstance(op, ForOp)]
    moved = 0
    while loops:
        # Inner loops first: a branch that leaves one may then leave the loop around it.
        left = hoister.visit(loops.pop())
        moved += bool(left)
        loops += left
    return moved


class IfHoister:
    """Decides which `scf.if` may leave a loop, and moves it."""

    def __init__(self, func: PrimFuncOp, through_threads: bool, actions: Actions) -> None:
        self.func = func
        self.through_threads = through_threads
        self.actions = actions
        self.memory = Memory(func)

    def visit(self, loop: ForOp) -> Sequence[ForOp]:
        """Move a branch out of `loop` if possible; return the loops that replace `loop` in it."""
        if loop.for_kind is ForKind.THREAD_BINDING and not self.through_threads:
            return ()
        branch = self.only_effect(loop)
        if not isinstance(branch, scf.IfOp) or branch.results:
            return ()
        condition_ops = _ops_computing(branch.cond, loop)
        if reason := self.reason_not_to_hoist(branch, condition_ops, loop):
            self.actions.missed(branch, "NotHoisted", reason)
            return ()
        if not self.actions.allowed(branch):
            return ()
        self.actions.passed(branch, "Hoisted", "moved out of the loop")
        self.actions.count("hoisted")
        loops = exchange_loop_and_branch(loop, branch, condition_ops)
        for inner in loops:
            self.drop_unused(inner.body.block)
        return loops

    def only_effect(self, loop: ForOp) -> Operation | None:
        """Return the only operation of the body with an observable effect; None if there is not
        exactly one."""
        found = None
        # Loads and allocations may be left in the loop: a branch that moves out takes a loop with a
        # copy of them with it.
        for op in loop.body.block.ops:
            if self.memory.of(op).has_effects:
                if found is not None:
                    return None
                found = op
        return found

    def reason_not_to_hoist(
        self, branch: scf.IfOp, condition_ops: Sequence[Operation], loop: ForOp
    ) -> str:
        """Return why the condition cannot be computed before `loop`; empty if it can."""
        values = [branch.cond, *(value for op in condition_ops for value in op.operands)]
        # Values of inner loops cannot occur: the condition is computed directly in the body.
        if loop.variable in values:
            return "the condition depends on the loop variable"
        for op in condition_ops:
            if isinstance(op, memref.LoadOp):
                if self.may_write(loop, op.memref):
                    return "the condition reads a buffer that the loop may write"
            elif op.regions or own_effects(op):
                return f"the condition is computed by '{op.name}'"
            # A division before a loop without iterations would be executed where it was not.
            if not runs(loop) and not cannot_trap(op):
                return f"the loop may have no iteration, and '{op.name}' may trap then"
        return ""

    def may_write(self, loop: ForOp, buffer: SSAValue) -> bool:
        """Return whether `loop` may write the memory of `buffer`."""
        effects, root = self.memory.of(loop), self.memory.root(buffer)
        if root is None:
            return effects.has_effects
        return root in effects.writes or (effects.is_opaque and not self.memory.is_private(root))

    def drop_unused(self, block: Block) -> None:
        """Erase operations without uses: in this copy of the loop only the other branch used
        them."""
        # From the last, so that a chain goes in one sweep.
        for op in reversed(list(block.ops)):
            is_used = any(result.first_use is not None for result in op.results)
            if op.results and not op.regions and not is_used:
                if not self.memory.of(op).has_effects:
                    erase(op)


def _ops_computing(value: SSAValue, loop: ForOp) -> list[Operation]:
    """Return the operations directly in the body of `loop` that compute `value`, in order."""
    block = loop.body.block
    found: set[Operation] = set()
    pending = [value]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in found:
            found.add(owner)
            pending += owner.operands
    return [op for op in block.ops if op in found] if found else []


def runs(loop: ForOp) -> bool:
    """Return whether `loop` has a constant, positive extent."""
    extent = ConstantLike.get_constant_value(loop.extent)
    return isa(extent, IntegerAttr[IndexType]) and extent.value.data > 0


@dataclass(frozen=True)
class HoistIfThenElse(PrimFuncPass):
    """Move an `scf.if` out of the loops in which its condition is invariant; source:
    `tir.HoistIfThenElse`, `src/tir/transforms/hoist_if_then_else.cc`.

    Before:

        tir.prim_func @f(%a: memref<64xf32>, %x: f32, %c: i1) {
          %c0 = arith.constant 0 : index
          %c64 = arith.constant 64 : index
          tir.for %i = %c0 extent %c64 {
            scf.if %c {
              memref.store %x, %a[%i] : memref<64xf32>
            }
          }
        }

    After:

        tir.prim_func @f(%a: memref<64xf32>, %x: f32, %c: i1) {
          %c0 = arith.constant 0 : index
          %c64 = arith.constant 64 : index
          scf.if %c {
            tir.for %i = %c0 extent %c64 {
              memref.store %x, %a[%i] : memref<64xf32>
            }
          }
        }
    """

    name = "tir-hoist-if-then-else"
    before = ("tir-vectorize-loop",)

    support_block_scope_hoisting: bool = False
    """Move an `scf.if` out of thread-bound loops, too."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        hoist_ifs(func, through_threads=self.support_block_scope_hoisting, actions=ctx.actions)
