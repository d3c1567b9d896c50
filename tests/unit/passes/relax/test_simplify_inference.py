"""SimplifyInference: rounding of each float type, random parameters, fills."""

from __future__ import annotations

import numpy as np
import pytest
from support.operations.evaluation import constant, run
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f16, f32, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from passline.compiler.interpreters.arrays import number_of
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import FullOp
from passline.dialects.relax.reduction.normalization import (
    BatchNormOp,
    GroupNormOp,
    InstanceNormOp,
    L2NormalizeOp,
    LayerNormOp,
    RMSNormOp,
)
from passline.dialects.relax.types import Element
from passline.passes.relax.simplify_inference import SimplifyInference

FLOATS: list[Element] = [f16, bf16, f32, f64]
ROUNDING: dict[Element, float] = {f16: 2e-3, bf16: 2e-2, f32: 2e-6, f64: 1e-12}


def simplified(op: TensorOp) -> Operation:
    """Simplify a function of `op` alone, and return the operation that then defines its result."""
    owners = dict.fromkeys(o.owner for o in op.operands if isinstance(o.owner, Operation))
    func = FuncOp("f", ((), op.result_types), Region(Block([*owners, op, ReturnOp(*op.results)])))
    module = SimplifyInference()(ModuleOp([func]))
    (func,) = module.ops
    assert isinstance(func, FuncOp)
    assert not any(isinstance(inner, type(op)) for inner in func.walk())
    (*_, end) = func.body.block.ops
    owner = end.operands[0].owner
    assert isinstance(owner, Operation)
    return owner


@pytest.mark.parametrize("element", FLOATS, ids=str)
@pytest.mark.parametrize("kind", ["batch", "layer", "instance", "group", "rms", "l2"])
def test_values_are_those_of_the_operation(kind: str, element: Element):
    rng = np.random.default_rng(len(kind))
    data = constant(rng.uniform(-2, 2, (2, 4, 3, 2)), element)
    of_channels = [constant(rng.uniform(0.5, 2, 4), element) for _ in range(4)]
    of_last = [constant(rng.uniform(0.5, 2, (2, 3)), element) for _ in range(2)]
    gamma, beta, mean, variance = of_channels
    op: TensorOp
    match kind:
        case "batch":
            op = BatchNormOp(data, gamma, beta, mean, variance, epsilon=1e-3)
        case "layer":
            op = LayerNormOp(data, *of_last, axes=[-1, 2])
        case "instance":
            op = InstanceNormOp(data, gamma, beta)
        case "group":
            op = GroupNormOp(data, gamma, beta, num_groups=2)
        case "rms":
            op = RMSNormOp(data, of_last[0], axes=[-1, 2])
        case _:
            op = L2NormalizeOp(data, eps=1e-3, axis=[1, 2])
    expected = run(op).astype(np.float64)
    actual = run(simplified(op)).astype(np.float64)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=4 * ROUNDING[element])


def test_a_batch_norm_of_f32_is_bit_by_bit_the_same():
    rng = np.random.default_rng(0)
    data = constant(rng.normal(size=(2, 5, 7)), f32)
    parameters = [constant(rng.uniform(0.1, 2, 5), f32) for _ in range(4)]
    op = BatchNormOp(data, *parameters)
    expected = run(op)
    assert (run(simplified(op)) == expected).all()


def test_fills_are_not_expanded():
    one = FullOp(number_of(np.ones((), np.float32), f32), TensorType(f32, [1 << 40]))
    data = FullOp(one.value, TensorType(f32, [1 << 40, 2]))
    add = simplified(BatchNormOp(data, one, one, one, one, axis=0))
    assert isinstance(add.operands[1].owner, FullOp)
