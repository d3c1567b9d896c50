"""The values of a quantized region, which are integers with a scale or functions of one 8-bit
integer, and the builder of its integer arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import Float32Type, IntegerType, i32
from xdsl.ir import Operation, SSAValue

from ...compiler.interpreters.arrays import Array, dtype_of
from ...dialects.relax.attributes import PropertyValue
from ...dialects.relax.elementwise.quantization import QuantizeOp
from ...dialects.relax.expression import operations
from ...dialects.relax.types import Element, is_integer, is_number, tensor_type, with_element
from ..arrays import Known, constant_of, known

I32 = 1 << 31
"""The magnitude that no sum of products reaches in an i32."""

ROUNDING = 2.0**-23
"""The error of a scale or a number in f32, relative to the maximum number."""


class NotQuantizable(Exception):
    """Raised where a region cannot be computed in integers; the message is the reason."""


@dataclass(frozen=True)
class Affine:
    """The numbers `(value - zero) * scale`."""

    value: SSAValue
    """Integers, or means of integers in f32."""
    scale: Array
    """Positive f32 numbers that broadcast to the value, of rank 0 for one number."""
    zero: int
    bound: int
    """The maximum magnitude of `value - zero`."""
    error: float
    """The maximum difference from the numbers that the operations on floats compute."""

    @property
    def reach(self) -> float:
        """The maximum magnitude of the numbers."""
        return float(self.scale.max(initial=0)) * self.bound

    @property
    def element(self) -> Element:
        return element_of_value(self.value)

    @property
    def is_narrow(self) -> bool:
        """Return whether the value is an 8-bit integer with one scale."""
        return self.element.bitwidth == 8 and self.scale.ndim == 0

    @property
    def is_sum(self) -> bool:
        """Return whether the value is an i32 without a zero point: a sum of products."""
        return self.element == i32 and self.zero == 0


def computed(value: SSAValue, scale: Array, bound: int, error: float) -> Affine:
    """Return numbers that floats would have rounded: `error` is that of the integers alone."""
    # Numbers in f32 and products of scales are rounded: an error in proportion to the maximum
    # number.
    exact = Affine(value, scale, 0, bound, error)
    return replace(exact, error=error + exact.reach * ROUNDING)


@dataclass(frozen=True)
class Table:
    """A function of an 8-bit integer, by the numbers for all its values from the minimum on."""

    value: SSAValue
    numbers: Array
    """256 numbers in f32."""


Quantity: TypeAlias = Affine | Table


def element_of_value(value: SSAValue) -> Element:
    """Return the element type of a tensor of numbers."""
    element = tensor_type(value).element_type
    assert is_number(element)
    return element


Operand: TypeAlias = Quantity | SSAValue

Rule: TypeAlias = Callable[..., Quantity | Sequence[Quantity]]


@dataclass
class RegionBuilder:
    """A builder of the integer arithmetic of one region, which ends in a `relax.quantize`, or in a
    float if `end` is None."""

    before: Operation
    end: QuantizeOp | None
    commutes: set[Operation]
    """The operations that may be computed after rounding to the scale of the end
    (`Region.commuting`)."""
    unsigned: bool = False
    """Whether the data of products (the operand that is no weight) are to be unsigned bytes."""
    created: list[Operation] = field(default_factory=list[Operation])

    def insert(self, op: Operation) -> SSAValue:
        """Insert an operation before the end; return its result."""
        block = self.before.parent
        assert block is not None
        op.location = self.before.location
        block.insert_op_before(op, self.before)
        self.created.append(op)
        return op.results[0]

    def undo(self) -> None:
        """Erase all operations that were inserted."""
        for op in reversed(self.created):
            op.detach()
            op.erase()

    def op(self, name: str, *operands: SSAValue, **properties: PropertyValue) -> SSAValue:
        """Insert the operation `relax.<name>`; return its result."""
        return self.insert(
            operations()[name](*operands, result_types=None, location=None, **properties)
        )

    def again(self, op: Operation, *operands: SSAValue) -> Sequence[SSAValue]:
        """Insert `op` on other operands; its results have the element type of the first."""
        element = tensor_type(operands[0]).element_type
        types = [with_element(tensor_type(result), element) for result in op.results]
        new = op.create(operands=operands, result_types=types, properties=op.properties.copy())
        self.insert(new)
        return new.results

    def constant(self, array: Array, element: Element) -> SSAValue:
        """Return a constant with these elements, which are exact in their type."""
        known = Known(array.astype(dtype_of(element)), array.shape)
        return self.insert(constant_of(known, element))

    def number(self, number: float, element: Element) -> SSAValue:
        return self.constant(np.asarray(number), element)

    def cast(self, value: SSAValue, element: Element) -> SSAValue:
        if tensor_type(value).element_type == element:
            return value
        return self.op("astype", value, dtype=element)

    def centred(self, x: Affine, element: Element) -> SSAValue:
        """Return the value less its zero point, in a type that has all differences."""
        # Cast first: 0 - 128 does not fit in a byte.
        value = self.cast(x.value, element)
        if x.zero == 0:
            return value
        return self.op("subtract", value, self.number(x.zero, element))

    def end_parameters(self) -> tuple[Array, int, IntegerType]:
        """Return the scale, the zero point and the element type of the `relax.quantize` that ends
        the region. Refused if none does."""
        if self.end is None:
            raise NotQuantizable("no 'relax.quantize' ends the region")
        return parameters(self.end.scale, self.end.zero_point)

    def one_end_scale(self) -> tuple[Array, int, IntegerType]:
        """Return `end_parameters`; Refused for a scale for each channel."""
        if (found := self.end_parameters())[0].ndim:
            raise NotQuantizable("the result has a scale for each channel")
        return found


def parameters(scale: SSAValue, zero_point: SSAValue) -> tuple[Array, int, IntegerType]:
    """Return the scale, the zero point and its type; Refused unless they are usable constants."""
    scales, zeros = known(scale), known(zero_point)
    if scales is None:
        raise NotQuantizable("the scale is not a constant")
    if zeros is None:
        raise NotQuantizable("the zero point is not a constant")
    if not isinstance(tensor_type(scale).element_type, Float32Type):
        raise NotQuantizable("the scale is not f32")
    check_scale(scales.array)
    if zeros.array.size == 0 or (zeros.array != zeros.array.flat[0]).any():
        raise NotQuantizable("the zero points of the channels differ")
    element = tensor_type(zero_point).element_type
    assert is_integer(element)
    return minimum_rank(full(scales)), int(zeros.array.flat[0]), element


def check_scale(scale: Array) -> None:
    """Raise Refused unless all scales are positive normal numbers."""
    if not (np.isfinite(scale) & (scale >= np.finfo(np.float32).tiny)).all():
        raise NotQuantizable("a scale is not a positive normal number")


def full(elements: Known) -> Array:
    """Return all elements of a constant."""
    return np.broadcast_to(elements.array, elements.shape)


def minimum_rank(scale: Array) -> Array:
    """Return scales that are all equal as an array of rank 0; others as they are."""
    if scale.size and (scale == scale.flat[0]).all():
        return np.asarray(scale.flat[0])
    return scale


def check_one_scale(*operands: Affine) -> None:
    """Raise Refused unless each operand has one scale for all elements."""
    if any(x.scale.ndim for x in operands):
        raise NotQuantizable("an operand has a scale for each channel")


def affine(x: Operand) -> Affine:
    """Return an operand that is integers with a scale; Refused for any other."""
    if not isinstance(x, Affine):
        raise NotQuantizable("an operand is not a dequantized tensor")
    return x
