"""Branches and loops, by what they compute."""

from __future__ import annotations

import numpy as np
import pytest
from support.models import imported, model_of, run
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
