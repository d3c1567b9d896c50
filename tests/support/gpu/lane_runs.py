"""Checks of kernels whose loops become lanes of tiles, against the semantics of operations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from unittest.mock import patch

import numpy as np
from support.operations.legalized import legalize

import passline
from passline.compiler.interpreters.cuda_tile import grid
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.kernels.gpu.loop_entries import lower_kernel
from passline.compiler.kernels.gpu.tile_builder import add_entries
from passline.dialects.cuda_tile.module_ops import EntryOp
from passline.dialects.target import Target
from passline.dialects.tir.ops import ForOp, LaunchOp, PrimFuncOp
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk

from .tile_runs import Array

__all__ = ["check_lanes", "check_operation_in_lanes"]


def check_lanes(
    text: str, arrays: Sequence[Array], tolerance: float = 0, target: str = "sm_90"
) -> list[EntryOp]:
    """Check that the kernels of `@main` compute on a device what it computes, with shuffled blocks
    and the check of races; return their entries."""
    module = passline.load(text)
    expected = passline.run(module, *arrays)
    legalize(module, target)
    for func in [op for op in module.ops if isinstance(op, PrimFuncOp)]:
        if not any(isinstance(op, LaunchOp) for op in walk(func)):
            add_entries(module, lower_kernel(func, Target(target)))
        assert not any(isinstance(op, ForOp) for op in walk(func))
    verify(module)
    # Errors are raised. A warning is that of a token that orders nothing, as in a loop of stores.
    run = interpret(module, entry_function(module, "main"), warn_of_launch=lambda _: None)
    with patch.object(grid, "launch", partial(grid.launch, order=Random(1))):
        actual = run(*arrays)
    for mine, other in zip(actual, expected, strict=True):
        bound = tolerance if other.dtype.kind == "f" else 0
        np.testing.assert_allclose(np.asarray(mine), other, rtol=bound, atol=bound, strict=True)
    return [op for op in walk(module) if isinstance(op, EntryOp)]


def check_operation_in_lanes(
    operation: str,
    types: str,
    result: str,
    arrays: Sequence[Array],
    tolerance: float = 0,
) -> list[EntryOp]:
    """Check an operation on tensors %a, %b and so on, whose types are separated by spaces: the name
    with its properties, as `cumsum {axis = 1 : i64}`."""
    name, _, properties = operation.partition(" ")
    operands = [f"tensor<{type}>" for type in types.split()]
    results = [f"tensor<{type}>" for type in result.split()]
    names = [f"%{letter}" for letter in "abcdefgh"[: len(operands)]]
    ends = [f"%r#{number}" for number in range(len(results))] if results[1:] else ["%r"]
    head = f"%r:{len(results)}" if results[1:] else "%r"
    text = f"""
        func.func @main({", ".join(f"{n}: {t}" for n, t in zip(names, operands, strict=True))})
            -> ({", ".join(results)}) {{
          {head} = relax.{name} {", ".join(names)} {properties}
              : ({", ".join(operands)}) -> ({", ".join(results)})
          func.return {", ".join(ends)} : {", ".join(results)}
        }}"""
    return check_lanes(text, arrays, tolerance)
