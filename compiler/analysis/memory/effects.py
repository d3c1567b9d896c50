"""The memory that operations read and write, and the stores and loops that have no effect."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import MemRefType, SymbolRefAttr
from xdsl.dialects.scf import IfOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import (
    IsTerminator,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
)

from ....dialects.tir.ops import AssumeOp, ForOp, PrimFuncOp
from ....passes.generic.purity import Allocation, View
from ....passes.generic.scoped_dict import ScopedDict
from ....passmanager.ir.effects import class_effects
from ....passmanager.ir.per_class import PerClass
from ..arith.analyzer import Analyzer
from ..arith.scoped_walk import scoped_blocks
from .buffers import uses_of

# The memory that the operations of a function read and write.


Root: TypeAlias = SSAValue | SymbolRefAttr
"""Memory that overlaps no other root: an allocation, a parameter of the function, or a global."""
Stamp: TypeAlias = tuple[int, int]
"""A version of the memory of a root; differs after each effect on it."""

READ: dict[type[Operation], int] = {
    memref.LoadOp: 0,
    vector.LoadOp: 0,
    vector.MaskedLoadOp: 0,
}
"""The operations whose only effect is to read one operand, with the number of that operand."""
WRITTEN: dict[type[Operation], int] = {
    memref.StoreOp: 1,
    vector.StoreOp: 1,
    vector.MaskedStoreOp: 0,
}
"""The operations whose only effect is to write one operand, with the number of that operand."""


class Effects(NamedTuple):
    """The possible effects of one or several operations on memory."""

    reads: frozenset[Root] = frozenset()
    writes: frozenset[Root] = frozenset()
    is_opaque: bool = False
    """True if all memory that is not private may be read and written."""

    @property
    def has_effects(self) -> bool:
        """True if memory may be written, so that other operations can observe the effect."""
        return self.is_opaque or bool(self.writes)


NOTHING, OPAQUE = Effects(), Effects(is_opaque=True)
ASSUMES = Effects(writes=frozenset([SymbolRefAttr("")]))
"""The effects of an assumption: it stays, but no operation reads what it writes."""


def union(effects: Iterable[Effects]) -> Effects:
    """Return the effects of several operations together."""
    found = [each for each in effects if each is not NOTHING]
    if len(found) <= 1:
        return found[0] if found else NOTHING
    return Effects(
        frozenset().union(*(each.reads for each in found)),
        frozenset().union(*(each.writes for each in found)),
        any(each.is_opaque for each in found),
    )


class Memory:
    """The alias and effect analysis of a function.

    Answers are cached, and not updated when the function changes.
    """

    def __init__(self, func: PrimFuncOp) -> None:
        self.func = func
        self._roots: dict[SSAValue, Root | None] = {}
        self._private: dict[Root, bool] = {}
        self._nested: dict[Operation, Effects] = {}

    def root(self, buffer: SSAValue) -> Root | None:
        """Return the memory that `buffer` is a part of, or None if unknown."""
        # A chain of views is walked once: all of it gets the root, as in path compression.
        path = [buffer]
        while path[-1] not in self._roots and isinstance(view := path[-1].owner, View):
            path.append(view.operands[0])
        end = path[-1]
        root = self._roots[end] if end in self._roots else self._origin(end)
        self._roots.update(dict.fromkeys(path, root))
        return root

    def _origin(self, buffer: SSAValue) -> Root | None:
        """Return the root of a buffer that is not the result of a view."""
        match buffer.owner:
            case memref.AllocOp() | memref.AllocaOp():
                return buffer
            case memref.GetGlobalOp() as op:
                return op.name_
            # Buffers of different parameters do not overlap, as with TVM's `noalias`, unless the
            # function has the attribute `tir.alias`.
            case block if isinstance(buffer, BlockArgument) and block is self.func.body.block:
                # Parameters that may overlap are one root.
                return self.func.args[0] if "tir.alias" in self.func.attributes else buffer
            # A buffer from a branch, a loop or a call: it may be part of any root.
            case _:
                return None

    def is_private(self, root: Root) -> bool:
        """Return whether `root` is an allocation that never escapes to an unknown operation."""
        if (known := self._private.get(root)) is None:
            self._private[root] = known = (
                isinstance(root, SSAValue)
                and isinstance(root.owner, Allocation)
                and all(_has_known_effects(use.operation, use.index) for use in uses_of(root))
            )
        return known

    def of(self, op: Operation) -> Effects:
        """Return the effects of `op` and all operations nested in it."""
        if not op.regions:
            return self._own(op)
        if (known := self._nested.get(op)) is None:
            known = OPAQUE
            if has_nested_effects(op):
                blocks = [block for region in op.regions for block in region.blocks]
                known = union(self.of(inner) for block in blocks for inner in block.ops)
            self._nested[op] = known
        return known

    def _own(self, op: Operation) -> Effects:
        """Return the effects of `op`, which has no regions."""
        cls = type(op)
        # The effect on an unknown buffer is opaque, not "any root": the buffer cannot be private
        # memory.
        if (index := READ.get(cls)) is not None:
            root = self.root(op.operands[index])
            return OPAQUE if root is None else Effects(reads=frozenset([root]))
        if (index := WRITTEN.get(cls)) is not None:
            root = self.root(op.operands[index])
            return OPAQUE if root is None else Effects(writes=frozenset([root]))
        if WITHOUT_EFFECTS[cls]:
            return NOTHING
        if cls is AssumeOp:
            return ASSUMES
        if isinstance(op, memref.CopyOp):
            source, target = self.root(op.source), self.root(op.destination)
            if source is None or target is None:
                return OPAQUE
            return Effects(frozenset([source]), frozenset([target]))
        kinds = op.get_traits_of_type(MemoryEffect)
        if not kinds:
            return OPAQUE
        static = NoMemoryEffect | MemoryReadEffect | MemoryWriteEffect
        roots = [self.root(o) for o in op.operands if isinstance(o.type, MemRefType)]
        known = frozenset(root for root in roots if root is not None)
        # Effects on memory that is no operand, such as a lock or a file, are opaque, too.
        if not all(isinstance(kind, static) for kind in kinds) or not roots or None in roots:
            return OPAQUE
        writes = any(isinstance(kind, MemoryWriteEffect) for kind in kinds)
        # The traits do not say which operand is written, so all are.
        return Effects(known, known if writes else frozenset())


def _is_without_effects(cls: type[Operation]) -> bool:
    """Return whether the operations of a class, without regions, have no effects."""
    if not class_effects[cls] or cls.has_trait(IsTerminator, value_if_unregistered=False):
        return True
    kinds = cls.get_traits_of_type(MemoryEffect)
    none = NoMemoryEffect | MemoryAllocEffect
    return bool(kinds) and all(isinstance(kind, none) for kind in kinds)


WITHOUT_EFFECTS: PerClass[Operation, bool] = PerClass(_is_without_effects)


def has_nested_effects(op: Operation) -> bool:
    """Return whether the effects of `op` are those of the operations nested in it."""
    return op.has_trait(RecursiveMemoryEffect, value_if_unregistered=False)


def _has_known_effects(op: Operation, index: int) -> bool:
    """Return whether the effects of `op` on the memory of operand `index` are known."""
    match op:
        case memref.DimOp() | memref.RankOp() | memref.CopyOp():
            return True
        case _ if isinstance(op, View):
            return index == 0
        case _:
            return index in (READ.get(type(op)), WRITTEN.get(type(op)))


class Epochs:
    """Versions of the memory of a function, along a walk over its operations.

    A value that was loaded at one stamp of a root is still in memory if the stamp is the same now
    (compare LLVM's MemorySSA). A walk enters each branch in a `scope`, at whose end the effects of
    the branch are undone.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._marks: ScopedDict[Root | None, int] = ScopedDict()
        """The epoch of the last effect on each root; None stands for all that are not private."""
        self._last = 0

    def stamp(self, root: Root) -> Stamp:
        """Return the version of the memory of `root`; it differs after each effect on it."""
        # A call cannot reach memory whose address never left the function. One opaque effect costs
        # one entry, however many roots there are.
        shared = 0 if self.memory.is_private(root) else self._marks.get(None, 0)
        return self._marks.get(root, 0), shared

    def change(self, roots: Iterable[Root], is_opaque: bool) -> None:
        """Record an effect on `roots`, and if `is_opaque` on all roots that are not private."""
        self._last += 1
        for root in roots:
            self._marks.put(root, self._last)
        if is_opaque:
            self._marks.put(None, self._last)

    def mark(self) -> int:
        """Return a mark of the current state, for `rollback`."""
        return self._marks.mark()

    def rollback(self, mark: int) -> None:
        """Undo the effects recorded since `mark`."""
        self._marks.rollback(mark)

    @contextmanager
    def scope(self) -> Generator[None]:
        """Undo the effects recorded within the `with` statement at its end."""
        mark = self.mark()
        try:
            yield
        finally:
            self.rollback(mark)


# Redundant stores, and loops that never run.


class RedundantEffects:
    """Redundant stores of a function, and loops that never run; found in one walk over it."""

    def __init__(self, memory: Memory) -> None:
        self.loops: set[Operation] = set()
        """Loops without iterations, by their bounds and the conditions around them."""
        self.stores: set[Operation] = set()
        """Stores of a value that was loaded from the same place, and copies of a buffer to itself.

        Nothing wrote the memory between the load and the store.
        """
        self._memory = memory
        self._epochs = Epochs(memory)
        self._analyzer = Analyzer()
        self._loaded: dict[SSAValue, Stamp] = {}
        """Loaded values, with the stamp of their memory at the load."""
        self._visit_block(memory.func.body.block)

    def _visit_block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, ForOp):
                # Within `if n < 1`, which was assumed before, a loop of extent n never runs.
                high = self._analyzer.bounds(op.extent).high
                if high is not None and high <= 0:
                    self.loops.add(op)
                    continue
            effects = self._memory.of(op)
            if op.regions:
                if has_nested_effects(op):
                    self._visit_regions(op, effects)
            elif isinstance(op, memref.LoadOp | vector.LoadOp):
                # The key is the value, not the place: `store (load b[i]), b[i]` is found, but a
                # second store of an equal value that was computed anew is not.
                for root in effects.reads:
                    self._loaded[op.results[0]] = self._epochs.stamp(root)
            elif self._is_redundant(op, effects):
                self.stores.add(op)
                continue
            self._epochs.change(effects.writes, effects.is_opaque)

    def _visit_regions(self, op: Operation, effects: Effects) -> None:
        for block, scope in scoped_blocks(op):
            with self._epochs.scope(), scope(self._analyzer):
                # An iteration runs after others, which may have written.
                if not isinstance(op, IfOp):
                    self._epochs.change(effects.writes, effects.is_opaque)
                self._visit_block(block)

    def _is_redundant(self, op: Operation, effects: Effects) -> bool:
        """Return whether an operation stores the value that is in memory already."""
        if isinstance(op, memref.CopyOp):
            return op.source is op.destination
        if not isinstance(op, memref.StoreOp | vector.StoreOp):
            return False
        value, buffer, *indices = op.operands
        load = value.owner
        if not isinstance(load, memref.LoadOp | vector.LoadOp):
            return False
        source, *places = load.operands
        if effects.is_opaque or source is not buffer or places != indices:
            return False
        (root,) = effects.writes
        # Loads before a loop that writes the root do not count (`_visit_regions`).
        return self._loaded.get(value) == self._epochs.stamp(root)
