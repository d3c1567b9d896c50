"""Programs in the text of MLIR, computed by the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np

from passline.interpreters.interpret import interpret
from passline.interpreters.signature import entry_function
from passline.passmanager.ir.checks.verifier import verify
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context

__all__ = ["computed"]


def computed(text: str, *arguments: object) -> list[Any]:
    """Return the results of `@main` of a module, as Python values."""
    module = parse_module(make_ir_context(), text, "test.mlir")
    verify(module)
    results = interpret(module, entry_function(module, "main"))(*map(np.asarray, arguments))
    return [np.asarray(result).tolist() for result in results]
