"""Inferred types of operations that move elements, with unknown dimensions."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, Builtin, TensorType, f32
from xdsl.ir import Block, Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax import Relax
from passline.dialects.relax.attributes import PropertyValue
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.data.creation import SizeOfOp
from passline.dialects.relax.data.manipulation import infer_reshape
from passline.dialects.relax.shapes import Shape, merge

D = DYNAMIC_INDEX
CONTEXT = Context()
CONTEXT.load_dialect(Builtin)
CONTEXT.load_dialect(Relax)


def infer(name: str, operands: list[str], **properties: PropertyValue) -> list[str]:
    """The types of the results of an operation on values of these types, such as 2x?xf32."""
    cls = CONTEXT.get_op(f"relax.{name}")
    assert issubclass(cls, TensorOp)
    types = [Parser(CONTEXT, f"tensor<{text}>").parse_type() for text in operands]
    op: Operation = cls(*Block(arg_types=types).args, **properties)  # pyright: ignore[reportArgumentType]
    op.verify()
    return [str(type)[len("tensor<") : -1] for type in op.result_types]


@pytest.mark.parametrize(
    ("name", "operands", "properties", "message"),
    [
        ("dyn.expand", ["f32", f"{2**40}xi64"], {}, f"a tensor of {2**40} dimensions"),
        ("dyn.broadcast_to", ["f32", f"{2**40}xi64"], {}, f"a tensor of {2**40} dimensions"),
        ("split", ["?xf32"], {"sections": 2**40}, f"sections is {2**40}, expected at most"),
        ("split", [f"{2**40}xf32"], {"sections": 2**40}, f"sections is {2**40}, expected at most"),
        ("concatenate", [f"{2**62}xf32"] * 2, {"axis": 0}, f"dimension of {2**63}, which exceeds"),
    ],
)
def test_sizes_that_no_tensor_has(
    name: str, operands: list[str], properties: dict[str, PropertyValue], message: str
):
    with pytest.raises(VerifyException, match=message):
        infer(name, operands, **properties)


def test_a_number_of_elements_beyond_an_i64_does_not_fold() -> None:
    (large,) = Block(arg_types=[TensorType(f32, [2**40, 2**40])]).args
    (small,) = Block(arg_types=[TensorType(f32, [2**40, 2])]).args
    assert SizeOfOp(large).fold() is None
    assert SizeOfOp(small).fold() is not None


S = "i64"  # a scalar

CASES: list[tuple[str, list[str], dict[str, PropertyValue], str]] = [
    ("reshape", ["?x3x4xf32"], {"newshape": [0, -1]}, "?x12xf32"),
    ("reshape", ["?x3x?xf32"], {"newshape": [-1, 3]}, "?x3xf32"),
    ("reshape", ["?x3xf32"], {"newshape": [2, 6]}, "2x6xf32"),
    ("reshape", ["0x?xf32"], {"newshape": [-1, 5]}, "0x5xf32"),
    ("reshape", ["?xf32"], {"newshape": [0, 0], "allowzero": True}, "0x0xf32"),
    ("reshape", ["*xf32"], {"newshape": [0, -1, 2]}, "?x?x2xf32"),
    ("flatten", ["?x2xf32"], {}, "?xf32"),
    ("flatten", ["?x0xf32"], {}, "0xf32"),
    ("flatten", ["*xf32"], {}, "?xf32"),
    ("transpose", ["?x2x3xi8"], {"axes": [-1, 0, 1]}, "3x?x2xi8"),
    ("transpose", ["?x2x3xi8"], {}, "3x2x?xi8"),
    ("transpose", ["*xi8"], {"axes": [1, 0]}, "?x?xi8"),
    ("transpose", ["*xi8"], {}, "*xi8"),
    ("transpose", ["i8"], {"axes": []}, "i8"),
    ("squeeze", ["?x1x2xf32"], {"axis": [0]}, "1x2xf32"),
    ("squeeze", ["?x1x2xf32"], {}, "*xf32"),
    ("squeeze", ["1x1x2xf32"], {}, "2xf32"),
    ("squeeze", ["*xf32"], {"axis": [0]}, "*xf32"),
    ("expand_dims", ["?x2xf32"], {"axis": [1, -1]}, "?x1x2x1xf32"),
    ("expand_dims", ["*xf32"], {"axis": [0]}, "*xf32"),
    ("flip", ["?x2xf32"], {"axis": [0]}, "?x2xf32"),
    ("flip", ["*xf32"], {"axis": [7]}, "*xf32"),
    ("reverse_sequence", ["?x4xf32", "*xi64"], {}, "?x4xf32"),
    ("broadcast_to", ["?x1xf32"], {"shape": [5, 2, 3]}, "5x2x3xf32"),
    ("broadcast_to", ["?xf32"], {"shape": [1]}, "1xf32"),
    ("broadcast_to", ["*xf32"], {"shape": [2]}, "2xf32"),
    ("tile", ["?x2xf32"], {"reps": [3, 1, 2]}, "3x?x4xf32"),
    ("tile", ["?xf32"], {"reps": [0]}, "0xf32"),
    ("tile", ["*xf32"], {"reps": [2]}, "*xf32"),
    ("repeat", ["?x2xf32"], {"repeats": 2, "axis": -1}, "?x4xf32"),
    ("repeat", ["?x2xf32"], {"repeats": 2}, "?xf32"),
    ("repeat", ["f32"], {"repeats": 2}, "2xf32"),
    ("repeat", ["*xf32"], {"repeats": 2, "axis": 0}, "*xf32"),
    ("concatenate", ["?x2xf32", "3x?xf32"], {"axis": 1}, "3x?xf32"),
    ("concatenate", ["?x2xf32", "3x4xf32", "?x0xf32"], {"axis": -1}, "3x6xf32"),
    ("concatenate", ["2x3xf32", "*xf32"], {}, "?x3xf32"),
    ("concatenate", ["*xf32"], {"axis": 5}, "*xf32"),
    ("stack", ["?x2xf32", "*xf32", "3x?xf32"], {"axis": -1}, "3x2x3xf32"),
    ("stack", ["*xf32", "*xf32"], {}, "*xf32"),
    ("split", ["7x?xf32"], {"sections": 3}, "3x?xf32 3x?xf32 1x?xf32"),
    ("split", ["?x2xf32"], {"sections": 2}, "?x2xf32 ?x2xf32"),
    ("split", ["5xf32"], {"indices": [3, 9]}, "3xf32 2xf32 0xf32"),
    ("split", ["?xf32"], {"indices": [3]}, "?xf32 ?xf32"),
    ("split", ["*xf32"], {"sections": 2, "axis": 3}, "*xf32 *xf32"),
    ("strided_slice", ["?x5xf32"], {"begin": [0, -1], "end": [2**63 - 1, 0]}, "?x0xf32"),
    ("strided_slice", ["?x5xf32"], {"begin": [3], "end": [2]}, "0x5xf32"),
    ("strided_slice", ["?x5xf32"], {"begin": [3], "end": [9], "axes": [-1]}, "?x2xf32"),
    ("strided_slice", ["?xf32"], {"begin": [1], "end": [3]}, "?xf32"),
    ("strided_slice", ["*xf32"], {"begin": [1], "end": [3]}, "*xf32"),
    ("take", ["?x5xf32", "2x?xui8"], {"axis": 1}, "?x2x?xf32"),
    ("take", ["?x5xf32", "i8"], {"axis": 0}, "5xf32"),
    ("take", ["*xf32", "3xi8"], {}, "3xf32"),
    ("take", ["*xf32", "3xi8"], {"axis": 0}, "*xf32"),
    ("take", ["2xf32", "*xi8"], {"axis": 0}, "*xf32"),
    ("gather", ["?x5xf32", "2x?xi64"], {"axis": 1}, "2x?xf32"),
    ("gather", ["2x5xf32", "*xi64"], {}, "*xf32"),
    ("gather_nd", ["2x3x4xf32", "?x2xi64"], {}, "?x4xf32"),
    ("gather_nd", ["2x3x4xf32", "2x5x1xi64"], {"batch_dims": 1}, "2x5x4xf32"),
    ("gather_nd", ["2x3x4xf32", "5x?xi64"], {}, "*xf32"),
    ("gather_nd", ["*xf32", "5x1xi64"], {}, "*xf32"),
    ("scatter_elements", ["?x3xf32", "2x3xi64", "*xf32"], {}, "?x3xf32"),
    ("scatter_elements", ["*xf32", "2x3xi64", "2x?xf32"], {}, "*xf32"),
    ("scatter_nd", ["4x?xf32", "2x1xi64", "2x5xf32"], {}, "4x?xf32"),
    ("scatter_nd", ["*xf32", "*xi64", "*xf32"], {}, "*xf32"),
    ("nonzero", ["?x3xf32"], {}, "2x?xi64"),
    ("nonzero", ["*xf32"], {}, "?x?xi64"),
    ("vision.non_max_suppression", ["?x9x4xf32", "2x3x?xf32", "i64", "f32"], {}, "?x3xi64"),
    ("vision.non_max_suppression", ["*xf32", "*xf32", "i64", "f32", "f32"], {}, "?x3xi64"),
    ("shape_of", ["?x3xf32"], {}, "2xi64"),
    ("shape_of", ["*xf32"], {}, "?xi64"),
    ("size_of", ["*xf32"], {}, "i64"),
    ("arange", ["f32", "f32", "f32"], {}, "?xf32"),
    ("one_hot", ["?x3xi8", "f16", "*xf16"], {"depth": 4, "axis": 1}, "?x4x3xf16"),
    ("one_hot", ["*xi8", "f16", "f16"], {"depth": 4}, "*xf16"),
    ("trilu", ["?x3xf32", "i64"], {}, "?x3xf32"),
    ("trilu", ["*xf32", "*xi64"], {}, "*xf32"),
    ("dyn.reshape", ["2x3xf32", "3xi64"], {}, "?x?x?xf32"),
    ("dyn.reshape", ["2x3xf32", "?xi64"], {}, "*xf32"),
    ("dyn.reshape", ["*xf32", "0xi64"], {}, "f32"),
    ("dyn.broadcast_to", ["*xf32", "2xi64"], {}, "?x?xf32"),
    ("dyn.expand", ["2x1xf32", "3xi64"], {}, "?x2x?xf32"),
    ("dyn.expand", ["*xf32", "3xi64"], {}, "*xf32"),
    ("dyn.tile", ["2x1xf32", "3xi64"], {}, "?x?x?xf32"),
    ("dyn.tile", ["2x1xf32", "?xi64"], {}, "*xf32"),
    ("dyn.full", ["f32", "2xi64"], {}, "?x?xf32"),
    ("dyn.strided_slice", ["2x?xf32", *["1xi64"] * 4], {}, "?x?xf32"),
    ("dyn.strided_slice", ["*xf32", *["1xi64"] * 4], {}, "*xf32"),
    ("dyn.squeeze", ["2x1x1xf32", "2xi64"], {}, "?xf32"),
    ("dyn.squeeze", ["2x1x1xf32", "*xi64"], {}, "*xf32"),
    ("dyn.expand_dims", ["2xf32", "2xi64"], {}, "?x?x?xf32"),
    ("dyn.expand_dims", ["*xf32", "2xi64"], {}, "*xf32"),
    ("dyn.one_hot", ["2x3xi8", "f16", "f16", "i64"], {"axis": 0}, "?x2x3xf16"),
    ("dyn.one_hot", ["*xi8", "f16", "f16", "1xi64"], {}, "*xf16"),
    ("dyn.reduce", ["6x1xf32", "1xi64"], {}, "?x1xf32"),
    ("dyn.reduce", ["6x2xf32", "1xi64"], {"keepdims": False}, "?xf32"),
    ("dyn.reduce", ["6x2xf32", "?xi64"], {"keepdims": False}, "*xf32"),
    ("dyn.reduce", ["6x2xf32", "0xi64"], {"noop_with_empty_axes": True}, "6x2xf32"),
    ("dyn.reduce", ["6x2xf32", "0xi64"], {"keepdims": False}, "f32"),
    ("dyn.cumsum", ["6x?xf32", "i64"], {}, "6x?xf32"),
    ("dyn.topk", ["6x2xf32", "1xi64"], {"axis": 0}, "?x2xf32 ?x2xi64"),
    ("dyn.topk", ["*xf32", "1xi64"], {"axis": 0}, "*xf32 *xi64"),
    ("dyn.pad", ["6x1xf32", "4xi64", "f32", "2xi64"], {}, "?x?xf32"),
    ("dyn.pad", ["*xf32", "?xi64", "f32", "2xi64"], {}, "*xf32"),
    ("dyn.resize", ["2x3x4xf32", "1xi64"], {}, "2x3x?xf32"),
    ("dyn.resize", ["*xf32", "2xi64"], {"layout": "NHWC"}, "?x?x?x?xf32"),
    ("dyn.resize", ["2x3x4xf32", "?xi64"], {}, "?x?x?xf32"),
    ("dyn.split", ["6x2xf32", "2xi64"], {}, "?x2xf32 ?x2xf32"),
    ("dyn.split", ["*xf32", "2xi64"], {}, "*xf32 *xf32"),
    ("dyn.compress", ["6x2xf32", "?xi1"], {"axis": -1}, "6x?xf32"),
    ("dyn.compress", ["*xf32", "*xi1"], {}, "?xf32"),
]


def test_inferred():
    for name, operands, properties, expected in CASES:
        case = name, operands, properties
        assert (case, infer(name, operands, **properties)) == (case, expected.split())


def test_the_number_of_parts_has_to_come_from_somewhere():
    with pytest.raises(VerifyException, match="the number of results is unknown"):
        infer("dyn.split", ["6xf32", "?xi64"])


# All small reshapes

SHAPES = [shape for rank in range(3) for shape in product((0, 1, 2, 3, 6), repeat=rank)]
NEWSHAPES = [shape for rank in range(4) for shape in product((-1, 0, 1, 2, 3, 6), repeat=rank)]


def test_reshape_without_copies_is_numpys():
    for shape, newshape in product(SHAPES, NEWSHAPES):
        try:
            expected = np.empty(shape).reshape(newshape).shape
        except ValueError:
            expected = None
        assert reshaped(shape, newshape, True) == expected, (shape, newshape)


def test_a_reshape_keeps_the_elements():
    for shape, newshape in product(SHAPES, NEWSHAPES):
        if (result := reshaped(shape, newshape, False)) is not None:
            assert prod(result) == prod(shape)
            for new, size, old in zip(newshape, result, (*shape, 0, 0, 0), strict=False):
                assert new == -1 or size == (new or old), (shape, newshape)


@pytest.mark.parametrize("hidden", [{0}, {1}, {0, 1}])
def test_unknown_dimensions_hide_nothing_wrong(hidden: set[int]):
    """Inference with unknown dimensions accepts what inference with known ones accepts."""
    for shape, newshape, allowzero in product(SHAPES, NEWSHAPES, (False, True)):
        known = reshaped(shape, newshape, allowzero)
        if known is not None and 0 not in shape:
            partly = tuple(D if i in hidden else d for i, d in enumerate(shape))
            inferred = reshaped(partly, newshape, allowzero)
            assert inferred is not None and merge(inferred, known) == known, (partly, newshape)


def reshaped(shape: Shape, newshape: Shape, allowzero: bool) -> Shape | None:
    try:
        return infer_reshape(shape, newshape, allowzero)
    except VerifyException:
        return None
