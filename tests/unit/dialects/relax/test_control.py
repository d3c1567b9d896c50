"""Construction of closures and graphs in Python; types of tuples and functions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    ModuleOp,
    TensorType,
    TupleType,
    UnrankedTensorType,
    f16,
    f32,
    i1,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax.closures import InvokeOp, LambdaOp, YieldOp
from passline.dialects.relax.device import DeviceAttr, DeviceCopyOp, OnDeviceOp
from passline.dialects.relax.elementwise.binary import AddOp
from passline.dialects.relax.graph import (
    GraphOp,
    MatchCastOp,
    OutputOp,
    StopFusionOp,
    TupleGetItemOp,
    TupleOp,
)
from passline.dialects.relax.interfaces import FusionKind, FusionPattern
from passline.dialects.relax.kernels import CallTIROp
from passline.dialects.relax.types import refine, tuple_type, unify

T4 = TensorType(f32, [4])
T5 = TensorType(f32, [5])
TD = TensorType(f32, [DYNAMIC_INDEX])
TU = UnrankedTensorType(f32)
H4 = TensorType(f16, [4])


def value(type: Attribute) -> SSAValue:
    return TestOp(result_types=[type]).results[0]


def function(inputs: Sequence[Attribute], *outputs: Attribute) -> FunctionType:
    return FunctionType.from_lists(inputs, outputs)


# Types

REFINED = [
    (tuple_type([TD, TU]), tuple_type([T4, T5]), tuple_type([T4, T5])),
    (tuple_type([T4, TD]), tuple_type([TD, T5]), tuple_type([T4, T5])),
    (
        tuple_type([tuple_type([TU])]),
        tuple_type([tuple_type([TD])]),
        tuple_type([tuple_type([TD])]),
    ),
    (tuple_type([T4]), tuple_type([T5]), None),
    (tuple_type([T4]), tuple_type([T4, T4]), None),
    (tuple_type([T4]), T4, None),
    (function([T4], TD, TU), function([T4], T4, T5), function([T4], T4, T5)),
    (function([T4], TD), function([TD], T4), None),
    (function([T4], T4), function([T4], H4), None),
    (i1, f32, None),
]


@pytest.mark.parametrize(("declared", "inferred", "expected"), REFINED)
def test_refinement(declared: Attribute, inferred: Attribute, expected: Attribute | None):
    assert refine(declared, inferred) == expected
    assert refine(inferred, declared) == expected


def test_what_adds_nothing_leaves_the_type_itself():
    declared = tuple_type([T4, function([], T5)])
    assert refine(declared, tuple_type([TD, function([], TU)])) is declared


UNIFIED = [
    (tuple_type([T4, T5]), tuple_type([T5, T5]), tuple_type([TD, T5])),
    (function([T4], T4), function([T4], T5), function([T4], TD)),
    (function([T4], T4), function([T5], T4), None),
    (tuple_type([T4]), tuple_type([H4]), None),
    (tuple_type([]), tuple_type([T4]), None),
    (i1, T4, None),
]


@pytest.mark.parametrize(("lhs", "rhs", "expected"), UNIFIED)
def test_unification(lhs: Attribute, rhs: Attribute, expected: Attribute | None):
    assert unify(lhs, rhs) == expected
    assert unify(rhs, lhs) == expected


# Operations


def test_tuples_infer_their_types():
    x, y = value(T4), value(i1)
    pair = TupleOp(x, y)
    assert pair.result.type == TupleType((T4, i1))
    item = TupleGetItemOp(pair, index=1)
    assert item.result.type == i1
    assert item.element() is y and item.fold() == (y,)
    with pytest.raises(VerifyException, match="index 2 is out of bounds of tuple<.*, which has 2"):
        TupleGetItemOp(pair, index=2)
    with pytest.raises(VerifyException, match="expected a tuple, got tensor<4xf32>"):
        TupleGetItemOp(x, index=0)


def test_an_element_of_another_type_does_not_fold():
    pair = TupleOp(value(T4), result_types=[tuple_type([TD])])
    assert TupleGetItemOp(pair, index=0).fold() is None


def test_a_tuple_from_elsewhere_does_not_fold():
    assert TupleGetItemOp(value(tuple_type([T4])), index=0).fold() is None


def test_a_cast_to_the_same_type_folds():
    x = value(T4)
    assert MatchCastOp(x, result_types=[T4]).fold() == (x,)
    assert MatchCastOp(x, result_types=[TD]).fold() is None


def test_a_lambda_has_a_type_and_captures():
    source = TestOp(result_types=[T4, T4])
    x, y = source.results
    body = Block(arg_types=[T4])
    inner = AddOp(x, y)
    nested = LambdaOp(Block([inner, YieldOp(inner)]), [T4])
    first, again = AddOp(body.args[0], y), AddOp(y, x)
    body.add_ops([first, nested, again, YieldOp(again)])
    made = LambdaOp(body, [T4])
    holder = ModuleOp([source, made]).body.block
    made.verify()
    assert made.result.type == function([T4], T4)
    assert made.captured() == [y, x]
    assert nested.captured() == [x, y]
    call = InvokeOp(made, [x])
    holder.add_op(call)
    call.verify()
    assert call.result_types == (T4,)


def test_a_graph_is_built():
    x = value(T4)
    total = AddOp(x, x)
    made = GraphOp(Block([total, OutputOp(total)]), [T4])
    made.verify()
    assert made.result_types == (T4,)
    assert not made.has_ssa_dominance(0)


def test_devices():
    x = value(T4)
    gpu = DeviceAttr("cuda", 1, "texture")
    placed = OnDeviceOp(x, device=gpu)
    assert placed.result.type == T4
    assert placed.constrain_body and not placed.constrain_result
    copy = DeviceCopyOp(placed, src=gpu, dst=DeviceAttr("cpu"))
    copy.verify()
    assert str(copy.src) == '#relax.device<cuda:1, "texture">'
    assert str(copy.dst) == "#relax.device<cpu>"
    with pytest.raises(VerifyException, match="unknown device type 'gpu'"):
        DeviceAttr("gpu")


def kinds() -> list[tuple[Operation, FusionKind | None]]:
    x = value(T4)
    return [
        (TupleOp(x), FusionKind.TUPLE),
        (TupleGetItemOp(TupleOp(x), index=0), FusionKind.TUPLE),
        (StopFusionOp(x), None),
        (CallTIROp("f", [x], [T4]), None),
        (OnDeviceOp(x, device=DeviceAttr("cpu")), None),
    ]


@pytest.mark.parametrize(("op", "kind"), kinds(), ids=lambda v: getattr(v, "name", ""))
def test_fusion_kinds(op: Operation, kind: FusionKind | None):
    """Treat an operation without FusionPattern as opaque."""
    assert (op.fusion_kind() if isinstance(op, FusionPattern) else None) is kind
