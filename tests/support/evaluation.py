"""Running single operations on constants, with warnings as errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
)
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.semantics import RelaxFunctions
from passline.dialects.relax.semantics.arrays import dense_of, fit
from passline.dialects.relax.types import Element

Array = NDArray[Any]

i4 = IntegerType(4)
ui8 = IntegerType(8, Signedness.UNSIGNED)

FLOATS: list[Element] = [f16, f32, f64]
ELEMENTS: list[Element] = [*FLOATS, i8, i32, i64, ui8]
ALL_ELEMENTS: list[Element] = [*ELEMENTS, bf16, i4]


def constant(array: object, element: Element) -> ConstantOp:
    """A constant of the numbers in `array`, made of the element type."""
    values = fit(np.asarray(array), element)
    return ConstantOp(dense_of(values, TensorType(element, values.shape)))


def run(op: Operation) -> Array:
    """The value of the only result."""
    (value,) = run_all(op)
    return value


def run_all(op: Operation) -> tuple[Array, ...]:
    """The values of the results; operands are computed too."""
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(RelaxFunctions())
    owners = [operand.owner for operand in op.operands]
    args = tuple(run(owner) for owner in owners if isinstance(owner, Operation))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return interpreter.run_op(op, args)
