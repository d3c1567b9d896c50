"""Small ONNX models from text, their import and their results."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, parser
from xdsl.dialects.builtin import ModuleOp

import passline
from passline.compiler.frontends.onnx import import_model
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passmanager.ir.verifier import verify

__all__ = ["Array", "imported", "model_of", "optimized", "run"]

Array: TypeAlias = NDArray[Any]


def model_of(graph: str, opset: int = 17, functions: str = "", ir_version: int = 10) -> ModelProto:
    """Return the model with a graph in ONNX's text form: `g (float[N] x) => (float[N] y) { ...
    }`."""
    imports = f'"": {opset}, "local": 1'
    return parser.parse_model(
        f"<ir_version: {ir_version}, opset_import: [{imports}]>\n{graph}\n{functions}"
    )


def imported(model: ModelProto) -> ModuleOp:
    """Import a model, and verify the module."""
    module = import_model(model)
    verify(module)
    return module


def optimized(model: ModelProto, level: int) -> ModuleOp:
    """Import a model, and run the pipeline `optimize` at a level."""
    return passline.optimize(import_model(model), level=level)


def run(module: ModuleOp, *arguments: Array) -> list[Array]:
    """Compute `@main` on numpy."""
    function = interpret(module, entry_function(module, "main"))
    return [np.asarray(result) for result in function(*arguments)]
