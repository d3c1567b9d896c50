"""Entries as programs: control flow, printing, assertions, errors, and whole kernels."""

from __future__ import annotations

from io import StringIO
from random import Random

import numpy as np
import pytest
from support.tables import table_test
from support.tiles import Array, entry_of

from passline.compiler.interpreters.cuda_tile.device_memory import POINTER_ACCESS
from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.compiler.interpreters.cuda_tile.launch_ops import OF_LAUNCH
from passline.compiler.interpreters.cuda_tile.tile_products import FOLDS
from passline.compiler.interpreters.cuda_tile.tile_translation import PURE
from passline.compiler.interpreters.cuda_tile.tile_views import VIEWS
from passline.dialects.cuda_tile import control_ops, module_ops
from passline.dialects.cuda_tile.dialect import CUDA_TILE
from passline.passmanager.errors import PasslineError


def result_of(body: str, *numbers: int) -> int:
    """Return the i32 %r that operations compute of %a, %b, ..."""
    names = "abcd"[: len(numbers)]
    parameters = "".join(f", %{name}: tile<i32>" for name in names)
    found = np.full(1, -1, np.int32)
    text = f"""(%p: tile<ptr<i32>>{parameters}) {{
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      {body}
      %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
      return
    }}"""
    run_entry(entry_of(text), (1, 1, 1), [found, *numbers], check=True)
    return int(found[0])


FOR = """
  %r, %s = for%unsigned %i in (%a to %b, step %c) : tile<i32>
      iter_values(%x = %zero, %y = %one) -> (tile<i32>, tile<i32>) {
    %z = addi %x, %i : tile<i32>
    continue %y, %z : tile<i32>, tile<i32>
  }"""


def fibonacci_like(values: range) -> int:
    x, y = 0, 1
    for i in values:
        x, y = y, x + i
    return x


@table_test("low, high, step", [(0, 5, 1), (2, 9, 3), (5, 5, 1), (6, 2, 1), (-3, 4, 2)])
def test_loops_hand_values_on(low: int, high: int, step: int):
    found = result_of(FOR.replace("%unsigned", ""), low, high, step)
    assert found == fibonacci_like(range(low, high, step))


def test_a_loop_over_unsigned_numbers():
    found = result_of(FOR.replace("%unsigned", " unsigned"), -3, -1, 1)
    low = (1 << 32) - 3
    assert found % (1 << 32) == fibonacci_like(range(low, low + 2))


def test_a_step_of_zero():
    with pytest.raises(PasslineError, match="'cuda_tile.for' .* is positive, not 0"):
        result_of(FOR.replace("%unsigned", ""), 0, 1, 0)


COLLATZ = """
  %r, %s = loop iter_values(%n = %zero, %x = %a) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {
    %done = cmpi less_than_or_equal %x, %one, signed : tile<i32> -> tile<i1>
    if %done {
      break %n, %x : tile<i32>, tile<i32>
    }
    %m = addi %n, %one : tile<i32>
    %two = addi %one, %one : tile<i32>
    %odd = andi %x, %one : tile<i32>
    %is = cmpi equal %odd, %one, signed : tile<i32> -> tile<i1>
    if %is {
      %three = addi %two, %one : tile<i32>
      %y = muli %x, %three : tile<i32>
      %z = addi %y, %one : tile<i32>
      continue %m, %z : tile<i32>, tile<i32>
    }
    %h = divi %x, %two signed : tile<i32>
    continue %m, %h : tile<i32>, tile<i32>
  }"""


@table_test("start, count", [(1, 0), (8, 3), (7, 16), (27, 111)])
def test_loops_end_and_continue_within_conditions(start: int, count: int):
    assert result_of(COLLATZ, start) == count


def test_conditions():
    body = """
      %c = cmpi less_than %a, %b, signed : tile<i32> -> tile<i1>
      %r = if %c -> (tile<i32>) {
        yield %a : tile<i32>
      } else {
        %d = subi %a, %b : tile<i32>
        yield %d : tile<i32>
      }"""
    assert [result_of(body, 3, 5), result_of(body, 9, 5)] == [3, 4]


def test_an_early_return():
    body = """
      %c = cmpi less_than %a, %zero, signed : tile<i32> -> tile<i1>
      if %c {
        return
      }
      %r = addi %a, %one : tile<i32>"""
    assert [result_of(body, 4), result_of(body, -4)] == [5, -1]


def test_a_failed_assertion():
    body = """
      %c = cmpi less_than %a, %zero, signed : tile<i32> -> tile<i1>
      assert %c, "a is negative" : tile<i1>
      %r = addi %a, %one : tile<i32>"""
    message = (
        r"'cuda_tile.assert' at x.mlir:6:7 of @k in block \(0, 0, 0\) .* failed: a is negative"
    )
    with pytest.raises(PasslineError, match=message):
        result_of(body, 4)


def test_prints():
    text = """() {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %f = constant <f32: [1.0, 2.5]> : tile<2xf32>
      %t = print_tko "block %i, 100%%: %5.2f\\0A", %x, %f : tile<i32>, tile<2xf32> -> token
      return
    }"""
    output = StringIO()
    run_entry(entry_of(text), (2, 1, 1), [], output=output)
    assert output.getvalue() == "".join(f"block {i}, 100%: [ 1.00,  2.50]\n" for i in (0, 1))


def test_an_operation_that_does_not_exist_here():
    text = '() { "test.op"() : () -> ()\n return }'
    with pytest.raises(
        PasslineError, match="'test.op' at x.mlir:1:.* has no semantics in an entry"
    ):
        run_entry(entry_of(text), (1, 1, 1), [])


def test_all_operations_of_entries_have_semantics():
    known = {*PURE, *OF_LAUNCH, *POINTER_ACCESS, *VIEWS, *FOLDS}
    translated = {
        *(control_ops.ForOp, control_ops.LoopOp, control_ops.IfOp, control_ops.YieldOp),
        *(control_ops.BreakOp, control_ops.ContinueOp, control_ops.ReturnOp),
        *(module_ops.GetTileBlockIdOp, module_ops.GetNumTileBlocksOp),
    }
    around = {module_ops.ModuleOp, module_ops.EntryOp, module_ops.GlobalOp}
    assert set(CUDA_TILE.operations) == known | translated | around


# Whole kernels


def tensor(name: str, rows: str, columns: str, type: str) -> str:
    return f"""
      %{name}_t = make_tensor_view %{name}, shape = [{rows}, {columns}], strides = [{columns}, 1]
        : tile<i32> -> tensor_view<?x?x{type}, strides=[?,1]>"""


def partition(name: str, tile: str, type: str, padding: str = "padding_value = zero, ") -> str:
    return f"partition_view<tile=({tile}), {padding}tensor_view<?x?x{type}, strides=[?,1]>>"


X, Y, R = (
    partition("x", "16x8", "f16"),
    partition("y", "8x16", "f16"),
    partition("r", "16x16", "f16", ""),
)
PRODUCT = f"""(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %r: tile<ptr<f16>>, %m: tile<i32>,
    %n: tile<i32>, %k: tile<i32>) {{
  {tensor("x", "%m", "%k", "f16")}
  {tensor("y", "%k", "%n", "f16")}
  {tensor("r", "%m", "%n", "f16")}
  %i, %j, %l = get_tile_block_id : tile<i32>
  %xv = make_partition_view %x_t : {X}
  %yv = make_partition_view %y_t : {Y}
  %rv = make_partition_view %r_t : {R}
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %eight = constant <i32: 8> : tile<i32>
  %steps = divi %k, %eight signed rounding<positive_inf> : tile<i32>
  %c = constant <f32: 0.0> : tile<16x16xf32>
  %sum = for %o in (%zero to %steps, step %one) : tile<i32>
      iter_values(%acc = %c) -> (tile<16x16xf32>) {{
    %a, %u = load_view_tko weak %xv[%i, %o] : {X}, tile<i32> -> tile<16x8xf16>, token
    %b, %v = load_view_tko weak %yv[%o, %j] : {Y}, tile<i32> -> tile<8x16xf16>, token
    %d = mmaf %a, %b, %acc : tile<16x8xf16>, tile<8x16xf16>, tile<16x16xf32>
    continue %d : tile<16x16xf32>
  }}
  %f = ftof %sum : tile<16x16xf32> -> tile<16x16xf16>
  %w = store_view_tko weak %f, %rv[%i, %j] : tile<16x16xf16>, {R}, tile<i32> -> token
  return
}}"""


@table_test("check", [False, True])
def test_a_product_of_matrices(check: bool):
    random = np.random.default_rng(3)
    x, y = (random.normal(size=s).astype(np.float16) for s in ((40, 29), (29, 20)))
    found = np.zeros((40, 20), np.float16)
    arguments = [x, y, found, 40, 20, 29]
    run_entry(entry_of(PRODUCT), (3, 2, 1), arguments, check=check, order=Random(1))
    expected = (x.astype("f4") @ y.astype("f4")).astype("f2")
    np.testing.assert_allclose(found, expected, 2e-3, 1e-3)


def by_rows(name: str, kind: str, body: str, identity: str) -> str:
    """Return a reduction of the rows of %name to %kind, as wide as them."""
    return f"""
      %{kind}_1 = reduce %{name} dim=1 identities=[{identity} : f32]
          : tile<16x16xf32> -> tile<16xf32> (%next_{kind}: tile<f32>, %now_{kind}: tile<f32>) {{
        %{kind}_0 = {body} %next_{kind}, %now_{kind} : tile<f32>
        yield %{kind}_0 : tile<f32>
      }}
      %{kind} = reshape %{kind}_1 : tile<16xf32> -> tile<16x1xf32>"""


Q, K, V, TO = (partition(n, "16x16", "f32") for n in "qkvr")
ATTENTION = f"""(%q: tile<ptr<f32>>, %k: tile<ptr<f32>>, %v: tile<ptr<f32>>, %r: tile<ptr<f32>>,
    %n: tile<i32>) {{
  %d = constant <i32: 16> : tile<i32>
  {tensor("q", "%n", "%d", "f32")}
  {tensor("k", "%n", "%d", "f32")}
  {tensor("v", "%n", "%d", "f32")}
  {tensor("r", "%n", "%d", "f32")}
  %i, %bj, %bk = get_tile_block_id : tile<i32>
  %qv = make_partition_view %q_t : {Q}
  %kv = make_partition_view %k_t : {K}
  %vv = make_partition_view %v_t : {V}
  %rv = make_partition_view %r_t : {TO}
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %steps = divi %n, %d signed rounding<positive_inf> : tile<i32>
  %low = constant <f32: -1.0e30> : tile<16x1xf32>
  %none = constant <f32: 0.0> : tile<16x1xf32>
  %c = constant <f32: 0.0> : tile<16x16xf32>
  %ninf = constant <f32: 0xFF800000> : tile<16x16xf32>
  %iota = iota : tile<16xi32>
  %cols = reshape %iota : tile<16xi32> -> tile<1x16xi32>
  %cols_n = broadcast %cols : tile<1x16xi32> -> tile<16x16xi32>
  %n_1 = reshape %n : tile<i32> -> tile<1x1xi32>
  %n_n = broadcast %n_1 : tile<1x1xi32> -> tile<16x16xi32>
  %a, %ta = load_view_tko weak %qv[%i, %zero] : {Q}, tile<i32> -> tile<16x16xf32>, token
  %m, %l, %acc = for %j in (%zero to %steps, step %one) : tile<i32>
      iter_values(%m0 = %low, %l0 = %none, %acc0 = %c)
      -> (tile<16x1xf32>, tile<16x1xf32>, tile<16x16xf32>) {{
    %b, %tb = load_view_tko weak %kv[%j, %zero] : {K}, tile<i32> -> tile<16x16xf32>, token
    %bt = permute %b [1, 0] : tile<16x16xf32> -> tile<16x16xf32>
    %s0 = mmaf %a, %bt, %c : tile<16x16xf32>, tile<16x16xf32>, tile<16x16xf32>
    %base = muli %j, %d : tile<i32>
    %base_1 = reshape %base : tile<i32> -> tile<1x1xi32>
    %base_n = broadcast %base_1 : tile<1x1xi32> -> tile<16x16xi32>
    %at = addi %base_n, %cols_n : tile<16x16xi32>
    %in = cmpi less_than %at, %n_n, signed : tile<16x16xi32> -> tile<16x16xi1>
    %s = select %in, %s0, %ninf : tile<16x16xi1>, tile<16x16xf32>
    {by_rows("s", "top", "maxf", "0xFF800000")}
    %m1 = maxf %m0, %top : tile<16x1xf32>
    %m1_n = broadcast %m1 : tile<16x1xf32> -> tile<16x16xf32>
    %shifted = subf %s, %m1_n : tile<16x16xf32>
    %e = exp %shifted : tile<16x16xf32>
    {by_rows("e", "sum", "addf", "0.0")}
    %down = subf %m0, %m1 : tile<16x1xf32>
    %scale = exp %down : tile<16x1xf32>
    %l1 = fma %l0, %scale, %sum : tile<16x1xf32>
    %scale_n = broadcast %scale : tile<16x1xf32> -> tile<16x16xf32>
    %acc1 = mulf %acc0, %scale_n : tile<16x16xf32>
    %g, %tg = load_view_tko weak %vv[%j, %zero] : {V}, tile<i32> -> tile<16x16xf32>, token
    %acc2 = mmaf %e, %g, %acc1 : tile<16x16xf32>, tile<16x16xf32>, tile<16x16xf32>
    continue %m1, %l1, %acc2 : tile<16x1xf32>, tile<16x1xf32>, tile<16x16xf32>
  }}
  %l_n = broadcast %l : tile<16x1xf32> -> tile<16x16xf32>
  %h = divf %acc, %l_n : tile<16x16xf32>
  %w = store_view_tko weak %h, %rv[%i, %zero] : tile<16x16xf32>, {TO}, tile<i32> -> token
  return
}}"""


def softmax(array: Array) -> Array:
    powers = np.exp(array - array.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def test_attention():
    random = np.random.default_rng(4)
    q, k, v = (random.normal(size=(41, 16)).astype(np.float32) for _ in range(3))
    found = np.zeros((41, 16), np.float32)
    run_entry(entry_of(ATTENTION), (3, 1, 1), [q, k, v, found, 41], check=True, order=Random(1))
    np.testing.assert_allclose(found, softmax(q @ k.T) @ v, 1e-5, 1e-6)
