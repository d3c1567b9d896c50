"""Loops over vectors of dimensions whose extent is known at run time only."""

from __future__ import annotations

import numpy as np
import pytest
from support.passes.results import run
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, f32

from passline.compiler.analysis.constant_evaluator import integer_constant
from passline.dialects.sizes import Size
from passline.dialects.tir.builder import TirBuilder
from passline.dialects.tir.functions import extent_of
from passline.dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk


def incremented(lanes: int, *, overlapping: bool) -> ModuleOp:
    """Return a module whose `@f` adds one to the elements of a buffer, by vectors of `lanes` lanes:
    in place, or into another buffer if vectors overlap."""
    type = MemRefType(f32, [DYNAMIC_INDEX])
    b = TirBuilder(PrimFuncOp("f", [type] * (2 if overlapping else 1)))
    data, result = b.func.args[0], b.func.args[-1]
    b.read_size("n", data, 0)
    n = extent_of(Size.symbol("n"))
    loops = b.overlapping_vectors if overlapping else b.vectors_and_rest
    with loops(n, lanes) as i:
        one = b.number(1, f32)
        b.store(b.pure(arith.AddfOp, b.load(data, [i]), one), result, [i])
    verify(module := ModuleOp([b.finish()]))
    return module


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("overlapping", [True, False])
def test_vectors(lanes: int, overlapping: bool):
    module = incremented(lanes, overlapping=overlapping)
    for n in range(3 * lanes + 2):
        data = np.arange(n, dtype=np.float32)
        given = (data, np.zeros_like(data)) if overlapping else (data,)
        *_, result = run(module, "f", given)
        np.testing.assert_array_equal(np.asarray(result), data + 1)


def test_vectors_are_halved_until_they_are_short():
    loops = [op for op in walk(incremented(16, overlapping=True)) if isinstance(op, ForOp)]
    vectors = [op for op in loops if op.for_kind is ForKind.VECTORIZED]
    assert [integer_constant(op.extent) for op in vectors] == [16, 8, 4]


@pytest.mark.parametrize("by", [2, 16])
@pytest.mark.parametrize("overlapping", [True, False])
def test_places_are_divided(by: int, overlapping: bool):
    b = TirBuilder(PrimFuncOp("f", [MemRefType(f32, [DYNAMIC_INDEX])] * 2))
    data, result = b.func.args
    b.read_size("n", data, 0)
    loops = b.overlapping_vectors if overlapping else b.vectors_and_rest
    with loops(extent_of(Size.symbol("n")), 16) as i:
        quotient, remainder = b.load(data, [b.floordiv(i, by)]), b.load(data, [b.mod(i, by)])
        b.store(b.pure(arith.AddfOp, quotient, remainder), result, [i])
    verify(module := ModuleOp([b.finish()]))
    for n in 17, 37:
        given = np.arange(n, dtype=np.float32)
        _, actual = run(module, "f", (given, np.zeros_like(given)))
        np.testing.assert_array_equal(np.asarray(actual), given // by + given % by)
