"""A rehearsal of `passline-opt` in a server: forks inherit the tables that it fills."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from ..passmanager.ir.verifier import verify

if TYPE_CHECKING:
    from .opt import PasslineOptMain

_TEXT = b"""
func.func @rehearsal(%a: i32, %b: index) -> (i32, index) {
  %c = arith.constant 1 : i32
  %0 = arith.addi %a, %c : i32
  %1 = arith.muli %0, %a {note = [1 : i64, "x", unit]} : i32
  %2 = arith.addi %b, %b : index
  func.return %1, %2 : i32, index
}
"""


def rehearse(tool: type[PasslineOptMain]) -> None:
    """Run two passes over a small module, and print it to nowhere.

    What stays are caches of parser, verifier and printer by class of operation, the registry of
    installed dialects and passes, and the types of options.
    """
    main = tool(args=["-p", "canonicalize,cse", os.devnull])
    main.line_offset = 0
    with main.pass_context:
        module = main.parse_mlir(io.BytesIO(_TEXT))
        verify(module)
        main.pipeline.apply(main.ctx, module)
        main.output_resulting_program(module)
