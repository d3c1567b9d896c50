"""The tile program of transpositions computes what their semantics computes."""

from __future__ import annotations

import pytest
from support.gpu.product_runs import check_product, unknown
from support.tables import table_test
from xdsl.dialects.func import FuncOp

import passline
from passline.compiler.kernels.gpu.tile_kernels import tile_kernel_of
from passline.dialects.target import Target

ORDERS = [
    ("1, 0", "65x130", "130x65"),
    ("0, 3, 1, 2", "2x7x9x70", "2x70x7x9"),
    ("0, 2, 3, 1", "2x70x7x9", "2x7x9x70"),
    ("2, 1, 0", "3x5x7", "7x5x3"),
    ("3, 0, 2, 1", "3x65x2x66", "66x3x2x65"),
    ("1, 0", "3x1000", "1000x3"),
    ("1, 0", "1x7", "7x1"),
]


@table_test("order, data, result", ORDERS)
def test_orders(order: str, data: str, result: str):
    body = f"%r = relax.transpose %a {{axes = [{order}]}} : (<A>) -> <R>"
    for element in ("f32", "i8", "bf16"):
        check_product(body, f"{data}x{element}", result=f"{result}x{element}")
    types = f"{data}xf32", f"{result}xf32"
    check_product(body, types[0], result=types[1], shown=(unknown(types[0]), unknown(types[1])))


@pytest.mark.parametrize("bias", ["70x1", "70x65", "1x65", ""])
def test_fused_operations(bias: str):
    body = """%0 = relax.exp %a : (<A>) -> <A>
              %1 = relax.transpose %0 : (<A>) -> <R>
              %2 = relax.add %1, %b : (<R>, <B>) -> <R>
              %r = relax.multiply %2, %1 : (<R>, <R>) -> <R>"""
    check_product(body, "65x70xf32", f"{bias}{'x' if bias else ''}f32", result="70x65xf32")


def test_the_last_dimension_stays():
    text = "%r = relax.transpose %a {axes = [1, 0, 2]} : (tensor<3x5x7xf32>) -> tensor<5x3x7xf32>"
    module = passline.load(
        f"func.func @f(%a: tensor<3x5x7xf32>) -> tensor<5x3x7xf32> "
        f"{{ {text} func.return %r : tensor<5x3x7xf32> }}"
    )
    (func,) = module.body.block.ops
    assert isinstance(func, FuncOp)
    assert tile_kernel_of(func, Target("sm_90")) is None
