"""Finite results stay finite at -O2: random expressions with extreme constants."""

from __future__ import annotations

import numpy as np
import pytest
from support.budget import some
from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp, f16, f32

from passline.compiler.interpreters.arrays import Array, dtype_of, float_limits
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passes import OPTIMIZE
from passline.passmanager import PassContext
from passline.passmanager.pipeline import parse_pipeline

TYPES = {"f16": f16, "f32": f32}
STEPS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
FUNCTIONS = ("nn.relu", "abs", "negative", "sigmoid", "tanh")
ROUNDING = 32
"""The units in the last place that results of all steps together may be rounded elsewhere."""


def expression(element: str, seed: int) -> tuple[str, list[float]]:
    """Return a chain of sums, products and functions of a parameter and constants of all
    magnitudes; and the inputs at which it may leave the range."""
    rng, greatest = np.random.default_rng(seed), float_limits(TYPES[element]).maximum
    type, lines, last = f"tensor<Nx{element}>", list[str](), "%x"
    constants: list[float] = []
    for i in range(rng.integers(2, 6)):
        if rng.random() < 0.15:
            lines.append(f"%{i} = relax.{rng.choice(FUNCTIONS)} {last} : ({type}) -> {type}")
        else:
            exponent = rng.uniform(-0.1, 0.99) if rng.random() < 0.7 else rng.uniform(0, 0.1)
            number = float(greatest**exponent * rng.choice([-1, 1]))
            constants.append(number)
            lines.append(f"%c{i} = relax.full {number:.8e} : tensor<{element}>")
            lines.append(
                f"%{i} = relax.{rng.choice([*STEPS])} {last}, %c{i} "
                f": ({type}, tensor<{element}>) -> {type}"
            )
        last = f"%{i}"
    body = "\n  ".join(lines)
    text = f"func.func @main(%x : {type}) -> {type} {{\n  {body}\n  return {last} : {type}\n}}"
    points = [p for c in constants for p in (c, greatest / c)]
    return text, [p for p in points if abs(p) <= greatest]


def inputs(element: str, points: list[float], seed: int) -> Array:
    """Return numbers of all magnitudes, and numbers around `points`."""
    rng, greatest = np.random.default_rng(seed), float_limits(TYPES[element]).maximum
    near = [p * sign * f for p in points for sign in (-1, 1) for f in (0.6, 0.95, 1, 1.05, 1.9)]
    spread = greatest ** rng.uniform(-0.2, 1, 400) * rng.choice([-1, 1], 400)
    numbers = np.array([0.0, greatest, -greatest, *near, *spread])
    return numbers[np.abs(numbers) <= greatest].astype(dtype_of(TYPES[element]))


def run(module: ModuleOp, x: Array) -> Array:
    with np.errstate(all="ignore"):
        (result,) = interpret(module, entry_function(module, "main"))(x)
    return np.asarray(result)


def lost(element: str, seed: int, **config: str) -> int:
    """Return the number of finite results that -O2 makes infinite or NaN."""
    text, points = expression(element, seed)
    x = inputs(element, points, seed)
    module = parsed(text.replace("N", str(len(x))))
    with PassContext(opt_level=2, config={f"relax.{k}": v for k, v in config.items()}):
        after = run(parse_pipeline(",".join(OPTIMIZE))(module), x)
    before, limits = run(module, x), float_limits(TYPES[element])
    finite = np.abs(before.astype(np.float64)) <= limits.maximum * (1 - ROUNDING * limits.epsilon)
    return int(np.count_nonzero(finite & ~np.isfinite(after)))


@pytest.mark.parametrize("element", TYPES)
def test_finite_results_stay_finite(element: str):
    assert [seed for seed in some(range(150), 3) if lost(element, seed)] == []


@pytest.mark.parametrize("element", TYPES)
def test_the_expressions_show_what_fast_math_loses(element: str):
    assert any(lost(element, seed, fastmath="reassoc") for seed in range(150))
