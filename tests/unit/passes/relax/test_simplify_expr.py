"""SimplifyExpr: fills are not expanded, and lossless conversions."""

from __future__ import annotations

import numpy as np
import pytest
from support.operations.evaluation import constant, run
from support.tables import table_test
from xdsl.dialects.builtin import (
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.pattern_rewriter import RewritePattern

from passline.compiler.interpreters.arrays import bounds, number_of
from passline.dialects.relax.constant import FullOp
from passline.dialects.relax.elementwise.binary import AddOp, MultiplyOp
from passline.dialects.relax.elementwise.elementwise import AstypeOp
from passline.dialects.relax.types import Element
from passline.passes.relax.simplify_expr import MergeAstypes, SimplifyExpr
from passline.passmanager.rewriting import apply_patterns

ui1, ui8, ui16 = (IntegerType(width, Signedness.UNSIGNED) for width in (1, 8, 16))
TYPES: list[Element] = [i1, ui1, i8, ui8, i16, ui16, i32, i64, f16, bf16, f32, f64]


def function(ops: list[Operation], result: Operation) -> FuncOp:
    end = ReturnOp(*result.results)
    return FuncOp("f", ((), result.result_types), Region(Block([*ops, end])))


def rewritten(func: FuncOp, *patterns: RewritePattern) -> Operation:
    """Apply `patterns` to `func`, and return the operation that then defines its result."""
    apply_patterns(func, patterns)
    end = func.body.block.last_op
    assert end is not None
    owner = end.operands[0].owner
    assert isinstance(owner, Operation)
    return owner


def test_fills_are_not_expanded():
    type = TensorType(f32, [1 << 20, 1 << 20])
    two = FullOp(number_of(np.array(2, np.float32), f32), type)
    source = TestOp(result_types=[type])
    first = MultiplyOp(source, two)
    second = AddOp(first, two)
    third = MultiplyOp(second, two)
    func = function([source, two, first, second, third], third)
    module = SimplifyExpr()(ModuleOp([func]))
    names = [op.name for op in module.walk()][2:]
    fills = [op.value.value.data for op in module.walk() if isinstance(op, FullOp)]
    assert names.count("relax.multiply") == names.count("relax.add") == 1
    assert fills == [4.0, 4.0]


@pytest.mark.parametrize("element", TYPES, ids=str)
def test_conversions_that_are_left_out_change_nothing(element: Element):
    for other in TYPES:
        numbers = [*bounds(element), 0, 1]
        if not isinstance(element, IntegerType):
            numbers += [-0.3333, 3.0000002, 65000, 3e38]
        with np.errstate(over="ignore"):  # some are too large for f16
            values = constant(numbers, element)
        there = AstypeOp(values, dtype=other)
        back = AstypeOp(there, dtype=element)
        expected = run(back)
        func = function([values, there, back], back)
        np.testing.assert_array_equal(run(rewritten(func, MergeAstypes())), expected)


@table_test(
    "element, other",
    [(i8, f16), (ui8, bf16), (i1, ui1), (f16, f32), (bf16, f64), (i32, f64), (ui8, i16)],
)
def test_conversions_that_lose_nothing_are_left_out(element: Element, other: Attribute):
    values = constant([0, 1], element)
    there = AstypeOp(values, dtype=other)
    back = AstypeOp(there, dtype=element)
    assert rewritten(function([values, there, back], back), MergeAstypes()) is values
