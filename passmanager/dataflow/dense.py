"""Dense dataflow analyses, whose states are those of program points: forward and backward."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from xdsl.ir import Block, Operation

from ..ir.walk import walk
from .analysis import Anchor, DataflowAnalysis
from .edges import Edge

__all__ = ["DenseBackwardAnalysis", "DenseForwardAnalysis"]

T = TypeVar("T")


class _DenseAnalysis(DataflowAnalysis[T]):
    """What both directions need: what an operation does to the state, and the first state."""

    @abstractmethod
    def transfer(self, op: Operation, state: T) -> T:
        """Return the state on the other side of `op`.

        Control that goes through branches, known calls, and the regions of operations with the
        interface keeps its state: these are not asked.
        """

    @abstractmethod
    def boundary(self) -> T:
        """Return the state where control enters from an unknown place, or goes to one."""


class DenseForwardAnalysis(_DenseAnalysis[T]):
    """An analysis of what holds after each operation, and at the start of each block (MLIR's
    `DenseForwardDataFlowAnalysis`).

    The state of an operation is that after it, of a block that at its start.
    """

    def before(self, op: Operation) -> T | None:
        """Return the state before `op`; None if control does not reach it."""
        if (previous := op.prev_op) is not None:
            return self.states.get(previous)
        return self.boundary() if (block := op.parent) is None else self.states.get(block)

    def start(self) -> None:
        self._enter(self.root, self.boundary())

    def changed(self, anchor: Anchor) -> None:
        if isinstance(anchor, Operation):
            if (following := anchor.next_op) is not None:
                self.enqueue(following)
        elif isinstance(anchor, Block) and (first := anchor.first_op) is not None:
            self.enqueue(first)

    def visit(self, op: Operation) -> None:
        self._visited.add(op)
        if (state := self.before(op)) is not None:
            self._enter(op, state)

    def _enter(self, op: Operation, state: T) -> None:
        self._visited.add(op)
        if (edges := self.flow.edges(op)) is None:
            self.update(op, self.transfer(op, state))
        for edge in edges or ():
            target, known = edge.target, state
            if isinstance(target, Block):
                if target not in self.states:
                    self.sweep(target.ops)
                if op in self.flow.exposed:  # a function that others may enter with any state
                    known = self.boundary()
            elif target is op and not self.flow.is_known(op):
                known = self.transfer(op, state)
            if target is not None:
                self.update(target, known)


class DenseBackwardAnalysis(_DenseAnalysis[T]):
    """An analysis of what holds before each operation (MLIR's `DenseBackwardDataFlowAnalysis`).

    The state of an operation is that before it.
    """

    def after(self, op: Operation) -> T | None:
        """Return the state after `op` for control that goes on there."""
        if (following := op.next_op) is not None:
            return self.states.get(following)
        return self.boundary()

    def start(self) -> None:
        self.sweep(reversed([*walk(self.root)]))

    def changed(self, anchor: Anchor) -> None:
        assert isinstance(anchor, Operation)
        if (previous := anchor.prev_op) is not None:
            target = previous
        elif (target := anchor.parent) is None:
            return
        for op in self.flow.arriving(target):
            self.enqueue(op)

    def visit(self, op: Operation) -> None:
        self._visited.add(op)
        if (edges := self.flow.edges(op)) is None:
            if (state := self.after(op)) is not None:
                self.update(op, self.transfer(op, state))
            return
        for edge in edges:
            if (state := self._at(edge)) is not None:
                unknown = edge.target is op and not self.flow.is_known(op)
                self.update(op, self.transfer(op, state) if unknown else state)

    def _at(self, edge: Edge) -> T | None:
        target = edge.target
        if target is None:
            return self.boundary()
        if isinstance(target, Operation):
            return self.after(target)
        return None if (first := target.first_op) is None else self.states.get(first)
