"""Writing IR as text from which the same IR is read; xDSL's printer loses some floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import StringIO
from typing import cast

from typing_extensions import TypeIs
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.printer import Printer
from xdsl.targets.mlir import MLIRTarget

__all__ = ["ExactPrinter", "is_dense", "module_text"]


def module_text(module: ModuleOp, ctx: Context, target: MLIRTarget) -> str:
    """The module with its resources as text, for MLIR."""
    printer = ExactPrinter(
        stream := StringIO(),
        print_generic_format=target.print_generic_format,
        print_properties_as_attributes=target.print_properties_as_attributes,
        print_debuginfo=target.print_debuginfo,
    )
    printer.print_op(module)
    printer.print_metadata(ctx.loaded_dialects)
    return f"{stream.getvalue()}\n\n"


class ExactPrinter(Printer):
    """A printer of xDSL's form, in which dense constants keep every bit.

    xDSL 0.74 takes [0.0, -0.0] for a splat, and reads the digits that it prints for infinities and
    NaN as numbers. Such a constant is printed as one hexadecimal string, which MLIR reads too.
    """

    def print_attribute(self, attribute: Attribute) -> None:
        if is_dense(attribute) and (digits := _digits_if_lossy(attribute)) is not None:
            self.print_string(f'dense<"0x{digits}"> : ')
            return self.print_attribute(attribute.get_type())
        return super().print_attribute(attribute)


def is_dense(attribute: Attribute) -> TypeIs[DenseIntOrFPElementsAttr]:
    """Whether an attribute is a dense constant, of whatever elements."""
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
