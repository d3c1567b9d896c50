"""--verify-diagnostics as in xdsl-opt: errors on the output, for files that check it."""

from __future__ import annotations

from support.suites.inprocess import passline_opt

from passline.tools.expected_diagnostics import expects_output

INVALID = """// CHECK: invalid cast opcode
func.func @f(%a: i32) -> i64 {
  %0 = llvm.trunc %a : i32 to i64
  func.return %0 : i64
}
"""
VALID = "func.func @g() {\n  func.return\n}\n"


def test_errors_are_printed_and_the_next_chunk_is_processed():
    text = f"{INVALID}// -----\n{VALID}"
    result = passline_opt("--verify-diagnostics", "--split-input-file", stdin=text)
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.startswith("invalid cast opcode for cast from i32 to i64\n")
    assert "func.func @g()" in result.stdout


def test_an_error_is_unexpected_where_nothing_checks_the_output():
    result = passline_opt("--verify-diagnostics", stdin=INVALID.partition("\n")[2])
    assert result.status == 1
    assert "unexpected error: 'llvm.trunc' op invalid cast opcode" in result.stderr


def test_comments_of_mlir_are_compared_as_in_mlir():
    expected = INVALID.replace("  %0", "  // expected-error @+1 {{invalid cast opcode}}\n  %0")
    result = passline_opt("--verify-diagnostics", stdin=expected)
    assert (result.status, result.stdout, result.stderr) == (0, "", "")


def test_the_whole_ir_follows_the_message_of_a_failed_pattern():
    text = """// CHECK: x
    func.func @f(%a: tensor<4xi32>) -> tensor<4xi32> {
      %0 = arith.addi %a, %a : tensor<4xi32>
      func.return %0 : tensor<4xi32>
    }"""
    result = passline_opt("--verify-diagnostics", "-p", "convert-arith-to-x86", stdin=text)
    assert result.status == 0
    assert "Error while applying pattern: " in result.stdout
    assert '"builtin.module"() ({' in result.stdout


def test_which_comments_decide():
    assert expects_output(b"// CHECK: a\n")
    assert expects_output(b"/// CHECK-NEXT: a\n")
    assert not expects_output(b"func.func @CHECK()\n")
    assert not expects_output(b"// CHECK: a\n// expected-error {{b}}\n")
