"""Tile programs of matrix products compute what the semantics of the operations compute."""

from __future__ import annotations

import pytest
from support.gpu.product_runs import check_product, unknown
from support.tables import table_test
from xdsl.dialects.func import FuncOp

import passline
from passline.compiler.kernels.gpu.tile_builder import TileKernel
from passline.compiler.kernels.gpu.tile_kernels import tile_kernel_of
from passline.dialects.target import Target

MATMUL = "%r = relax.matmul %a, %b : (<A>, <B>) -> <R>"
DENSE = "%r = relax.nn.dense %a, %b : (<A>, <B>) -> <R>"
SUMMED = """%0 = relax.matmul %a, %b : (<A>, <B>) -> <R>
            %1 = relax.add %0, %c : (<R>, <C>) -> <R>
            %r = relax.nn.relu %1 : (<R>) -> <R>"""
TYPES = ["f16", "bf16", "f32", "f64", "i8", "ui8"]


@pytest.mark.parametrize("element", TYPES)
def test_types(element: str):
    check_product(MATMUL, f"63x130x{element}", f"130x65x{element}", result=f"63x65x{element}")


@pytest.mark.parametrize("out", ["i8", "i16", "i32", "i64"])
def test_sums_of_bytes(out: str):
    body = MATMUL.replace(" :", f" {{out_dtype = {out}}} :")
    check_product(body, "7x130xi8", "130x65xi8", result=f"7x65x{out}")


SIZES = [(1, 1, 1), (1, 65, 130), (7, 63, 1), (63, 7, 65), (65, 130, 7), (130, 1, 63), (64, 64, 64)]


@table_test("m, n, k", SIZES)
def test_sizes(m: int, n: int, k: int):
    check_product(MATMUL, f"{m}x{k}xf32", f"{k}x{n}xf32", result=f"{m}x{n}xf32")


SHAPES = [
    ("3x7x65", "3x65x17", "3x7x17"),
    ("3x7x65", "1x65x17", "3x7x17"),
    ("2x1x7x65", "3x65x17", "2x3x7x17"),
    ("2x3x7x65", "65x17", "2x3x7x17"),
    ("65", "65x17", "17"),
    ("7x65", "65", "7"),
    ("65", "3x65x17", "3x17"),
    ("3x7x65", "65", "3x7"),
]


@table_test("lhs, rhs, result", SHAPES)
def test_batches_and_vectors(lhs: str, rhs: str, result: str):
    check_product(MATMUL, f"{lhs}xf32", f"{rhs}xf32", result=f"{result}xf32")


def test_product_of_vectors():
    check_product(MATMUL, "65xf32", "65xf32", result="f32")


@table_test("lhs, rhs, result", SHAPES)
def test_unknown_sizes(lhs: str, rhs: str, result: str):
    types = [f"{shape}xf32" for shape in (lhs, rhs, result)]
    shown = tuple(map(unknown, types))
    check_product(MATMUL, *types[:2], result=types[2], shown=shown)


@pytest.mark.parametrize("of_a", ["true", "false"])
@pytest.mark.parametrize("of_b", ["true", "false"])
def test_transposed(of_a: str, of_b: str):
    flags = f"{{transpose_a = {of_a}, transpose_b = {of_b}}}"
    body = f"%r = relax.nn.batch_matmul %a, %b {flags} : (<A>, <B>) -> <R>"
    lhs = "3x65x7xf16" if of_a == "true" else "3x7x65xf16"
    rhs = "3x130x65xf16" if of_b == "true" else "3x65x130xf16"
    check_product(body, lhs, rhs, result="3x7x130xf16")


def test_dense():
    check_product(DENSE, "2x7x65xf16", "63x65xf16", result="2x7x63xf16")
    check_product(DENSE, "65xf32", "63x65xf32", result="63xf32")


BIASES = ["63xf32", "1xf32", "7x1xf32", "7x63xf32", "2x1x1xf32", "2x7x63xf32", "f32"]


@table_test("bias", BIASES)
def test_fused_behind(bias: str):
    check_product(SUMMED, "2x7x65xf32", "65x63xf32", bias, result="2x7x63xf32")


def test_fused_in_front():
    body = """%0 = relax.abs %a : (<A>) -> <A>
              %1 = relax.multiply %0, %0 : (<A>, <A>) -> <A>
              %r = relax.matmul %1, %b : (<A>, <B>) -> <R>"""
    check_product(body, "2x7x65xf32", "65x63xf32", result="2x7x63xf32")


def test_infinite_numbers_beyond_the_last_term():
    body = """%0 = relax.abs %b : (<B>) -> <B>
              %1 = relax.log %0 : (<B>) -> <B>
              %r = relax.matmul %a, %1 : (<A>, <B>) -> <R>"""
    check_product(body, "7x65xf32", "65x63xf32", result="7x63xf32")


@pytest.mark.parametrize("body", [MATMUL, SUMMED])
def test_blocks_share_the_terms_of_few_tiles(body: str):
    operands = ["1x4097xf32", "4097x63xf32", "63xf32"][: 2 if body == MATMUL else 3]
    kernel = check_product(body, *operands, result="1x63xf32")
    assert len(kernel.entries) == 2
    (choice,) = kernel.choices.made
    assert choice.choice.form["parts"] == 32


def test_f32_is_rounded_to_tf32_on_request():
    types = ["63x130xf32", "130x65xf32"]
    exact = check_product(MATMUL, *types, result="63x65xf32")
    target = 'sm_90{features="+tf32"}'
    rounded = check_product(MATMUL, *types, result="63x65xf32", target=target, factor=500)
    names = [sum("tf32" in str(op) for op in k.entries[0].walk()) for k in (exact, rounded)]
    assert names[0] == 0 < names[1]


def test_large_products_have_large_tiles():
    kernel = kernel_of("4096x4096xf16", "4096x4096xf16", "4096x4096xf16")
    assert kernel is not None
    (remark,) = kernel.remarks
    assert remark.message == "a block computes 128x256 sums, 64 terms at a time"
    assert [made.choice.kind for made in kernel.choices.made] == ["product-tiles"]


@pytest.mark.parametrize(
    "types", [("2x0xf32", "0x3xf32", "2x3xf32"), ("2x3xi16", "3x4xi16", "2x4xi16")]
)
def test_others_have_no_tile_program(types: tuple[str, str, str]):
    assert kernel_of(*types) is None


def kernel_of(lhs: str, rhs: str, result: str) -> TileKernel | None:
    body = MATMUL.replace("<A>", f"tensor<{lhs}>").replace("<B>", f"tensor<{rhs}>")
    body = body.replace("<R>", f"tensor<{result}>")
    text = f"func.func @f(%a: tensor<{lhs}>, %b: tensor<{rhs}>) -> tensor<{result}>"
    module = passline.load(f"{text} {{ {body} func.return %r : tensor<{result}> }}")
    (func,) = module.body.block.ops
    assert isinstance(func, FuncOp)
    return tile_kernel_of(func, Target("sm_90"))
