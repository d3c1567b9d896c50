"""Constants as numpy arrays.

A fill is one number, which is known to broadcast to the shape of the tensor; element-wise functions
of fills are computed for one element, and give fills.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from typing import NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike

from ..compiler.interpreters import semantics_of
from ..compiler.interpreters.arrays import (
    Array,
    array_of,
    dense_of,
    dtype_of,
    element_of,
    fit,
    number_of,
    scalar_of,
)
from ..dialects.relax.constant import ConstantOp, FullOp, is_dense, is_number
from ..dialects.relax.shapes import Shape, broadcast
from ..dialects.relax.types import Element, is_ranked, make_tensor_type, static_shape


class Known(NamedTuple):
    """The elements of a tensor: an array that broadcasts to its shape, of rank 0 for a fill."""

    array: Array
    shape: Shape


def array_in(value: SSAValue) -> Array | None:
    """Return the elements of a constant, with rank 0 for a fill; None if `value` is not one."""
    type, owner = value.type, value.owner
    if isinstance(owner, ConstantOp | FullOp):  # the trait takes five times as long
        known = owner.value
    else:
        known = ConstantLike.get_constant_value(value)
    if known is None or not is_ranked(type):
        return None
    if is_dense(known):
        return array_of(known)
    return scalar_of(known, element_of(type)) if is_number(known) else None


def known(value: SSAValue) -> Known | None:
    """Return the elements of a constant; None if `value` is not a constant of known shape."""
    array, shape = array_in(value), static_shape(value.type)
    return None if array is None or shape is None else Known(array, shape)


def constant_of(elements: Known, element: Element) -> ConstantOp | FullOp:
    """Return a constant operation with these elements, rounded to type `element`; a fill if one
    number is known for all of them."""
    few, shape = elements
    type = cast(TensorType[Attribute], make_tensor_type(element, shape))
    # Floats of the right type need no rounding; an integer type may have fewer bits than its dtype.
    if few.dtype != dtype_of(element) or few.dtype.kind != "f":
        with np.errstate(all="ignore"):
            few = fit(few, element)
    if few.size == 1 and 0 not in shape:
        return FullOp(number_of(few.reshape(()), element), type)
    return ConstantOp(dense_of(few if few.shape == shape else np.broadcast_to(few, shape), type))


def compute(function: Callable[..., Array], *operands: Known) -> Known:
    """Apply an element-wise function to `operands`, which broadcast.

    Elements that repeat in all operands are computed once.
    """
    # `few * column` of the shapes (), (8, 1): 8 products, broadcast when a constant is made of
    # them.
    shape = reduce(_joined, [operand.shape for operand in operands])
    with np.errstate(all="ignore"):
        return Known(np.asarray(function(*[operand.array for operand in operands])), shape)


def _joined(lhs: Shape, rhs: Shape) -> Shape:
    # A shape of rank 0 broadcasts to any other.
    return broadcast(lhs, rhs) if lhs and rhs else lhs or rhs


def evaluate(op: Operation, *operands: Known) -> Known | None:
    """Evaluate the element-wise operation `op` on `operands` instead of its own.

    None if it has no semantics.
    """
    if (functions := semantics_of(type(op))) is None:
        return None

    def run(*arrays: Array) -> Array:
        (value,) = _interpreter(functions).run_op(op, arrays)
        return np.asarray(value)

    return compute(run, *operands)


@cache
def _interpreter(functions: type[InterpreterFunctions]) -> Interpreter:
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(functions())
    return interpreter
