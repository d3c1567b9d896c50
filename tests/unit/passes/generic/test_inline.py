"""Inline: locations, names, references in copies, actions and remarks."""

from __future__ import annotations

from support.parsing import parsed
from support.suites.inprocess import passline_opt
from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from passline.passes.generic.inline import InlineCost, inline_calls
from passline.passmanager import Actions, CollectingActions

DOUBLE = """
func.func private @double(%x : f32) -> f32 {
  %sum = arith.addf %x, %x : f32
  return %sum : f32
}
func.func @main(%y : f32) -> f32 {
  %twice = func.call @double(%y) : (f32) -> f32
  return %twice : f32
}
"""


def module_of(text: str) -> ModuleOp:
    return parsed(text)


def inlined(module: ModuleOp, max_ops: int = 1000) -> int:
    """Run the algorithm on `module`, and return the number of calls that it inlined."""
    inline_calls(module, InlineCost(max_ops), recorder := CollectingActions())
    return recorder.counts["inlined"]


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]


def test_an_operation_has_its_place_at_that_of_the_call():
    module = module_of(DOUBLE)
    assert inlined(module) == 1
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    (add, _) = main.body.block.ops
    location = add.location
    assert isinstance(location, CallSiteLoc)
    assert isinstance(location.callee, FileLineColLoc) and location.callee.line.data == 3
    assert isinstance(location.caller, FileLineColLoc) and location.caller.line.data == 7
    assert add.results[0].name_hint == "sum"


def test_a_copy_keeps_what_it_refers_to():
    text = """
    func.func private @large(%x : i32) -> i32 {
      %0 = arith.addi %x, %x : i32
      %1 = arith.addi %0, %x : i32
      %2 = arith.addi %1, %x : i32
      return %2 : i32
    }
    func.func private @small(%x : i32) -> i32 {
      %0 = func.call @large(%x) : (i32) -> i32
      return %0 : i32
    }
    func.func @main(%x : i32) -> i32 {
      %0 = func.call @small(%x) : (i32) -> i32
      %1 = func.call @small(%0) : (i32) -> i32
      %2 = func.call @large(%1) : (i32) -> i32
      return %2 : i32
    }
    """
    module = module_of(text)
    assert inlined(module, max_ops=3) == 2
    assert names(module) == ["large", "main"]
    assert str(module).count("call @large") == 3


def test_doubling_calls_end_at_the_limit():
    levels = 40
    text = "func.func private @f0(%x : i32) -> i32 {\n  return %x : i32\n}\n"
    for level in range(1, levels):
        text += f"""
        func.func {"@main" if level == levels - 1 else f"private @f{level}"}(%x : i32) -> i32 {{
          %0 = func.call @f{level - 1}(%x) : (i32) -> i32
          %1 = func.call @f{level - 1}(%0) : (i32) -> i32
          %2 = arith.addi %0, %1 : i32
          return %2 : i32
        }}
        """
    module = module_of(text)
    inline_calls(module, InlineCost(100))
    assert max(sum(1 for _ in op.walk()) for op in module.ops) < 250


class NothingAllowed(Actions):
    """Allows no step."""

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        return False


def test_a_call_stays_unless_its_action_is_allowed():
    module = module_of(DOUBLE)
    before = str(module)
    inline_calls(module, actions=NothingAllowed())
    assert str(module) == before


def test_remarks_say_what_was_done_and_why_not():
    result = passline_opt("-p", "inline", "--remarks", stdin=DOUBLE)
    assert "[Passed] Inlined" in result.stderr and 'Callee="double"' in result.stderr
    recursive = DOUBLE.replace(
        "  %sum = ", "  %r = func.call @double(%x) : (f32) -> f32\n  %sum = "
    )
    result = passline_opt("-p", "inline", "--remarks", stdin=recursive)
    assert "[Missed] NotInlined" in result.stderr
    assert "the function is recursive" in result.stderr
