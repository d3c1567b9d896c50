"""Conversions of floats of 4 and 8 bits, which are stored as their codes in bytes, by tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith, memref
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

from ....dialects.relax.types import SmallFloat
from ...interpreters.small_floats import Format, format_of
from .arithmetic import Lanes

__all__ = ["SmallFloats"]


class SmallFloats:
    """The tables of small floats in a module, and conversions that read them."""

    def __init__(self, module: ModuleOp, prefix: str) -> None:
        """The names of the tables begin with `prefix`."""
        self._module = module
        self._prefix = prefix
        self._tables: dict[str, memref.GlobalOp] = {}

    def extend(self, code: Lanes, element: SmallFloat) -> Lanes:
        """Return the number in f32 of a code in i8."""
        numbers = format_of(element).decoded
        index = code.convert(arith.ExtUIOp, i64)
        index = index & len(numbers) - 1
        return self._element(f"{element.name}.numbers", numbers.tolist(), f32, index)

    def truncate(self, x: Lanes, element: SmallFloat) -> Lanes:
        """Return the code in i8 of f32 or f64, rounded as `interpreters.small_floats` does: a
        binary search among the limits between one magnitude and the next."""
        form = format_of(element)
        if x.type != f64:
            x = x.convert(arith.ExtFOp, f64)
        size, last = abs(x), len(form.middles) - 1
        length = 1 << len(form.middles).bit_length()
        limits = [*form.middles.tolist(), *[float("inf")] * (length - last - 1)]

        def limit(index: Lanes) -> Lanes:
            return self._element(f"{element.name}.limits", limits, f64, index)

        code = _integer(x, 0)
        step = length // 2
        while step:
            above = limit(code + (step - 1)).compare("olt", size)
            code = above.select(code + step, code)
            step //= 2
        tie = limit(code).compare("oeq", size)
        tie = tie & code.compare("sle", last)
        up = code & 1 if form.signed else _integer(x, 1)
        code = tie.select(code + up, code)
        return special(form, code, x, element.bitwidth).convert(arith.TruncIOp, i8)

    def _element(
        self,
        name: str,
        numbers: Sequence[float],
        element: Float32Type | Float64Type,
        index: Lanes,
    ) -> Lanes:
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
        buffer = index.insert(memref.GetGlobalOp(SymbolRefAttr(table.sym_name), type))
        place = index.insert(arith.IndexCastOp(index.value, IndexType()))
        return index.insert(memref.LoadOp.get(buffer.value, [place.value]))


def _integer(x: Lanes, value: int) -> Lanes:
    """Insert an i64 where operators of `x` insert."""
    return x.insert(arith.ConstantOp.from_int_and_width(value, 64))


def special(form: Format, code: Lanes, x: Lanes, width: int) -> Lanes:
    """Return codes with their sign, and those of infinities and NaN."""
    count = len(form.magnitudes)
    beyond = code.compare("sge", count)
    is_nan = x.compare("uno", x)
    code = code.integer(arith.MinSIOp, count - 1)
    lost = is_nan
    if np.isnan(form.overflow):
        lost = lost | beyond
    if form.signed:
        negative = x.bits().compare("slt", 0)
        if not form.negative_zero:
            some = code.compare("ne", 0)
            negative = negative & some
        if np.isinf(form.overflow):
            code = beyond.select(count, code)
        with_sign = code | 1 << width - 1
        code = negative.select(with_sign, code)
    else:
        lost = lost | x.compare("olt", 0.0)
    nans = np.flatnonzero(np.isnan(form.decoded))
    if nans.size:
        return lost.select(int(nans[0]), code)
    return is_nan.select(1 << width - 1, code)
