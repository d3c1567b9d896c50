"""What changed in a module since it was looked at last: exact, whoever made the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress, count
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolOpInterface

from .access import read_fields

__all__ = ["Changes", "Snapshot"]


@dataclass(frozen=True)
class Changes:
    """What is different in a module; locations and name hints do not count.

    All but `removed` is attached to the module. An op stands before those nested in it.
    """

    ops: tuple[Operation, ...] = ()
    """Ops that are new, differ, hold other blocks, are held by another op than before, or are below
    such an op. The module, if its list of ops differs."""
    blocks: tuple[Block, ...] = ()
    """Blocks that are new, or whose ops, arguments or argument types differ."""
    retyped: tuple[SSAValue, ...] = ()
    """Results and block arguments that have another type than before."""
    top_level: frozenset[Operation] = frozenset()
    """Ops directly in the module that are new, or differ anywhere in them."""
    removed: tuple[Operation, ...] = ()
    """Ops that are no longer directly in the module."""
    symbols_changed: bool = False
    """Whether a symbol op, at any depth, came, went, moved or differs."""

    def __bool__(self) -> bool:
        return bool(self.ops or self.blocks or self.retyped or self.top_level or self.removed)


class Snapshot:
    """The state of a module, to be compared with what it is later.

    All that it records it refers to, so no new object can have the identity of an erased one.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._record = _Record(module)

    def update(self) -> Changes:
        """What changed since this was made or last updated; from here on, what changes from now."""
        old, new = self._record, _Record(self._module)
        self._record = new
        return Changes() if new.same_as(old) else _changes(self._module, old, new)


# Recording

State: TypeAlias = list[object]
"""A record of ops: a flat list of references, about 7 per op, and no object per op that the garbage
collector would have to visit. It is a sequence of entries:

    op, operands, results, result types.., property names.., property values..,
        [attribute dict, names.., values..], [successors], [regions]
    block, arguments, argument types..
    region

A region is followed by its blocks and a block by its ops; the regions of these come after it, so
that no depth of nesting needs a stack. Lists compare items by identity first, and values, ops,
blocks and regions know no other equality.
"""


class _Record:
    """The module with its direct ops, and apart from it what is inside of each of these."""

    def __init__(self, module: ModuleOp) -> None:
        self.top: State = []
        self.bodies: dict[Operation, State] = {}
        regions: list[Region] = []
        _record_ops(self.top, regions, module, module.next_op)
        _record_regions(self.top, regions, nested=False)
        for region in regions:
            for block in region.blocks:
                self.bodies |= {op: _record_body(op) for op in block.ops if op.regions}

    def same_as(self, other: _Record) -> bool:
        return self.top == other.top and self.bodies == other.bodies

    def top_level(self) -> list[Operation]:
        """The ops directly in the module."""
        nodes = (cast(Operation, item) for item in self.top if _KINDS[type(item)] is Operation)
        return [*nodes][1:]


def _record_body(op: Operation) -> State:
    state: State = []
    _record_regions(state, [*op.regions], nested=True)
    return state


def _record_regions(state: State, regions: list[Region], nested: bool) -> None:
    """Append the entries of all in `regions`, which grows by those nested in them, if asked for."""
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
    """Append the entries of the ops from `op` to before `end`, and their regions to `regions`."""
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
            state.append(attributes)
            state += attributes
            state += attributes.values()
        if successors:
            state.append(successors)
        if op_regions:
            state.append(op_regions)
            regions += op_regions


# Comparing

Node: TypeAlias = Operation | Block | Region


class _Kinds(dict[type, type | None]):
    """Which of op, block and region a type is, if any; a look-up is a quarter of `isinstance`."""

    def __missing__(self, cls: type) -> type | None:
        kinds = (Operation, Block, Region)
        self[cls] = next((kind for kind in kinds if issubclass(cls, kind)), None)
        return self[cls]


_KINDS = _Kinds()


class _Picture:
    """A record, or part of it, opened up: where each entry is, and what blocks and regions hold."""

    def __init__(self, record: _Record, bodies: Iterable[Operation]) -> None:
        self.items = record.top.copy()
        for op in bodies:
            self.items += record.bodies.get(op, ())
        heads = map(_KINDS.__getitem__, map(type, self.items))
        self.starts = [*compress(count(), heads), len(self.items)]
        self.nodes = [cast(Node, self.items[start]) for start in self.starts[:-1]]
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.blocks: dict[Region, list[Block]] = {}
        self.ops: dict[Block, list[Operation]] = {}
        self._sort_nodes()

    def _sort_nodes(self) -> None:
        ops: list[Operation] = []  # of the last block; at first, of nothing
        blocks: list[Block] = []
        for node in self.nodes:
            kind = _KINDS[type(node)]
            if kind is Operation:
                ops.append(cast(Operation, node))
            elif kind is Block:
                blocks.append(block := cast(Block, node))
                ops = self.ops[block] = []
            else:
                blocks = self.blocks[cast(Region, node)] = []

    def entry(self, node: Node) -> State | None:
        """What was recorded about `node`."""
        return self.run(node, 1) if node in self.numbers else None

    def run(self, node: Node, length: int) -> State:
        """What was recorded about `node` and those after it, `length` in all if there are."""
        number = self.numbers[node]
        end = min(number + length, len(self.nodes))
        return self.items[self.starts[number] : self.starts[end]]

    def regions(self, op: Operation) -> tuple[Region, ...]:
        """The regions of `op`; successors, too, are a tuple and may be the last of an entry."""
        last = (self.entry(op) or (None,))[-1]
        regions = cast(tuple[object, ...], last) if type(last) is tuple else ()
        return tuple(region for region in regions if isinstance(region, Region))


def _changes(module: ModuleOp, old: _Record, new: _Record) -> Changes:
    """What changed between two records of a module; opens only what differs of them."""
    bodies = [op for op in old.bodies | new.bodies if old.bodies.get(op) != new.bodies.get(op)]
    found = _Comparison(_Picture(old, bodies), _Picture(new, bodies))
    old_top, new_top = old.top_level(), new.top_level()
    kept = frozenset(new_top)
    symbols_changed = found.symbols_differ()
    if old_top != new_top:
        found.ops = {module: None} | found.ops
    return Changes(
        ops=tuple(found.ops),
        blocks=tuple(found.blocks),
        retyped=tuple(found.retyped),
        top_level=kept & (found.ops.keys() | set(bodies)),
        removed=tuple(op for op in old_top if op not in kept),
        symbols_changed=symbols_changed,
    )


_RUN = 64
"""How many ops are compared at once: nearly all have not changed."""


class _Comparison:
    """What is different between two pictures."""

    def __init__(self, before: _Picture, after: _Picture) -> None:
        self.before, self.after = before, after
        self.moved: set[Operation] = set()
        self.ops: dict[Operation, None] = {}
        self.blocks: list[Block] = []
        self.retyped: list[SSAValue] = []
        self._compare_op(cast(Operation, after.nodes[0]))
        for region, blocks in after.blocks.items():
            self._compare_region(region, blocks)

    def _compare_region(self, region: Region, blocks: list[Block]) -> None:
        """Look at a region; the op that holds it comes before it."""
        owner = region.parent
        assert owner is not None
        moved = owner in self.moved
        if owner in self.ops:
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
        for start in range(0, len(ops), _RUN):
            if not self._is_same_run(run := ops[start : start + _RUN]):
                for op in run:
                    self._compare_op(op)

    def _is_same_run(self, ops: list[Operation]) -> bool:
        """Whether successive ops of a block have not changed, nor what is between them."""
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
        """Note the values with another type; entries have them at `at`, followed by their types."""
        if entry is not None and old_entry is not None:
            old_types = dict(_types(old_entry, at))
            self.retyped += [v for v, type in _types(entry, at) if old_types.get(v, type) != type]

    def symbols_differ(self) -> bool:
        """Whether a symbol op came, went, moved or differs."""
        nodes = (*self.before.nodes, *self.after.nodes)
        kinds = {cls for cls in set(map(type, nodes)) if _is_symbol(cls)}
        symbols = (cast(Operation, node) for node in nodes if type(node) in kinds)
        return any(op in self.ops or op not in self.after.numbers for op in symbols)


def _types(entry: State, at: int) -> Iterator[tuple[SSAValue, Attribute]]:
    values = cast(tuple[SSAValue, ...], entry[at])
    return zip(values, cast(list[Attribute], entry[at + 1 :]))


def _is_symbol(cls: type) -> bool:
    return issubclass(cls, Operation) and cls.get_trait(SymbolOpInterface) is not None
