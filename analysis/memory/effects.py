"""Which memory the operations of a function read and write."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import MemRefType, SymbolRefAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import (
    IsTerminator,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
)

from ...dialects.tir.ops import PrimFuncOp
from ..scoped_dict import ScopedDict
from .buffers import Allocation, View, uses_of

__all__ = ["PURE", "Access", "Epochs", "Memory", "Root", "Stamp", "has_nested_effects"]

Root: TypeAlias = SSAValue | SymbolRefAttr
"""Memory that does not overlap any other: an allocation, a parameter, a global."""
Stamp: TypeAlias = tuple[int, int]

READ: dict[type[Operation], int] = {
    memref.LoadOp: 0,
    vector.LoadOp: 0,
    vector.MaskedLoadOp: 0,
}
"""Which operand an operation reads, and nothing else."""
WRITTEN: dict[type[Operation], int] = {
    memref.StoreOp: 1,
    vector.StoreOp: 1,
    vector.MaskedStoreOp: 0,
}
"""Which operand an operation writes, and nothing else."""
PURE = vector.BitcastOp | vector.CreateMaskOp | vector.ReductionOp
"""What has no effects, though xDSL does not say so."""


class Access(NamedTuple):
    """What an operation, or several, may do to memory."""

    reads: frozenset[Root] = frozenset()
    writes: frozenset[Root] = frozenset()
    is_opaque: bool = False
    """Whether it may do anything to all memory that is not private."""

    @property
    def has_effects(self) -> bool:
        """Whether another operation could see that it ran."""
        return self.is_opaque or bool(self.writes)


NOTHING, OPAQUE = Access(), Access(is_opaque=True)


def merged(accesses: Iterable[Access]) -> Access:
    """What several operations do together."""
    found = [access for access in accesses if access is not NOTHING]
    if len(found) <= 1:
        return found[0] if found else NOTHING
    return Access(
        frozenset().union(*(access.reads for access in found)),
        frozenset().union(*(access.writes for access in found)),
        any(access.is_opaque for access in found),
    )


class Memory:
    """The memory of a function; what it says is kept, and is of the function as it was."""

    def __init__(self, func: PrimFuncOp) -> None:
        self.func = func
        self._roots: dict[SSAValue, Root | None] = {}
        self._private: dict[Root, bool] = {}
        self._nested: dict[Operation, Access] = {}

    def root(self, buffer: SSAValue) -> Root | None:
        """What a buffer is a part of; None if that is not known."""
        path = [buffer]
        while path[-1] not in self._roots and isinstance(view := path[-1].owner, View):
            path.append(view.operands[0])
        end = path[-1]
        root = self._roots[end] if end in self._roots else self._origin(end)
        self._roots.update(dict.fromkeys(path, root))
        return root

    def _origin(self, buffer: SSAValue) -> Root | None:
        """The memory of a buffer that is no view."""
        match buffer.owner:
            case memref.AllocOp() | memref.AllocaOp():
                return buffer
            case memref.GetGlobalOp() as op:
                return op.name_
            case block if isinstance(buffer, BlockArgument) and block is self.func.body.block:
                return self.func.args[0] if "tir.alias" in self.func.attributes else buffer
            case _:
                return None

    def is_private(self, root: Root) -> bool:
        """Whether it is an allocation that only known operations see."""
        if (known := self._private.get(root)) is None:
            self._private[root] = known = (
                isinstance(root, SSAValue)
                and isinstance(root.owner, Allocation)
                and all(_is_known(use.operation, use.index) for use in uses_of(root))
            )
        return known

    def of(self, op: Operation) -> Access:
        """What an operation does, with all that is in it."""
        if not op.regions:
            return self._own(op)
        if (known := self._nested.get(op)) is None:
            known = OPAQUE
            if has_nested_effects(op):
                blocks = [block for region in op.regions for block in region.blocks]
                known = merged(self.of(inner) for block in blocks for inner in block.ops)
            self._nested[op] = known
        return known

    def _own(self, op: Operation) -> Access:
        cls = type(op)
        if (index := READ.get(cls)) is not None:
            root = self.root(op.operands[index])
            return OPAQUE if root is None else Access(reads=frozenset([root]))
        if (index := WRITTEN.get(cls)) is not None:
            root = self.root(op.operands[index])
            return OPAQUE if root is None else Access(writes=frozenset([root]))
        if isinstance(op, memref.CopyOp):
            source, target = self.root(op.source), self.root(op.destination)
            if source is None or target is None:
                return OPAQUE
            return Access(frozenset([source]), frozenset([target]))
        if isinstance(op, PURE) or op.has_trait(IsTerminator, value_if_unregistered=False):
            return NOTHING
        kinds = op.get_traits_of_type(MemoryEffect)
        if not kinds:
            return OPAQUE
        if all(isinstance(kind, NoMemoryEffect | MemoryAllocEffect) for kind in kinds):
            return NOTHING
        static = NoMemoryEffect | MemoryReadEffect | MemoryWriteEffect
        roots = [self.root(o) for o in op.operands if isinstance(o.type, MemRefType)]
        known = frozenset(root for root in roots if root is not None)
        if not all(isinstance(kind, static) for kind in kinds) or not roots or None in roots:
            return OPAQUE
        writes = any(isinstance(kind, MemoryWriteEffect) for kind in kinds)
        return Access(known, known if writes else frozenset())


def has_nested_effects(op: Operation) -> bool:
    """Whether the effects of an operation are those of the operations in it."""
    return op.has_trait(RecursiveMemoryEffect, value_if_unregistered=False)


def _is_known(op: Operation, index: int) -> bool:
    """Whether it is known what an operation does to the memory of an operand."""
    match op:
        case memref.DimOp() | memref.RankOp() | memref.CopyOp():
            return True
        case _ if isinstance(op, View):
            return index == 0
        case _:
            return index in (READ.get(type(op)), WRITTEN.get(type(op)))


class Epochs:
    """Marks of the memory of a function, which change when something happens to it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._marks: ScopedDict[Root | None, int] = ScopedDict()
        """For each memory, and for all that is not private under None."""
        self._last = 0

    def stamp(self, root: Root) -> Stamp:
        """What is another one after something happened to the memory."""
        shared = 0 if self.memory.is_private(root) else self._marks.get(None, 0)
        return self._marks.get(root, 0), shared

    def change(self, roots: Iterable[Root], is_opaque: bool) -> None:
        """Something happens to these, and if `is_opaque` to all that is not private."""
        self._last += 1
        for root in roots:
            self._marks.put(root, self._last)
        if is_opaque:
            self._marks.put(None, self._last)

    @contextmanager
    def scope(self) -> Generator[None]:
        """What happens within is taken back at the end."""
        mark = self._marks.mark()
        try:
            yield
        finally:
            self._marks.rollback(mark)
