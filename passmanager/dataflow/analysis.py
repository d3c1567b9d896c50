"""The base of dataflow analyses: states of a lattice, and the worklist that finds a fixpoint.

xDSL 0.75's solver (`xdsl.analysis`) refuses nested regions, several blocks and calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import ClassVar, Generic, TypeAlias, TypeVar

from xdsl.ir import Block, Operation, SSAValue

from ..actions import SILENT, Actions
from ..diagnostics import DiagnosticError, Severity, make, op_at
from .edges import ControlFlow

__all__ = ["Anchor", "DataflowAnalysis"]

T = TypeVar("T")

Anchor: TypeAlias = SSAValue | Operation | Block
"""What has a state: a value, or a program point, which is the one at an operation or the start of a
block."""


class DataflowAnalysis(ABC, Generic[T]):
    """The base class of analyses that solve equations over a lattice (MLIR's `DataFlowSolver`).

    The states are values of any type with `==`, joined by `join`; where nothing is known yet there
    is none. The constructor runs the analysis on the operations nested in `root`, iteratively; each
    operation is visited again only if a state that it depends on has changed. Errors:
    DiagnosticError if a state changes more than `limit` times.
    """

    limit: ClassVar[int] = 1000
    """The most changes of one state, after which the analysis is taken not to converge."""
    widen_after: ClassVar[int] = 3
    """The number of changes of one state after which `widen` is asked."""

    def __init__(
        self, root: Operation, *, flow: ControlFlow | None = None, actions: Actions = SILENT
    ) -> None:
        self.root = root
        self._actions = actions
        if flow is not None:
            self.flow = flow
        self.states: dict[Anchor, T] = {}
        self._changes: dict[Anchor, int] = {}
        self._pending: deque[Operation] = deque()
        self._queued: set[Operation] = set()
        self._visited: set[Operation] = set()
        self._sweeps: list[Iterator[Operation]] = []
        self.start()
        self.run()

    @cached_property
    def flow(self) -> ControlFlow:
        """The edges of control flow in `root`."""
        return ControlFlow(self.root, self._actions)

    @abstractmethod
    def join(self, a: T, b: T) -> T:
        """Return the state that holds wherever `a` or `b` holds: the least upper bound."""

    def widen(self, old: T, new: T) -> T:
        """Return a state above `new`, which replaces `old` for the fourth time or more.

        A lattice without a limit to its height needs it to converge.
        """
        return new

    def state(self, anchor: Anchor) -> T | None:
        """Return the state of a value or program point; None if nothing is known, as control does
        not reach it."""
        return self.states.get(anchor)

    @abstractmethod
    def start(self) -> None:
        """Visit or enqueue the first operations."""

    @abstractmethod
    def visit(self, op: Operation) -> None:
        """Update the states that depend on `op` and its operands or results."""

    @abstractmethod
    def changed(self, anchor: Anchor) -> None:
        """Enqueue the operations that depend on the state of `anchor`."""

    def update(self, anchor: Anchor, state: T) -> None:
        """Join `state` into the state of `anchor`, and visit what depends on it if it changes."""
        old = self.states.get(anchor)
        if old is None:
            self.states[anchor] = state
        else:
            if old == state or old == (new := self.join(old, state)):
                return
            changes = self._changes[anchor] = self._changes.get(anchor, 0) + 1
            if changes > self.widen_after:
                new = self.widen(old, new)
                if changes > self.limit:
                    self._fail(anchor, old, new)
            self.states[anchor] = new
        self.changed(anchor)

    def enqueue(self, op: Operation) -> None:
        """Visit `op` again, if it has been visited: if not, it is going to be."""
        if op in self._visited and op not in self._queued:
            self._queued.add(op)
            self._pending.append(op)

    def sweep(self, ops: Iterable[Operation]) -> None:
        """Visit `ops` next, in order, before those that are enqueued."""
        self._sweeps.append(iter(ops))

    def run(self) -> None:
        """Visit operations until no state changes."""
        while self._sweeps or self._pending:
            if not self._sweeps:
                self._queued.discard(op := self._pending.popleft())
                self.visit(op)
            elif (op := next(self._sweeps[-1], None)) is not None:
                self.visit(op)
            else:
                self._sweeps.pop()

    def _fail(self, anchor: Anchor, old: T, new: T) -> None:
        where = anchor.parent_op() if isinstance(anchor, Block) else op_at(anchor)
        diagnostic = make(
            Severity.ERROR,
            where or self.root,
            f"the analysis {type(self).__name__} does not converge: a state changed more than "
            f"{self.limit} times, at last from {old} to {new}; a lattice of unlimited height needs "
            "the method `widen`",
        )
        raise DiagnosticError(str(diagnostic), [diagnostic])
