# pyright: reportUnknownMemberType=false
"""Clip with a bound that is absent, where ONNX's reference and onnxruntime differ."""

import numpy as np
from onnx.reference import ReferenceEvaluator
from support.models.single_node import ours, single_node
from support.pairs import pairs

DATA = np.array([-np.inf, -3, 0.5, 3, np.inf, np.nan], np.float32)


@pairs(high=[None, 2.0, np.inf], low=[None, -1.5, -np.inf, np.nan], constants=[(), (1, 2)])
def test_infinities_are_clipped_to_given_bounds_alone(
    low: float | None, high: float | None, constants: tuple[int, ...]
):
    bounds = [None if bound is None else np.float32(bound) for bound in (low, high)]
    inputs = [DATA, *(None if bound is None else np.asarray(bound) for bound in bounds)]
    model = single_node("Clip", inputs, domain="", opset=13, constants=constants)
    given = {info.name: inputs[int(info.name[1:])] for info in model.graph.input}
    (expected,) = ReferenceEvaluator(model).run(None, given)
    np.testing.assert_array_equal(ours(model, inputs)[0], expected)
