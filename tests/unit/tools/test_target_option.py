"""The option --target: processors, and the output formats of xdsl-opt."""

from __future__ import annotations

from support.needs_numpy import needs_numpy
from support.suites.inprocess import passline_opt
from support.tables import table_test
from xdsl.universe import XDSL_UNIVERSE

from passline.dialects.target import Target

MODULE = """func.func @f(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = relax.negative %x : (tensor<32xf32>) -> tensor<32xf32>
  func.return %0 : tensor<32xf32>
}
"""


@table_test(
    ("name", "lanes"), [("x86-64-v2", 4), ("x86-64-v3", 8), ("x86-64-v4", 16), ("aarch64", 4)]
)
def test_kernels_are_made_for_the_processor(name: str, lanes: int) -> None:
    text = passline_opt(f"--target={name}", "-p", "legalize-ops", stdin=MODULE).stdout
    assert text.startswith(f'builtin.module attributes {{tir.target = "{name}"}} {{')
    assert f"arith.constant {lanes} : index" in text


def test_the_target_in_text_goes_on() -> None:
    text = passline_opt("--target", "x86-64-v4{cores=2}", stdin=MODULE).stdout
    lowered = passline_opt("-p", "legalize-ops", stdin=text).stdout
    assert 'tir.target = "x86-64-v4{cores=2}"' in lowered
    assert "arith.constant 16 : index" in lowered


def test_the_option_takes_precedence_over_the_entered_target() -> None:
    with Target("x86-64-v4"):
        text = passline_opt("-p", "legalize-ops", stdin=MODULE).stdout
        assert 'tir.target = "x86-64-v4"' in text and "arith.constant 16 : index" in text
        text = passline_opt("--target=aarch64", "-p", "legalize-ops", stdin=MODULE).stdout
        assert 'tir.target = "aarch64"' in text and "arith.constant 4 : index" in text


def test_a_config_option_chooses_the_processor() -> None:
    config = "--config=legalize-ops.target=x86-64-v4"
    text = passline_opt(config, "-p", "legalize-ops", stdin=MODULE).stdout
    assert "arith.constant 16 : index" in text


def test_output_formats_are_targets_too() -> None:
    assert "builtin.module {" in passline_opt("-t", "mlir", stdin=MODULE).stdout
    text = passline_opt("-t", "mlir", "--target=aarch64", stdin=MODULE).stdout
    assert 'tir.target = "aarch64"' in text


@table_test(
    ("given", "message"),
    [
        ("x86-64-v9", "there is no target 'x86-64-v9', did you mean 'x86-64-v"),
        ("x86-64-v3{cors=2}", "targets have no field 'cors', did you mean 'cores'?"),
        ("x86-64-v3{cores=0}", "cores is 0: expected at least 1"),
        ("mlri", "there is no target 'mlri', did you mean 'mlir'?"),
    ],
)
def test_a_mistake_is_named(given: str, message: str) -> None:
    result = passline_opt(f"--target={given}", stdin=MODULE)
    assert result.status == 2
    assert message in result.stderr


@table_test("pass_", ["legalize-ops", "tir-bind-target"])
def test_a_mistake_in_an_option_of_a_pass_is_named(pass_: str) -> None:
    result = passline_opt("-p", f"{pass_}{{target=x86-64-v7}}", stdin=MODULE)
    assert result.status == 2
    assert f"'{pass_}': there is no target 'x86-64-v7', did you mean 'x86-64-v" in result.stderr


@table_test("pass_", ["legalize-ops", "tir-bind-target"])
def test_a_mistake_in_a_config_option_is_named(pass_: str) -> None:
    result = passline_opt("-p", pass_, "--config", f"{pass_}.target=x86-64-v7", stdin=MODULE)
    assert result.status == 1
    assert f"error: config option '{pass_}': there is no target 'x86-64-v7'" in result.stderr
    assert "bug" not in result.stderr


@needs_numpy
def test_remarks_say_what_was_chosen() -> None:
    module = """func.func @f(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = relax.matmul %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      func.return %0 : tensor<64x64xf32>
    }"""
    result = passline_opt(
        "--target=x86-64-v3", "-p", "legalize-ops", "--remarks-analysis=legalize", stdin=module
    )
    assert "Schedule" in result.stderr
    assert "tiles of 6 rows of lhs and 2 vectors of 8 columns" in result.stderr
    assert 'Sums="12 of 16 registers"' in result.stderr


@needs_numpy
@table_test("target", XDSL_UNIVERSE.all_targets)
def test_a_target_that_cannot_print_the_ir_is_one_line(target: str) -> None:
    result = passline_opt("-t", target, stdin=MODULE)
    if result.status == 0:
        return
    assert result.status == 1
    assert f"error: target '{target}' cannot print " in result.stderr
    assert len(result.stderr.splitlines()) == 1


@needs_numpy
@table_test("target", ["riscv-asm", "x86-asm", "arm-asm", "llvm"])
def test_the_operation_without_text_is_named(target: str) -> None:
    stderr = passline_opt("-t", target, stdin=MODULE).stderr
    assert f"target '{target}' cannot print 'func.func' at <stdin>:1:1" in stderr
