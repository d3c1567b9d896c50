"""LowerVector: operations on vectors, and their accesses of buffers, become those of LLVM."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import cast

from xdsl.dialects import llvm, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from ...compiler.releases import InsertElementOp, ShuffleVectorOp
from ...dialects.arith_types import is_vector
from ...dialects.llvm_extension import ExtractElementOp, PoisonOp
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from .conversion import Lowering, Patterns, convert, integers32
from .lower_arith import fast_math_of, suffix
from .lower_memref import NOT_ATOMIC, bytes_of, is_nontemporal
from .types import LLVMBuffer, Number, lowered_type

UNSIGNED_LESS = IntegerAttr(6, i64)

REDUCTIONS: dict[str, str] = {
    "add": "add",
    "mul": "mul",
    "minui": "umin",
    "minsi": "smin",
    "maxui": "umax",
    "maxsi": "smax",
    "minnumf": "fmin",
    "maxnumf": "fmax",
    "minimumf": "fminimum",
    "maximumf": "fmaximum",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
"""The intrinsics of reductions by their kinds."""
BINARY: dict[str, str] = {
    "minui": "umin",
    "minsi": "smin",
    "maxui": "umax",
    "maxsi": "smax",
    "minnumf": "minnum",
    "maxnumf": "maxnum",
    "minimumf": "minimum",
    "maximumf": "maximum",
}
"""The intrinsics that combine a reduction with a value before it."""
ARITHMETIC = {
    "add": llvm.AddOp,
    "mul": llvm.MulOp,
    "and": llvm.AndOp,
    "or": llvm.OrOp,
    "xor": llvm.XOrOp,
}


def type_of(value: SSAValue) -> VectorType[Attribute]:
    return cast("VectorType[Attribute]", value.type)


def lowered_vector(type: Attribute) -> VectorType[Attribute]:
    """Return the type of the vector of one dimension that stands for one of `type`."""
    return cast("VectorType[Attribute]", lowered_type(type))


# Accesses


def load(op: vector.LoadOp, build: Lowering) -> SSAValue:
    require_one_dimension(result := op.results[0], build)
    base, *indices = op.operands
    buffer, type = build.buffer(base), lowered_type(result.type)
    place = build.element(buffer, indices)
    return build.add(
        llvm.LoadOp, (place,), type, ordering=NOT_ATOMIC, alignment=alignment_of(buffer)
    )


def store(op: vector.StoreOp, build: Lowering) -> None:
    stored, base, *indices = op.operands
    require_one_dimension(stored, build)
    value, buffer = build.value(stored), build.buffer(base)
    place = build.element(buffer, indices)
    properties: dict[str, Attribute] = {"ordering": NOT_ATOMIC, "alignment": alignment_of(buffer)}
    if is_nontemporal(op):
        properties["nontemporal"] = UnitAttr()
    build.add(llvm.StoreOp, (value, place), **properties)


def require_one_dimension(value: SSAValue, build: Lowering) -> None:
    """The elements of a vector of several dimensions are not together in memory."""
    if type_of(value).get_num_dims() != 1:
        raise build.error(f"accesses a {value.type}: expected a vector of one dimension")


def alignment_of(buffer: LLVMBuffer) -> IntegerAttr:
    """A vector in memory is aligned as its elements are."""
    return element_alignment(buffer.element)


@cache
def element_alignment(element: Attribute) -> IntegerAttr:
    # Not the alignment of the vector, which LLVM would assume: rows of a buffer need not begin
    # there.
    return IntegerAttr(bytes_of(element.element_type if is_vector(element) else element), i64)


def masked_load(op: vector.MaskedLoadOp, build: Lowering) -> SSAValue:
    buffer, mask, rest = build.buffer(op.base), build.value(op.mask), build.value(op.pass_thru)
    return load_masked(buffer, build.element(buffer, op.indices), mask, rest, build)


def masked_store(op: vector.MaskedStoreOp, build: Lowering) -> None:
    value, buffer, mask = (
        build.value(op.value_to_store),
        build.buffer(op.base),
        build.value(op.mask),
    )
    store_masked(buffer, build.element(buffer, op.indices), mask, value, build)


def load_masked(
    buffer: LLVMBuffer, place: SSAValue, mask: SSAValue, rest: SSAValue, build: Lowering
) -> SSAValue:
    """Load the lanes of a mask; others are those of `rest`."""
    alignment = build.integer(alignment_of(buffer).value.data, i32)
    name = f"llvm.masked.load.{suffix(rest.type)}.p0"
    return build.intrinsic(name, (place, alignment, mask, rest), rest.type)


def store_masked(
    buffer: LLVMBuffer, place: SSAValue, mask: SSAValue, value: SSAValue, build: Lowering
) -> None:
    """Store the lanes of a mask."""
    alignment = build.integer(alignment_of(buffer).value.data, i32)
    name = f"llvm.masked.store.{suffix(value.type)}.p0"
    build.intrinsic(name, (value, place, alignment, mask))


# Accesses of several dimensions: row by row


def transfer_read(op: vector.TransferReadOp, build: Lowering) -> SSAValue:
    """Read row by row; elements out of bounds are the padding."""
    type = lowered_vector(op.result.type)
    buffer, padding = build.buffer(op.source), build.value(op.padding)
    found = splat(padding, type, build)
    width = check_transfer(op, type_of(op.result), buffer, build)
    row_type = VectorType(type.element_type, [width])
    rest = splat(padding, row_type, build)
    for row, place, mask in rows_of(op, op.result, buffer, width, build):
        value = load_masked(buffer, place, mask, rest, build)
        found = insert_lanes(value, found, row * width, build)
    return found


def transfer_write(op: vector.TransferWriteOp, build: Lowering) -> None:
    """Write row by row the elements that are in bounds."""
    value, buffer = build.value(op.vector), build.buffer(op.source)
    width = check_transfer(op, type_of(op.vector), buffer, build)
    for row, place, mask in rows_of(op, op.vector, buffer, width, build):
        lanes = extract_lanes(value, row * width, width, build)
        store_masked(buffer, place, mask, lanes, build)


def check_transfer(
    op: vector.TransferReadOp | vector.TransferWriteOp,
    type: VectorType[Attribute],
    buffer: LLVMBuffer,
    build: Lowering,
) -> int:
    """Return the length of a row of a vector that is that of the last dimensions of a buffer."""
    map_ = op.permutation_map.data
    rank, count = len(buffer.sizes), type.get_num_dims()
    dims = [*range(rank)][rank - count :]
    if len(op.operands) != rank + 2:
        raise build.error("has a mask: expected none")
    if (
        not count
        or count > rank
        or [str(result) for result in map_.results] != [f"d{dim}" for dim in dims]
    ):
        raise build.error(f"has the map {map_}: expected one to the last dimensions in order")
    if buffer.strides[-1] != 1:
        raise build.error("accesses a buffer whose last stride is not 1")
    return type.get_shape()[-1]


def rows_of(
    op: vector.TransferReadOp | vector.TransferWriteOp,
    whole: SSAValue,
    buffer: LLVMBuffer,
    width: int,
    build: Lowering,
) -> Iterable[tuple[int, SSAValue, SSAValue]]:
    """Yield the number of each row of a vector, the pointer to its first element, and the mask of
    what is in bounds."""
    shape = type_of(whole).get_shape()
    start = [build.index(index) for index in op.indices]
    first = len(start) - len(shape)
    for row in range(prod(shape[:-1])):
        # Row 5 of a `vector<2x3x8>` is row 2 of plane 1: steps 1, 2, 0.
        steps, rest = [0], row
        for size in reversed(shape[:-1]):
            steps.append(rest % size)
            rest //= size
        steps.reverse()
        indices = [
            *start[:first],
            *(i + step for i, step in zip(start[first:], steps, strict=True)),
        ]
        place: Number = 0
        for index, stride in zip(indices, buffer.strides, strict=True):
            place = place + index * stride
        # Lanes up to the end of the row of the buffer.
        mask = first_lanes(build.number(buffer.sizes[-1] - indices[-1]), width, build)
        for index, size in zip(indices[first:-1], buffer.sizes[first:-1], strict=True):
            operands = (build.number(index), build.number(size))
            # Unsigned, so that a negative index is out of bounds as well.
            holds = build.add(llvm.ICmpOp, operands, i1, predicate=UNSIGNED_LESS)
            mask = build.add(llvm.AndOp, (mask, splat(holds, mask.type, build)), mask.type)
        yield row, build.offset(buffer.pointer, place, buffer.element), mask


def first_lanes(count: SSAValue, width: int, build: Lowering) -> SSAValue:
    """Return the mask of the first `count` of `width` lanes; none if it is negative."""
    lanes = VectorType(i64, [width])
    numbers = build.constant(DenseIntOrFPElementsAttr.from_list(lanes, [*range(width)]), lanes)
    found = build.add(
        llvm.ICmpOp,
        (numbers, splat(count, lanes, build)),
        VectorType(i1, [width]),
        predicate=SIGNED_LESS,
    )
    return found


SIGNED_LESS = IntegerAttr(2, i64)


def create_mask(op: vector.CreateMaskOp, build: Lowering) -> SSAValue:
    """Each dimension has its number of lanes."""
    shape = type_of(op.mask_vector).get_shape()
    found: SSAValue | None = None
    for axis, (count, size) in enumerate(zip(op.mask_dim_sizes, shape, strict=True)):
        mask = first_lanes(build.value(count), size, build)
        inner = prod(shape[axis + 1 :])
        # The number along `axis` of each element, in row-major order.
        lanes = [lane // inner % size for lane in range(prod(shape))]
        if lanes != [*range(size)]:
            mask = shuffle_lanes(mask, mask, lanes, build)
        found = mask if found is None else build.add(llvm.AndOp, (found, mask), mask.type)
    assert found is not None
    return found


# Lanes


def splat(value: SSAValue, type: Attribute, build: Lowering) -> SSAValue:
    """Return the vector whose lanes are all `value`."""
    # LLVM's idiom for a broadcast, which its code generators know: insert into lane 0, shuffle by
    # 0.
    empty = build.add(PoisonOp, (), type)
    first = build.add(InsertElementOp, (empty, value, build.integer(0, i32)), type)
    return shuffle_lanes(first, empty, [0] * cast("VectorType", type).get_shape()[0], build)


def shuffle_lanes(a: SSAValue, b: SSAValue, lanes: Sequence[int], build: Lowering) -> SSAValue:
    """Return the vector of the `lanes` of two vectors, which are numbered one after the other."""
    type = VectorType(type_of(a).element_type, [len(lanes)])
    mask = integers32(*lanes)
    return build.add(ShuffleVectorOp, (a, b), type, mask=mask)


def extract_lanes(value: SSAValue, first: int, count: int, build: Lowering) -> SSAValue:
    """Return `count` lanes from `first` on."""
    if count == type_of(value).get_shape()[0]:
        return value
    return shuffle_lanes(value, value, [*range(first, first + count)], build)


def insert_lanes(part: SSAValue, whole: SSAValue, first: int, build: Lowering) -> SSAValue:
    """Return `whole` with the lanes of `part` from `first` on."""
    (count,), (size,) = type_of(part).get_shape(), type_of(whole).get_shape()
    if count == size:
        return part
    # LLVM's shuffle takes two vectors of one length; -1 is a lane that is not used.
    wide = shuffle_lanes(part, part, [*range(count), *[-1] * (size - count)], build)
    lanes = [size + lane - first if 0 <= lane - first < count else lane for lane in range(size)]
    return shuffle_lanes(whole, wide, lanes, build)


def broadcast(op: vector.BroadcastOp, build: Lowering) -> SSAValue:
    value, type = build.value(op.source), lowered_vector(op.vector.type)
    if not isinstance(value.type, VectorType):
        return splat(value, type, build)
    target, source = type_of(op.vector).get_shape(), type_of(op.source).get_shape()
    source = (1,) * (len(target) - len(source)) + tuple(source)
    # Axis by axis, in row-major order: an axis of size 1 in the source adds no step.
    lanes: list[int] = [0]
    for size, old in zip(target, source, strict=True):
        lanes = [lane * old + (i if old > 1 else 0) for lane in lanes for i in range(size)]
    return shuffle_lanes(value, value, lanes, build)


def shuffle(op: vector.ShuffleOp, build: Lowering) -> SSAValue:
    a, b = build.value(op.v1), build.value(op.v2)
    row = prod(type_of(op.v1).get_shape()[1:])
    lanes = [lane * row + i for lane in op.mask.get_values() for i in range(row)]
    (size,), (other,) = type_of(a).get_shape(), type_of(b).get_shape()
    if size < other:  # LLVM's operands are of one type
        a = shuffle_lanes(a, a, [*range(size), *[-1] * (other - size)], build)
        lanes = [lane if lane < size else lane - size + other for lane in lanes]
    elif other < size:
        b = shuffle_lanes(b, b, [*range(other), *[-1] * (size - other)], build)
    return shuffle_lanes(a, b, lanes, build)


def position(
    op: vector.ExtractOp | vector.InsertOp, type: VectorType[Attribute], build: Lowering
) -> tuple[Number, int]:
    """Return the first lane that an operation is on, and their number."""
    numbers = build.numbers(op.static_position.get_values(), op.dynamic_position)
    shape = type.get_shape()
    place: Number = 0
    for axis, number in enumerate(numbers):
        place = place + number * prod(shape[axis + 1 :])
    return place, prod(shape[len(numbers) :])


def extract(op: vector.ExtractOp, build: Lowering) -> SSAValue:
    value = build.value(op.vector)
    place, count = position(op, type_of(op.vector), build)
    if not isinstance(op.result.type, VectorType):
        type = lowered_type(op.result.type)
        return build.add(ExtractElementOp, (value, build.number(place)), type)
    if not isinstance(place, int):
        raise build.error("extracts a vector at an index that is not known")
    return extract_lanes(value, place, count, build)


def insert(op: vector.InsertOp, build: Lowering) -> SSAValue:
    value, whole = build.value(op.source), build.value(op.dest)
    place, _ = position(op, type_of(op.dest), build)
    if not isinstance(value.type, VectorType):
        return build.add(InsertElementOp, (whole, value, build.number(place)), whole.type)
    if not isinstance(place, int):
        raise build.error("inserts a vector at an index that is not known")
    return insert_lanes(value, whole, place, build)


# Arithmetic


def fma(op: vector.FMAOp, build: Lowering) -> SSAValue:
    operands = [*map(build.value, op.operands)]
    type = operands[0].type
    return build.intrinsic(f"llvm.fma.{suffix(type)}", operands, type)


def bitcast(op: vector.BitcastOp, build: Lowering) -> SSAValue:
    value, type = build.value(op.source), lowered_type(op.result.type)
    return value if value.type == type else build.add(llvm.BitcastOp, (value,), type)


def reduction(op: vector.ReductionOp, build: Lowering) -> SSAValue:
    """Sums and products of floats are in the order of the lanes, but with the flag `reassoc`."""
    value, kind = build.value(op.vector), op.kind.data.value
    type, flags = type_of(value).element_type, fast_math_of(op)
    start = None if op.acc is None else build.value(op.acc)
    name = f"llvm.vector.reduce.{REDUCTIONS[kind]}.{suffix(value.type)}"
    if not isinstance(type, AnyFloat):
        found = build.intrinsic(name, (value,), type)
    elif kind in ("add", "mul"):
        if start is None:
            # The neutral element: `0.0 + -0.0` is 0.0, so a sum of -0.0 would lose its sign from
            # 0.0.
            start = build.float(-0.0 if kind == "add" else 1.0, type)
        name = name.replace(".reduce.", ".reduce.f")
        return build.intrinsic(name, (start, value), type, flags=flags)
    else:
        found = build.intrinsic(name, (value,), type, flags=flags)
    if start is None:
        return found
    if kind in ARITHMETIC:
        operation = ARITHMETIC[kind]
        if issubclass(operation, llvm.ArithmeticBinOpOverflow):
            return build.add(operation, (start, found), type, overflowFlags=IntegerAttr(0, i32))
        return build.add(operation, (start, found), type)
    name = f"llvm.{BINARY[kind]}.{suffix(type)}"
    return build.intrinsic(name, (start, found), type, flags=flags)


VECTOR: Patterns = {
    vector.LoadOp: load,
    vector.StoreOp: store,
    vector.MaskedLoadOp: masked_load,
    vector.MaskedStoreOp: masked_store,
    vector.TransferReadOp: transfer_read,
    vector.TransferWriteOp: transfer_write,
    vector.CreateMaskOp: create_mask,
    vector.BroadcastOp: broadcast,
    vector.ShuffleOp: shuffle,
    vector.ExtractOp: extract,
    vector.InsertOp: insert,
    vector.FMAOp: fma,
    vector.BitcastOp: bitcast,
    vector.ReductionOp: reduction,
}


@dataclass(frozen=True)
class LowerVector(ModulePass):
    """Turn `vector` into operations of LLVM on vectors of one dimension, and intrinsics for masks
    and reductions; source: MLIR's convert-vector-to-llvm.

    Before:

        func.func @f(%x: vector<4xf32>) -> f32 {
          %0 = vector.extract %x[2] : f32 from vector<4xf32>
          func.return %0 : f32
        }

    After:

        func.func @f(%x: vector<4xf32>) -> f32 {
          %0 = llvm.mlir.constant(2) : i64
          %1 = llvm.extractelement %x[%0 : i64] : vector<4xf32> -> f32
          func.return %1 : f32
        }
    """

    name = "lower-vector"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        convert(module, VECTOR)
