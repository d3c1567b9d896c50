"""The operations and values that an effect or a result depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...passmanager.dataflow.analysis import Anchor
from ...passmanager.dataflow.edges import ControlFlow
from ...passmanager.dataflow.sparse import BackwardAnalysis
from ...passmanager.fast.edit import read_step
from ...passmanager.ir.calls import callable_region
from ...passmanager.ir.control_flow import is_terminator, region_branch_of
from ...passmanager.ir.effects import OBSERVABLE, is_kept, own_effects
from ...passmanager.ir.structured_flow import LoopFlow
from ...passmanager.ir.walk import ancestors, walk

__all__ = ["Liveness"]


class Liveness(BackwardAnalysis[bool]):
    """The live operations and values nested in an operation (MLIR's `LivenessAnalysis`).

    An operation is live if it has an observable effect, or a result that is live; so are the
    operations around it. A terminator is as live as the operation around it, and not among `ops`.
    The values that branches, regions and calls pass on are live or dead one by one: of two results
    of an `scf.if`, one may be live, and what only the other one is computed from is dead. All other
    operands of live operations are live. Results and arguments that one operand becomes, as in a
    loop, are live together. The results of the operations in `kept`, and the arguments of their
    regions, are live, too; a function in `kept` may have other callers. The parameters of a
    function with unknown callers are live, as these pass them; nothing is in a function of one
    block that nobody calls. By default no calls are followed.
    """

    def __init__(
        self,
        root: Operation,
        effects_of: Callable[[Operation], int] = own_effects,
        kept: Iterable[Operation] = (),
        *,
        flow: ControlFlow | None = None,
    ) -> None:
        self.ops: set[Operation] = set()
        self._effects_of = effects_of
        self._kept = kept
        self._linked: dict[Operation, dict[SSAValue, list[SSAValue]]] = {}
        super().__init__(root, flow=flow or ControlFlow(root, interprocedural=False))

    @property
    def values(self) -> dict[Anchor, bool]:
        """The live values."""
        return self.states

    def join(self, a: bool, b: bool) -> bool:
        return True

    def exit(self, op: Operation, value: SSAValue) -> bool | None:
        return self._is_end_of_live(op) or None

    def start(self) -> None:
        super().start()
        self._uncalled = set(self._uncalled_ops())
        self._mark(self.root)
        self.flow.expose(self._kept)
        for op in (*self._kept, *self.flow.exposed):
            self._mark(op)
            firsts = [first for region in op.regions if (first := region.first_block) is not None]
            for value in (*op.results, *(arg for block in firsts for arg in block.args)):
                self.update(value, True)

    def visit(self, op: Operation) -> None:
        # A dead call needs no arguments, whatever the function does with them.
        if self.flow.callee(op) is not None and op not in self.ops:
            if not any(map(self.states.get, op.results)) and not self._has_effect(op):
                self._visited.add(op)
                return
        super().visit(op)

    def transfer(self, op: Operation, results: Sequence[bool | None]) -> Sequence[bool | None]:
        if op in self._uncalled:
            return ()
        if op not in self.ops:
            if is_terminator[type(op)] and op.next_op is None:
                if not self._is_end_of_live(op):
                    return ()
                if op.regions:  # as `scf.reduce`, whose regions end, too
                    self._mark(op)
            elif any(results) or self._has_effect(op):
                self._mark(op)
            else:
                return ()
        return [True] * len(read_step(op)[0])

    def _uncalled_ops(self) -> Iterator[Operation]:
        for func, calls in self.flow.calls.items():
            if not calls and func not in self.flow.exposed and func not in self._kept:
                body = callable_region(func)
                # With several blocks, what decides between them would have to go, too.
                if body is not None and body.first_block is body.last_block:
                    yield from (op for op in walk(func) if op is not func)

    def _is_end_of_live(self, op: Operation) -> bool:
        """Return whether `op` is as live as the operation around it, which it ends a region of."""
        holder = op.parent_op()
        return holder is None or holder in self.ops

    def _has_effect(self, op: Operation) -> bool:
        return is_kept[type(op)] or bool(self._effects_of(op) & OBSERVABLE)

    def _mark(self, op: Operation) -> None:
        """Add `op`, and the operations around it: it is reached only if they run."""
        for around in ancestors(op):
            if around in self.ops:
                return
            self.ops.add(around)
            if around.regions:
                self.enqueue(around)
                for end in self._ends(around):
                    self.enqueue(end)
            if around is self.root:
                return

    def _ends(self, op: Operation) -> Iterator[Operation]:
        """Yield the terminators in `op` that need more operands than they forward."""
        for region in op.regions:
            for block in region.blocks:
                if (end := block.last_op) is not None:
                    edges = self.flow.edges(end) or ()
                    forwarded = sum(
                        len(edge.operands) for edge in edges[: len(end.successors) or 1]
                    )
                    if len(end.operands) > forwarded or any(e.target is None for e in edges):
                        yield end

    def changed(self, anchor: Anchor) -> None:
        super().changed(anchor)
        if isinstance(anchor, SSAValue):
            for value in self._links(anchor):
                self.update(value, True)

    def _links(self, value: SSAValue) -> Sequence[SSAValue]:
        """Return the values that can only be removed with `value`, as one operand becomes both."""
        owner = value.owner
        if isinstance(owner, Block):
            owner = owner.parent_op()
        if owner is None or not owner.regions or not owner.results:
            return ()
        if (links := self._linked.get(owner)) is None:
            links = self._linked[owner] = self._find_links(owner)
        return links.get(value, ())

    def _find_links(self, op: Operation) -> dict[SSAValue, list[SSAValue]]:
        links: dict[SSAValue, list[SSAValue]] = {}
        for point in self.flow.arriving(op):
            places: dict[int, SSAValue] = {}
            for edge in self.flow.edges(point) or ():
                for index, value in zip(edge.operands, edge.inputs):
                    if (first := places.setdefault(index, value)) is not value:
                        links.setdefault(first, []).append(value)
                        links.setdefault(value, []).append(first)
        if isinstance(flow := region_branch_of(op), LoopFlow):
            # Of a loop with one iteration no operand becomes both, but it has as many of each.
            carried = flow.successor_inputs(op, op.regions[0])
            for result, value in zip(op.results, carried, strict=True):
                links.setdefault(result, []).append(value)
                links.setdefault(value, []).append(result)
        return links
