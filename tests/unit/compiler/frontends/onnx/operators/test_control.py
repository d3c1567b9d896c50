"""Branches and loops, by what they compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.models.against_ort import agrees_with_onnxruntime
from support.models.from_text import imported, model_of, run
from xdsl.dialects import scf

BRANCHES = """g (bool{size} c, float[2] x) => (float[2] z) {{
    k = Constant<value_float=2.0>()
    y = If (c) <
        then_branch = t () => (float[2] a) {{ a = Mul(x, k) }},
        else_branch = e () => (float[N] b) {{ b = Concat<axis=0>({parts}) }}
    >
    z = Identity(y)
}}"""
X = np.array([1, 2], np.float32)


@pytest.mark.parametrize("size", ["", "[1]"])
def test_if(size: str):
    module = imported(model_of(BRANCHES.format(size=size, parts="x")))
    (op,) = (op for op in module.walk() if isinstance(op, scf.IfOp))
    assert str(op.result_types[0]) == "tensor<2xf32>"
    for condition, expected in ((True, 2 * X), (False, X)):
        flag = np.full([1] if size else [], condition)
        np.testing.assert_array_equal(run(module, flag, X), [expected])


def test_branches_of_other_shapes_meet_in_a_type_of_both():
    module = imported(model_of(BRANCHES.format(size="", parts="x, x")))
    (op,) = (op for op in module.walk() if isinstance(op, scf.IfOp))
    assert str(op.result_types[0]) == "tensor<?xf32>"
    np.testing.assert_array_equal(run(module, np.array(False), X), [np.concatenate([X, X])])


def test_of_a_known_condition_the_branch_that_is_taken_is_left():
    graph = """g (float[2] x) => (float[2] y) {
        r = Size(x) two = Constant<value_int=2>() c = Equal(r, two)
        y = If (c) <
            then_branch = t () => (float[2] a) { a = Exp(x) },
            else_branch = e () => (float[2] b) { b = RandomNormalLike(x) }
        >
    }"""
    assert [op.name for op in imported(model_of(graph)).walk()][2:] == ["relax.exp", "func.return"]


LOOP = """g (int64 n, float[2] x) => (float[2] y, float[N, 2] ys) {
    go = Constant<value = bool {1}>() limit = Constant<value_float=100.0>()
    y, ys = Loop (n, go, x) <
        body = b (int64 i, bool c, float[2] v) => (bool more, float[2] w, float[2] out) {
            w = Add(v, v) s = ReduceSum<keepdims=0>(w) more = Less(s, limit) out = Identity(w)
        }
    >
}"""


@pytest.mark.parametrize(("n", "turns"), [(0, 0), (3, 3), (100, 6)])
def test_loop(n: int, turns: int):
    module = imported(model_of(LOOP))
    y, ys = run(module, np.array(n), X)
    np.testing.assert_array_equal(y, X * 2**turns)
    expected = [X * 2 ** (i + 1) for i in range(turns)]
    np.testing.assert_array_equal(ys, np.reshape(np.array(expected, np.float32), (turns, 2)))


def test_a_value_that_grows_gets_a_type_that_fits():
    graph = """g (int64 n, float[2] x) => (float[N] y) {
        y = Loop (n, , x) <
            body = b (int64 i, bool c, float[M] v) => (bool c, float[K] w) {
                w = Concat<axis=0>(v, x)
            }
        >
    }"""
    module = imported(model_of(graph))
    (op,) = (op for op in module.walk() if isinstance(op, scf.WhileOp))
    assert str(op.result_types[-1]) == "tensor<?xf32>"
    np.testing.assert_array_equal(run(module, np.array(2), X), [np.tile(X, 3)])


def test_scan():
    graph = """g (float[2] s, float[2, 3] x) => (float[2] t, float[2, 3] sums) {
        t, sums = Scan <
            num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
            scan_input_directions = [1],
            body = b (float[2] a, float[2] v) => (float[2] c, float[2] d) {
                c = Add(a, v) d = Identity(c)
            }
        > (s, x)
    }"""
    module = imported(model_of(graph))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    total, sums = run(module, np.zeros(2, np.float32), x)
    np.testing.assert_array_equal(total, x.sum(axis=1))
    np.testing.assert_array_equal(sums, np.cumsum(x[:, ::-1], axis=1))


COLLECT = """g (int64 n, float[A, B] x) => (float[C, D] y, float[N, E, F] ys) {
    y, ys = Loop (n, , x) <
        body = b (int64 i, bool c, float[P, Q] v) => (bool c, float[P, Q] w, float[P, Q] out) {
            w = Add(v, v) out = Neg(w)
        }
    >
}"""


def test_a_loop_collects_values_of_unknown_size(tmp_path: Path):
    sets = [
        {"n": np.array(n), "x": np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)}
        for n, rows, columns in ((1, 2, 3), (4, 1, 5), (3, 0, 2))
    ]
    module = agrees_with_onnxruntime(model_of(COLLECT), tmp_path, *sets)
    (op,) = (op for op in module.walk() if isinstance(op, scf.WhileOp))
    assert str(op.result_types[-1]) == "tensor<?x?x?xf32>"
    _, ys = run(module, np.array(0), np.ones((2, 3), np.float32))
    assert ys.shape == (0, 0, 0)


def test_a_loop_collects_values_of_unknown_rank():
    graph = """g (int64 n, bool c, float[2] x) => (float[2] y, float[] ys) {
        i = Constant<value_ints=[0]>()
        v = If (c) <
            then_branch = t () => (float[2] a) { a = Identity(x) },
            else_branch = e () => (float[1, 2] b) { b = Unsqueeze(x, i) }
        >
        y, ys = Loop (n, , x) <
            body = b (int64 i, bool c, float[2] s) => (bool c, float[2] w, float out) {
                w = Add(s, s) out = Mul(v, w)
            }
        >
    }"""
    module = imported(model_of(graph))
    (op,) = (op for op in module.walk() if isinstance(op, scf.WhileOp))
    assert str(op.result_types[-1]) == "tensor<*xf32>"
    for flag, shape in ((True, (3, 2)), (False, (3, 1, 2))):
        _, ys = run(module, np.array(3), np.array(flag), X)
        expected = np.stack([X * X * 2 ** (i + 1) for i in range(3)]).reshape(shape)
        np.testing.assert_array_equal(ys, expected)


def test_a_carried_value_that_changes_its_shape(tmp_path: Path):
    graph = """g (int64 n, float[1, 2] x) => (float[N, M] y, int64[K, 2] sizes) {
        y, sizes = Loop (n, , x) <
            body = b (int64 i, bool c, float[P, Q] v) => (bool more, float[R, S] w, int64[2] size) {
                w = Concat<axis=0>(v, v) size = Shape(w) k = Constant<value_int=40>()
                total = Size(w) more = Less(total, k)
            }
        >
    }"""
    sets = [{"n": np.array(n), "x": X[None]} for n in (0, 1, 3, 100)]
    agrees_with_onnxruntime(model_of(graph), tmp_path, *sets)


SCAN = """g (float[A] s, float[N, A] x) => (float[A] t, float[A, N] sums) {
    t, sums = Scan <
        num_scan_inputs = 1, scan_output_axes = [1], scan_input_directions = [1],
        body = b (float[A] a, float[A] v) => (float[A] c, float[A] d) {
            c = Add(a, v) d = Identity(c)
        }
    > (s, x)
}"""


def test_scan_of_unknown_length(tmp_path: Path):
    sets = [
        {"s": np.ones(width, np.float32), "x": np.random.default_rng(0).random((n, width), "f")}
        for n, width in ((1, 2), (5, 3), (2, 1))
    ]
    module = agrees_with_onnxruntime(model_of(SCAN), tmp_path, *sets)
    (op,) = (op for op in module.walk() if isinstance(op, scf.WhileOp))
    assert str(op.result_types[-1]) == "tensor<?x?xf32>"


SCAN_8 = """g (float[B, 2] s, float[B, N, 2] x) => (float[B, 2] t, float[B, N, 2] sums) {
    t, sums = Scan <
        num_scan_inputs = 1, directions = [%d],
        body = b (float[2] a, float[2] v) => (float[2] c, float[2] d) {
            c = Add(a, v) d = Identity(c)
        }
    > (, s, x)
}"""


@pytest.mark.parametrize("backwards", [0, 1])
def test_scan_of_opset_8_has_batches(backwards: int, tmp_path: Path):
    sets = [
        {"s": np.ones((b, 2), np.float32), "x": np.random.default_rng(0).random((b, n, 2), "f")}
        for b, n in ((1, 3), (3, 2))
    ]
    agrees_with_onnxruntime(model_of(SCAN_8 % backwards, 8), tmp_path, *sets)
