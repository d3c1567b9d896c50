"""Constants as numpy arrays.

A fill is seen as an array of one number with strides 0, which takes no memory; element-wise
functions of such arrays give such arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike

from ...dialects.relax.constant import ConstantOp, FullOp, is_dense, is_number
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import Element, is_ranked, make_tensor_type, static_shape
from ...interpreters import semantics_of
from ...interpreters.arrays import (
    Array,
    array_of,
    dense_of,
    dtype_of,
    element_of,
    fit,
    number_of,
    scalar_of,
)

__all__ = ["array_in", "compact", "compute", "constant_of", "evaluate", "known_array"]


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


def known_array(value: SSAValue) -> Array | None:
    """Return the elements of a constant in its shape; None if `value` is not a constant of known
    shape."""
    array = array_in(value)
    if array is None or array.ndim:
        return array
    shape = static_shape(value.type)
    return None if shape is None else _spread(array, shape)


def constant_of(array: Array, element: Element) -> ConstantOp | FullOp:
    """Return a constant operation with the elements of `array`, rounded to type `element`; a fill
    if all elements are the same by their strides."""
    type = cast(TensorType[Attribute], make_tensor_type(element, array.shape))
    few = compact(array)
    if few.dtype != dtype_of(element) or few.dtype.kind != "f":
        with np.errstate(all="ignore"):
            few = fit(few, element)
    if few.size == 1 and array.size:
        return FullOp(number_of(few.reshape(()), element), type)
    return ConstantOp(dense_of(np.broadcast_to(few, array.shape), type))


def compact(array: Array) -> Array:
    """Return `array` with size 1 in the dimensions of stride 0, along which elements repeat."""
    if 0 not in array.strides or not array.size:
        return array
    return array[tuple(slice(1) if stride == 0 else slice(None) for stride in array.strides)]


def compute(function: Callable[..., Array], *arrays: Array) -> Array:
    """Apply an element-wise function to `arrays`, which broadcast.

    Elements that repeat in all arrays are computed once.
    """
    with np.errstate(all="ignore"):
        if not any(0 in array.strides for array in arrays):
            return np.asarray(function(*arrays))
        shape = np.broadcast(*arrays).shape
        return _spread(np.asarray(function(*map(compact, arrays))), shape)


def _spread(array: Array, shape: Shape) -> Array:
    """Return `np.broadcast_to(array, shape)`, which takes ten times as long for one element."""
    if array.size != 1:
        return np.broadcast_to(array, shape)
    view: Array = np.ndarray(shape, array.dtype, array, 0, (0,) * len(shape))
    view.flags.writeable = False
    return view


def evaluate(op: Operation, *arrays: Array) -> Array | None:
    """Evaluate the element-wise operation `op` on `arrays` instead of its operands.

    None if it has no semantics.
    """
    if (functions := semantics_of(type(op))) is None:
        return None

    def run(*few: Array) -> Array:
        (value,) = _interpreter(functions).run_op(op, few)
        return np.asarray(value)

    return compute(run, *arrays)


@cache
def _interpreter(functions: type[InterpreterFunctions]) -> Interpreter:
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(functions())
    return interpreter
