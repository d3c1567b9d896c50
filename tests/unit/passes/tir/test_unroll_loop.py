"""UnrollLoop: options, pragmas, and constants that copies share."""

from __future__ import annotations

import pytest
from support.parsing import parsed
from support.suites.inprocess import passline_opt
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import StoreOp

from passline.dialects.tir.ops import ForKind, ForOp
from passline.passes.tir.unroll_loop import UnrollLoop
from passline.passmanager import ConfigError, DiagnosticError, PassContext
from passline.passmanager.instruments import DebugCounter

NEST = """
tir.prim_func @f(%a : memref<64xf32>, %x : f32){} {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c2 {{
    tir.for unrolled %j = %c0 extent %c8 {{
      %c8_0 = arith.constant 8 : index
      %i8 = arith.muli %i, %c8_0 : index
      %k = arith.addi %i8, %j : index
      memref.store %x, %a[%k] : memref<64xf32>
    }}
  }}
}}
"""


def nest(attributes: str = "") -> ModuleOp:
    return parsed(NEST.format(attributes))


def kinds(module: ModuleOp) -> list[ForKind]:
    return [op.for_kind for op in module.walk() if isinstance(op, ForOp)]


def test_the_context_gives_options():
    with PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}}):
        assert kinds(UnrollLoop()(nest())) == []
    assert kinds(UnrollLoop()(nest())) == [ForKind.SERIAL]
    with pytest.raises(ConfigError, match="auto_max_steps"):
        PassContext(config={"tir.UnrollLoop": {"auto_max_steps": 16}})


def test_loops_that_are_unrolled_inside_count_for_the_depth():
    assert kinds(UnrollLoop(auto_max_step=16, auto_max_depth=0)(nest())) == [ForKind.SERIAL]
    assert kinds(UnrollLoop(auto_max_step=16, auto_max_depth=1)(nest())) == []


def test_a_pragma_says_that_there_are_no_copies():
    pragmas = " attributes {pragma_auto_unroll_max_step = 16 : i64, pragma_unroll_explicit = false}"
    module = UnrollLoop()(nest(pragmas))
    assert kinds(module) == [ForKind.UNROLLED, ForKind.UNROLLED]
    assert "pragma" not in str(module)


def test_each_constant_is_there_once():
    module = UnrollLoop(auto_max_step=16)(nest())
    values = [op.value for op in module.walk() if isinstance(op, ConstantOp)]
    assert len(values) == len(set(values)) == 16
    assert sum(isinstance(op, StoreOp) for op in module.walk()) == 16
    assert len([*module.walk()]) == 16 + 16 + len(["module", "function", "end"])


def test_the_limit_is_for_what_is_copied():
    # 8 copies of 4 operations, then 2 of these
    assert kinds(UnrollLoop(auto_max_step=16, max_copies=64)(nest())) == []
    with pytest.raises(DiagnosticError, match="over %i is too large"):
        UnrollLoop(auto_max_step=16, max_copies=63)(nest())


def test_what_is_too_large_is_told():
    text = NEST.format("")
    result = passline_opt("-p", "tir-unroll-loop{auto-max-step=15}", "--remarks-missed", stdin=text)
    assert "[Missed] TooManySteps" in result.stderr and "Steps=16, Limit=15" in result.stderr


def test_a_debug_counter_decides_which_loops_are_unrolled():
    with PassContext(instruments=[DebugCounter({"tir-unroll-loop": range(1, 2)})]):
        assert kinds(UnrollLoop(auto_max_step=16)(nest())) == [ForKind.SERIAL]
    with PassContext(instruments=[DebugCounter({"tir-unroll-loop": range(2, 3)})]):
        assert kinds(UnrollLoop(auto_max_step=16)(nest())) == [ForKind.SERIAL, ForKind.UNROLLED]
