"""FuseTransposeMatmul: one kernel, and products of random shapes."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from support.passes.results import run
from xdsl.dialects.func import CallOp

import passline
from passline.dialects.relax.data.manipulation import TransposeOp
from passline.passes.relax.fuse_transpose_matmul import FuseTransposeMatmul
from passline.passmanager.ir.walk import walk


def type_of(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join(map(str, (*shape, 'f32')))}>"


def product(x: tuple[int, ...], y: tuple[int, ...], side: int) -> str:
    """Return a function that multiplies matrices of two shapes, one of which comes transposed."""
    given = [x, y]
    given[side] = (*given[side][:-2], *given[side][:-3:-1])
    rank = len(given[side])
    axes = [*range(rank - 2), rank - 1, rank - 2]
    names = ["%x", "%y"]
    names[side] = "%t"
    shape = (*np.broadcast_shapes(x[:-2], y[:-2]), x[-2], y[-1])
    types = f"({type_of(x)}, {type_of(y)}) -> {type_of(shape)}"
    old, new = type_of(given[side]), type_of((x, y)[side])
    return f"""
    func.func @main(%x: {type_of(given[0])}, %y: {type_of(given[1])}) -> {type_of(shape)} {{
      %t = relax.transpose {["%x", "%y"][side]} {{axes = {axes}}} : ({old}) -> {new}
      %r = relax.matmul {", ".join(names)} : {types}
      %s = relax.nn.relu %r : ({type_of(shape)}) -> {type_of(shape)}
      func.return %s : {type_of(shape)}
    }}
    """


SHAPES = [
    ((3, 4), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((6, 2, 3, 4), (6, 2, 4, 5)),
    ((6, 1, 3, 4), (2, 4, 5)),
    ((3, 4), (2, 4, 1)),
]


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("x", "y"), SHAPES)
def test_products_stay_equal(x: tuple[int, ...], y: tuple[int, ...], side: int):
    before = parsed(product(x, y, side))
    after = FuseTransposeMatmul()(before)
    assert not [op for op in walk(after) if isinstance(op, TransposeOp)]
    random = np.random.default_rng(7)
    shapes = [x, y]
    shapes[side] = (*shapes[side][:-2], *shapes[side][:-3:-1])
    arguments = tuple(random.standard_normal(shape).astype("f4") for shape in shapes)
    (mine,), (expected,) = (run(module, "main", arguments) for module in (after, before))
    np.testing.assert_allclose(np.asarray(mine), np.asarray(expected), 1e-5, 1e-5)


@pytest.mark.parametrize("side", [0, 1])
def test_one_kernel_computes_the_product(side: int):
    text = product((9, 17), (17, 33), side)
    module = passline.optimize(parsed(text), level=2)
    assert len([op for op in walk(module) if isinstance(op, CallOp)]) == 1
