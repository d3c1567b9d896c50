"""Loads, stores and atomic operations by tiles of pointers."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import table_test
from support.tiles import Array, entry_of

from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.passmanager.errors import PasslineError


def pointers(name: str, type: str, size: int = 8) -> str:
    """Return the text that makes a tile %name_t of pointers to the elements from %name on."""
    ptr = f"ptr<{type}>"
    return f"""
      %{name}_1 = reshape %{name} : tile<{ptr}> -> tile<1x{ptr}>
      %{name}_n = broadcast %{name}_1 : tile<1x{ptr}> -> tile<{size}x{ptr}>
      %{name}_i = iota : tile<{size}xi32>
      %{name}_t = offset %{name}_n, %{name}_i
        : tile<{size}x{ptr}>, tile<{size}xi32> -> tile<{size}x{ptr}>"""


COPY = f"""(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) {{
  {pointers("a", "f32")}
  {pointers("b", "f32")}
  %m_1 = reshape %n : tile<i32> -> tile<1xi32>
  %m_n = broadcast %m_1 : tile<1xi32> -> tile<8xi32>
  %m = cmpi less_than %a_i, %m_n, signed : tile<8xi32> -> tile<8xi1>
  %p = constant <f32: 9.0> : tile<8xf32>
  %x, %t = load_ptr_tko weak %a_t, %m, %p
    : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
  %u = store_ptr_tko weak %b_t, %x, %m : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  return
}}"""


def test_masked_elements_are_not_accessed():
    source, target = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    run_entry(entry_of(COPY), (1, 1, 1), [source, target, 5], check=True)
    np.testing.assert_array_equal(target, source)
    with pytest.raises(PasslineError, match="element 5 is outside of argument 0, which has 5"):
        run_entry(entry_of(COPY), (1, 1, 1), [source, target, 6])


def test_a_pointer_into_a_buffer():
    source, target = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    run_entry(entry_of(COPY), (1, 1, 1), [(source, 5), (target, 1), 3], check=True)
    np.testing.assert_array_equal(target, [0, 5, 6, 7, 0, 0, 0, 0])
    with pytest.raises(PasslineError, match=r"in block \(0, 0, 0\) .* element 8 is outside"):
        run_entry(entry_of(COPY), (1, 1, 1), [(source, 5), (target, 1), 4])
    with pytest.raises(PasslineError, match="argument 0 is of float64, not of float32, for f32"):
        run_entry(entry_of(COPY), (1, 1, 1), [source.astype("f8"), target, 4])
    with pytest.raises(PasslineError, match="@k has 3 parameters, not 1"):
        run_entry(entry_of(COPY), (1, 1, 1), [source])


def test_pointers_to_two_buffers_in_one_tile():
    text = f"""(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %r: tile<ptr<i32>>) {{
      {pointers("a", "i32", 2)}
      {pointers("b", "i32", 2)}
      {pointers("r", "i32", 4)}
      %c = cat %b_t, %a_t dim = 0
        : tile<2xptr<i32>>, tile<2xptr<i32>> -> tile<4xptr<i32>>
      %x, %t = load_ptr_tko weak %c : tile<4xptr<i32>> -> tile<4xi32>, token
      %u = store_ptr_tko weak %r_t, %x : tile<4xptr<i32>>, tile<4xi32> -> token
      return
    }}"""
    a, b, r = np.array([1, 2], "i4"), np.array([3, 4], "i4"), np.zeros(4, "i4")
    run_entry(entry_of(text), (1, 1, 1), [a, b, r], check=True)
    assert r.tolist() == [3, 4, 1, 2]


def atomic(mode: str, type: str) -> str:
    """Return an entry that updates the elements of %a at the indices in %i by %v."""
    ptr = f"ptr<{type}>"
    return f"""(%a: tile<{ptr}>, %i: tile<ptr<i32>>, %v: tile<{ptr}>, %r: tile<{ptr}>) {{
      {pointers("i", "i32")}
      {pointers("v", type)}
      {pointers("r", type)}
      {pointers("a", type)}
      %j, %t = load_ptr_tko weak %i_t : tile<8xptr<i32>> -> tile<8xi32>, token
      %x, %u = load_ptr_tko weak %v_t : tile<8x{ptr}> -> tile<8x{type}>, token
      %p = offset %a_n, %j : tile<8x{ptr}>, tile<8xi32> -> tile<8x{ptr}>
      %old, %w = atomic_rmw_tko relaxed device %p, {mode}, %x
        : tile<8x{ptr}>, tile<8x{type}> -> tile<8x{type}>, token
      %y = store_ptr_tko weak %r_t, %old : tile<8x{ptr}>, tile<8x{type}> -> token
      return
    }}"""


MODES: list[tuple[str, str, list[float]]] = [
    ("add", "i32", [-4 + 1 + 2 + 3, 0, 6 + 10, 1 + 8]),
    ("addf", "f32", [-4 + 1 + 2 + 3, 0, 6 + 10, 1 + 8]),
    ("addf", "bf16", [-4 + 1 + 2 + 3, 0, 6 + 10, 1 + 8]),
    ("max", "i32", [3, 0, 7, 8]),
    ("min", "i32", [-4, 0, 1, 1]),
    ("umax", "i32", [-4, 0, 7, 8]),
    ("umin", "i64", [1, 0, 1, 1]),
    ("and", "i32", [-4 & 1 & 2 & 3, 0, 6 & 1 & 7, 1 & 8]),
    ("or", "i32", [-4 | 1 | 2 | 3, 0, 7, 9]),
    ("xor", "i64", [-4 ^ 1 ^ 2 ^ 3, 0, 6 ^ 1 ^ 1 ^ 1 ^ 7, 1 ^ 8]),
    ("xchg", "f32", [3, 0, 7, 8]),
]
DTYPES = {"i32": np.int32, "i64": np.int64, "f32": np.float32, "bf16": np.float32}


@table_test("mode, type, expected", MODES)
def test_atomic_operations(mode: str, type: str, expected: list[float]):
    array = np.array([-4, 0, 6, 1], DTYPES[type])
    before, index = array.copy(), np.array([0, 0, 0, 2, 2, 2, 2, 3], np.int32)
    values = np.array([1, 2, 3, 1, 1, 1, 7, 8], DTYPES[type])
    old = np.zeros(8, DTYPES[type])
    text = atomic(mode, type)
    # The pointers to all of %a, of which there are only four, are not used.
    run_entry(entry_of(text), (1, 1, 1), [array, index, values, old], check=True)
    assert array.tolist() == expected
    assert old[[0, 3, 7]].tolist() == before[[0, 2, 3]].tolist()
    without = text.replace("weak %r_t, %old", "weak %r_t, %x")  # the old values are not used
    fast = before.copy()
    run_entry(entry_of(without), (1, 1, 1), [fast, index, values, old], check=True)
    np.testing.assert_array_equal(fast, array)


def test_compare_and_swap():
    text = f"""(%a: tile<ptr<f32>>, %r: tile<ptr<f32>>) {{
      {pointers("a", "f32", 4)}
      {pointers("r", "f32", 4)}
      %c = constant <f32: 0.0> : tile<4xf32>
      %v = constant <f32: 5.0> : tile<4xf32>
      %m = constant <i1: [1, 1, 1, 0]> : tile<4xi1>
      %old, %t = atomic_cas_tko relaxed device %a_t, %c, %v, %m
        : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> tile<4xf32>, token
      %u = store_ptr_tko weak %r_t, %old : tile<4xptr<f32>>, tile<4xf32> -> token
      return
    }}"""
    array, old = np.array([0.0, -0.0, 1, 0], np.float32), np.ones(4, np.float32)
    run_entry(entry_of(text), (1, 1, 1), [array, old], check=True)
    np.testing.assert_array_equal(array, [5, -0.0, 1, 0])
    assert old.tolist() == [0, 0, 1, 0]


HISTOGRAM = f"""(%d: tile<ptr<i32>>, %h: tile<ptr<i32>>, %n: tile<i32>) {{
  {pointers("d", "i32", 16)}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %c = constant <i32: 16> : tile<i32>
  %s = muli %x, %c : tile<i32>
  %s_1 = reshape %s : tile<i32> -> tile<1xi32>
  %s_n = broadcast %s_1 : tile<1xi32> -> tile<16xi32>
  %e = addi %s_n, %d_i : tile<16xi32>
  %n_1 = reshape %n : tile<i32> -> tile<1xi32>
  %n_n = broadcast %n_1 : tile<1xi32> -> tile<16xi32>
  %m = cmpi less_than %e, %n_n, signed : tile<16xi32> -> tile<16xi1>
  %p = offset %d_n, %e : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
  %zero = constant <i32: 0> : tile<16xi32>
  %k, %t = load_ptr_tko weak %p, %m, %zero
    : tile<16xptr<i32>>, tile<16xi1>, tile<16xi32> -> tile<16xi32>, token
  {pointers("h", "i32", 16).rpartition("%h_i =")[0]}
  %q = offset %h_n, %k : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
  %one = constant <i32: 1> : tile<16xi32>
  %old, %u = atomic_rmw_tko relaxed device %q, add, %one, %m
    : tile<16xptr<i32>>, tile<16xi32>, tile<16xi1> -> tile<16xi32>, token
  return
}}"""


def test_a_histogram():
    data = np.random.default_rng(2).integers(0, 5, 100).astype(np.int32)
    bins: Array = np.zeros(5, np.int32)
    run_entry(entry_of(HISTOGRAM), (7, 1, 1), [data, bins, 100], check=True)
    assert bins.tolist() == np.bincount(data, minlength=5).tolist()


def test_globals_and_memory_of_a_block():
    text = f"""(%r: tile<ptr<i32>>) {{
      %g = get_global @g : tile<ptr<i32>>
      {pointers("g", "i32", 2)}
      {pointers("r", "i32", 2)}
      %s = alloca num_elem = 2, alignment = 4 : tile<ptr<i32>>
      {pointers("s", "i32", 2)}
      %x, %t = load_ptr_tko weak %g_t : tile<2xptr<i32>> -> tile<2xi32>, token
      %u = store_ptr_tko weak %s_t, %x : tile<2xptr<i32>>, tile<2xi32> -> token
      %y, %v = load_ptr_tko weak %s_t token=%u : tile<2xptr<i32>> -> tile<2xi32>, token
      %w = store_ptr_tko weak %r_t, %y : tile<2xptr<i32>>, tile<2xi32> -> token
      return
    }}"""
    found = np.zeros(2, np.int32)
    entry = entry_of(text, "global @g <i32: [5, 6]> : tile<2xi32>")
    assert run_entry(entry, (1, 1, 1), [found], check=True) == []
    assert found.tolist() == [5, 6]
    text = text.replace("%u = store_ptr_tko weak %s_t, %x", "%u = store_ptr_tko weak %g_t, %x")
    with pytest.raises(PasslineError, match="reads element 0 of .*alloca.* without a value"):
        run_entry(
            entry_of(text, "global @g <i32: 5> : tile<2xi32>"), (1, 1, 1), [found], check=True
        )


def test_pointers_of_other_types():
    text = f"""(%a: tile<ptr<f32>>, %r: tile<ptr<i32>>) {{
      %b = ptr_to_ptr %a : tile<ptr<f32>> -> tile<ptr<i32>>
      %i = ptr_to_int %b : tile<ptr<i32>> -> tile<i64>
      %c = int_to_ptr %i : tile<i64> -> tile<ptr<i32>>
      {pointers("c", "i32", 2)}
      {pointers("r", "i32", 2)}
      %x, %t = load_ptr_tko weak %c_t : tile<2xptr<i32>> -> tile<2xi32>, token
      %w = store_ptr_tko weak %r_t, %x : tile<2xptr<i32>>, tile<2xi32> -> token
      return
    }}"""
    found = np.zeros(2, np.int32)
    run_entry(entry_of(text), (1, 1, 1), [np.ones(2, np.float32), found])
    assert found.tolist() == [0x3F800000, 0x3F800000]
