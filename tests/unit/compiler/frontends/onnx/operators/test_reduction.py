"""TopK of no elements, which relax.topk does not express, and Hardmax."""

import numpy as np
import pytest
from support.models.single_node import check, ours, single_node
from support.pairs import pairs

from passline.compiler.frontends.onnx import UnsupportedModelError

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


def k(number: int) -> np.ndarray:
    return np.array([number], np.int64)


@pairs(axis=[0, -1], number=[0, 1, 3], constants=[(), (1,)])
def test_as_many_elements_as_k(number: int, axis: int, constants: tuple[int, ...]):
    unknown = {0: (0, 1)}
    check(
        "TopK",
        DATA,
        k(number),
        outputs=2,
        domain="",
        axis=axis,
        constants=constants,
        unknown=unknown,
    )


def test_a_negative_k_is_refused():
    model = single_node("TopK", [DATA, k(-1)], 2, domain="", constants=(1,))
    with pytest.raises(UnsupportedModelError, match="k = -1"):
        ours(model, [DATA, k(-1)])


@pairs(unknown=[(1,), (0, 1, 2)], axis=[0, 1, -1], opset=[11, 13])
def test_hardmax_of_unknown_sizes(unknown: tuple[int, ...], axis: int, opset: int):
    data = np.random.default_rng(0).integers(-2, 3, (2, 3, 4)).astype(np.float32)
    check("Hardmax", data, domain="", opset=opset, axis=axis, unknown={0: unknown})
