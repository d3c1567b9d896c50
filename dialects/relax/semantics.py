"""What each operation computes: numpy, as functions of xDSL's interpreter.

A tensor is an array at run time. An element type that numpy has is that dtype; bf16 is float32,
rounded to bf16 after each operation; i1 is bool; other integers are the next wider dtype, wrapped
after each operation. Integers wrap around, as in numpy and C; signless ones are signed, i1 is not.
Division of integers truncates toward zero, as in C and TVM, and n / 0 is 0; no operation warns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    ContainerType,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    i1,
)
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from .constant import ConstantOp, FullOp, Number
from .elementwise import (
    AbsOp,
    AddOp,
    BinaryOp,
    DivideOp,
    ExpOp,
    LogOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    NegativeOp,
    PowerOp,
    ReluOp,
    SigmoidOp,
    SqrtOp,
    SubtractOp,
    TanhOp,
    UnaryOp,
)
from .layout import Layout
from .linear_algebra import MatmulOp
from .manipulation import LayoutTransformOp
from .types import Element, is_number

__all__ = [
    "Array",
    "RelaxFunctions",
    "array_of",
    "dense_of",
    "element_of",
    "number_of",
    "scalar_of",
]

Array: TypeAlias = NDArray[Any]

_UI1 = IntegerType(1, Signedness.UNSIGNED)


@register_impls
class RelaxFunctions(InterpreterFunctions):
    """The operations of the dialect on numpy arrays."""

    @impl(AbsOp)
    def run_abs(self, _: Interpreter, op: AbsOp, args: PythonValues) -> PythonValues:
        return compute(np.abs, op, args)

    @impl(NegativeOp)
    def run_negative(self, _: Interpreter, op: NegativeOp, args: PythonValues) -> PythonValues:
        return compute(np.negative, op, args)

    @impl(ReluOp)
    def run_relu(self, _: Interpreter, op: ReluOp, args: PythonValues) -> PythonValues:
        return compute(relu, op, args)

    @impl(ExpOp)
    def run_exp(self, _: Interpreter, op: ExpOp, args: PythonValues) -> PythonValues:
        return compute(np.exp, op, args)

    @impl(LogOp)
    def run_log(self, _: Interpreter, op: LogOp, args: PythonValues) -> PythonValues:
        return compute(np.log, op, args)

    @impl(SqrtOp)
    def run_sqrt(self, _: Interpreter, op: SqrtOp, args: PythonValues) -> PythonValues:
        return compute(np.sqrt, op, args)

    @impl(TanhOp)
    def run_tanh(self, _: Interpreter, op: TanhOp, args: PythonValues) -> PythonValues:
        return compute(np.tanh, op, args)

    @impl(SigmoidOp)
    def run_sigmoid(self, _: Interpreter, op: SigmoidOp, args: PythonValues) -> PythonValues:
        return compute(sigmoid, op, args)

    @impl(AddOp)
    def run_add(self, _: Interpreter, op: AddOp, args: PythonValues) -> PythonValues:
        return compute(np.add, op, args)

    @impl(SubtractOp)
    def run_subtract(self, _: Interpreter, op: SubtractOp, args: PythonValues) -> PythonValues:
        return compute(np.subtract, op, args)

    @impl(MultiplyOp)
    def run_multiply(self, _: Interpreter, op: MultiplyOp, args: PythonValues) -> PythonValues:
        return compute(np.multiply, op, args)

    @impl(DivideOp)
    def run_divide(self, _: Interpreter, op: DivideOp, args: PythonValues) -> PythonValues:
        return compute(divide, op, args)

    @impl(MaximumOp)
    def run_maximum(self, _: Interpreter, op: MaximumOp, args: PythonValues) -> PythonValues:
        return compute(np.maximum, op, args)

    @impl(MinimumOp)
    def run_minimum(self, _: Interpreter, op: MinimumOp, args: PythonValues) -> PythonValues:
        return compute(np.minimum, op, args)

    @impl(PowerOp)
    def run_power(self, _: Interpreter, op: PowerOp, args: PythonValues) -> PythonValues:
        return compute(power, op, args)

    @impl(MatmulOp)
    def run_matmul(self, _: Interpreter, op: MatmulOp, args: PythonValues) -> PythonValues:
        return compute(np.matmul, op, args)

    @impl(ConstantOp)
    def run_constant(self, _: Interpreter, op: ConstantOp, args: PythonValues) -> PythonValues:
        return (array_of(op.value),)

    @impl(FullOp)
    def run_full(self, _: Interpreter, op: FullOp, args: PythonValues) -> PythonValues:
        return (
            np.broadcast_to(
                scalar_of(op.value, element_of(op.result.type)), op.result.type.get_shape()
            ),
        )

    @impl(LayoutTransformOp)
    def run_layout_transform(
        self, _: Interpreter, op: LayoutTransformOp, args: PythonValues
    ) -> PythonValues:
        src, dst = Layout.parse(op.src_layout.data), Layout.parse(op.dst_layout.data)
        return (transform_layout(args[0], src, dst),)

    @impl(tensor.CastOp)
    def run_cast(self, _: Interpreter, op: tensor.CastOp, args: PythonValues) -> PythonValues:
        return args


# Element types


def element_of(type: ContainerType[Attribute]) -> Element:
    """The element type of a tensor type; InterpretationError if numpy has no such numbers."""
    element = type.get_element_type()
    if not is_number(element):
        raise InterpretationError(f"element type {element} has no numpy semantics")
    return element


@cache
def dtype_of(element: Element) -> np.dtype[np.generic]:
    """The dtype of an element type at run time."""
    if is_bool(element):
        return np.dtype(np.bool_)
    return np.dtype(np.float32) if isinstance(element, BFloat16Type) else stored_dtype(element)


@cache
def stored_dtype(element: Element) -> np.dtype[np.generic]:
    """The dtype of the bytes of a constant: xDSL pads integers to 1, 2, 4 or 8 bytes."""
    match element:
        case IntegerType():
            kind = "u" if is_unsigned(element) else "i"
            return np.dtype(f"<{kind}{element.compile_time_size}")
        case BFloat16Type():
            return np.dtype("<u2")
        case Float16Type() | Float32Type() | Float64Type():
            return np.dtype(f"<f{element.compile_time_size}")


def is_bool(element: Element) -> bool:
    """Whether its values are false and true: i1 and ui1; si1 holds 0 and -1."""
    return isinstance(element, IntegerType) and element in (i1, _UI1)


def is_unsigned(element: Element) -> bool:
    return isinstance(element, IntegerType) and element.signedness.data is Signedness.UNSIGNED


def fit(array: Array, element: Element) -> Array:
    """The array with each element made one of the element type: rounded, or wrapped around."""
    dtype = dtype_of(element)
    if isinstance(element, BFloat16Type):
        return widen_bf16(round_bf16(array.astype(np.float32, copy=False)))
    if not isinstance(element, IntegerType):
        return array.astype(dtype, copy=False)
    if is_bool(element):
        return (array & 1).astype(dtype)
    array = array.astype(dtype, copy=False)
    spare = 8 * dtype.itemsize - element.bitwidth
    return array << spare >> spare if spare else array


def round_bf16(array: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The bits of each number rounded to bf16, to nearest and ties to even."""
    bits = array.view(np.uint32)
    rounded = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    quiet = bits >> 16 | 0x40
    return np.where(np.isnan(array), quiet, rounded).astype(np.uint16)


def widen_bf16(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The numbers that have these bits in bf16."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


# Constants


def array_of(value: DenseIntOrFPElementsAttr) -> Array:
    """The elements of a dense constant: a view of its bytes, except of bf16 and padded integers."""
    element = element_of(value.type)
    raw: Array = np.frombuffer(value.data.data, stored_dtype(element)).reshape(value.get_shape())
    return widen_bf16(raw) if isinstance(element, BFloat16Type) else fit(raw, element)


def dense_of(array: Array, type: TensorType[Attribute]) -> DenseIntOrFPElementsAttr:
    """The dense constant with the elements of an array of the type's dtype and shape."""
    element = element_of(type)
    if array.dtype != dtype_of(element) or array.shape != type.get_shape():
        raise InterpretationError(f"an array of {array.dtype}{array.shape} is no {type}")
    if isinstance(element, BFloat16Type):
        array = round_bf16(array)
    elif array.dtype == np.bool_:
        array = array.view(np.uint8) if is_unsigned(element) else -array.view(np.int8)
    data = BytesAttr(array.astype(stored_dtype(element), copy=False).tobytes())
    return DenseIntOrFPElementsAttr(cast(TensorType[Element], type), data)


def scalar_of(value: Number, element: Element) -> Array:
    """The array of rank 0 that holds a number of that type."""
    return fit(np.asarray(value.value.data, dtype_of(element)), element)


def number_of(scalar: Array, element: Element) -> Number:
    """The number in an array of rank 0."""
    number = scalar.item()
    if isinstance(element, IntegerType):
        return IntegerAttr(int(number), element)
    return FloatAttr(number, element)


# Functions that numpy lacks, or defines otherwise


def compute(
    function: Callable[..., Array], op: UnaryOp | BinaryOp | MatmulOp, args: PythonValues
) -> PythonValues:
    """Apply a function of arrays to the operands of `op`; its result has the op's element type."""
    arrays = cast(tuple[Array, ...], args)
    if arrays[0].dtype == np.bool_:
        arrays = tuple(array.view(np.uint8) for array in arrays)
    with np.errstate(all="ignore"):
        return (fit(np.asarray(function(*arrays)), element_of(op.result.type)),)


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), computed in at least 32 bits: exp(12.0) overflows f16."""
    x = x.astype(np.promote_types(x.dtype, np.float32))
    return 1 / (1 + np.exp(-x))


def divide(lhs: Array, rhs: Array) -> Array:
    """The quotient; of integers, truncated toward zero, where numpy's `//` goes down."""
    if np.issubdtype(lhs.dtype, np.floating):
        return lhs / rhs
    return (lhs - np.fmod(lhs, rhs)) // rhs


def power(lhs: Array, rhs: Array) -> Array:
    """The power; of integers with a negative exponent, the inverse truncated toward zero."""
    if np.issubdtype(lhs.dtype, np.floating):
        return lhs**rhs
    inverse = np.where(np.abs(lhs) == 1, lhs ** (rhs & 1), 0)
    return np.where(rhs < 0, inverse, lhs ** np.maximum(rhs, 0))


def transform_layout(array: Array, src: Layout, dst: Layout) -> Array:
    """The array in another layout: join the parts of each axis, split them anew, permute."""
    extents = src.extents(array.shape)
    parts = sorted(src.axes, key=_outer_part_first)
    joined = array.transpose([src.axes.index(c) for c in parts])
    joined = joined.reshape([extents[c] for c in src.primal])
    sizes = dict(zip(dst.axes, dst.shape(extents), strict=True))
    parts = sorted(dst.axes, key=_outer_part_first)
    return joined.reshape([sizes[c] for c in parts]).transpose([parts.index(c) for c in dst.axes])


def _outer_part_first(axis: str) -> tuple[str, bool]:
    return axis.upper(), axis.islower()
