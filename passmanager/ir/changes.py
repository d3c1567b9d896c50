"""Snapshots of a module, which find all changes made since, whoever made them.

A snapshot is a record of the whole state as flat lists of references, cheap to make and compare.
The comparison of two records finds the ops, blocks and values that differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import compress, count
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolOpInterface

from ..fast.edit import read_fields
from .per_class import OpClasses, PerClass

# Records


State: TypeAlias = list[object]
"""A record of ops: a flat list of references, about 7 for each op. No objects are made for ops,
as the garbage collector would have to visit them. The list is a sequence of entries:

    op, operands, results, result types.., property names.., property values..,
        [attribute dict, names.., values..], [successors], [regions]
    block, arguments, argument types..
    region

The entries of the blocks of a region follow the region's entry, and the entries of the ops of a
block follow the block's. The entries of regions nested in these ops come after all of them, so that
deep nesting needs no stack.
Lists compare items by identity first, and values, ops, blocks and regions have no other equality.
"""


class ModuleRecord:
    """A module and the ops directly in it, and separately the contents of each of these ops.

    Ops that did not change compare equal as whole lists, in C. With `only` of the ops in the module
    that one alone is recorded.
    """

    def __init__(self, module: ModuleOp, only: Operation | None = None) -> None:
        self.top: State = []
        self.bodies: dict[Operation, State] = {}
        regions: list[Region] = []
        # The module as an op, then the ops in it; the regions of these are recorded as bodies.
        _record_ops(self.top, regions, module, module.next_op)
        if only is not None:
            self.top += [regions[0], module.body.block, module.body.block.args]
            _record_ops(self.top, [], only, only.next_op)
            self.bodies[only] = record_body(only)
            return
        _record_regions(self.top, regions, nested=False)
        # An op without regions has no body: all of it is in `top`.
        for region in regions:
            for block in region.blocks:
                self.bodies |= {op: record_body(op) for op in block.ops if op.regions}

    def same_as(self, other: ModuleRecord) -> bool:
        """Return whether both record the same state."""
        return self.top == other.top and self.bodies == other.bodies

    def op_classes(self) -> OpClasses:
        """Return the classes of the recorded ops."""
        classes = set(map(type, self.top)).union(*(map(type, b) for b in self.bodies.values()))
        return frozenset(
            cast(type[Operation], cls) for cls in classes if node_kind[cls] is Operation
        )

    def top_level(self) -> list[Operation]:
        """Return the ops directly in the module."""
        nodes = (cast(Operation, item) for item in self.top if node_kind[type(item)] is Operation)
        return [*nodes][1:]


def _node_kind(cls: type[object]) -> type | None:
    # Not `issubclass`, which asks all subclasses of the abstract classes for each other class.
    return next((kind for kind in (Operation, Block, Region) if kind in cls.__mro__), None)


# A look-up takes a quarter of the time of `isinstance`.
node_kind = PerClass[object, type | None](_node_kind)
"""Operation, Block or Region for a subclass of it, None for other classes."""


def record_body(op: Operation) -> State:
    """Return the record of the contents of an op."""
    state: State = []
    _record_regions(state, [*op.regions], nested=True)
    return state


def _record_regions(state: State, regions: list[Region], nested: bool) -> None:
    """Append the entries of `regions`, with `nested` also of all regions nested in them.

    The regions found on the way are appended to `regions`.
    """
    # `regions` grows while it is walked: breadth first, without recursion.
    inner = regions if nested else []
    for region in regions:
        state.append(region)
        block = region.first_block
        while block is not None:
            state.append(block)
            state.append(args := block.args)
            for arg in args:
                state.append(arg.type)
            _record_ops(state, inner, block.first_op, None)
            block = block.next_block


def _record_ops(
    state: State, regions: list[Region], op: Operation | None, end: Operation | None
) -> None:
    """Append the entries of the ops from `op` up to, not including, `end`, and their regions to
    `regions`.
    """
    while op is not end:
        assert op is not None
        state.append(op)
        operands, results, properties, attributes, successors, op_regions, op = read_fields(op)
        state.append(operands)
        state.append(results)
        for result in results:
            state.append(result.type)
        if properties:
            state += properties
            state += properties.values()
        if attributes:
            # The dict keeps attributes apart from properties of the same names and values.
            state.append(attributes)
            state += attributes
            state += attributes.values()
        if successors:
            state.append(successors)
        if op_regions:
            state.append(op_regions)
            regions += op_regions


# Comparison


@dataclass(frozen=True)
class Changes:
    """The differences between two states of a module; locations and name hints do not count.

    Everything but `removed` is attached to the module. An op comes before the ops nested in it.
    """

    ops: tuple[Operation, ...] = ()
    """Ops that are new, differ, hold other blocks or moved to another op, and all ops nested in
    moved ones. The module, if its list of ops differs."""
    blocks: tuple[Block, ...] = ()
    """Blocks that are new, or whose ops, arguments or argument types differ."""
    retyped: tuple[SSAValue, ...] = ()
    """Results and block arguments whose type differs."""
    top_level: frozenset[Operation] = frozenset()
    """Ops directly in the module that are new, or in which anything differs."""
    removed: tuple[Operation, ...] = ()
    """Ops that are no longer directly in the module."""
    symbols_changed: bool = False
    """Whether a symbol op, at any depth, was added, removed, moved or changed."""
    before: ModuleRecord | None = field(default=None, repr=False, compare=False)
    """The earlier record, None if nothing changed."""

    def __bool__(self) -> bool:
        return bool(self.ops or self.blocks or self.retyped or self.top_level or self.removed)


def compare(
    module: ModuleOp, old: ModuleRecord, new: ModuleRecord, details: bool = True
) -> Changes:
    """Return the changes from `old` to `new`, two different records of `module`.

    Only the contents of top-level ops that differ are looked into; without `details` not even
    these: of the changes only `top_level` and `removed` are complete then.
    """
    # A pass that changed one function of many costs the comparison of that one, after one
    # comparison of lists for each of the others.
    bodies = [op for op in old.bodies | new.bodies if old.bodies.get(op) != new.bodies.get(op)]
    inside = bodies if details else ()
    found = _RecordComparison(_Index(old, inside), _Index(new, inside))
    old_top, new_top = old.top_level(), new.top_level()
    kept = frozenset(new_top)
    # Before the module is added: that is a symbol op as well.
    symbols_changed = found.symbols_differ()
    # The module itself is the first op: it precedes all that is in it.
    if old_top != new_top:
        found.ops = {module: None} | found.ops
    return Changes(
        ops=tuple(found.ops),
        blocks=tuple(found.blocks),
        retyped=tuple(found.retyped),
        top_level=kept & (found.ops.keys() | set(bodies)),
        removed=tuple(op for op in old_top if op not in kept),
        symbols_changed=symbols_changed,
        before=old,
    )


Node: TypeAlias = Operation | Block | Region


class _Index:
    """An index of a record, or part of it: the position of each entry, the blocks of each region
    and the ops of each block.
    """

    def __init__(self, record: ModuleRecord, bodies: Iterable[Operation]) -> None:
        self.items = record.top.copy()
        for op in bodies:
            self.items += record.bodies.get(op, ())
        # Entries have no length field: an item that is an op, block or region starts one, as
        # values, types and names are none of these.
        heads = map(node_kind.__getitem__, map(type, self.items))
        self.starts = [*compress(count(), heads), len(self.items)]
        self.nodes = [cast(Node, self.items[start]) for start in self.starts[:-1]]
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.blocks: dict[Region, list[Block]] = {}
        self.ops: dict[Block, list[Operation]] = {}
        self._collect_children()

    def _collect_children(self) -> None:
        """Fill `blocks` and `ops`: children follow their parent, up to the next one of its kind."""
        ops: list[Operation] = []  # of the last block; before the first one, of the module itself
        blocks: list[Block] = []
        for node in self.nodes:
            kind = node_kind[type(node)]
            if kind is Operation:
                ops.append(cast(Operation, node))
            elif kind is Block:
                blocks.append(block := cast(Block, node))
                ops = self.ops[block] = []
            else:
                blocks = self.blocks[cast(Region, node)] = []

    def entry(self, node: Node) -> State | None:
        """Return the entry of `node`, or None if it has none."""
        return self.run(node, 1) if node in self.numbers else None

    def run(self, node: Node, length: int) -> State:
        """Return the entries of `node` and the nodes after it in the record, at most `length`."""
        number = self.numbers[node]
        end = min(number + length, len(self.nodes))
        return self.items[self.starts[number] : self.starts[end]]

    def regions(self, op: Operation) -> tuple[Region, ...]:
        """Return the regions of `op`: the last item of its entry, unless that is the successors."""
        last = (self.entry(op) or (None,))[-1]
        regions = cast(tuple[object, ...], last) if type(last) is tuple else ()
        return tuple(region for region in regions if isinstance(region, Region))


_RUN = 64
"""The number of successive ops compared at once, as most ops of a module are unchanged."""


class _RecordComparison:
    """The differences between two indexed records, collected in the order of the newer one.

    An op is moved if it was in another block, or if the op around it is moved: it has to be
    verified again although its own entry is the same.
    """

    def __init__(self, before: _Index, after: _Index) -> None:
        self.before, self.after = before, after
        self.moved: set[Operation] = set()
        self.ops: dict[Operation, None] = {}
        self.blocks: list[Block] = []
        self.retyped: list[SSAValue] = []
        self._compare_op(cast(Operation, after.nodes[0]))
        for region, blocks in after.blocks.items():
            self._compare_region(region, blocks)

    def _compare_region(self, region: Region, blocks: list[Block]) -> None:
        """Compare a region; the op that holds it was compared before."""
        owner = region.parent
        assert owner is not None
        moved = owner in self.moved
        if owner in self.ops:
            # A region that was taken from another op has the entries that it had, but another op
            # around it.
            moved = moved or region not in self.before.regions(owner)
        if blocks != (old_blocks := self.before.blocks.get(region, [])):
            self.ops[owner] = None
        stayed = frozenset(() if moved else old_blocks)
        for block in blocks:
            self._compare_block(block, self.after.ops[block], block not in stayed)

    def _compare_block(self, block: Block, ops: list[Operation], moved: bool) -> None:
        entry, old_entry = self.after.entry(block), self.before.entry(block)
        old_ops = self.before.ops.get(block, [])
        if ops != old_ops or entry != old_entry:
            self.blocks.append(block)
            self._note_retyped(entry, old_entry, 1)
        if ops != old_ops or moved:
            self.moved |= set(ops).difference(() if moved else old_ops)
        # An op that is inserted shifts the runs of one side only, but a run is found by its first
        # op: it is equal again from the run after the change on.
        for start in range(0, len(ops), _RUN):
            if not self._is_same_run(run := ops[start : start + _RUN]):
                for op in run:
                    self._compare_op(op)

    def _is_same_run(self, ops: list[Operation]) -> bool:
        """Return whether successive ops of a block are unchanged, with no op between them removed.

        A run that starts with a moved op is compared op by op; so is one with a moved op inside, as
        its entries then differ from those that followed the first op before.
        """
        if ops[0] in self.moved or ops[0] not in self.before.numbers:
            return False
        return self.after.run(ops[0], len(ops)) == self.before.run(ops[0], len(ops))

    def _compare_op(self, op: Operation) -> None:
        entry, old_entry = self.after.entry(op), self.before.entry(op)
        if entry != old_entry:
            self.ops[op] = None
            self._note_retyped(entry, old_entry, 2)
        elif op in self.moved:
            self.ops[op] = None

    def _note_retyped(self, entry: State | None, old_entry: State | None, at: int) -> None:
        """Note the values whose type differs; an entry has the values at index `at`, followed by
        their types.
        """
        if entry is not None and old_entry is not None:
            old_types = dict(_types(old_entry, at))
            self.retyped += [v for v, type in _types(entry, at) if old_types.get(v, type) != type]

    def symbols_differ(self) -> bool:
        """Return whether a symbol op was added, removed, moved or changed."""
        nodes = (*self.before.nodes, *self.after.nodes)
        kinds = {cls for cls in set(map(type, nodes)) if _is_symbol(cls)}
        symbols = (cast(Operation, node) for node in nodes if type(node) in kinds)
        # New and changed ones are in `ops`; those removed have no number any more.
        return any(op in self.ops or op not in self.after.numbers for op in symbols)


def _types(entry: State, at: int) -> Iterator[tuple[SSAValue, Attribute]]:
    values = cast(tuple[SSAValue, ...], entry[at])
    return zip(values, cast(list[Attribute], entry[at + 1 :]))


def _is_symbol(cls: type) -> bool:
    return issubclass(cls, Operation) and cls.get_trait(SymbolOpInterface) is not None


class Snapshot:
    """The state of a module at one time, to be compared with a later one.

    It keeps references to everything recorded, so that the `id` of an erased object is not reused.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._record = ModuleRecord(module)
        self._op_classes: OpClasses | None = None

    @property
    def record(self) -> ModuleRecord:
        """The state of the module at that time."""
        return self._record

    @property
    def op_classes(self) -> OpClasses:
        """The classes of the ops in the module at that time."""
        if self._op_classes is None:
            self._op_classes = self._record.op_classes()
        return self._op_classes

    def update(self, details: bool = True) -> Changes:
        """Return the changes since the snapshot was taken or last updated, and take a new one;
        without `details` only what changed at the top level, as by `compare`.
        """
        old, new = self._record, ModuleRecord(self._module)
        self._record = new
        # The common case, in C: most passes of a pipeline change nothing.
        if new.same_as(old):
            return Changes()
        self._op_classes = None
        return compare(self._module, old, new, details)

    def reject(self, changes: Changes) -> None:
        """Take back the last update, which returned `changes`: the next one returns them again."""
        if changes.before is not None:
            self._record = changes.before
            self._op_classes = None
