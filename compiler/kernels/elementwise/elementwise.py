"""The shared form of element-wise legalizations, and the legalizations of selection, clipping and
conversion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from math import ceil, inf, isnan, log2
from typing import TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.elementwise import elementwise as ops
from ....dialects.relax.types import SmallFloat, is_integer, tensor_type
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, SymbolicExtent
from ..builder import Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from ..choices import NoKernel
from ..scalars import (
    computable,
    convert,
    is_float,
    is_unsigned,
    maximum,
    maximum_of,
    minimum,
    minimum_of,
    signless_form,
    widen,
    with_sign,
)

__all__ = [
    "ELEMENTWISE",
    "Scalar",
    "as_operation",
    "broadcast_shape",
    "elementwise",
    "in_steps",
    "magnitude",
    "of_any_sign",
    "on_all_numbers",
    "on_numbers",
    "require_broadcast",
    "to_explicit",
]


# Broadcasting of sizes. Some of them are known at run time only.


def broadcast_shape(op: Operation, b: KernelBuilder, shapes: Sequence[Shape]) -> Shape:
    """Return the shape to which `shapes` broadcast by numpy's rule. Write assertions that they do,
    unless that is known."""
    columns = zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)
    return tuple(broadcast_size(op, b, column) for column in columns)[::-1]


def broadcast_size(op: Operation, b: KernelBuilder, sizes: Sequence[Extent]) -> Extent:
    """Return the size to which dimensions of `sizes` broadcast: one that is not 1. If none is known
    not to be 1, the size is chosen at run time."""
    left = [*dict.fromkeys(size for size in sizes if size != 1)]
    if not left:
        return 1
    # A known size that is not 1 is the result. The other sizes have to be equal to it, or 1.
    result = next((size for size in left if isinstance(size, int)), left[0])
    if not isinstance(result, int):
        for size in left[1:]:
            result = chosen(b, result, size)
    for size in left:
        require_broadcast(op, b, (size,), (result,))
    return result


def require_broadcast(op: Operation, b: KernelBuilder, shape: Shape, to: Shape) -> None:
    """Write assertions that a tensor of `shape` broadcasts to a shape, unless that is known."""
    for size, result in zip(shape[::-1], to[::-1], strict=False):
        if size not in (1, result):
            fits = b.pure(arith.OrIOp, b.equal(size, result), b.equal(size, 1))
            b.require(fits, f"{op.name}: the operands do not broadcast", op)


def chosen(b: KernelBuilder, lhs: Extent, rhs: Extent) -> SymbolicExtent:
    """Return the one of two sizes that is not 1."""
    # At the start of the function: the size is a new symbol, which all shapes after it may use.
    is_one = b.at_start(arith.CmpiOp(b.index(lhs), b.index(1), "eq"))
    return b.symbol(b.at_start(arith.SelectOp(is_one, b.index(rhs), b.index(lhs))))


# Bounds of numbers that a kernel computes, from the operations that it has written for them.


DEPTH = 12
"""The depth of operations up to which `magnitude` follows operands."""
ROUNDING = 1 + 2.0**-10
"""The factor that makes up for the rounding of a float operation, also of f16. Kernels compute bf16
in f32."""


def magnitude(value: SSAValue, depth: int = DEPTH) -> float:
    """Return a number that the absolute value of an integer or a float does not exceed; infinity
    for a float without a known bound, which may also be NaN.

    With `%b` of type i8, `arith.mulf (arith.sitofp %b), 2.0` is at most 256.
    """
    type = value.type
    most = 2.0**type.bitwidth if is_integer(type) else inf
    # Both operands are followed, so the time is up to 2^DEPTH steps for a chain in which each
    # operation uses the one before it twice. Without a bound, long chains would take exponential
    # time.
    if not depth:
        return most

    def of(operand: SSAValue) -> float:
        return magnitude(operand, depth - 1)

    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() | FloatAttr() as number):
            found = abs(number.value.data)
        case arith.SIToFPOp(input=x):
            # 2^31 - 1 is 2^31 as f32. Powers of two are exact: rounding does not pass them.
            found = min((number := of(x)) * ROUNDING, power_of_two_ceil(number))
        case arith.ExtSIOp(input=x) | arith.ExtUIOp(input=x):
            found = of(x)
        case arith.AddfOp(lhs=a, rhs=b) | arith.SubfOp(lhs=a, rhs=b):
            found = (of(a) + of(b)) * ROUNDING
        case arith.AddiOp(lhs=a, rhs=b) | arith.SubiOp(lhs=a, rhs=b):
            found = of(a) + of(b)
        case arith.MulfOp(lhs=a, rhs=b):
            found = of(a) * of(b) * ROUNDING
        case arith.MuliOp(lhs=a, rhs=b):
            found = of(a) * of(b)
        case math.RoundEvenOp(operand=x) | math.FloorOp(operand=x) | math.CeilOp(operand=x):
            found = of(x) + 1
        case arith.SelectOp(lhs=a, rhs=b):
            found = max(of(a), of(b))
        case _:
            return most
    return most if isnan(found) else min(found, most)


def power_of_two_ceil(number: float) -> float:
    """Return the smallest power of two that is at least `number`; 0 for 0. `number` is not
    negative."""
    return 2.0 ** ceil(log2(number)) if number else 0.0


Scalar: TypeAlias = Callable[..., SSAValue]
"""A function of an operation, the builder and the elements of the operands that returns the element
of the result."""


def elementwise(scalar: Scalar, unsigned: Scalar | None = None) -> Legalization:
    """Legalize an operation that computes each element, after broadcasting, by `scalar`; if there
    are unsigned integers among the elements, by `unsigned`.

    Both functions take and return signless integers in the place of integers with a signedness.
    """

    def legalize(op: Operation, b: KernelBuilder, *operands: Tensor) -> Tensor | tuple[Tensor, ...]:
        result = tensor_type(op.results[0]).element_type
        elements = [computable(type) for type in (*(each.element for each in operands), result)]
        if all(signless_form(type) == type for type in elements):
            return of_any_sign(scalar)(op, b, *operands)
        explicit = next(filter(is_unsigned, elements), None)
        # Types such as si8 have a sign, but no operation of their own: they are computed as i8.
        function = scalar if explicit is None else unsigned
        if function is None:
            raise NoKernel(f"'{op.name}' of {explicit} is not defined")

        def on_signless(op: Operation, b: KernelBuilder, *elements: SSAValue) -> SSAValue:
            plain = (with_sign(b, element, signless_form(element.type)) for element in elements)
            return with_sign(b, function(op, b, *plain), result)

        return of_any_sign(on_signless)(op, b, *operands)

    return legalize


def of_any_sign(scalar: Scalar) -> Legalization:
    """Legalize as `elementwise` an operation whose `scalar` takes and returns integers of any
    signedness."""

    def legalize(op: Operation, b: KernelBuilder, *operands: Tensor) -> Tensor:
        shape = broadcast_shape(op, b, [operand.shape for operand in operands])

        def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            elements = [b.read(t, broadcast_index(b, index, t.shape, shape)) for t in operands]
            return scalar(op, b, *elements)

        return Elements(shape, tensor_type(op.results[0]).element_type, compute)

    return legalize


def in_steps(scalar: Scalar, unsigned: Scalar | None = None) -> Legalization:
    """Legalize an element-wise operation that is computed in a wider type, f16 in f32 and i1 in i8,
    and rounded to the element type of the result; unsigned integers as `elementwise`."""

    def rounded(op: Operation, b: KernelBuilder, *elements: SSAValue) -> SSAValue:
        result = scalar(op, b, *(widen(b, element) for element in elements))
        return convert(b, result, tensor_type(op.results[0]).element_type)

    return elementwise(rounded, unsigned)


def on_numbers(function: Scalar, unsigned: Scalar | None = None) -> Legalization:
    """Legalize as `in_steps` an operation that depends on its operands alone."""

    def only(function: Scalar) -> Scalar:
        def scalar(_: Operation, b: KernelBuilder, *elements: SSAValue) -> SSAValue:
            return function(b, *elements)

        return scalar

    return in_steps(only(function), None if unsigned is None else only(unsigned))


def on_all_numbers(function: Scalar) -> Legalization:
    """Legalize as `on_numbers` an operation that computes the same bits of signed and of unsigned
    integers."""
    return on_numbers(function, function)


def as_operation(
    function: Callable[..., Operation], unsigned: Callable[..., Operation] | None = None
) -> Legalization:
    """Legalize an element-wise operation to one operation on scalars."""

    def only(function: Callable[..., Operation]) -> Scalar:
        def scalar(b: KernelBuilder, *elements: SSAValue) -> SSAValue:
            return b.pure(function, *elements)

        return scalar

    return on_numbers(only(function), None if unsigned is None else only(unsigned))


def where(
    _: ops.WhereOp, b: KernelBuilder, condition: SSAValue, lhs: SSAValue, rhs: SSAValue
) -> SSAValue:
    return b.pure(arith.SelectOp, condition, lhs, rhs)


def clip(op: ops.ClipOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    element = tensor_type(op.result).element_type
    low, high = op.min, op.max
    if not is_float(element):
        low, high = saturated(low, element), saturated(high, element)
    # In this order: with min > max all elements are max, as with numpy's clip and ONNX's Clip.
    raised = maximum(b, x, b.number(low, x.type))
    return minimum(b, raised, b.number(high, x.type))


def clip_unsigned(op: ops.ClipOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    element = tensor_type(op.result).element_type
    low, high = (b.number(saturated(bound, element), element) for bound in (op.min, op.max))
    raised = b.pure(arith.MaxUIOp, x, with_sign(b, low, x.type))
    return b.pure(arith.MinUIOp, raised, with_sign(b, high, x.type))


def saturated(number: float, element: Attribute) -> int:
    """Return `number` truncated toward zero and clipped to the range of `element`."""
    if number in (inf, -inf):
        return int(maximum_of(element) if number > 0 else minimum_of(element))
    return int(min(max(int(number), minimum_of(element)), maximum_of(element)))


# Conversions


def astype(op: ops.AstypeOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    target = tensor_type(op.result).element_type
    if x.type == target or isinstance(target, SmallFloat):
        return convert(b, x, target)
    if isinstance(x.type, SmallFloat):
        x = convert(b, x, f32)
    if is_float(x.type) and is_integer(target):
        to = to_integer if signless_form(target) == target else to_explicit
        return to(b, widen(b, x), target)
    if target == i1:
        x = with_sign(b, x, signless_form(x.type))
        return b.pure(arith.CmpiOp, x, b.number(0, x.type), arg="ne")
    if x.type == signless_form(x.type) and is_integer(x.type) and is_float(target):
        # `widen` makes an i1 an i8 of 0 or 1: as a signed number of one bit, true would be -1.
        return b.pure(arith.SIToFPOp, widen(b, x), target_type=target)
    return convert(b, x, target)


def to_integer(b: KernelBuilder, x: SSAValue, target: Attribute) -> SSAValue:
    """Return `x` truncated toward zero and clipped to the range of `target`; 0 for NaN.

    Numbers out of range must not reach arith.fptosi, whose result is poison then.
    """
    assert is_integer(target)
    if target == i1:
        return b.pure(arith.CmpfOp, x, b.number(0.0, x.type), arg="une")
    low, high = minimum_of(target), maximum_of(target)
    # A number of small magnitude, such as one that a kernel has computed from bytes, needs no
    # tests: they are five operations in addition to one conversion. A float that may be NaN has no
    # finite magnitude.
    if magnitude(x) <= high:
        return b.pure(arith.FPToSIOp, x, target_type=target)
    limit = b.number(float(high + 1), x.type)  # a power of 2, so exact
    above = b.pure(arith.CmpfOp, x, limit, arg="oge")
    below = b.pure(arith.CmpfOp, x, b.number(float(low), x.type), arg="olt")
    nan = b.pure(arith.CmpfOp, x, x, arg="uno")
    outside = b.pure(arith.OrIOp, b.pure(arith.OrIOp, above, below), nan)
    inside = b.pure(arith.SelectOp, outside, b.number(0.0, x.type), x)
    # The bounds as floats: `low` is a power of 2, too, but the maximum i32 is none. f32 has no
    # number between 2^31 - 128 and 2^31, so "at least 2^31" is "above the maximum i32".
    whole = b.pure(arith.FPToSIOp, inside, target_type=target)
    whole = b.pure(arith.SelectOp, above, b.number(high, target), whole)
    return b.pure(arith.SelectOp, below, b.number(low, target), whole)


def to_explicit(b: KernelBuilder, x: SSAValue, target: Attribute) -> SSAValue:
    """Return `x` truncated toward zero and clipped to the range of `target`, an integer type with a
    signedness; 0 for NaN."""
    assert is_integer(target)
    if target.bitwidth > 32:
        return to_wide_unsigned(b, x, target)
    # Through i64, which has all numbers of 32 bits: saturation is one minimum and one maximum.
    wide = to_integer(b, x, i64)
    raised = maximum(b, wide, b.number(minimum_of(target), i64))
    return convert(b, minimum(b, raised, b.number(maximum_of(target), i64)), target)


def to_wide_unsigned(b: KernelBuilder, x: SSAValue, target: Attribute) -> SSAValue:
    """Return `x` truncated toward zero and clipped to the range of an unsigned type of 64 bits."""
    if not is_unsigned(target):
        return with_sign(b, to_integer(b, x, signless_form(target)), target)
    limit = b.number(float(maximum_of(target) + 1), x.type)  # a power of 2, so exact
    above = b.pure(arith.CmpfOp, x, limit, arg="oge")
    inside = b.pure(arith.CmpfOp, x, b.number(0.0, x.type), arg="oge")  # NaN is not
    inside = b.pure(arith.AndIOp, inside, b.pure(arith.CmpfOp, x, limit, arg="olt"))
    defined = b.pure(arith.SelectOp, inside, x, b.number(0.0, x.type))
    whole = b.pure(arith.FPToUIOp, defined, target_type=signless_form(target))
    most = b.number(-1, signless_form(target))
    return with_sign(b, b.pure(arith.SelectOp, above, most, whole), target)


def reinterpret(op: ops.ReinterpretOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    target = signless_form(tensor_type(op.result).element_type)
    if x.type == target:
        return x
    return b.pure(arith.BitcastOp, x, target_type=target)


ELEMENTWISE: dict[type[Operation], Legalization] = {
    ops.AstypeOp: of_any_sign(astype),
    ops.ClipOp: in_steps(clip, clip_unsigned),
    ops.ReinterpretOp: elementwise(reinterpret, reinterpret),
    ops.WhereOp: elementwise(where, where),
}
