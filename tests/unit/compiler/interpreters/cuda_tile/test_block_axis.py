"""Batches of blocks beside blocks that run one by one: divergence, atomics, memory, errors."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.tables import table_test
from support.tiles import Array, entry_of

from passline.compiler.interpreters.cuda_tile import tile_program
from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.compiler.interpreters.cuda_tile.tile_translation import TileProgramError

START = """(%r: tile<ptr<i32>>, %c: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
  %row = muli %y, %nx : tile<i32>
  %i = addi %row, %x : tile<i32>
  %p = offset %r, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %odd = andi %x, %one : tile<i32>
  %is_odd = cmpi equal %odd, %one, signed : tile<i32> -> tile<i1>
  %last = subi %nx, %one : tile<i32>
"""
STORE = "%t = store_ptr_tko weak %p, %v : tile<ptr<i32>>, tile<i32> -> token\n return }"


def results(body: str, *, batch: bool, order: Random | None = None) -> tuple[Array, Array]:
    """Return what 5x2 blocks write to %r and %c."""
    written, shared = np.full(10, -1, np.int32), np.zeros(4, np.int32)
    entry = entry_of(f"{START} {body} {STORE}")
    run_entry(entry, (5, 2, 1), [written, shared], check=not batch, order=order)
    return written, shared


SUM = """
  %v = for %k in (%odd to %x, step %one) : tile<i32> iter_values(%s = %y) -> (tile<i32>) {
    %n = addi %s, %k : tile<i32>
    continue %n : tile<i32>
  }"""
BRANCHES = """
  %v = if %is_odd -> (tile<i32>) {
    %f = for %k in (%zero to %x, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %n = addi %s, %two : tile<i32>
      continue %n : tile<i32>
    }
    yield %f : tile<i32>
  } else {
    yield %i : tile<i32>
  }"""
RETURN = """
  if %is_odd {
    return
  }
  %v = muli %x, %two : tile<i32>"""
LOOP = """
  %v = loop iter_values(%n = %x) : tile<i32> -> tile<i32> {
    %done = cmpi greater_than %n, %two, signed : tile<i32> -> tile<i1>
    if %done {
      break %n : tile<i32>
    }
    %m = addi %n, %two : tile<i32>
    continue %m : tile<i32>
  }"""
OWN_MEMORY = """
  %own = alloca num_elem = 2, alignment = 4 : tile<ptr<i32>>
  %w = store_ptr_tko weak %own, %i : tile<ptr<i32>>, tile<i32> -> token
  %v, %l = load_ptr_tko weak %own token=%w : tile<ptr<i32>> -> tile<i32>, token"""
EXTRACT = """
  %a = iota : tile<4xi32>
  %at = remi %x, %two signed : tile<i32>
  %part = extract %a[%at] : tile<4xi32> -> tile<2xi32>
  %both = cat %part, %part dim = 0 : tile<2xi32>, tile<2xi32> -> tile<4xi32>
  %all = cat %a, %both dim = 0 : tile<4xi32>, tile<4xi32> -> tile<8xi32>
  %v = reduce %all dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>
      (%g: tile<i32>, %h: tile<i32>) { %e = addi %g, %h : tile<i32> yield %e : tile<i32> }"""

MASKED = """
  %k = iota : tile<4xi32>
  %c1 = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>
  %c4 = broadcast %c1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %q = offset %c4, %k : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %x1 = reshape %x : tile<i32> -> tile<1xi32>
  %x4 = broadcast %x1 : tile<1xi32> -> tile<4xi32>
  %MASK = cmpi less_than %k, %OTHER, signed : tile<4xi32> -> tile<4xi1>
  %l, %u = load_ptr_tko weak %q, %MASK, %x4
      : tile<4xptr<i32>>, tile<4xi1>, tile<4xi32> -> tile<4xi32>, token
  %v = reduce %l dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32>
      (%g: tile<i32>, %h: tile<i32>) { %e = addi %g, %h : tile<i32> yield %e : tile<i32> }"""
OF_BLOCK, OF_ALL = (
    MASKED.replace("OTHER", other).replace("MASK", "m").replace("%m =", f"{constant} %m =")
    for other, constant in (("x4", ""), ("two4", "%two4 = constant <i32: 2> : tile<4xi32>"))
)


@table_test("body", [SUM, BRANCHES, RETURN, LOOP, OWN_MEMORY, EXTRACT, OF_BLOCK, OF_ALL])
def test_batches_compute_what_single_blocks_do(body: str):
    for order in (None, Random(1)):
        for mine, other in zip(
            results(body, batch=True, order=order), results(body, batch=False), strict=True
        ):
            np.testing.assert_array_equal(mine, other)


COUNT = """
  %q = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>
  %ones = constant <i32: 1> : tile<1xi32>
  %before, %b = atomic_rmw_tko relaxed device %q, add, %ones
    : tile<1xptr<i32>>, tile<1xi32> -> tile<1xi32>, token
  %v = reshape %before : tile<1xi32> -> tile<i32>"""


def test_each_block_of_a_batch_does_an_atomic_operation():
    written, shared = results(COUNT, batch=True)
    assert sorted(written) == [*range(10)] and shared[0] == 10


def test_a_batch_that_is_split_has_written_nothing():
    """Which of the blocks comes last is known after each has counted itself."""
    last = """
      %nine = constant <i32: 9> : tile<i32>
      %is_last = cmpi equal %v, %nine, signed : tile<i32> -> tile<i1>
      if %is_last {
        %d = offset %c, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %e = store_ptr_tko weak %d, %v : tile<ptr<i32>>, tile<i32> -> token
      }"""
    written, shared = results(COUNT + last, batch=True)
    assert sorted(written) == [*range(10)] and shared.tolist() == [10, 9, 0, 0]


def test_an_error_names_its_block():
    divided = "%u = subi %x, %two : tile<i32>\n %v = divi %one, %u signed : tile<i32>"
    with pytest.raises(TileProgramError, match=r"of @k in block \(2, 0, 0\) .* division by zero"):
        results(divided, batch=True)


def test_blocks_that_diverge_too_often_run_one_by_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tile_program, "MAX_SPLITS", 1)
    np.testing.assert_array_equal(results(LOOP, batch=True)[0], results(LOOP, batch=False)[0])


def test_large_tiles_make_small_batches(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tile_program, "BATCH", 8)
    body = "%k = iota : tile<4xi32>\n" + OWN_MEMORY
    assert results(body, batch=True)[0].tolist() == [*range(10)]
