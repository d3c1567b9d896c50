"""The check of accesses: each kind of finding, and orders that are none."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.tables import table_test
from support.tiles import entry_of

from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.compiler.interpreters.cuda_tile.tile_translation import TileProgramError

VIEW = "partition_view<tile=(4), tensor_view<8xf32, strides=[1]>>"
START = f"""(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %next = xori %x, %one : tile<i32>
  %t = make_token : token
  %c = constant <f32: 1.0> : tile<4xf32>
  %u = make_tensor_view %a, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
  %v = make_partition_view %u : {VIEW}
  %d = make_tensor_view %b, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
  %w = make_partition_view %d : {VIEW}
"""


def load(name: str, index: str, token: str = "", view: str = "%v", kind: str = "weak") -> str:
    """Return the text of a load; its token is %name_t."""
    after = f" token=%{token}" if token else ""
    types = f"{VIEW}, tile<i32> -> tile<4xf32>, token"
    return f"%{name}, %{name}_t = load_view_tko {kind} {view}[%{index}]{after} : {types}\n"


def store(name: str, index: str, token: str = "", view: str = "%v", kind: str = "weak") -> str:
    """Return the text of a store; its token is %name."""
    after = f" token=%{token}" if token else ""
    types = f"tile<4xf32>, {VIEW}, tile<i32> -> token"
    return f"%{name} = store_view_tko {kind} %c, {view}[%{index}]{after} : {types}\n"


def update(name: str, index: str) -> str:
    """Return the text of an atomic update."""
    types = f"tile<4xf32>, {VIEW}, tile<i32> -> token"
    return f"%{name} = atomic_red_view_tko relaxed device %v[%{index}], addf, %c : {types}\n"


def checked(body: str, blocks: int = 2, same: bool = False) -> list[str]:
    """Return the warnings of a run of an entry, in a shuffled order, too."""
    entry = entry_of(f"{START}{body} return }}")
    for order in (Random(3), None):
        a = np.zeros(8, np.float32)
        b = a if same else np.zeros(8, np.float32)
        warnings = run_entry(entry, (blocks, 1, 1), [a, b], check=True, order=order)
    return warnings  # pyright: ignore[reportPossiblyUnboundVariable]


ORDERED = [
    store("s", "x"),
    load("l", "zero") + store("s", "x", view="%w"),
    update("s", "zero"),
    load("l", "x") + store("s", "x", "l_t"),
    store("s", "x") + load("l", "x", "s"),
    load("l", "x")
    + load("m", "x")
    + "%j = join_tokens %l_t, %m_t : token\n"
    + store("s", "x", "j"),
    load("l", "x") + load("m", "next", "l_t", view="%w") + store("s", "x", "m_t"),
    store("s", "zero", kind="relaxed device") + load("l", "zero", kind="relaxed device"),
]


@table_test("body", ORDERED)
def test_ordered_accesses_are_no_races(body: str):
    assert checked(body) == []


RACES = [
    (store("s", "zero"), "writes element 0 of argument 0, which .* writes in block .*; nothing"),
    (load("l", "next") + store("s", "x", "l_t"), "which .* (reads|writes) in block"),
    (store("s", "x") + load("l", "x"), "reads element .* writes in the same block; no token"),
    (load("l", "x") + store("s", "x"), "writes element .* reads in the same block; no token"),
    (load("l", "x") + store("s", "x", "t"), "writes element .* reads in the same block; no token"),
    (store("s", "x") + store("r", "x"), "writes element .* writes in the same block; no token"),
    (update("s", "x") + load("l", "x"), "reads element .* updates in the same block; no token"),
    (update("s", "x") + load("l", "next"), "which .* (reads|updates) in block"),
    (store("s", "zero", kind="relaxed tl_blk"), "writes element 0 .* nothing orders blocks"),
    (store("s", "zero", kind="relaxed device") + load("l", "zero", "s"), "nothing orders blocks"),
]


@table_test("body, message", RACES)
def test_races(body: str, message: str):
    with pytest.raises(TileProgramError, match=message):
        checked(body)


def test_a_finding_says_where():
    with pytest.raises(TileProgramError) as error:
        checked(store("s", "zero"))
    (line,) = str(error.value).splitlines()
    assert line == (
        "'cuda_tile.store_view_tko' at x.mlir:12:6 in block (0, 0, 0) writes element 0 of argument "
        "0, which 'cuda_tile.store_view_tko' at x.mlir:12:6 writes in block (1, 0, 0); nothing "
        "orders blocks (@k)"
    )


def test_arguments_may_be_the_same_memory():
    body = load("l", "x") + store("s", "x", view="%w")
    assert checked(body) == []
    with pytest.raises(TileProgramError, match="argument 1, which .* reads in the same block"):
        checked(body, same=True)


def test_a_release_that_is_acquired_orders_blocks():
    body = """
      %f = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
      %p = bitcast %one : tile<i32> -> tile<f32>
      %q = reshape %p : tile<f32> -> tile<1xf32>
      %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
      if %first {
        STORE
        %old, %o = atomic_rmw_tko ORDER device %f, xchg, %q token=%s
          : tile<1xptr<f32>>, tile<1xf32> -> tile<1xf32>, token
      } else {
        %new, %n = atomic_rmw_tko ORDER device %f, xchg, %q
          : tile<1xptr<f32>>, tile<1xf32> -> tile<1xf32>, token
        LOAD
      }
    """.replace("STORE", store("s", "zero")).replace("LOAD", load("l", "zero", "n"))
    entry = f"{START}{body} return }}"
    arrays = [np.zeros(8, np.float32), np.zeros(8, np.float32)]
    run_entry(entry_of(entry.replace("ORDER", "acq_rel")), (2, 1, 1), arrays, check=True)
    with pytest.raises(TileProgramError, match="reads element 0 .* nothing orders blocks"):
        run_entry(entry_of(entry.replace("ORDER", "relaxed")), (2, 1, 1), arrays, check=True)


def test_tokens_that_order_nothing():
    (warning,) = checked(load("l", "x") + store("s", "x", "l_t", view="%w"))
    assert warning == "the token of 'cuda_tile.store_view_tko' at x.mlir:13:6 orders nothing (@k)"
    (warning,) = checked(load("l", "x") + load("m", "x", "l_t"))
    assert "load_view_tko" in warning


def test_a_store_that_writes_an_element_twice():
    body = """
      %f = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
      %p = broadcast %f : tile<1xptr<f32>> -> tile<4xptr<f32>>
      %s = store_ptr_tko weak %p, %c : tile<4xptr<f32>>, tile<4xf32> -> token
    """
    with pytest.raises(TileProgramError, match="writes element 0 of argument 0 twice"):
        checked(body, blocks=1)


@table_test(
    "predicate, values, holds",
    [
        ("bounded<0, ?>", [0, 1, 2, 3], True),
        ("bounded<1, ?>", [0, 1, 2, 3], False),
        ("bounded<?, 2>", [0, 1, 2, 3], False),
        ("div_by<4>", [0, 4, -8, 12], True),
        ("div_by<4>", [0, 4, 6, 12], False),
        ("div_by<4, every 2 along 0>", [4, 5, 8, 9], True),
        ("div_by<4, every 2 along 0>", [4, 6, 8, 9], False),
        ("same_elements<[2]>", [1, 1, 2, 2], True),
        ("same_elements<[2]>", [1, 2, 2, 2], False),
    ],
)
def test_assumptions_are_checked(predicate: str, values: list[int], holds: bool):
    entry = entry_of(
        f"() {{ %v = constant <i32: {values}> : tile<4xi32>\n"
        f"%a = assume {predicate}, %v : tile<4xi32>\n return }}"
    )
    assert run_entry(entry, (1, 1, 1), []) == []
    if holds:
        assert run_entry(entry, (1, 1, 1), [], check=True) == []
        return
    with pytest.raises(TileProgramError, match="'cuda_tile.assume' .* does not hold"):
        run_entry(entry, (1, 1, 1), [], check=True)
