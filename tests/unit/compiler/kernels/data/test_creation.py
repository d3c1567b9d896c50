"""Kernels of operations that make tensors of numbers, of shapes, and of a pattern."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import constant
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Operation

from passline.compiler.interpreters.relax.data import CREATION
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax.data import creation as ops
from passline.dialects.relax.types import Element


@pytest.mark.parametrize("element", [f16, bf16, f32, f64, i8, i32, i64], ids=str)
@pytest.mark.parametrize("numbers", [(0, 5, 1), (7, -4, -3), (3, 3, 1), (-100, 100, 50)], ids=str)
def test_arange(element: Element, numbers: tuple[int, int, int]):
    check_kernel(ops.ArangeOp(*(constant(n, element) for n in numbers)))


def test_arange_is_rounded_once():
    for element in (f16, f32):
        check_kernel(ops.ArangeOp(*(constant(n, element) for n in (0.1, 5, 0.3))))


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis: int):
    indices = constant([[0, 2], [-1, 3]], i32)
    on, off = constant(5, f32), constant(-1, f32)
    check_kernel(ops.OneHotOp(indices, on, off, depth=3, axis=axis))
    check_kernel(ops.OneHotOp(constant(1, i8), constant(1, i1), constant(0, i1), depth=2))


def test_sizes():
    data = constant(np.zeros((2, 3, 1)), f32)
    for op in (ops.ShapeOfOp, ops.SizeOfOp):
        check_kernel(op(data))
        check_kernel(op(constant(1, i8)))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("k", [0, 1, -2, 9, -9, 2**63 - 1, -(2**63)])
def test_trilu(upper: bool, k: int):
    data = constant(np.random.default_rng(0).normal(size=(2, 3, 4)), f32)
    check_kernel(ops.TriluOp(data, constant(k, i64), upper=upper))


@needs_native
def test_machine_code():
    cases: dict[str, Operation] = {}
    for element in (f16, f32, f64, i8, i32, i64):
        bounds = [constant(n, element) for n in (7, -4, -3)]
        cases[f"arange of {element}"] = ops.ArangeOp(*bounds)
    data = constant(np.random.default_rng(0).normal(size=(2, 3, 4)), f32)
    cases["triu"] = ops.TriluOp(data, constant(-(2**63), i64))
    cases["tril"] = ops.TriluOp(data, constant(1, i64), upper=False)
    cases["shape_of"], cases["size_of"] = ops.ShapeOfOp(data), ops.SizeOfOp(data)
    hot = constant([[0, 2], [-1, 3]], i32), constant(5, f32), constant(-1, f32)
    cases["one_hot"] = ops.OneHotOp(*hot, depth=3, axis=1)
    check_machine_code(cases)


def test_all_are_defined():
    assert {*CREATION} <= {*RELAX}
