"""The interface of operations that can be verified when the program runs."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import ConstantLike, OpTrait

from .external_models import Implementations

__all__ = ["RUNTIME_VERIFIABLE", "RuntimeCheck", "RuntimeVerifiableOpInterface"]


class RuntimeCheck(NamedTuple):
    """A check of an operation: `ops` compute `condition`, which must be true."""

    ops: Sequence[Operation]
    condition: SSAValue
    message: str


class RuntimeVerifiableOpInterface(OpTrait, abc.ABC):
    """Interface of operations that are undefined for some operands. Source: MLIR's interface of
    this name."""

    @classmethod
    @abc.abstractmethod
    def get_checks(cls, op: Operation) -> Iterator[RuntimeCheck]:
        """Yield what must be true before `op` runs, but for what is known to be true."""
        raise NotImplementedError


class _Builder:
    """Builds the operations of one check."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]

    def index(self, value: int) -> SSAValue:
        from xdsl.dialects.arith import ConstantOp

        return self.add(ConstantOp(IntegerAttr(value, IndexType())))

    def compare(self, a: SSAValue, predicate: str, b: SSAValue) -> SSAValue:
        from xdsl.dialects.arith import CmpiOp

        return self.add(CmpiOp(a, b, predicate))

    def both(self, a: SSAValue, b: SSAValue) -> SSAValue:
        from xdsl.dialects.arith import AndIOp

        return self.add(AndIOp(a, b))

    def size(self, shaped: SSAValue, dimension: int) -> SSAValue:
        """Return the size of a dimension of a buffer or tensor."""
        shape = _shape(shaped)
        assert shape is not None
        if (size := shape[dimension]) >= 0:
            return self.index(size)
        if isinstance(shaped.type, TensorType):
            from xdsl.dialects.tensor import DimOp

            return self.add(DimOp(shaped, self.index(dimension)))
        from ..releases.memref import dim_op

        return self.add(dim_op(shaped, self.index(dimension)))

    def within(self, index: SSAValue, size: SSAValue) -> SSAValue:
        """Return whether 0 <= index < size."""
        lower = self.compare(index, "sge", self.index(0))
        return self.both(lower, self.compare(index, "slt", size))


def _shape(value: SSAValue) -> Sequence[int] | None:
    """Return the sizes of a buffer or tensor, negative if unknown; None if it has no known rank."""
    is_shaped = isinstance(value.type, MemRefType | TensorType)
    return cast("MemRefType", value.type).get_shape() if is_shaped else None


def _constant(value: SSAValue) -> int | None:
    found = ConstantLike.get_constant_value(value)
    return found.value.data if isinstance(found, IntegerAttr) else None


class _IndexedAccess(RuntimeVerifiableOpInterface):
    """An access at indices, which follow the operand `shaped`."""

    shaped = 0

    @classmethod
    def get_checks(cls, op: Operation) -> Iterator[RuntimeCheck]:
        operands = [*op.operands]
        shaped, indices = operands[cls.shaped], operands[cls.shaped + 1 :]
        shape = _shape(shaped)
        assert shape is not None
        build = _Builder()
        condition: SSAValue | None = None
        for dimension, (index, size) in enumerate(zip(indices, shape)):
            if (known := _constant(index)) is not None and 0 <= known < size:
                continue
            inside = build.within(index, build.size(shaped, dimension))
            condition = inside if condition is None else build.both(condition, inside)
        if condition is not None:
            yield RuntimeCheck(build.ops, condition, "out-of-bounds access")


class _AccessOfSecond(_IndexedAccess):
    shaped = 1


class _Dimension(RuntimeVerifiableOpInterface):
    """The size of a dimension: `memref.dim`, `tensor.dim`."""

    @classmethod
    def get_checks(cls, op: Operation) -> Iterator[RuntimeCheck]:
        source, index = op.operands
        if (shape := _shape(source)) is None:
            return
        known, rank = _constant(index), len(shape)
        if known is None or not 0 <= known < rank:
            build = _Builder()
            condition = build.within(index, build.index(rank))
            yield RuntimeCheck(build.ops, condition, "index is out of bounds")


class _Cast(RuntimeVerifiableOpInterface):
    """A cast to a type with more known sizes: `memref.cast`, `tensor.cast`."""

    @classmethod
    def get_checks(cls, op: Operation) -> Iterator[RuntimeCheck]:
        source = op.operands[0]
        shapes = _shape(source) or (), _shape(op.results[0]) or ()
        for dimension, (size, wanted) in enumerate(zip(*shapes)):
            if size < 0 <= wanted:
                build = _Builder()
                same = build.compare(build.size(source, dimension), "eq", build.index(wanted))
                yield RuntimeCheck(build.ops, same, f"size mismatch of dim {dimension}")


class _Copy(RuntimeVerifiableOpInterface):
    """A copy between buffers of one shape: `memref.copy`."""

    @classmethod
    def get_checks(cls, op: Operation) -> Iterator[RuntimeCheck]:
        source, target = op.operands
        shapes = _shape(source) or (), _shape(target) or ()
        for dimension, sizes in enumerate(zip(*shapes)):
            if min(sizes) < 0:
                build = _Builder()
                sides = build.size(source, dimension), build.size(target, dimension)
                same = build.compare(sides[0], "eq", sides[1])
                message = f"size of {dimension}-th source/target dim does not match"
                yield RuntimeCheck(build.ops, same, message)


RUNTIME_VERIFIABLE: Final = Implementations(
    RuntimeVerifiableOpInterface,
    dict.fromkeys(("memref.load", "tensor.extract"), _IndexedAccess())
    | dict.fromkeys(("memref.store", "memref.atomic_rmw", "tensor.insert"), _AccessOfSecond())
    | dict.fromkeys(("memref.dim", "tensor.dim"), _Dimension())
    | dict.fromkeys(("memref.cast", "tensor.cast"), _Cast())
    | {"memref.copy": _Copy()},
)
