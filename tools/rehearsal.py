"""A rehearsal of `passline-opt` in a server: forks inherit the tables that it fills."""

from __future__ import annotations

import io

from xdsl.xdsl_opt_main import xDSLOptMain

from ..passmanager.context import PassContext
from ..passmanager.ir.verifier import verify

_TEXT = b"""
func.func @rehearsal(%a: i32, %b: index) -> (i32, index) {
  %c = arith.constant 1 : i32
  %0 = arith.addi %a, %c : i32
  %1 = arith.muli %0, %a {note = [1 : i64, "x", unit]} : i32
  %2 = arith.addi %b, %b : index
  func.return %1, %2 : i32, index
}
"""


def rehearse(tool: xDSLOptMain, context: PassContext) -> None:
    """Run the pipeline of a tool over a small module, and print it to nowhere.

    What stays are caches of parser, verifier and printer by class of operation, the registry of
    installed dialects and passes, and the types of options.
    """
    with context:
        module = tool.parse_chunk(io.BytesIO(_TEXT), "mlir")
        assert module is not None
        verify(module)
        tool.pipeline.apply(tool.ctx, module)
        tool.output_resulting_program(module)
