"""Undefined behaviour of arithmetic and casts, for which the semantics have a result too."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Attribute, Operation

from ....dialects.relax.shapes import merge
from ....dialects.relax.tuples import MatchCastOp
from ....dialects.relax.types import is_ranked
from ....passmanager.ir.location import place_of
from ..arrays import Array
from ..tir.table import element_type

__all__ = ["Undefined", "UndefinedBehaviour"]


class Undefined(BaseException):
    """The end of an evaluation with undefined behaviour.

    Not an Exception: xDSL's interpreter would print the module into the message of each one, at
    each nested region.
    """


class UndefinedBehaviour(Interpreter.Listener):
    """A listener that ends an evaluation at a division by zero or one that overflows.

    With `poison`, also at an overflow under `nsw` or `nuw`, at a shift by the width or more, and at
    a cast to a shape that the value has not: these are only undefined if the result is used, so
    that a pass may compute them in vain.
    """

    def __init__(self, poison: bool) -> None:
        self._poison = poison

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        cls = type(op)
        if cls in DIVISIONS:
            if _is_undefined(op, args):
                raise Undefined(f"'{op.name}'{place_of(op)} divides by zero, or overflows")
        elif self._poison and (cls in EXACT or cls in SHIFTS) and _is_poison(op, args):
            raise Undefined(f"'{op.name}'{place_of(op)} overflows")
        elif self._poison and cls in CASTS and not _has_type(args[0], op.results[0].type):
            raise Undefined(f"'{op.name}'{place_of(op)} casts to another shape")


UNSIGNED = {arith.DivUIOp, arith.CeilDivUIOp, arith.RemUIOp}
DIVISIONS = UNSIGNED | {arith.DivSIOp, arith.FloorDivSIOp, arith.CeilDivSIOp, arith.RemSIOp}
SHIFTS = {arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp}
CASTS = {tensor.CastOp, MatchCastOp}
EXACT: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.ShLIOp: lambda a, b: a << b,
}


def _is_undefined(op: Operation, args: PythonValues) -> bool:
    """Return whether a division has no result."""
    width = _width(op)
    for a, b in _pairs(args):
        if b % (1 << width) == 0:
            return True
        if type(op) not in UNSIGNED and width > 1 and b == -1 and a == -(1 << width - 1):
            return True
    return False


def _is_poison(op: Operation, args: PythonValues) -> bool:
    """Return whether the result of an operation depends on an overflow that its flags exclude."""
    flags = op.properties.get("overflowFlags")
    data = flags.data if isinstance(flags, arith.IntegerOverflowAttr) else ()
    shifts = type(op) in SHIFTS
    if not data and not shifts:
        return False
    width = _width(op)
    for a, b in _pairs(args):
        if shifts and not 0 <= b < width:
            return True
        if not data:
            continue
        compute = EXACT[type(op)]
        half, whole = 1 << width - 1, 1 << width
        if arith.IntegerOverflowFlag.NSW in data and not -half <= compute(a, b) < half:
            return True
        if arith.IntegerOverflowFlag.NUW in data:
            b = b if shifts else b % whole
            if not 0 <= compute(a % whole, b) < whole:
                return True
    return False


def _has_type(value: object, type: Attribute) -> bool:
    """Return whether an array has the rank and the static dimensions of a type."""
    if not isinstance(value, np.ndarray) or not is_ranked(type):
        return True
    return merge(type.get_shape(), cast(Array, value).shape) is not None


def _width(op: Operation) -> int:
    """Return the bits of an element of the result; an index has 64."""
    element = element_type(op.results[0].type)
    return element.bitwidth if isinstance(element, IntegerType) else 64


def _pairs(args: PythonValues) -> list[tuple[int, int]]:
    """Return the pairs of elements of two integers or vectors."""
    lhs, rhs = (np.asarray(arg).ravel().tolist() for arg in args)
    return [(int(a), int(b)) for a, b in zip(lhs, rhs, strict=True)]
