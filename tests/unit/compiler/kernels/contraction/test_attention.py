"""The kernel of attention computes what the operation does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant
from support.operations.legalized import check_kernel, legalized
from support.tables import table_test
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Operation

from passline.compiler.kernels.builder import KernelBuilder
from passline.compiler.kernels.contraction.attention import ATTENTION, block_of
from passline.dialects.relax.contraction.attention import AttentionOp
from passline.dialects.relax.types import Element
from passline.dialects.sizes import Size
from passline.dialects.tir.functions import extent_of, size_of
from passline.dialects.tir.ops import PrimFuncOp
from passline.passmanager.ir.walk import walk

FLOATS = [(f16, 2e-3), (bf16, 2e-2), (f32, 1e-6), (f64, 1e-14)]


def numbers(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).normal(0, 1, shape)


def operands(
    element: Element, rows: int = 3, keys: int = 5, heads: int = 2, kv_heads: int = 1
) -> list[Operation]:
    shapes = (2, rows, heads, 4), (2, keys, kv_heads, 4), (2, keys, kv_heads, 3)
    return [constant(numbers(*shape), element) for shape in shapes]


def mask(*shape: int) -> Operation:
    return constant(numbers(*shape) > -1, i1)


@pytest.mark.parametrize(("element", "close"), FLOATS, ids=str)
@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("kv_heads", [1, 2])
def test_heads(kv_heads: int, rows: int, element: Element, close: float):
    bias = constant(numbers(rows, 5), element)
    op = AttentionOp(*operands(element, rows, kv_heads=kv_heads), bias, scale=0.25)
    check_kernel(op, 4 * close, 8 * close)


def masked() -> Iterator[AttentionOp]:
    yield AttentionOp(*operands(f32), mask(5), masked_value=-1e9)
    yield AttentionOp(*operands(f32), mask(2, 1, 3, 1), causal_mask="BottomRight")
    yield AttentionOp(*operands(f32), constant(numbers(2, 1, 1, 5), f32), causal_mask="TopLeft")
    yield AttentionOp(*operands(f32, rows=6, keys=3), causal_mask="BottomRight")
    yield AttentionOp(*operands(f32, rows=6), mask(6, 1), nan_to_zero=True)
    yield AttentionOp(*operands(f32, rows=0))
    yield AttentionOp(*operands(f32, keys=0))


@pytest.mark.parametrize("op", [*masked()])
def test_masks(op: AttentionOp):
    check_kernel(op, 1e-5, 1e-6)


@needs_native
def test_machine_code():
    """Vectors of several widths, and their rests."""
    cases = {
        f"{rows} queries, {keys} keys, {causal}": AttentionOp(
            *operands(f32, rows, keys, heads=4, kv_heads=2),
            *([mask(rows, keys)] if causal == "none" else []),
            causal_mask=causal,
            nan_to_zero=causal == "BottomRight",
        )
        for rows, keys, causal in (
            (1, 40, "BottomRight"),
            (17, 33, "TopLeft"),
            (33, 17, "BottomRight"),
            (33, 33, "none"),
        )
    }
    check_machine_code(cases, 1e-5, 1e-5)


def test_scores_are_in_blocks():
    """The scores of many queries are not all in memory at a time."""
    shape = (1, 4096, 1, 4)
    query = constant(np.zeros(shape), f32)
    module = legalized(AttentionOp(query, query, query), "x86-64-v3{l2-cache=262144}")
    sizes = [np.prod(op.memref.type.get_shape()) for op in walk(module) if isinstance(op, AllocOp)]
    assert max(sizes) <= 17 * 4096  # 16 queries and padding


@table_test("keys", [100, 127, 128, 129, 240, 256])
def test_rows_of_scores_are_an_odd_number_of_cache_lines_apart(keys: int):
    """Also of a number of keys that is known at run time only."""
    b = KernelBuilder(PrimFuncOp("f", []))
    for given in (keys, extent_of(Size.symbol("keys"))):
        _, extent = block_of(b, 64, given, f32)
        distance = size_of(extent).bind({"keys": keys}).known
        assert distance is not None and keys <= distance < keys + 48
        assert distance % 32 == 16  # of 16 elements, a line


def test_every_operation_is_here():
    assert [*ATTENTION] == [AttentionOp]
