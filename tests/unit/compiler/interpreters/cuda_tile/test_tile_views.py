"""Views of tensors: partitions, strides, gathering, padding, and their sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.tables import table_test
from support.tiles import Array, entry_of

from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.passmanager.errors import PasslineError

TENSOR = "tensor_view<?x6xf32, strides=[6,1]>"


def copying(kind: str, made: str, index: str, tile: str) -> str:
    """Return an entry that loads a tile of a view of %a and stores it to %r."""
    rows, columns = tile.split("x")[:2]
    stored = f"tensor_view<{tile}, strides=[{columns},1]>"
    to = f"partition_view<tile=({rows}x{columns}), {stored}>"
    types = "tile<2xi32>, tile<i32>" if kind == "gather_scatter" else "tile<i32>"
    return f"""(%a: tile<ptr<f32>>, %r: tile<ptr<f32>>, %n: tile<i32>, %i: tile<i32>,
        %j: tile<i32>) {{
      %z = constant <i32: 0> : tile<i32>
      %g = constant <i32: [3, 0]> : tile<2xi32>
      %t = make_tensor_view %a, shape = [%n, 6], strides = [6, 1] : tile<i32> -> {TENSOR}
      %v = make_{kind}_view %t : {made}
      %x, %u = load_view_tko weak %v[{index}] : {made}, {types} -> tile<{tile}>, token
      %s = make_tensor_view %r, shape = [{rows}, {columns}], strides = [{columns}, 1] : {stored}
      %w = make_partition_view %s : {to}
      %y = store_view_tko weak %x, %w[%z, %z] : tile<{tile}>, {to}, tile<i32> -> token
      return
    }}"""


A = np.arange(30, dtype=np.float32).reshape(5, 6)
PADDED = np.pad(A, ((0, 3), (0, 2)), constant_values=np.nan)


@table_test(
    "kind, made, at, expected",
    [
        ("partition", f"tile=(2x4), padding_value = nan, {TENSOR}", (0, 0), PADDED[:2, :4]),
        ("partition", f"tile=(2x4), padding_value = nan, {TENSOR}", (2, 1), PADDED[4:6, 4:8]),
        (
            "partition",
            f"tile=(2x4), padding_value = nan, {TENSOR}, dim_map=[1, 0]",
            (2, 1),
            PADDED[4:8, 4:6].T,
        ),
        (
            "strided",
            f"tile=(2x4), traversal_strides=[3,1], padding_value = nan, {TENSOR}",
            (1, 3),
            PADDED[3:5, 3:7],
        ),
        ("gather_scatter", f"tile=(2x4), {TENSOR}, sparse_dim=0", (0, 2), A[[3, 0], 2:]),
    ],
)
def test_tiles_of_views(kind: str, made: str, at: tuple[int, int], expected: Array):
    index = "%g, %j" if kind == "gather_scatter" else "%i, %j"
    entry = entry_of(copying(kind, f"{kind}_view<{made}>", index, "2x4xf32"))
    for check in (False, True):
        found = np.zeros((2, 4), np.float32)
        run_entry(entry, (1, 1, 1), [A.copy(), found, 5, *at], check=check)
        np.testing.assert_array_equal(found, expected)


PADDING = [("zero", 0.0), ("neg_zero", -0.0), ("pos_inf", np.inf), ("neg_inf", -np.inf)]


@table_test("padding, value", PADDING)
def test_padding(padding: str, value: float):
    made = f"partition_view<tile=(2x4), padding_value = {padding}, {TENSOR}>"
    found = np.ones((2, 4), np.float32)
    arguments = [A.copy(), found, 5, 2, 1]
    run_entry(entry_of(copying("partition", made, "%i, %j", "2x4xf32")), (1, 1, 1), arguments)
    assert found[1].tolist() == [value] * 4
    assert np.signbit(found[1]).tolist() == [np.signbit(value)] * 4


def test_elements_without_padding_are_poisoned_by_the_check():
    entry = entry_of(
        copying("partition", f"partition_view<tile=(2x4), {TENSOR}>", "%i, %j", "2x4xf32")
    )
    for check, value in ((False, 0), (True, np.nan)):
        found = np.ones((2, 4), np.float32)
        run_entry(entry, (1, 1, 1), [A.copy(), found, 5, 2, 1], check=check)
        np.testing.assert_array_equal(found[1], [value] * 4)


STORE = """(%a: tile<ptr<f32>>, %i: tile<i32>) {
  %t = make_tensor_view %a, shape = [5, 6], strides = [6, 1] : tensor_view<5x6xf32, strides=[6,1]>
  %v = make_VIEW
  %c = constant <f32: 1.0> : tile<2x4xf32>
  %g = constant <i32: [4, 9]> : tile<2xi32>
  %u = OP
  return
}"""


@table_test(
    "view, op, rows",
    [
        (
            "partition_view %t : partition_view<tile=(2x4), tensor_view<5x6xf32, strides=[6,1]>>",
            "store_view_tko weak %c, %v[%i, %i] : tile<2x4xf32>, partition_view<tile=(2x4), "
            "tensor_view<5x6xf32, strides=[6,1]>>, tile<i32> -> token",
            [2, 3],
        ),
        (
            "gather_scatter_view %t : gather_scatter_view<tile=(2x4), tensor_view<5x6xf32, "
            "strides=[6,1]>, sparse_dim=0>",
            "store_view_tko weak %c, %v[%g, %i] : tile<2x4xf32>, gather_scatter_view<tile=(2x4), "
            "tensor_view<5x6xf32, strides=[6,1]>, sparse_dim=0>, tile<2xi32>, tile<i32> -> token",
            [4],
        ),
        (
            "partition_view %t : partition_view<tile=(2x4), tensor_view<5x6xf32, strides=[6,1]>>",
            "atomic_red_view_tko relaxed device %v[%i, %i], addf, %c : tile<2x4xf32>, "
            "partition_view<tile=(2x4), tensor_view<5x6xf32, strides=[6,1]>>, tile<i32> -> token",
            [2, 3],
        ),
    ],
)
def test_elements_outside_are_not_stored(view: str, op: str, rows: list[int]):
    entry = entry_of(STORE.replace("VIEW", view).replace("OP", op))
    found = np.zeros((5, 6), np.float32)
    run_entry(entry, (1, 1, 1), [found, 1], check=True)
    expected = np.zeros((5, 6), np.float32)
    expected[rows, 1 if rows == [4] else 4 :] = 1
    expected[:, 5] *= rows != [4]
    np.testing.assert_array_equal(found, expected)


def test_an_index_outside_of_the_tiles_is_reported():
    entry = entry_of(
        copying("partition", f"partition_view<tile=(2x4), {TENSOR}>", "%i, %j", "2x4xf32")
    )
    arguments: list[Any] = [A.copy(), np.zeros(8, np.float32), 5, 3, 0]
    run_entry(entry, (1, 1, 1), arguments)
    message = r"'cuda_tile.load_view_tko' .* has the index \[3, 0\] outside of tiles \[3, 2\]"
    with pytest.raises(PasslineError, match=message):
        run_entry(entry, (1, 1, 1), arguments, check=True)
    arguments[3] = -1  # as an unsigned integer
    with pytest.raises(PasslineError, match=r"has the index \[4294967295, 0\]"):
        run_entry(entry, (1, 1, 1), arguments, check=True)


def test_a_view_that_exceeds_its_buffer():
    entry = entry_of(
        copying("partition", f"partition_view<tile=(2x4), {TENSOR}>", "%i, %j", "2x4xf32")
    )
    message = "'cuda_tile.make_tensor_view' .* up to element 35 exceeds argument 0, which has 30"
    with pytest.raises(PasslineError, match=message):
        run_entry(entry, (1, 1, 1), [A, np.zeros(8, np.float32), 6, 0, 0])


def test_sizes_of_views():
    text = """(%a: tile<ptr<f32>>, %r: tile<ptr<i64>>, %n: tile<i64>) {
      %t = make_tensor_view %a, shape = [%n, 6], strides = [6, 1]
        : tile<i64> -> tensor_view<?x6xf32, strides=[6,1]>
      %v = make_partition_view %t : partition_view<tile=(2x4), tensor_view<?x6xf32, strides=[6,1]>>
      %x, %y = get_tensor_shape %t : tensor_view<?x6xf32, strides=[6,1]> -> tile<i64>
      %k, %l = get_index_space_shape %v
        : partition_view<tile=(2x4), tensor_view<?x6xf32, strides=[6,1]>> -> tile<i64>
      %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
      %g = exti %gx signed : tile<i32> -> tile<i64>
      %p = muli %x, %y : tile<i64>
      %q = muli %k, %l : tile<i64>
      %s = addi %p, %q : tile<i64>
      %z = addi %s, %g : tile<i64>
      %u = store_ptr_tko weak %r, %z : tile<ptr<i64>>, tile<i64> -> token
      return
    }"""
    found = np.zeros(1, np.int64)
    run_entry(entry_of(text), (1, 1, 1), [A, found, 5])
    assert found[0] == 5 * 6 + 3 * 2 + 1
