"""Machine code of kernels computes what the operations do: of every one that has a definition, for
each element type that it allows, in one module for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pytest
from support.budget import some
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import constant
from xdsl.dialects.builtin import IntegerType, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Operation

from passline.compiler.kernels.elementwise.binary import BINARY
from passline.compiler.kernels.elementwise.unary import UNARY
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.contraction import linear_algebra
from passline.dialects.relax.data import sorting
from passline.dialects.relax.elementwise import activation, elementwise
from passline.dialects.relax.elementwise.binary import (
    BitwiseOp,
    FloatBinaryOp,
    FloorDivideOp,
    FloorModOp,
    LogicalOp,
    ModOp,
)
from passline.dialects.relax.elementwise.unary import (
    BitwiseNotOp,
    FloatPredicateOp,
    FloatUnaryOp,
    LogicalNotOp,
)
from passline.dialects.relax.reduction import nn, normalization, reduction, scan
from passline.dialects.relax.types import Element

pytestmark = needs_native

CLOSE: dict[Element, float] = {f16: 4e-3, bf16: 4e-2, f32: 2e-5, f64: 1e-12}
INTEGERS: list[Element] = [i1, i8, i32, i64]
ONLY_FLOAT = (FloatUnaryOp, FloatPredicateOp, FloatBinaryOp)
ONLY_INTEGER = (BitwiseOp, BitwiseNotOp)
ONLY_BOOL = (LogicalOp, LogicalNotOp)
REMAINDERS = (ModOp, FloorModOp, FloorDivideOp)

RNG = np.random.default_rng(0)
X, Y = RNG.uniform(0.1, 0.9, (3, 37)), RNG.uniform(-3, 3, (3, 37))
PAIRS = [*product([0, 1, 2, 7, -1, -3, -5, 100, -128], repeat=2)]


def allowed(classes: Iterable[type[Operation]], element: Element) -> Iterator[type[TensorOp]]:
    """The classes of those that take such elements."""
    for cls in classes:
        assert issubclass(cls, TensorOp)
        if isinstance(element, IntegerType):
            no = issubclass(cls, ONLY_FLOAT) or (element != i1 and issubclass(cls, ONLY_BOOL))
        else:
            no = issubclass(cls, (*ONLY_INTEGER, *ONLY_BOOL))
            no = no or (element == f64 and issubclass(cls, REMAINDERS))
        if not no:
            yield cls


def of_elements(element: Element) -> Iterator[Operation]:
    """Functions of each element."""
    lhs, rhs = (X, Y) if element in CLOSE else np.array(PAIRS).T
    x, y = constant(lhs, element), constant(rhs, element)
    yield from (op(x) for op in allowed(UNARY, element))
    yield from (op(x, y) for op in allowed(BINARY, element))
    yield elementwise.ClipOp(y, min=-2.0, max=0.75)
    yield elementwise.WhereOp(constant(rhs > 0, i1), x, y)
    special = [math.nan, math.inf, 1e9, -300.0, 200.0, 1.7, -0.5, 0.0]
    values = constant(special if element in CLOSE else [0, 1, 3, 100, -1, -5], element)
    for target in (*CLOSE, *INTEGERS):
        yield elementwise.AstypeOp(values, dtype=target)
    yield activation.ReluOp(y)


def of_bits() -> Iterator[Operation]:
    """Elements read as others."""
    for source, target in ((f32, i32), (f16, i16), (bf16, i16), (i16, bf16), (f16, bf16)):
        yield elementwise.ReinterpretOp(constant([1.0, 2.0], source), dtype=target)


def of_rows(element: Element) -> Iterator[Operation]:
    """Functions of many elements."""
    x = constant(np.arange(24).reshape(2, 4, 3) % 7 - 2, element)
    row = constant(np.arange(74).reshape(2, 37) % 3, element)
    for op in (
        reduction.SumOp,
        reduction.MeanOp,
        reduction.MaxOp,
        reduction.MinOp,
        reduction.ProdOp,
    ):
        yield op(x, axis=[1])
        yield op(row, axis=[1])
    if element == i1:
        yield from (op(x, axis=[1]) for op in (reduction.AnyOp, reduction.AllOp))
    for last in (False, True):
        yield reduction.ArgmaxOp(x, axis=2, select_last_index=last)
        yield reduction.ArgminOp(x, select_last_index=last)
    yield scan.CumsumOp(x, axis=1)
    yield scan.CumprodOp(x, axis=2, exclusive=True, reverse=True)
    yield sorting.SortOp(x, axis=1)
    yield sorting.ArgsortOp(x, descending=True)
    yield sorting.SortOp(row, axis=1)
    yield sorting.TopkOp(row, k=5, axis=1)
    other = constant(np.arange(24).reshape(2, 4, 3) % 5 - 2, element)
    yield linear_algebra.EinsumOp(x, other, subscripts="bij,bik->bjk")
    yield nn.BiasAddOp(x, constant([1, 0, 1, 2], element))
    yield nn.DropoutOp(x)


def of_networks(element: Element) -> Iterator[Operation]:
    """Functions of floats in neural networks."""
    x, row = constant(np.array([Y, X]), element), constant(Y[0], element)
    a, b, c, d = (constant(np.arange(3) + 0.5 + i, element) for i in range(4))
    yield activation.LeakyReluOp(x)
    yield activation.GeluOp(x)
    yield activation.GeluTanhOp(x)
    yield activation.SiluOp(x)
    yield activation.SoftplusOp(x)
    yield activation.PReluOp(x, a)
    for axis in (1, 2):
        yield nn.SoftmaxOp(x, axis=axis)
        yield nn.LogSoftmaxOp(x, axis=axis)
        yield normalization.LRNOp(x, axis=axis, alpha=0.1)
    yield normalization.BatchNormOp(x, a, b, c, d)
    yield normalization.InstanceNormOp(x, a, b)
    yield normalization.GroupNormOp(x, a, b, num_groups=3, axes=[2])
    yield normalization.LayerNormOp(x, row, constant(X[0], element), axes=[-1])
    yield normalization.RMSNormOp(x, row)
    yield normalization.L2NormalizeOp(x, eps=0.1, axis=[1])


def named(ops: Iterable[Operation]) -> dict[str, Operation]:
    """The operations by a name each."""
    return {f"{i}: {op.name}": op for i, op in enumerate(ops)}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("element", some([f32, f16, bf16, f64, i8, i1, i32, i64], 4), ids=str)
def test_machine_code(element: Element):
    ops = [*of_elements(element), *of_rows(element)]
    if (close := CLOSE.get(element, 0)) > 0:
        ops += of_networks(element)
    check_machine_code(named(ops), close, close)


def test_machine_code_of_bits():
    check_machine_code(named(of_bits()), 0, 0)
