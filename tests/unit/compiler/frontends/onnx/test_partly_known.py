"""Shapes of which only some dimensions are known, through the operators that compute with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.models.against_ort import agrees_with_onnxruntime
from support.models.from_text import imported, model_of

CONSTANTS = """zero = Constant<value_ints=[0]>() one = Constant<value_ints=[1]>()
    two = Constant<value_ints=[2]>() three = Constant<value_ints=[3]>() i = Constant<value_int=1>()
    rest = Constant<value_ints=[-1]>() s = Shape(x) n = Gather(s, zero) last = Gather(s, rest)
    """
GRAPHS = {
    "concatenated": ("t = Concat<axis=0>(n, three, last, two) y = Reshape(x, t)", "?x3x4x2"),
    "sliced": ("a = Slice(s, one, three) t = Concat<axis=0>(rest, a) y = Reshape(x, t)", "?x6x4"),
    "unsqueezed": (
        "d = Gather(s, i) e = Unsqueeze(d, zero) h = Div(e, two) "
        "t = Concat<axis=0>(n, h, two, last) y = Reshape(x, t)",
        "?x3x2x4",
    ),
    "multiplied": (
        "m = Mul(s, two) d = Slice(m, two, three) t = Concat<axis=0>(rest, d) y = Reshape(x, t)",
        "?x8",
    ),
    "cast": ("f = Cast<to=6>(s) g = Cast<to=7>(f) y = Reshape(x, g)", "?x6x4"),
    "copied": (
        "t = Concat<axis=0>(zero, n, rest) u = Slice(t, zero, one) "
        "v = Concat<axis=0>(u, rest, last) y = Reshape(x, v)",
        "?x6x4",
    ),
    "filled": ("t = Concat<axis=0>(last, n) y = ConstantOfShape(t)", "4x?"),
    "expanded": (
        "t = Concat<axis=0>(n, three, last) f = Constant<value_float=2.0>() y = Expand(f, t)",
        "?x3x4",
    ),
    "of all elements": ("p = ReduceProd<keepdims=1>(s) y = Reshape(x, p)", "?"),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_known_dimensions_stay_known(name: str, tmp_path: Path):
    nodes, shape = GRAPHS[name]
    model = model_of(f"g (float[N, 6, 4] x) => (float[] y) {{ {CONSTANTS} {nodes} }}")
    sets = [{"x": np.random.default_rng(0).random((n, 6, 4), "f")} for n in (1, 2, 5)]
    module = agrees_with_onnxruntime(model, tmp_path, *sets)
    end = next(op for op in module.walk() if op.name == "func.return")
    assert str(end.operands[0].type) == f"tensor<{shape}xf32>"


def test_large_values_are_not_followed():
    doubled = " ".join(f"t{i + 1} = Concat<axis=0>(t{i}, t{i})" for i in range(40))
    graph = f"g (float[N, 6] x) => (int64[M] y) {{ t0 = Shape(x) {doubled} y = Neg(t40) }}"
    assert str(2**41) in str(imported(model_of(graph)))


def test_a_condition_on_a_known_dimension_is_decided():
    graph = f"""g (float[N, 6, 4] x) => (float[] y) {{ {CONSTANTS}
        six = Constant<value_ints=[6]>() d = Gather(s, one) c = Equal(d, six)
        y = If (c) <
            then_branch = t () => (float[] a) {{ a = Exp(x) }},
            else_branch = e () => (float[] b) {{ b = Det(x) }}
        >
    }}"""
    assert [op.name for op in imported(model_of(graph)).walk()][2:] == ["relax.exp", "func.return"]
