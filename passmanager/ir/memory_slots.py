"""Memory slots: the interfaces of allocations, loads and stores that become values."""

from __future__ import annotations

import abc
import builtins
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, NamedTuple, cast

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, MemRefType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike, OpTrait

from ..releases.poison import poison
from .external_models import Implementations

__all__ = [
    "DESTRUCTURABLE_ACCESSES",
    "DESTRUCTURABLE_ALLOCATIONS",
    "PROMOTABLE_ACCESSES",
    "PROMOTABLE_ALLOCATIONS",
    "DestructurableAccessorOpInterface",
    "DestructurableAllocationOpInterface",
    "MemorySlot",
    "PromotableAllocationOpInterface",
    "PromotableMemOpInterface",
]


class MemorySlot(NamedTuple):
    """Memory that holds one value of a type (MLIR: `MemorySlot`)."""

    pointer: SSAValue
    type: Attribute


class PromotableAllocationOpInterface(OpTrait, abc.ABC):
    """Interface of operations that allocate slots; an operation without slots in use is erased.

    Source: MLIR's interface of this name.
    """

    @classmethod
    @abc.abstractmethod
    def get_promotable_slots(cls, op: Operation) -> Sequence[MemorySlot]:
        """Return the slots that `op` allocates."""
        raise NotImplementedError

    @classmethod
    def get_default_value(cls, op: Operation, slot: MemorySlot) -> Operation:
        """Return a new operation whose result is what a slot holds before the first store."""
        return poison(slot.type)


class PromotableMemOpInterface(OpTrait, abc.ABC):
    """Interface of operations that load from slots or store to them; once their slot is a value,
    they are erased. Source: MLIR's interface of this name.
    """

    @classmethod
    @abc.abstractmethod
    def loads_from(cls, op: Operation, slot: MemorySlot) -> bool:
        """Return whether the results of `op` are the value of the slot."""
        raise NotImplementedError

    @classmethod
    @abc.abstractmethod
    def get_stored(cls, op: Operation, slot: MemorySlot) -> SSAValue | None:
        """Return the value that `op` stores to the slot, or None."""
        raise NotImplementedError

    @classmethod
    @abc.abstractmethod
    def can_uses_be_removed(cls, op: Operation, slot: MemorySlot) -> bool:
        """Return whether `op` uses the pointer of the slot only to load or store all of it."""
        raise NotImplementedError

    @classmethod
    def convert(
        cls, value: SSAValue, type: Attribute, insert: Callable[[Operation], None]
    ) -> SSAValue:
        """Return the value of another type that has the bits of `value`, which was stored or is
        loaded; `insert` takes the operations that make it."""
        raise NotImplementedError


class DestructurableAllocationOpInterface(OpTrait, abc.ABC):
    """Interface of operations that allocate an aggregate. Source: MLIR's interface of this name."""

    @classmethod
    @abc.abstractmethod
    def get_elements(cls, op: Operation) -> Mapping[Hashable, Attribute]:
        """Return the types of the elements by index; empty if the aggregate is left as it is."""
        raise NotImplementedError

    @classmethod
    @abc.abstractmethod
    def allocate(cls, op: Operation, element: Attribute) -> Operation:
        """Return a new operation that allocates one element."""
        raise NotImplementedError


class DestructurableAccessorOpInterface(OpTrait, abc.ABC):
    """Interface of operations that access an element. Source: MLIR's interface of this name."""

    @classmethod
    @abc.abstractmethod
    def get_index(cls, op: Operation, pointer: SSAValue) -> Hashable | None:
        """Return the index of the element, if it is known and `op` has no other use of `pointer`;
        else None."""
        raise NotImplementedError

    @classmethod
    @abc.abstractmethod
    def rewire(cls, op: Operation, pointer: SSAValue) -> None:
        """Let `op` access the allocation of the element at `pointer`."""
        raise NotImplementedError


# Implementations for memref and llvm.


class _Alloca(PromotableAllocationOpInterface, DestructurableAllocationOpInterface):
    """`memref.alloca` of one element, or of a few."""

    LARGEST: Final = 16

    @classmethod
    def get_promotable_slots(cls, op: Operation) -> Sequence[MemorySlot]:
        type = _buffer(op.results[0])
        return [MemorySlot(op.results[0], type.element_type)] if _count(type) == 1 else []

    @classmethod
    def get_elements(cls, op: Operation) -> Mapping[Hashable, Attribute]:
        type = _buffer(op.results[0])
        if not 1 < _count(type) <= cls.LARGEST:
            return {}
        indices: list[tuple[int, ...]] = [()]
        for size in type.get_shape():
            indices = [(*index, i) for index in indices for i in range(size)]
        return dict.fromkeys(indices, type.element_type)

    @classmethod
    def allocate(cls, op: Operation, element: Attribute) -> Operation:
        result = MemRefType(element, ())
        properties = {k: v for k, v in op.properties.items() if k == "operandSegmentSizes"}
        return type(op).create(result_types=[result], properties=properties, location=op.location)


def _buffer(value: SSAValue) -> MemRefType:
    return cast("MemRefType", value.type)


def _count(type: MemRefType) -> int:
    """Return the number of elements, 0 if it is not known."""
    count = 1
    for size in type.get_shape():
        count *= max(size, 0)
    return count


class _Access(PromotableMemOpInterface, DestructurableAccessorOpInterface):
    """A load or store at indices."""

    pointer: int
    """The index of the operand that is the pointer; the indices follow it."""

    @classmethod
    def can_uses_be_removed(cls, op: Operation, slot: MemorySlot) -> bool:
        value = op.results[0] if cls.loads_from(op, slot) else cls.get_stored(op, slot)
        return value is not None and value is not slot.pointer and value.type == slot.type

    @classmethod
    def get_index(cls, op: Operation, pointer: SSAValue) -> Hashable | None:
        operands = [*op.operands]
        type = _buffer(pointer)
        if [i for i, value in enumerate(operands) if value is pointer] != [cls.pointer]:
            return None
        index: list[int] = []
        for value, size in zip(operands[cls.pointer + 1 :], type.get_shape(), strict=True):
            constant = ConstantLike.get_constant_value(value)
            if not isinstance(constant, IntegerAttr) or not 0 <= constant.value.data < size:
                return None
            index.append(constant.value.data)
        return tuple(index)

    @classmethod
    def rewire(cls, op: Operation, pointer: SSAValue) -> None:
        op.operands = [*op.operands[: cls.pointer], pointer]


class _Load(_Access):
    """`memref.load` or `llvm.load`."""

    pointer = 0

    @classmethod
    def loads_from(cls, op: Operation, slot: MemorySlot) -> bool:
        return op.operands[0] is slot.pointer

    @classmethod
    def get_stored(cls, op: Operation, slot: MemorySlot) -> SSAValue | None:
        return None


class _Store(_Access):
    """`memref.store` or `llvm.store`."""

    pointer = 1

    @classmethod
    def loads_from(cls, op: Operation, slot: MemorySlot) -> bool:
        return False

    @classmethod
    def get_stored(cls, op: Operation, slot: MemorySlot) -> SSAValue | None:
        return op.operands[0] if op.operands[1] is slot.pointer else None


class _LLVMAlloca(PromotableAllocationOpInterface):
    """`llvm.alloca` of one value."""

    @classmethod
    def get_promotable_slots(cls, op: Operation) -> Sequence[MemorySlot]:
        size = op.operands[0].owner
        count = size.get_attr_or_prop("value") if isinstance(size, Operation) else None
        if not isinstance(count, IntegerAttr) or count.value.data != 1:
            return []
        return [MemorySlot(op.results[0], op.properties["elem_type"])]

    @classmethod
    def get_default_value(cls, op: Operation, slot: MemorySlot) -> Operation:
        from xdsl.dialects.llvm import UndefOp

        return UndefOp.create(result_types=[slot.type])


class _LLVMAccess(_Access):
    """`llvm.load` or `llvm.store`, of the type of the slot, or of another one of the same size; a
    load may also be of the first bits. Source: LLVMMemorySlot.cpp of MLIR."""

    @classmethod
    def can_uses_be_removed(cls, op: Operation, slot: MemorySlot) -> bool:
        if op.get_attr_or_prop("volatile_") is not None:
            return False
        is_load = cls.loads_from(op, slot)
        value = op.results[0] if is_load else cls.get_stored(op, slot)
        if value is None or value is slot.pointer:
            return False
        if value.type == slot.type:
            return True
        held, accessed = _bits(slot.type), _bits(value.type)
        if held is None or accessed is None or (_is_pointer(slot.type) and _is_pointer(value.type)):
            return False
        # The order of bytes is that of the target, which a data layout may say.
        return held == accessed or (is_load and accessed < held and not _has_data_layout(op))

    @classmethod
    def convert(
        cls, value: SSAValue, type: Attribute, insert: Callable[[Operation], None]
    ) -> SSAValue:
        from xdsl.dialects.llvm import BitcastOp, IntToPtrOp, PtrToIntOp, TruncOp

        def made(kind: builtins.type[Operation], value: SSAValue, type: Attribute) -> SSAValue:
            while isinstance(inner := value.owner, BitcastOp) and kind is BitcastOp:
                value = inner.arg
            if value.type == type:
                return value
            op = kind.create(operands=[value], result_types=[type])
            insert(op)
            return op.results[0]

        held, wanted = _bits(value.type), _bits(type)
        assert held is not None and wanted is not None
        to_integer = PtrToIntOp if _is_pointer(value.type) else BitcastOp
        value = made(to_integer, value, IntegerType(held))
        if wanted < held:
            insert(truncation := TruncOp(value, IntegerType(wanted)))
            value = truncation.res
        return made(IntToPtrOp if _is_pointer(type) else BitcastOp, value, type)


def _is_pointer(type: Attribute) -> bool:
    """Return whether a type is that of LLVM's pointers."""
    return type.name == "llvm.ptr"


def _bits(type: Attribute) -> int | None:
    """Return the bits of a number, a pointer or a vector of numbers that are whole bytes; None for
    a type that is not converted."""
    if _is_pointer(type):
        return 64
    count = 1
    if isinstance(type, VectorType):
        vector = cast("VectorType[Attribute]", type)
        if any(bool(flag.value.data) for flag in vector.scalable_dims):
            return None
        type, count = vector.element_type, math.prod(vector.get_shape())
    if not isinstance(type, IntegerType | AnyFloat) or (bits := type.bitwidth * count) % 8:
        return None
    return bits


def _has_data_layout(op: Operation) -> bool:
    """Return whether an operation around `op` has a data layout."""
    around = op.parent_op()
    while around is not None:
        if "dlti.dl_spec" in around.attributes or "llvm.data_layout" in around.attributes:
            return True
        around = around.parent_op()
    return False


class _LLVMLoad(_LLVMAccess, _Load):
    pass


class _LLVMStore(_LLVMAccess, _Store):
    pass


PROMOTABLE_ALLOCATIONS: Final = Implementations(
    PromotableAllocationOpInterface, {"memref.alloca": _Alloca(), "llvm.alloca": _LLVMAlloca()}
)
PROMOTABLE_ACCESSES: Final = Implementations(
    PromotableMemOpInterface,
    {"memref.load": _Load(), "memref.store": _Store()}
    | {"llvm.load": _LLVMLoad(), "llvm.store": _LLVMStore()},
)
DESTRUCTURABLE_ALLOCATIONS: Final = Implementations(
    DestructurableAllocationOpInterface, {"memref.alloca": _Alloca()}
)
DESTRUCTURABLE_ACCESSES: Final = Implementations(
    DestructurableAccessorOpInterface, {"memref.load": _Load(), "memref.store": _Store()}
)
