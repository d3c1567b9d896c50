"""Kernels of nonzero: the number of columns is that of the elements that are not 0."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native

import passline


@needs_native
@pytest.mark.parametrize(
    ("element", "dtype", "shape"),
    [("f32", np.float32, (4, 5)), ("i1", np.bool_, (7,)), ("ui8", np.uint8, (2, 3, 4))],
)
def test_nonzero(element: str, dtype: type[np.generic], shape: tuple[int, ...]):
    given = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    columns, rows = f"tensor<{len(shape)}x?xi64>", f"tensor<?x{len(shape)}xi64>"
    text = f"""
    func.func @main(%x: {given}) -> {rows} {{
      %0 = relax.nonzero %x : ({given}) -> {columns}
      %1 = relax.transpose %0 : ({columns}) -> {rows}
      return %1 : {rows}
    }}"""
    compiled = passline.compile(text, level=0)
    rng = np.random.default_rng(1)
    for share in (0, 0.3, 1):
        x = (rng.random(shape) < share).astype(dtype)
        (actual,), (wanted,) = compiled(x), passline.run(text, x)
        assert actual.dtype == wanted.dtype
        np.testing.assert_array_equal(actual, wanted)
