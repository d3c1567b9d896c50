"""The semantics of operations that move elements, with numpy as the oracle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import ALL_ELEMENTS, Array, constant, run, run_all
from support.tables import table_test
from xdsl.dialects.builtin import f32, i1, i32, i64
from xdsl.ir import Operation

from passline.dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp
from passline.dialects.relax.data.manipulation import (
    BroadcastToOp,
    ExpandDimsOp,
    FlattenOp,
    FlipOp,
    RepeatOp,
    ReshapeOp,
    ReverseSequenceOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
)

X = np.arange(24).reshape(2, 1, 3, 4)

Case = tuple[Callable[[Operation], Operation], Callable[[Array], Array]]

CASES: dict[str, Case] = {
    "reshape": (lambda x: ReshapeOp(x, newshape=[0, -1, 2]), lambda x: x.reshape(2, 6, 2)),
    "flatten": (FlattenOp, np.ravel),
    "transpose": (TransposeOp, np.transpose),
    "axes": (lambda x: TransposeOp(x, axes=[2, -1, 0, 1]), lambda x: x.transpose(2, 3, 0, 1)),
    "squeeze": (SqueezeOp, np.squeeze),
    "squeeze_axis": (lambda x: SqueezeOp(x, axis=[-3]), lambda x: x.squeeze(1)),
    "expand_dims": (
        lambda x: ExpandDimsOp(x, axis=[-1, 0]),
        lambda x: np.expand_dims(x, (0, 5)),
    ),
    "flip": (lambda x: FlipOp(x, axis=[0, -1]), lambda x: x[::-1, :, :, ::-1]),
    "broadcast_to": (
        lambda x: BroadcastToOp(x, shape=[5, 2, 7, 3, 4]),
        lambda x: np.broadcast_to(x, (5, 2, 7, 3, 4)),
    ),
    "tile": (lambda x: TileOp(x, reps=[2, 1, 3]), lambda x: np.tile(x, (2, 1, 3))),
    "tile_more": (lambda x: TileOp(x, reps=[2, 1, 1, 1, 2]), lambda x: np.tile(x, (2, 1, 1, 1, 2))),
    "repeat": (lambda x: RepeatOp(x, repeats=2, axis=-2), lambda x: np.repeat(x, 2, 2)),
    "repeat_all": (lambda x: RepeatOp(x, repeats=3), lambda x: np.repeat(x, 3)),
    "concatenate": (
        lambda x: ConcatenateOp(x, x, x, axis=-1),
        lambda x: np.concatenate([x, x, x], 3),
    ),
    "stack": (lambda x: StackOp(x, x, axis=-1), lambda x: np.stack([x, x], 4)),
}
COPIES = ("tile", "tile_more", "repeat", "repeat_all", "concatenate", "stack")


@table_test("case", CASES)
def test_against_numpy(case: str):
    for element in [*ALL_ELEMENTS, i1]:
        op, oracle = CASES[case]
        x = constant(X, element)
        result = op(x)
        np.testing.assert_array_equal(run(result), oracle(run(x)), strict=True)
        assert str(result.results[0].type).startswith(
            f"tensor<{'x'.join(map(str, oracle(X).shape))}x"
        ), "the inferred shape"


@table_test("case", [case for case in CASES if case not in COPIES])
def test_views(case: str):
    x = constant(X, f32)
    assert np.shares_memory(run(CASES[case][0](x)), np.frombuffer(x.value.data.data, np.uint8))


@table_test("case", [case for case in CASES if case not in ("reshape", "broadcast_to")])
def test_nothing_to_move(case: str):
    x = constant(np.zeros((2, 1, 3, 0)), i32)
    op, oracle = CASES[case]
    np.testing.assert_array_equal(run(op(x)), oracle(run(x)), strict=True)


@table_test(
    "shape, newshape, allowzero, expected",
    [
        ((2, 0), [0, -1], False, (2, 0)),
        ((0, 3), [0, -1], False, (0, 3)),
        ((0, 3), [-1, 4], False, (0, 4)),
        ((0, 3), [3, 0], True, (3, 0)),
        ((1,), [], False, ()),
        ((), [1, -1], False, (1, 1)),
    ],
)
def test_reshape_at_the_edges(
    shape: tuple[int, ...], newshape: list[int], allowzero: bool, expected: tuple[int, ...]
):
    op = ReshapeOp(constant(np.zeros(shape), f32), newshape=newshape, allowzero=allowzero)
    assert run(op).shape == expected
    assert op.result.type == constant(np.zeros(expected), f32).result.type


@pytest.mark.parametrize("indices", [[], [1], [2, 3], [-2], [3, 2], [2, 99], [0, 5]])
@pytest.mark.parametrize("axis", [0, -1])
def test_split_at_indices(indices: list[int], axis: int):
    x = constant(np.arange(25).reshape(5, 5), i32)
    op = SplitOp(x, indices=indices, axis=axis)
    expected = np.array_split(run(x), indices, axis)
    assert len(op.results) == len(expected)
    for part, type, array in zip(run_all(op), op.result_types, expected, strict=True):
        np.testing.assert_array_equal(part, array, strict=True)
        assert type == constant(array, i32).result.type
        assert array.size == 0 or part.base is not None


def test_split_into_sections():
    x = constant(np.arange(7), i32)
    parts = run_all(SplitOp(x, sections=3))
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [part.tolist() for part in run_all(SplitOp(x, sections=1))] == [[*range(7)]]


@pytest.mark.parametrize("axes", [(1, 0), (0, 1), (2, -3), (1, 2)])
def test_reverse_sequence(axes: tuple[int, int]):
    seq, batch = axes
    array = np.arange(64).reshape(4, 4, 4)
    lengths = [0, 1, 3, 4]
    op = ReverseSequenceOp(
        constant(array, i32), constant(lengths, i64), seq_axis=seq, batch_axis=batch
    )
    expected = np.moveaxis(array.copy(), (batch, seq), (0, 1))
    for i, length in enumerate(lengths):
        expected[i, :length] = expected[i, :length][::-1].copy()
    expected = np.moveaxis(expected, (0, 1), (batch, seq))
    assert run(op).tolist() == expected.tolist()


@given(st.permutations(range(4)))
def test_a_permutation_and_its_inverse(axes: list[int]):
    x = constant(X, i32)
    there = TransposeOp(x, axes=axes)
    back = TransposeOp(there, axes=[axes.index(i) for i in range(4)])
    assert back.result.type == x.result.type
    np.testing.assert_array_equal(run(back), run(x))
