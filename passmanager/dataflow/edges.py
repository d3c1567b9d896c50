"""The control-flow edges of a program: through branches, regions, calls and returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from xdsl.dialects.builtin import SymbolRefAttr, UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from ..actions import SILENT, Actions
from ..ir.calls import CALLABLES, CALLS, callable_of, callable_region
from ..ir.control_flow import (
    Constants,
    RegionBranchTrait,
    branch_of,
    is_terminator,
    region_branch_of,
    region_points,
)
from ..ir.per_class import PerClass
from ..ir.symbols import References, SymbolTables
from ..ir.walk import PRIVATE, name_of, symbol_of, walk

__all__ = ["ControlFlow", "Edge"]


class Edge(NamedTuple):
    """A way from an operation to where control may go next, with the values that go along.

    The first operands become the first inputs, one by one. An operand without an input goes to an
    unknown place; an input without an operand has an unknown value.
    """

    target: Block | Operation | None
    """The block that is entered, or the operation after which control goes on; None is unknown."""
    operands: range
    """The indices of the operands that are forwarded."""
    inputs: Sequence[SSAValue]
    """The arguments or results that get their values."""
    others: Sequence[SSAValue] = ()
    """The arguments or results at the target that `target` itself defines: variables of loops."""


def _may_branch(cls: type[Operation]) -> bool:
    if is_terminator[cls] or CALLS[cls] is not None or not issubclass(cls, IRDLOperation):
        return True
    definition = cls.get_irdl_definition()
    return bool(definition.regions or definition.successors)


may_branch: Final = PerClass[Operation, bool](_may_branch)
"""Whether operations of a class may pass control on; the others go on after them."""


class ControlFlow:
    """The edges between the operations nested in `root`, as their interfaces describe them.

    An operation without the interface that it needs may go to all its regions or successors, with
    unknown values; a remark to `actions` names the interface. The callers of a function are known
    if it is a private symbol that is only called, and lies in `root`; without `interprocedural` no
    calls are known.
    """

    def __init__(
        self, root: Operation, actions: Actions = SILENT, interprocedural: bool = True
    ) -> None:
        self.root = root
        self._actions = actions
        self._reported: set[str] = set()
        self._symbols = SymbolTables()
        self._ends: dict[Operation, Sequence[Operation]] = {}
        self._edges: dict[Operation, Sequence[Edge] | None] = {}
        self.calls: dict[Operation, list[Operation]] = {}
        """The known calls of each callable operation in `root`."""
        self.exposed: set[Operation] = set()
        """The callable operations that may have other callers."""
        self._callees: dict[Operation, Operation] = {}
        self._find_calls(interprocedural)

    def _find_calls(self, interprocedural: bool) -> None:
        ops = list(walk(self.root))
        callables = [op for op in ops if CALLABLES[type(op)] is not None]
        if not callables:
            return
        self.calls = {op: [] for op in callables}
        if not interprocedural:
            self.exposed = set(callables)
            return
        for op in ops:
            if CALLS[type(op)] is not None:
                callee = callable_of(op, self._symbols)
                # A declaration is no more than its effects: the call is like any operation.
                if callee and callee in self.calls and callable_region(callee) is not None:
                    self._callees[op] = callee
                    self.calls[callee].append(op)
        private = {op for op in callables if op is not self.root and _is_private(op)}
        names = self._referenced_names(ops) if private else set[str]()
        self.exposed = {op for op in callables if op not in private or symbol_of(op) in names}

    def _referenced_names(self, ops: Sequence[Operation]) -> set[str]:
        """Return the names of symbols that `ops` refer to otherwise than by known calls."""
        names: set[str] = set()
        references = References()
        for op in ops:
            if not (found := references.references(op)):
                continue
            if op in self._callees and (interface := CALLS[type(op)]) is not None:
                callee = interface.get_callee(op)
                if isinstance(callee, SymbolRefAttr):
                    found.remove(callee)
            for reference in found:
                names.add(reference.root_reference.data)
                names |= {part.data for part in reference.nested_references}
        return names

    def callee(self, call: Operation) -> Operation | None:
        """Return the callable in `root` that `call` calls; None if it is not known."""
        return self._callees.get(call)

    def expose(self, callables: Iterable[Operation]) -> None:
        """Take callable operations to have callers that are not known."""
        if found := self.calls.keys() & {*callables} - self.exposed:
            self.exposed |= found
            self._edges.clear()

    # Edges out of an operation.

    def edges(self, op: Operation, constants: Constants = ()) -> Sequence[Edge] | None:
        """Return where control may go from `op`, whose operands are `constants`.

        None means that `op` is none of these: a branch, the end of a region, an operation with
        regions, the call of a known function.
        """
        if not may_branch[type(op)]:
            return None
        # Not `any`: an `IntegerAttr` of 0 is false.
        if any(constant is not None for constant in constants):
            return self._find_edges(op, constants)
        if op not in self._edges:
            self._edges[op] = self._find_edges(op, ())
        return self._edges[op]

    def _find_edges(self, op: Operation, constants: Constants) -> Sequence[Edge] | None:
        if op.successors:
            return list(self._branches(op, constants))
        if ends := is_terminator[type(op)] and op.next_op is None and op.parent is not None:
            found = list(self._region_end(op, constants))
            # The last operation of a block may be an unregistered one that ends nothing.
            found += [Edge(op, range(0), op.results)] if op.results else ()
        elif not op.regions:
            callee = self._callees.get(op)
            return None if callee is None else [self._call(op, callee)]
        else:
            found = []
        if op.regions:
            found += self._entries(op, () if ends else constants)
        return found

    def is_known(self, op: Operation) -> bool:
        """Return whether the edges of `op`, which has some, say where its results come from."""
        return not op.regions or region_branch_of(op) is not None

    def _branches(self, op: Operation, constants: Constants) -> Iterator[Edge]:
        if (trait := branch_of(op)) is None:
            self._without_interface(op, "BranchTrait")
            for block in op.successors:
                yield Edge(block, range(0), block.args)
            yield Edge(None, range(len(op.operands)), ())
            return
        taken = trait.successor_for(op, constants) if constants else None
        for index, block in enumerate(op.successors):
            if taken is None or index == taken:
                yield Edge(block, trait.successor_operands(op, index), block.args)

    def _entries(self, op: Operation, constants: Constants) -> Iterator[Edge]:
        """Yield the edges into the regions of `op`, and past it."""
        if (trait := region_branch_of(op)) is not None:
            yield from _region_edges(op, trait, None, constants)
        elif op in self.calls:
            body = callable_region(op)
            if body is not None and op in self.exposed and (first := body.first_block) is not None:
                yield Edge(first, range(0), first.args)
            yield Edge(op, range(0), ())
        else:
            entered = [block for region in op.regions for block in _entered(region)]
            if op.results or any(block.args for block in entered):
                self._without_interface(op, "RegionBranchTrait")
            for block in entered:
                yield Edge(block, range(0), block.args)
            yield Edge(op, range(0), ())

    def _region_end(self, op: Operation, constants: Constants) -> Iterator[Edge]:
        """Yield the edges from a terminator without successors."""
        holder = op.parent_op()
        outside = Edge(None, range(len(op.operands)), ())
        if holder is None or op is self.root:
            yield outside
        elif (trait := region_branch_of(holder)) is not None:
            yield from _region_edges(holder, trait, op, constants)
        elif holder in self.calls:
            for call in self.calls[holder]:
                yield Edge(call, range(len(op.operands)), call.results)
            if holder in self.exposed:
                yield outside
        else:
            yield outside

    def _call(self, op: Operation, callee: Operation) -> Edge:
        """Return the edge from a call into the function; its results come from the returns."""
        body, interface = callable_region(callee), CALLS[type(op)]
        assert interface is not None and body is not None and body.first_block is not None
        # The arguments come first, or behind the callee if that is a value.
        start = 0 if isinstance(interface.get_callee(op), SymbolRefAttr) else 1
        end = start + len(interface.get_arguments(op))
        return Edge(body.first_block, range(start, end), body.first_block.args)

    def _without_interface(self, op: Operation, interface: str) -> None:
        if (name := name_of(op)) not in self._reported:
            self._reported.add(name)
            self._actions.missed(
                op,
                "NoInterface",
                f"'{name}' has no {interface}: nothing is known of the values that it passes on",
                Interface=interface,
            )

    # Edges into a place.

    def arriving(self, target: Block | Operation) -> Sequence[Operation]:
        """Return the operations with edges to the start of a block, or to the point after an
        operation."""
        if isinstance(target, Operation):
            if target in self._callees:
                return (target, *self.ends_of(self._callees[target]))
            return (target, *self.ends_of(target)) if target.regions else (target,)
        region = target.parent
        if region is None or region.first_block is not target:
            return [use.operation for use in target.uses]
        holder = region.parent
        if holder is None:
            return ()
        if holder in self.calls:
            return (holder, *self.calls[holder])
        return (holder, *self.ends_of(holder))

    def ends_of(self, op: Operation) -> Sequence[Operation]:
        """Return the terminators without successors in the regions of `op`."""
        if (ends := self._ends.get(op)) is None:
            ends = [point for point in region_points(op) if point is not None]
            self._ends[op] = ends
        return ends


def _region_edges(
    op: Operation, trait: RegionBranchTrait, point: Operation | None, constants: Constants
) -> Iterator[Edge]:
    for successor in trait.successor_regions(op, point, constants):
        inputs = trait.successor_inputs(op, successor)
        operands = trait.successor_operands(op, point, successor)
        if successor is None:
            target, defined = op, op.results
        else:
            target = successor.first_block
            defined = () if target is None else target.args
        others: Sequence[SSAValue] = ()
        if len(defined) != len(inputs):
            forwarded = {*inputs}
            others = [value for value in defined if value not in forwarded]
        yield Edge(target, operands, inputs, others)


def _entered(region: Region) -> Sequence[Block]:
    """Return the blocks of a region of which nothing is known that control may enter from above."""
    if isinstance(region.parent, UnregisteredOp):
        return [*region.blocks]
    return () if (first := region.first_block) is None else (first,)


def _is_private(op: Operation) -> bool:
    visibility = op.get_attr_or_prop("sym_visibility")
    return visibility == PRIVATE and bool(symbol_of(op))
