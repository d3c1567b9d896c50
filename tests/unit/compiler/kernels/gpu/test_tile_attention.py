"""The tile program of attention computes what the semantics of attention computes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.gpu.tile_runs import Array, check_operation, check_tiles, random_array

from passline.compiler.kernels.gpu.tile_builder import TileKernel

LOWEST = float(np.finfo(np.float32).min)
FEW: tuple[int, ...] = (2, 65, 4, 16, 70, 2, 8)
"""batch, queries, heads, length of queries, keys, heads of keys, length of values"""


def check_attention(
    sizes: Sequence[int],
    properties: str = "",
    element: str = "f32",
    bias: Array | None = None,
    *,
    query: Array | None = None,
    unknown: Sequence[int] = (),
) -> TileKernel:
    batch, rows, heads, dim, keys, kv_heads, out = sizes
    shapes = ((batch, rows, heads, dim), (batch, keys, kv_heads, dim), (batch, keys, kv_heads, out))
    arrays = [random_array(shape, element) for shape in shapes]
    if query is not None:
        arrays[0] = query
    elements = [element] * 3
    if bias is not None:
        arrays.append(bias)
        elements.append("i1" if bias.dtype == np.bool_ else element)
    result = (batch, rows, heads, out)
    return check_operation("nn.attention", properties, arrays, elements, result, unknown=unknown)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "f64"])
def test_element_types(element: str):
    check_attention((2, 7, 4, 16, 9, 4, 16), "", element)
    check_attention((1, 65, 4, 20, 130, 2, 24), 'causal_mask = "BottomRight"', element)
    check_attention((1, 130, 2, 64, 65, 1, 64), 'causal_mask = "TopLeft"', element)
    check_attention((1, 1, 8, 128, 300, 2, 128), "", element)


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("shape", [(70,), (4, 65, 70), (2, 1, 1, 70), (65, 1)])
def test_bias(shape: tuple[int, ...], element: str):
    check_attention(FEW, "scale = 0.3 : f64", element, random_array(shape, element))


@pytest.mark.parametrize(
    "properties",
    ["", "masked_value = -1.0e9 : f64", "nan_to_zero = true", 'causal_mask = "TopLeft"'],
)
@pytest.mark.parametrize("shape", [(2, 1, 65, 70), (2, 1, 1, 70), (2, 1, 65, 1)])
def test_masks(shape: tuple[int, ...], properties: str):
    check_attention(FEW, properties, "f32", random_array(shape, "i1"))


@pytest.mark.parametrize("properties", ["", ", nan_to_zero = true"])
def test_queries_that_see_no_key(properties: str):
    check_attention((1, 70, 4, 16, 20, 2, 8), f'causal_mask = "BottomRight"{properties}')


@pytest.mark.parametrize("causal", ["none", "TopLeft", "BottomRight"])
@pytest.mark.parametrize("keys", [0, 9, 200])
def test_unknown_lengths(keys: int, causal: str):
    sizes = (2, 7, 4, 16, keys, 4, 16)
    check_attention(sizes, f'causal_mask = "{causal}"', unknown=(0, 1))


@pytest.mark.parametrize("causal", ["none", "TopLeft", "BottomRight"])
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_blocks_share_the_keys_of_few_queries(element: str, causal: str):
    sizes, properties = (2, 7, 4, 16, 700, 2, 8), f'causal_mask = "{causal}"'
    kernel = check_attention(sizes, properties, element)
    assert [entry.sym_name.data for entry in kernel.entries] == ["main_parts", "main"]
    check_attention(sizes, properties, element, random_array((2, 1, 1, 700), "i1"))


def test_a_bias_of_the_lowest_number_is_no_infinity():
    bias = np.zeros((2, 1, 1, 70), np.float32)
    bias[0] = bias[1, ..., :30] = LOWEST
    check_attention(FEW, "", "f32", bias)
    check_attention(FEW, f"masked_value = {LOWEST} : f64", "f32", bias == 0)


@pytest.mark.parametrize("properties", ["", "nan_to_zero = true"])
def test_special_values(properties: str):
    query = random_array((1, 5, 2, 16), "f32")
    query[0, 1, 0, 3], query[0, 2, 1, 3] = np.nan, np.inf
    check_attention((1, 5, 2, 16, 70, 2, 8), properties, query=query)


def test_element_wise_operations_are_fused():
    text = """
        func.func @main(%q: tensor<2x7x4x16xf32>, %b: tensor<16xf32>) -> tensor<2x7x4x16xf32> {
          %0 = relax.nn.attention %q, %q, %q
              : (tensor<2x7x4x16xf32>, tensor<2x7x4x16xf32>, tensor<2x7x4x16xf32>)
              -> tensor<2x7x4x16xf32>
          %1 = relax.multiply %0, %b : (tensor<2x7x4x16xf32>, tensor<16xf32>)
              -> tensor<2x7x4x16xf32>
          %2 = relax.exp %1 : (tensor<2x7x4x16xf32>) -> tensor<2x7x4x16xf32>
          return %2 : tensor<2x7x4x16xf32>
        }"""
    check_tiles(text, [random_array((2, 7, 4, 16), "f32"), random_array((16,), "f32")], 2e-5, 2e-5)
