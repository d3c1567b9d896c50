"""Programs in the text of MLIR, computed by the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

__all__ = ["computed", "program"]


def program(text: str) -> Callable[..., list[Any]]:
    """Return `@main` of a module as a function whose results are Python values."""
    module = parse_module(make_ir_context(), text, "test.mlir")
    verify(module)
    function = interpret(module, entry_function(module, "main"))

    def call(*arguments: object) -> list[Any]:
        return [np.asarray(result).tolist() for result in function(*map(np.asarray, arguments))]

    return call


def computed(text: str, *arguments: object) -> list[Any]:
    """Return the results of `@main` of a module, as Python values."""
    return program(text)(*arguments)
