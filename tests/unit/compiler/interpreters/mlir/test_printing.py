"""printf and vector.print."""

from __future__ import annotations

from io import StringIO

from support.parsing import parsed

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function

TEXT = """
func.func @main() {
  %i = arith.constant -3 : i32
  %f = arith.constant 0.1 : f32
  %b = arith.constant true
  %t = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  printf.print_format "{} of {braces}, {}, {}: {}\\n", %i : i32, %f : f32, %b : i1, %t : tensor<2x2xi8>
  %c = arith.constant 65 : i8
  "printf.print_char"(%c) : (i8) -> ()
  "printf.print_int"(%i) : (i32) -> ()
  %v = arith.constant dense<[1.5, 2.0]> : vector<2xf32>
  "vector.print"(%v) : (vector<2xf32>) -> ()
  return
}"""  # noqa: E501


def test_what_a_program_prints():
    module = parsed(TEXT)
    output = StringIO()
    interpret(module, entry_function(module, "main"), output=output)()
    assert output.getvalue() == "-3 of {braces}, 0.1, 1: [[1, 2], [3, 4]]\nA-3( 1.5, 2.0 )\n"
