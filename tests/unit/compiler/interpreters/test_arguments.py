"""Checks of arguments that do not depend on an engine."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from support.tables import table_test

from passline.compiler.interpreters.arguments import check_arguments, has_related_sizes
from passline.compiler.interpreters.signature import Function, entry_function
from passline.passmanager.errors import PasslineError


def function(parameters: str) -> Function:
    text = f"func.func @main({parameters}) {{ func.return }}"
    return entry_function(parsed(text), "main")


@table_test(
    "parameters, expected",
    [
        ("%x: memref<2x3xf32>, %y: memref<2xf32>", False),
        ("%x: memref<?x?xf32>, %y: memref<?xf32>", False),
        ('%x: memref<?x?xf32> {onnx.dims = ["n", "m"]}, %y: memref<?xf32>', False),
        ('%x: memref<?x?xf32> {onnx.dims = ["n", "n"]}', True),
        ('%x: memref<?xf32> {onnx.dims = ["n"]}, %y: memref<?xf32> {onnx.dims = ["n"]}', True),
        ('%x: memref<?xf32> {onnx.dims = ["2 * n"]}', True),
        ('%x: memref<2xf32> {onnx.dims = ["n"]}, %y: memref<?xf32> {onnx.dims = ["n"]}', False),
    ],
)
def test_sizes_that_have_to_agree(parameters: str, expected: bool):
    assert has_related_sizes(function(parameters)) == expected


def test_indices_have_64_bits():
    main = function("%x: memref<4xindex>")
    check_arguments(main, [np.zeros(4, np.int64)])
    with pytest.raises(PasslineError, match="'x' is memref<4xindex>: expected int64, got int32"):
        check_arguments(main, [np.zeros(4, np.int32)])
