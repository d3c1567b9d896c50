"""Sparse dataflow analyses, whose states are those of values: forward and backward."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..fast.edit import read_step
from ..ir.walk import walk
from .analysis import Anchor, DataflowAnalysis
from .edges import Edge

__all__ = ["BackwardAnalysis", "ForwardAnalysis"]

T = TypeVar("T")


class ForwardAnalysis(DataflowAnalysis[T]):
    """An analysis that follows values from their definitions to their uses (MLIR's
    `SparseForwardDataFlowAnalysis`, with its `DeadCodeAnalysis`).

    Only what control may reach is visited: `reached` has the blocks. If `constant` is defined, it
    decides which successors of a branch are taken.
    """

    @abstractmethod
    def transfer(self, op: Operation, operands: Sequence[T]) -> Sequence[T] | None:
        """Return the states of the results of `op`, given those of its operands; None if nothing is
        known of them."""

    @abstractmethod
    def entry(self, value: SSAValue) -> T:
        """Return the state of a value of unknown origin: the top of the lattice."""

    def argument(self, op: Operation, value: SSAValue) -> T:
        """Return the state of a value that the region operation `op` itself defines, as the
        variable of a loop: by default that of an unknown one."""
        return self.entry(value)

    def constant(self, state: T) -> Attribute | None:
        """Return the constant that `state` stands for; None if it is none."""
        return None

    def start(self) -> None:
        self.reached: set[Block] = set()
        self.visit(self.root)

    def changed(self, anchor: Anchor) -> None:
        if isinstance(anchor, SSAValue):
            for use in anchor.uses:
                self.enqueue(use.operation)

    def visit(self, op: Operation) -> None:
        self._visited.add(op)
        operands: list[T] = []
        # In an operand from outside of the root there may be anything.
        for operand in op.operands:
            if (state := self.states.get(operand)) is None:
                if not self._is_outside(operand):
                    return  # its definition comes later, and is visited first
                state = self.entry(operand)
            operands.append(state)
        constants = [self.constant(state) for state in operands]
        edges = self.flow.edges(op, constants)
        for edge in edges or ():
            self._follow(op, edge, operands)
        if (results := op.results) and (edges is None or not self.flow.is_known(op)):
            states = self.transfer(op, operands)
            if states is None:
                states = [self.entry(result) for result in results]
            for result, state in zip(results, states, strict=True):
                self.update(result, state)

    def _follow(self, op: Operation, edge: Edge, operands: Sequence[T]) -> None:
        passed = len(edge.operands)
        for place, value in enumerate(edge.inputs):
            known = place < passed
            self.update(value, operands[edge.operands[place]] if known else self.entry(value))
        for value in edge.others:
            # Of a loop, whether control comes from above or from the end of its body.
            owner = value.owner
            definer = owner if isinstance(owner, Operation) else owner.parent_op()
            assert definer is not None
            self.update(value, self.argument(definer, value))
        if isinstance(block := edge.target, Block) and block not in self.reached:
            self.reached.add(block)
            # Operands are known when an operation is visited first, but in loops and graph regions.
            self.sweep(block.ops)

    def _is_outside(self, value: SSAValue) -> bool:
        owner = value.owner
        if isinstance(owner, Block):
            owner = owner.parent_op()
            return owner is None or not self.root.is_ancestor(owner)
        return owner is self.root or not self.root.is_ancestor(owner)


class BackwardAnalysis(DataflowAnalysis[T]):
    """An analysis that follows values from their uses to their definitions (MLIR's
    `SparseBackwardDataFlowAnalysis`)."""

    @abstractmethod
    def transfer(self, op: Operation, results: Sequence[T | None]) -> Sequence[T | None]:
        """Return what `op` adds to the states of its operands, given those of its results; None
        where it adds nothing.

        For operands that a branch, a region or a call passes on, the states are those of the values
        that they become, and what this returns for them is not used.
        """

    @abstractmethod
    def exit(self, op: Operation, value: SSAValue) -> T | None:
        """Return the state of a value that `op` passes to an unknown place."""

    def start(self) -> None:
        # Uses before definitions, except in loops: nearly each operation is visited once.
        self.sweep(reversed([*walk(self.root)]))

    def changed(self, anchor: Anchor) -> None:
        # A value changes where it is defined, an operation at itself.
        target = anchor if isinstance(anchor, Operation | Block) else anchor.owner
        for op in self.flow.arriving(target):
            self.enqueue(op)

    def visit(self, op: Operation) -> None:
        self._visited.add(op)
        operands, results, _, _ = read_step(op)
        known = self.states
        states = self.transfer(op, [known.get(result) for result in results])
        if (edges := self.flow.edges(op)) is None:
            for operand, state in zip(operands, states):
                if state is not None:
                    self.update(operand, state)
            return
        passed: set[int] = set()
        for edge in edges:
            passed.update(edge.operands)
            for index, value in zip(edge.operands, edge.inputs):
                if (state := known.get(value)) is not None:
                    self.update(operands[index], state)
            for index in edge.operands[len(edge.inputs) :]:
                if (state := self.exit(op, operands[index])) is not None:
                    self.update(operands[index], state)
        for index, state in enumerate(states):
            if state is not None and index not in passed:
                self.update(operands[index], state)
