"""Liveness: what is needed at the start and the end of blocks."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func, FuncOp
from xdsl.dialects.test import Test
from xdsl.ir import Block, SSAValue
from xdsl.parser import Parser

from passline.passmanager.analyses import Liveness

LOOP = """
func.func @f(%n: i32, %c: i1) -> i32 {
  %a = "test.op"() : () -> i32
  cf.br ^head(%n : i32)
^head(%i: i32):
  %next = "test.op"(%i, %a) : (i32, i32) -> i32
  cf.cond_br %c, ^head(%next : i32), ^exit
^exit:
  func.return %next : i32
}
"""


def blocks(text: str) -> tuple[Liveness, list[Block]]:
    context = Context()
    for dialect in (Builtin, Func, Test, Cf):
        context.load_dialect(dialect)
    (func,) = Parser(context, text).parse_module().ops
    assert isinstance(func, FuncOp)
    return Liveness(func), list(func.body.blocks)


def hints(values: frozenset[SSAValue]) -> set[str | None]:
    return {value.name_hint for value in values}


def test_live_in_and_out_around_a_loop() -> None:
    liveness, (entry, head, end) = blocks(LOOP)
    assert hints(liveness.live_in(entry)) == set()
    assert hints(liveness.live_out(entry)) == {"a", "c"}
    assert hints(liveness.live_in(head)) == {"a", "c"}
    assert hints(liveness.live_out(head)) == {"a", "c", "next"}
    assert hints(liveness.live_in(end)) == {"next"}
    assert hints(liveness.live_out(end)) == set()


def test_use_in_a_nested_region_is_one_of_the_op_around_it() -> None:
    text = """
    func.func @f(%x: i32) {
      "test.op"() ({ "test.op"(%x) : (i32) -> () }) : () -> ()
      "test.op"() : () -> ()
      func.return
    }
    """
    liveness, (block,) = blocks(text)
    around, after, _ = block.ops
    (x,) = block.args
    (nested,) = around.regions[0].blocks
    assert liveness.live_in(nested) == {x}
    assert liveness.is_dead_after(x, around)
    assert liveness.is_dead_after(x, after)


def test_value_is_not_dead_before_its_last_use_in_the_block() -> None:
    text = """
    func.func @f(%x: i32) {
      "test.op"() : () -> ()
      "test.op"(%x) : (i32) -> ()
      func.return
    }
    """
    liveness, (block,) = blocks(text)
    first, second, _ = block.ops
    assert not liveness.is_dead_after(block.args[0], first)
    assert liveness.is_dead_after(block.args[0], second)


def test_value_that_another_block_needs_is_not_dead() -> None:
    liveness, (entry, *_) = blocks(LOOP)
    (a,) = next(iter(entry.ops)).results
    last = entry.last_op
    assert last is not None and not liveness.is_dead_after(a, last)
