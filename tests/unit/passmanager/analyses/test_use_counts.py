"""UseCounts: how often values are used."""

from __future__ import annotations

from toy import toy_context
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from passline.passmanager.analyses import UseCounts


def test_uses_are_counted_at_any_depth() -> None:
    text = """
    func.func @f(%x: i32, %y: i32, %z: i32) {
      "test.op"(%x, %x) : (i32, i32) -> ()
      "test.op"(%y) ({ "test.op"(%x) : (i32) -> () }) : (i32) -> ()
      func.return
    }
    """
    (func,) = Parser(toy_context(), text).parse_module().ops
    assert isinstance(func, FuncOp)
    counts = UseCounts(func)
    x, y, z = func.args
    assert [counts[x], counts[y], counts[z]] == [3, 1, 0]
    assert counts.is_used_once(y) and not counts.is_used_once(x)
