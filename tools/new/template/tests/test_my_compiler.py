"""The passes and the instrument, used from Python."""

from __future__ import annotations

import pytest
from my_compiler.expand import Expand
from my_compiler.instrument import CountOps, count_ops
from my_compiler.simplify import Simplify
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

import passline
from passline import PassContext, Sequential

POWERS = """
func.func @f(%x: i64) -> i64 {
  %a = my_compiler.power %x, 2
  %b = my_compiler.power %a, 4
  func.return %b : i64
}
"""


def powers() -> ModuleOp:
    return passline.load(POWERS)


def multiplications(module: ModuleOp) -> int:
    return sum(isinstance(op, arith.MuliOp) for op in module.walk())


def test_powers_are_merged_and_expanded() -> None:
    with PassContext(opt_level=1):
        result = Sequential([Simplify(), Expand()])(powers())
    assert (count_ops(result), multiplications(result)) == (0, 3)


def test_the_option_limits_the_exponent() -> None:
    result = Expand(max_exponent=2)(powers())
    assert (count_ops(result), multiplications(result)) == (1, 1)


def test_the_level_decides_what_runs() -> None:
    with PassContext(opt_level=0):
        result = Sequential([Simplify(), Expand()])(powers())
    assert (count_ops(result), multiplications(result)) == (1, 0)


def test_the_instrument_reports_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    with PassContext(opt_level=1, instruments=[CountOps()]):
        Sequential([Expand()])(powers())
    assert capsys.readouterr().err.splitlines() == [
        "my-compiler-simplify: 2 -> 1 operations",
        "my-compiler-expand: 1 -> 0 operations",
    ]
