"""Loops as tile programs, beside the semantics of the operations on numpy."""

from __future__ import annotations

import numpy as np
import pytest
from support.operations.legalized import legalize
from support.parsing import parsed
from support.passes.results import random_arguments, run

from passline.compiler.interpreters.signature import entry_function, input_types
from passline.compiler.kernels.gpu.loop_entries import lower_kernel
from passline.compiler.kernels.gpu.tile_builder import add_entries
from passline.dialects.target import Target
from passline.dialects.tir.ops import ForOp, LaunchOp, PrimFuncOp
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk

CASES = {
    "broadcasting": "relax.add %x, %y : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>",
    "expansion": "relax.erf %x : (tensor<3x5xf32>) -> tensor<3x5xf32>",
    "reduction": "relax.sum %x {axis = [0]} : (tensor<3x5xf32>) -> tensor<5xf32>",
    "whole reduction": "relax.max %x : (tensor<3x5xf32>) -> tensor<f32>",
    "order": "relax.sort %x : (tensor<3x5xf32>) -> tensor<3x5xf32>",
    "scan": "relax.cumsum %x {axis = 1} : (tensor<3x5xf32>) -> tensor<3x5xf32>",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_results(text: str):
    module = parsed(f"""
        func.func @f0(%x: tensor<3x5xf32>, %y: tensor<5xf32>) -> {text.rsplit(" -> ")[-1]} {{
          %0 = {text}
          func.return %0 : {text.rsplit(" -> ")[-1]}
        }}""")
    arguments = random_arguments(input_types(entry_function(module, "f0")))
    assert arguments is not None
    (expected,) = run(module, "f0", arguments)
    legalize(module, "sm_90")
    for func in [op for op in module.ops if isinstance(op, PrimFuncOp)]:
        if not any(isinstance(op, LaunchOp) for op in walk(func)):  # rows are tile programs already
            entries = lower_kernel(func, Target("sm_90"))
            add_entries(module, entries)
        kinds = {type(op) for op in walk(func)}
        assert LaunchOp in kinds and ForOp not in kinds
    verify(module)
    (actual,) = run(module, "f0", arguments)
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-5)
