"""The values that a result or an effect of a function depends on, through branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from ....passmanager.ir.effects import OBSERVABLE, is_kept, own_effects
from ....passmanager.ir.walk import walk

__all__ = ["Liveness"]


class Liveness:
    """The live operations and values nested in an operation (MLIR's `LivenessAnalysis`).

    An operation is live if it has an observable effect, or a result that is live; so are the
    operations around it. The results of an `scf.if`, and the values that an `scf.for` or
    `scf.while` carries, are live or dead one by one: of two results, one may be live, and what only
    the other one is computed from is dead. All operands of other live operations are live. The
    results and the carried values of the operations in `kept` are live, too.
    """

    def __init__(
        self,
        root: Operation,
        effects_of: Callable[[Operation], int] = own_effects,
        kept: Container[Operation] = (),
    ) -> None:
        self.ops: set[Operation] = set()
        self.values: set[SSAValue] = set()
        self._pending: list[SSAValue | Operation] = []
        for op in walk(root):
            if op in kept:
                self._pending += [*op.results, *_carried(op)]
            elif op is root or _has_effect(op, effects_of):
                self._pending.append(op)
        # Each value and operation is visited once: linear in the uses.
        while self._pending:
            found = self._pending.pop()
            if isinstance(found, Operation):
                if found not in self.ops:
                    self.ops.add(found)
                    self._visit_op(found)
            elif found not in self.values:
                self.values.add(found)
                self._pending += _sources(found)

    def _visit_op(self, op: Operation) -> None:
        """Add the values and operations that a live operation needs, whichever of its results are
        live."""
        # An operation is reached only if those around it run, with the operands that decide that.
        if (parent := op.parent_op()) is not None:
            self._pending.append(parent)
        match op:
            case IfOp():
                self._pending.append(op.cond)
            case ForOp():
                self._pending += (op.lb, op.ub, op.step)
            case WhileOp():
                self._pending.append(_condition(op).condition)
            case _:
                self._pending += op.operands
                blocks = [block for region in op.regions for block in region.blocks]
                self._pending += [end for block in blocks if (end := block.last_op) is not None]


def _has_effect(op: Operation, effects_of: Callable[[Operation], int]) -> bool:
    """Return whether `op` is live without live results; a terminator is not: it is as live as the
    operation around it."""
    if is_kept[type(op)]:
        return not op.has_trait(IsTerminator, value_if_unregistered=False)
    return bool(effects_of(op) & OBSERVABLE)


def _carried(op: Operation) -> Sequence[BlockArgument]:
    """Return the block arguments of an `scf.if` or loop; nothing for other operations."""
    if not isinstance(op, IfOp | ForOp | WhileOp):
        return ()
    return [arg for region in op.regions for block in region.blocks for arg in block.args]


def _condition(loop: WhileOp) -> ConditionOp:
    end = loop.before_region.block.last_op
    assert isinstance(end, ConditionOp)
    return end


def _sources(value: SSAValue) -> Sequence[SSAValue | Operation]:
    """Return what is live if `value` is: the operation that defines it, and the values that it may
    be equal to, which a loop or `scf.if` passes on."""
    if isinstance(value, OpResult):
        op, index = value.op, value.index
        match op:
            case IfOp():
                return [op, *(yielded(region.block)[index] for region in op.regions)]
            case ForOp():
                return [op, op.iter_args[index], yielded(op.body.block)[index]]
            case WhileOp():
                return [op, _condition(op).args[index]]
            case _:
                return [op]
    assert isinstance(value, BlockArgument)
    index = value.index
    match loop := value.block.parent_op():
        # With a carried value, its initial value is live, and the one for the next iteration. A sum
        # that only its own next value uses, `s = s + x`, stays dead: nothing else makes it live.
        case ForOp() if index > 0:
            return [loop.iter_args[index - 1], yielded(value.block)[index - 1]]
        case WhileOp() if value.block is loop.before_region.block:
            return [loop.arguments[index], yielded(loop.after_region.block)[index]]
        case WhileOp():
            return [_condition(loop).args[index]]
        case _:
            return []


def yielded(block: Block) -> Sequence[SSAValue]:
    """Return the operands of the terminator of `block`."""
    assert block.last_op is not None
    return tuple(block.last_op.operands)
