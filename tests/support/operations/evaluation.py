"""Evaluation of single operations on constants, with warnings as errors, and inference of their
result types."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
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
from xdsl.dialects.test import TestOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation
from xdsl.parser import Parser

from passline.compiler.interpreters.arrays import dense_of, fit
from passline.compiler.interpreters.relax import RelaxFunctions
from passline.dialects.relax.attributes import PropertyValue, properties_of
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.types import Element

Array = NDArray[Any]

i4 = IntegerType(4)
ui8 = IntegerType(8, Signedness.UNSIGNED)

FLOATS: list[Element] = [f16, f32, f64]
ELEMENTS: list[Element] = [*FLOATS, i8, i32, i64, ui8]
ALL_ELEMENTS: list[Element] = [*ELEMENTS, bf16, i4]


def constant(array: object, element: Element) -> ConstantOp:
    """Return a constant with the numbers in `array`, converted to the element type."""
    values = fit(np.asarray(array), element)
    return ConstantOp(dense_of(values, TensorType(element, values.shape)))


def run(op: Operation) -> Array:
    """Compute the only result of an operation."""
    (value,) = run_all(op)
    return value


def run_all(op: Operation) -> tuple[Array, ...]:
    """Compute the results of an operation, after those of the operations that define its
    operands."""
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(RelaxFunctions())
    owners = [operand.owner for operand in op.operands]
    args = tuple(run(owner) for owner in owners if isinstance(owner, Operation))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return interpreter.run_op(op, args)


def infer(op: type[TensorOp], *operand_types: str, **properties: PropertyValue) -> str:
    """Return the result types of an operation on operands of these types, all as text."""
    context = Context()
    context.load_dialect(Builtin)
    types = [Parser(context, text).parse_type() for text in operand_types]
    operands = TestOp(result_types=types).results
    built = op.create(operands=operands, properties=properties_of(op, properties))
    return ", ".join(map(str, built.infer_types()))
