"""Writing IR as text from which the same IR is read; xDSL's printer loses some floats, and some
parentheses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer

__all__ = ["ExactPrinter"]


class ExactPrinter(Printer):
    """A printer of xDSL's form, in which dense constants keep every bit, and functions that return
    one function can be read.

    xDSL 0.74 takes [0.0, -0.0] for a splat, and reads the digits that it prints for infinities and
    NaN as numbers. Such a constant is printed as one hexadecimal string, which MLIR reads too.
    """

    def print_attribute(self, attribute: Attribute) -> None:
        if _is_dense(attribute) and (digits := _digits_if_lossy(attribute)) is not None:
            self.print_string(f'dense<"0x{digits}"> : ')
            return self.print_attribute(attribute.get_type())
        return super().print_attribute(attribute)

    def print_op(self, op: Operation) -> None:
        if self.print_generic_format or not _returns_function(op) or "res_attrs" in op.properties:
            return super().print_op(op)
        # xDSL 0.74 puts a result in parentheses only if it has attributes.
        op.properties["res_attrs"] = ArrayAttr([DictionaryAttr({})])
        try:
            super().print_op(op)
        finally:
            del op.properties["res_attrs"]


def _returns_function(op: Operation) -> bool:
    if not isinstance(op, FuncOp):
        return False
    outputs = op.function_type.outputs.data
    return len(outputs) == 1 and isinstance(outputs[0], FunctionType)


def _is_dense(attribute: Attribute) -> TypeIs[DenseIntOrFPElementsAttr]:
    return isinstance(attribute, DenseIntOrFPElementsAttr)


def _digits_if_lossy(dense: DenseIntOrFPElementsAttr) -> str | None:
    """The bytes in hexadecimal digits, one element's if all are the same; None for xDSL's text."""
    element, data, count = dense.get_element_type(), dense.data.data, len(dense)
    if count == 0 or not isinstance(element, AnyFloat):
        return None
    first = data[: len(data) // count]
    splat = first * count == data
    values = cast(Sequence[float], element.unpack(first, 1) if splat else dense.get_values())
    if not splat and count > 100 and not dense.is_splat():
        return None  # digits in any case
    if all(map(math.isfinite, values)) and (splat or not dense.is_splat()):
        return None
    return (first if splat else data).hex().upper()
