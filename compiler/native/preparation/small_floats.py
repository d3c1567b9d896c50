"""Conversions of floats of 4 and 8 bits, which are stored as their codes in bytes, by tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith, math, memref
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    f32,
    f64,
    i8,
    i64,
)
from xdsl.ir import SSAValue

from ....dialects.relax.types import SmallFloat
from ...interpreters.small_floats import Format, format_of
from .arithmetic import Arithmetic

__all__ = ["SmallFloats"]


class SmallFloats:
    """The tables of small floats in a module, and conversions that read them."""

    def __init__(self, module: ModuleOp, prefix: str) -> None:
        """The names of the tables begin with `prefix`."""
        self._module = module
        self._prefix = prefix
        self._tables: dict[str, memref.GlobalOp] = {}

    def extend(self, build: Arithmetic, code: SSAValue, element: SmallFloat) -> SSAValue:
        """Return the number in f32 of a code in i8."""
        numbers = format_of(element).decoded
        index = build.convert(arith.ExtUIOp, code, i64)
        index = build.integer(arith.AndIOp, index, len(numbers) - 1)
        return self._element(build, f"{element.name}.numbers", numbers.tolist(), f32, index)

    def truncate(self, build: Arithmetic, x: SSAValue, element: SmallFloat) -> SSAValue:
        """Return the code in i8 of f32 or f64, rounded as `interpreters.small_floats` does: a
        binary search among the limits between one magnitude and the next."""
        form = format_of(element)
        if x.type != f64:
            x = build.convert(arith.ExtFOp, x, f64)
        size, last = build.insert(math.AbsFOp(x)), len(form.middles) - 1
        length = 1 << len(form.middles).bit_length()
        limits = [*form.middles.tolist(), *[float("inf")] * (length - last - 1)]

        def limit(index: SSAValue) -> SSAValue:
            return self._element(build, f"{element.name}.limits", limits, f64, index)

        code = self._number(build, 0)
        step = length // 2
        while step:
            above = build.compare(limit(build.integer(arith.AddiOp, code, step - 1)), "olt", size)
            code = build.select(above, build.integer(arith.AddiOp, code, step), code)
            step //= 2
        tie = build.compare(limit(code), "oeq", size)
        tie = build.integer(arith.AndIOp, tie, build.compare_integers(code, "sle", last))
        up = build.integer(arith.AndIOp, code, 1) if form.signed else self._number(build, 1)
        code = build.select(tie, build.integer(arith.AddiOp, code, up), code)
        return build.convert(arith.TruncIOp, special(build, form, code, x, element.bitwidth), i8)

    def _number(self, build: Arithmetic, value: int) -> SSAValue:
        return build.insert(arith.ConstantOp.from_int_and_width(value, 64))

    def _element(
        self,
        build: Arithmetic,
        name: str,
        numbers: Sequence[float],
        element: Float32Type | Float64Type,
        index: SSAValue,
    ) -> SSAValue:
        """Return an element of the table `name`, which is added to the module if it is new."""
        type = MemRefType(element, [len(numbers)])
        if (table := self._tables.get(name)) is None:
            dtype = np.float32 if element == f32 else np.float64
            data = BytesAttr(np.array(numbers, dtype).tobytes())
            table = self._tables[name] = memref.GlobalOp.get(
                StringAttr(f"{self._prefix}{name}"),
                type,
                DenseIntOrFPElementsAttr(TensorType(element, [len(numbers)]), data),
                StringAttr("private"),
                UnitAttr(),
            )
            self._module.body.block.add_op(table)
        buffer = build.insert(memref.GetGlobalOp(SymbolRefAttr(table.sym_name), type))
        place = build.insert(arith.IndexCastOp(index, IndexType()))
        return build.insert(memref.LoadOp.get(buffer, [place]))


def special(build: Arithmetic, form: Format, code: SSAValue, x: SSAValue, width: int) -> SSAValue:
    """Return codes with their sign, and those of infinities and NaN."""
    count = len(form.magnitudes)
    beyond = build.compare_integers(code, "sge", count)
    is_nan = build.compare(x, "uno", x)
    code = build.integer(arith.MinSIOp, code, count - 1)
    lost = is_nan
    if np.isnan(form.overflow):
        lost = build.integer(arith.OrIOp, lost, beyond)
    if form.signed:
        negative = build.compare_integers(build.bits(x), "slt", 0)
        if not form.negative_zero:
            some = build.compare_integers(code, "ne", 0)
            negative = build.integer(arith.AndIOp, negative, some)
        if np.isinf(form.overflow):
            code = build.select(beyond, count, code)
        with_sign = build.integer(arith.OrIOp, code, 1 << (width - 1))
        code = build.select(negative, with_sign, code)
    else:
        lost = build.integer(arith.OrIOp, lost, build.compare(x, "olt", 0.0))
    nans = np.flatnonzero(np.isnan(form.decoded))
    if nans.size:
        return build.select(lost, int(nans[0]), code)
    return build.select(is_nan, 1 << (width - 1), code)
