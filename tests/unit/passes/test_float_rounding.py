"""Chains of sums and products with constants: -O3 changes the last bits of a result alone."""

from __future__ import annotations

import numpy as np
import pytest
from support.budget import some
from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32, f64

from passline.compiler.interpreters.arrays import Array, fit, float_limits
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.dialects.relax.elementwise.binary import AddOp, MultiplyOp
from passline.dialects.relax.types import Element
from passline.passes import OPTIMIZE
from passline.passes.float_rounding import UNITS
from passline.passmanager import PassContext
from passline.passmanager.pipeline import parse_pipeline

TYPES: dict[str, Element] = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64}
MAGIC = {"f16": 1536.0, "bf16": 192.0, "f32": 12582912.0, "f64": 6755399441055744.0}
STEPS = ("add", "subtract", "multiply", "divide")


def chain(element: str, *steps: tuple[str, str] | str) -> ModuleOp:
    """Return a function that applies steps to a parameter: an operation and the elements of a
    constant, or a function."""
    type, lines, last = f"tensor<600x2x{element}>", list[str](), "%x"
    for i, step in enumerate(steps):
        if isinstance(step, str):
            lines.append(f"%{i} = relax.{step.replace('%', last)} : ({type}) -> {type}")
        else:
            name, elements = step
            shape = f"tensor<2x{element}>" if elements.startswith("[") else f"tensor<{element}>"
            lines.append(f"%c{i} = relax.constant dense<{elements}> : {shape}")
            lines.append(f"%{i} = relax.{name} {last}, %c{i} : ({type}, {shape}) -> {type}")
        last = f"%{i}"
    body = "\n  ".join(lines)
    text = f"func.func @main(%x : {type}) -> {type} {{\n  {body}\n  return {last} : {type}\n}}"
    return parsed(text)


def optimized(module: ModuleOp) -> ModuleOp:
    with PassContext(opt_level=3):
        return parse_pipeline(",".join([*OPTIMIZE[: OPTIMIZE.index("fuse-ops")]]))(module)


def run(module: ModuleOp, x: Array) -> Array:
    with np.errstate(all="ignore"):
        (result,) = interpret(module, entry_function(module, "main"))(x)
    return np.asarray(result)


def inputs(element: str) -> Array:
    limits = float_limits(TYPES[element])
    rng = np.random.default_rng(0)
    least, greatest = np.sqrt(limits.normal), np.sqrt(limits.maximum)
    spread = np.exp(rng.uniform(np.log(least), np.log(greatest), 600))
    x = np.concatenate([spread, rng.standard_normal(500), np.linspace(-4, 4, 100)])
    signed = x.reshape(600, 2) * rng.choice([-1, 1], (600, 2))
    return fit(signed, TYPES[element])


def excess(element: str, module: ModuleOp, factor: Array, constants: int) -> float:
    """Return the greatest difference, in units of what is allowed."""
    x, limits = inputs(element), float_limits(TYPES[element])
    before, after = (run(m, x).astype(np.float64) for m in (module, optimized(module)))
    magnitude = np.maximum(np.abs(before), np.abs(x.astype(np.float64) * factor))
    normal = np.isfinite(before) & (np.abs(before) >= limits.normal)
    allowed = np.maximum(UNITS * constants * limits.epsilon * magnitude, limits.denormal)
    difference = np.where(normal, after, 0) - np.where(normal, before, 0)
    return float(np.max(np.abs(difference) / allowed, where=normal, initial=0))


@pytest.mark.parametrize("seed", some(range(60), 2))
def test_random_chains_change_the_last_bits_alone(seed: int):
    element = [*TYPES][seed // 2 % len(TYPES)]
    rng, factor, steps = np.random.default_rng(seed), np.ones(2), list[tuple[str, str]]()
    numbers = [1.0, 0.5, 3.0, 0.1, MAGIC[element], 100.0]
    for _ in range(rng.integers(2, 6)):
        name, vector = rng.choice(STEPS), rng.choice(numbers, 2) * rng.choice([-1, 1], 2)
        if name in ("multiply", "divide"):
            vector = np.clip(np.abs(vector), 0.1, 10)
            factor = factor * vector if name == "multiply" else factor / vector
        steps.append((name, str(vector.tolist())))
    assert excess(element, chain(element, *steps), factor, len(steps)) <= 1


def tricks(element: str) -> dict[str, list[tuple[str, str] | str]]:
    """Return chains that round on purpose."""
    m = str(MAGIC[element])
    return {
        "plain": [("add", m), ("subtract", m)],
        "of small numbers": [("add", "1.0"), ("subtract", "1.0")],
        "of an element": [("add", f"[1.0, {m}]"), ("subtract", f"[-1.0, {m}]")],
        "of cancelling signs": [("add", f"[{m}, {m}]"), ("add", f"[-{m}, {m}]")],
        "a third constant": [("add", m), ("add", "1.0"), ("subtract", m)],
        "a constant after": [("add", m), ("subtract", m), ("add", "0.3")],
        "a scale before": [("multiply", "3.0"), ("add", m), ("subtract", m)],
        "a scale after": [("add", m), ("subtract", m), ("multiply", "0.1")],
        "a scale in between": [("add", m), ("multiply", "0.5"), ("subtract", str(float(m) / 2))],
        "clipped": [("add", m), "nn.relu %", ("subtract", m), ("multiply", "0.1")],
        "moved": [("add", m), "flip % {axis = [0]}", ("subtract", m), ("add", "0.3")],
        "bounded": [("add", m), ("maximum", m), ("subtract", m), ("multiply", "0.1")],
        "negated": [("add", m), "negative %", ("add", m), ("multiply", "0.1")],
        "of magnitudes": [("add", m), "abs %", ("subtract", m), ("add", "0.3")],
        "divided": [("add", m), ("subtract", m), ("divide", "3.0")],
    }


@pytest.mark.parametrize("name", tricks("f32"))
def test_rounding_tricks_keep_their_results(name: str):
    for element in TYPES:
        module = chain(element, *tricks(element)[name])
        x = inputs(element)
        np.testing.assert_array_equal(run(optimized(module), x), run(module, x))


SCALES = {"f16": (14, 10), "bf16": (120, 13), "f32": (120, 29), "f64": (1000, 74)}
"""The exponents of two factors whose product makes of numbers of magnitude 1 the least numbers."""


@pytest.mark.parametrize("element", TYPES)
def test_factors_that_lose_digits_stay(element: str):
    """They round as sums with great constants do: there is nothing between the least numbers."""
    small = [f"{2.0**-e!r}" for e in SCALES[element]]
    great = [f"{2.0**e!r}" for e in SCALES[element]]
    module, x = chain(element, *(("multiply", c) for c in (*small, *great))), inputs(element)
    np.testing.assert_array_equal(run(optimized(module), x), run(module, x))


def test_ordinary_constants_are_merged():
    steps = [("add", "[1.0, -2.0]"), ("add", "[0.5, -1.0]"), ("multiply", "3.0"), ("divide", "2.0")]
    ops = [type(op) for op in optimized(chain("f32", *steps)).walk()]
    assert ops.count(AddOp) == ops.count(MultiplyOp) == 1


def product(element: str, before: str, after: str) -> ModuleOp:
    """Return a product of a matrix of two columns with constant weights between operations on `%a`
    and `%d`, in terms of constants."""
    type, c = f"tensor<600x2x{element}>", f"tensor<{element}>"
    other = f": ({type}, {c}) -> {type}"
    return parsed(
        f"""
func.func @main(%x : {type}) -> {type} {{
  %w = relax.constant dense<[[0.3, -1.0], [0.7, 0.9]]> : tensor<2x2x{element}>
  %m = relax.constant dense<{MAGIC[element]}> : {c}
  %s = relax.constant dense<0.1> : {c}
  {before.replace("OTHER", other)}
  %p = relax.matmul %a, %w : ({type}, tensor<2x2x{element}>) -> {type}
  {after.replace("OTHER", other)}
  return %r : {type}
}}"""
    )


SAME = "%a = relax.multiply %x, %s OTHER"
PRODUCTS = {
    "a scale after": (
        SAME,
        """%0 = relax.add %p, %m OTHER
  %1 = relax.subtract %0, %m OTHER
  %r = relax.multiply %1, %s OTHER""",
    ),
    "a scale in between": (
        SAME,
        """%0 = relax.add %p, %m OTHER
  %1 = relax.nn.relu %0 : (tensor<600x2xT>) -> tensor<600x2xT>
  %2 = relax.subtract %1, %m OTHER
  %r = relax.multiply %2, %s OTHER""",
    ),
    "before": (
        """%0 = relax.multiply %x, %s OTHER
  %1 = relax.add %0, %m OTHER
  %a = relax.subtract %1, %m OTHER""",
        "%r = relax.nn.relu %p : (tensor<600x2xT>) -> tensor<600x2xT>",
    ),
}


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_tricks_beside_a_product_of_matrices(element: str, name: str):
    before, after = (text.replace("xT", f"x{element}") for text in PRODUCTS[name])
    module = product(element, before, after)
    x = inputs(element)
    x[:300] = x[300:]  # numbers of magnitude 1
    np.testing.assert_array_equal(run(optimized(module), x), run(module, x))


def test_a_bias_and_a_normalization_are_one_constant():
    """Also where the constants of some channels cancel: they are terms of a sum of products."""
    rng, given = np.random.default_rng(0), "tensor<600x16xf32>"
    w, *constants = (rng.standard_normal(s).tolist() for s in ((16, 16), 16, 16, 16))
    lines = [f"%w = relax.constant dense<{w}> : tensor<16x16xf32>"]
    lines.append(f"%0 = relax.matmul %x, %w : ({given}, tensor<16x16xf32>) -> {given}")
    for i, step in enumerate(("add", "multiply", "add")):
        lines.append(f"%c{i} = relax.constant dense<{constants[i]}> : tensor<16xf32>")
        lines.append(f"%{i + 1} = relax.{step} %{i}, %c{i} : ({given}, tensor<16xf32>) -> {given}")
    body = "\n  ".join(lines)
    module = parsed(
        f"func.func @main(%x : {given}) -> {given} {{\n  {body}\n  return %3 : {given}\n}}"
    )
    ops = [op.name for op in optimized(module).walk()]
    assert ops.count("relax.add") == 1
    assert ops.count("relax.multiply") == 0


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("swapped", [False, True])
def test_factors_that_lose_digits_beside_a_product_of_matrices(element: str, swapped: bool):
    """The product of a scale and a weight makes least numbers, which another scale magnifies."""
    small, great = sorted(SCALES[element], reverse=swapped)
    type, c = f"tensor<600x2x{element}>", f"tensor<{element}>"
    s, w, t = (repr(2.0**e) for e in (-small, -great, great))
    module = parsed(
        f"""
func.func @main(%x : {type}) -> {type} {{
  %w = relax.constant dense<[[{w}, 0.0], [0.0, {w}]]> : tensor<2x2x{element}>
  %s = relax.constant dense<{s}> : {c}
  %t = relax.constant dense<{t}> : {c}
  %0 = relax.multiply %x, %s : ({type}, {c}) -> {type}
  %1 = relax.matmul %0, %w : ({type}, tensor<2x2x{element}>) -> {type}
  %2 = relax.multiply %1, %t : ({type}, {c}) -> {type}
  return %2 : {type}
}}"""
    )
    x = inputs(element)
    x[:300] = x[300:]  # numbers of magnitude 1
    np.testing.assert_array_equal(run(optimized(module), x), run(module, x))
