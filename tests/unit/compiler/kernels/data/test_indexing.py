"""Kernels of operations that read and write at places."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant, i4
from support.operations.legalized import check_kernel
from support.tables import table_test
from xdsl.dialects.builtin import bf16, f16, f32, i1, i8, i32, i64
from xdsl.ir import Operation

from passline.compiler.interpreters.relax.data import INDEXING
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax.data.indexing import (
    GatherNDOp,
    GatherOp,
    NonzeroOp,
    ScatterElementsOp,
    ScatterNDOp,
    StridedSliceOp,
    TakeOp,
)
from passline.dialects.relax.types import Element


def numbers(*shape: int) -> Array:
    return np.arange(prod(shape)).reshape(shape) % 13


def tensor(*shape: int):
    return constant(numbers(*shape), f32)


def places(*values: object, element: Element = i64):
    return constant(values, element)


END = 2**63 - 1

CASES: dict[str, Operation] = {
    "strided_slice": StridedSliceOp(tensor(4, 5), begin=(1, 0), end=(3, 5), strides=(1, 2)),
    "strided_slice, backwards": StridedSliceOp(
        tensor(4, 5), begin=(-1, 3), end=(-END - 1, -4), strides=(-2, -1)
    ),
    "strided_slice, cut off": StridedSliceOp(tensor(4, 5), begin=(-9,), end=(END,), axes=(-1,)),
    "strided_slice, empty": StridedSliceOp(tensor(4, 5), begin=(3,), end=(1,)),
    "take": TakeOp(tensor(3, 4), places((0, 2), (1, 1)), axis=1),
    "take, clipped": TakeOp(tensor(3, 4), places(-1, 7, 2, element=i8), axis=0),
    "take, fast": TakeOp(tensor(3, 4), places(1, 2), axis=-2, mode="fast"),
    "take, wrapped": TakeOp(tensor(3, 4), places(-1, 7, -8, 4, element=i32), axis=1, mode="wrap"),
    "take, flat": TakeOp(tensor(3, 4), places(5, 99)),
    "take, one": TakeOp(tensor(3, 4), constant(2, i64), axis=0),
    "gather": GatherOp(tensor(3, 4), places((0, -1), (2, 1)), axis=0),
    "gather, last": GatherOp(tensor(3, 4), places((3, -4, 0, 0, 1), (1, 1, 2, 2, -1)), axis=-1),
    "gather_nd": GatherNDOp(tensor(3, 4), places((0, -1), (2, 1))),
    "gather_nd, rows": GatherNDOp(tensor(3, 4, 2), places(((0,), (-1,)), ((2,), (1,)))),
    "gather_nd, batch": GatherNDOp(
        tensor(2, 3, 4), places(((1,), (-1,)), ((0,), (2,))), batch_dims=1
    ),
    "gather_nd, one": GatherNDOp(tensor(3, 4), places(1, 2)),
}


@table_test("op", CASES.values())
def test_values(op: Operation):
    check_kernel(op)


REDUCTIONS = ["update", "add", "mul", "min", "max"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter(reduction: str):
    """Each update of one element is taken in."""
    for element in [f16, bf16, f32, i1, i4, i8, i32]:
        data = constant(numbers(3, 4), element)
        updates = constant(numbers(2, 3) - 2, element)
        indices = places((2, -1, 0), (2, 2, 0))
        check_kernel(ScatterElementsOp(data, indices, updates, reduction=reduction))
        check_kernel(ScatterElementsOp(data, indices, updates, axis=-1, reduction=reduction))
        coordinates = places(((1, -1), (1, 3), (0, 0)), ((1, 3), (2, 0), (0, 0)))
        check_kernel(ScatterNDOp(data, coordinates, updates, reduction=reduction))
        rows = constant(numbers(3, 4) % 5, element)
        check_kernel(ScatterNDOp(data, places((1,), (-1,), (1,)), rows, reduction=reduction))


def test_sums_of_f16_are_rounded_once():
    data, updates = constant([2048.0], f16), constant([1.0, 1.0, 1.0], f16)
    check_kernel(ScatterElementsOp(data, places(0, 0, 0), updates, reduction="add"))


@needs_native
def test_machine_code():
    cases = {name: op for name, op in CASES.items() if name != "strided_slice, empty"}
    for reduction in REDUCTIONS:
        for element in (f16, f32, i1, i8):
            data, updates = constant(numbers(3, 4), element), constant(numbers(2, 3) - 2, element)
            indices = places((2, -1, 0), (2, 2, 0))
            cases[f"{reduction} of {element}"] = ScatterElementsOp(
                data, indices, updates, reduction=reduction
            )
    check_machine_code(cases)


def test_all_are_defined():
    """Only the shape of one is not known before it is computed."""
    assert {*INDEXING} - {*RELAX} == {NonzeroOp}
