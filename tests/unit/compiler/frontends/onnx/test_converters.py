"""The tables of converters: what they name exists."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from onnx import defs

import passline.compiler.frontends.onnx.converters as converters
from passline.compiler.frontends.onnx.contrib.signatures import contrib_names
from passline.dialects.relax import Relax

HELPERS = ("binary", "cumulative", "op", "ops", "reduce", "same", "variadic")
NAMES = {op.name.removeprefix("relax.") for op in Relax.operations}


def named() -> Iterator[str]:
    """The operations of relax that the converters name as they are made."""
    for path in Path(converters.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            function, first = call.func, call.args[0]
            name = function.attr if isinstance(function, ast.Attribute) else None
            name = function.id if isinstance(function, ast.Name) else name
            if name in HELPERS and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def test_operations_that_are_made_exist():
    used = {*named()}
    assert len(used) > 80
    assert not used - NAMES


def test_operators_that_are_converted_exist():
    known = {(schema.domain, schema.name) for schema in defs.get_all_schemas_with_history()}
    known |= {("com.microsoft", name) for name in contrib_names()}
    known |= {("", name) for name in ("LayerNormalization", "SimplifiedLayerNormalization")}
    assert not {*converters.CONVERTERS} - known
