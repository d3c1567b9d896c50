"""The error of functions on f32 against numpy's on f64, on this processor and on one without fused
multiply-add; special arguments; the functions of f64 and of integers that are expanded."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.budget import THOROUGH
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array
from support.parsing import parsed

from passline.compiler.native import compile_module
from passline.compiler.native.preparation import expansion

pytestmark = needs_native

DOCS = Path(__file__).parents[5] / "docs/tir.md"
NEARLY_EXACT = (
    """acosh asinh atanh cbrt cos cosh expm1 log10 log1p log2 powf sin sinh tan""".split()
)
BOUNDS = {
    **dict.fromkeys(NEARLY_EXACT, 0.52),
    "acos": 1.2,
    "asin": 1.4,
    "atan": 1.6,
    "atan2": 1.6,
    "erf": 1.8,
    "exp": 1.2,
    "exp2": 1.2,
    "log": 0.9,
    "tanh": 4.0,
}
"""The greatest error, in units in the last place."""
REFERENCES: dict[str, Callable[..., Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "ipowi": np.power,
    "powf": np.power,
}
LANES = 16
NEAR_LIMITS = [87.4, 88.72283, 88.72284, 103.9, 104, 126, 127.99999, 128, 149, 149.5, 151]
SIZES = [0.0, 1e-45, 1.17549435e-38, 1e-20, 0.5, 0.85, 1, 1.5, 2, 3, 3.92, 9.02, *NEAR_LIMITS]
SPECIAL = np.array(
    [s * x for s in (1, -1) for x in (*SIZES, 2.0**24, 1e30, 3.4e38, math.inf, math.nan)],
    np.float32,
)
RNG = np.random.default_rng(0)


def evaluate(
    op: str, operands: Sequence[Array], shape: Sequence[int] = (LANES,), flags: str = ""
) -> Array:
    """Apply an operation of `math` to vectors of the given shape, or to scalars if it is ()."""
    op = op if "." in op else f"math.{op}"
    arrays = [operand.reshape(-1, *shape) for operand in operands]
    element = arrays[0].dtype.kind + str(8 * arrays[0].itemsize)
    buffer = f"memref<{'x'.join(map(str, arrays[0].shape))}x{element}>"
    value = f"vector<{'x'.join(map(str, shape))}x{element}>" if shape else element
    numbers = range(len(arrays))
    module = f"""
      tir.prim_func @main({"".join(f"%x{k}: {buffer}, " for k in numbers)}%y: {buffer})
          attributes {{tir.outputs = 1 : i64}} {{
        %c0 = arith.constant 0 : index
        %n = arith.constant {len(arrays[0])} : index
        %zero = arith.constant 0.0 : f32
        tir.for %i = %c0 extent %n {{
          {"".join(load(f"%v{k}", f"%x{k}", buffer, value, len(shape)) for k in numbers)}
          %r = {op} {", ".join(f"%v{k}" for k in numbers)} {flags} : {value}
          {store("%r", "%y", buffer, value, len(shape))}
        }}
      }}"""
    (y,) = compile_module(parsed(module))(*arrays)
    return y.reshape(operands[0].shape)


ROWS = "permutation_map = affine_map<(d0, d1, d2) -> (d1, d2)>, in_bounds = [true, true]"


def load(name: str, source: str, buffer: str, value: str, rank: int) -> str:
    """Return the text of an operation that loads a scalar or vector."""
    match rank:
        case 0:
            return f"{name} = memref.load {source}[%i] : {buffer}\n"
        case 1:
            return f"{name} = vector.load {source}[%i, %c0] : {buffer}, {value}\n"
        case _:
            return f"""{name} = "vector.transfer_read"({source}, %i, %c0, %c0, %zero)
              <{{{ROWS}, operandSegmentSizes = array<i32: 1, 3, 1, 0>}}>
              : ({buffer}, index, index, index, f32) -> {value}\n"""


def store(name: str, target: str, buffer: str, value: str, rank: int) -> str:
    """Return the text of an operation that stores a scalar or vector."""
    match rank:
        case 0:
            return f"memref.store {name}, {target}[%i] : {buffer}"
        case 1:
            return f"vector.store {name}, {target}[%i, %c0] : {buffer}, {value}"
        case _:
            return f""""vector.transfer_write"({name}, {target}, %i, %c0, %c0)
              <{{{ROWS}, operandSegmentSizes = array<i32: 1, 1, 3, 0>}}>
              : ({value}, {buffer}, index, index, index) -> ()"""


def reference(op: str, operands: Sequence[Array]) -> Array:
    """Return the result in f64."""
    function = REFERENCES.get(op) or getattr(np, op)
    with np.errstate(all="ignore"):
        return function(*(operand.astype(np.float64) for operand in operands))


def error(actual: Array, exact: Array) -> Array:
    """Return the errors in units in the last place of f32; infinite where one of the results is
    NaN or infinite, and where the signs of zeros differ."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.ldexp(1.0, np.maximum(np.frexp(exact)[1] - 24, -149))
        distance = np.abs(actual.astype(np.float64) - exact) / unit
    same = (actual == rounded) | (np.isnan(actual) & np.isnan(rounded))
    wrong = ~same & ~(np.isfinite(actual) & np.isfinite(rounded))
    wrong |= (exact == 0) & (np.signbit(actual) != np.signbit(exact))
    return np.where(wrong, np.inf, np.where(same & ~np.isfinite(rounded), 0.0, distance))


def check(op: str, operands: Sequence[Array], bound: float, shape: Sequence[int] = (LANES,)):
    actual, exact = evaluate(op, operands, shape), reference(op, operands)
    errors = error(actual, exact)
    i = int(np.argmax(errors))
    arguments = [operand.flat[i] for operand in operands]
    assert errors[i] <= bound, f"{op} of {arguments}: {actual[i]}, not {exact[i]}"


def sample(count: int) -> Array:
    """Return numbers with bit patterns at equal distances, normal numbers, and special ones."""
    step = (1 << 32) // count | 1
    bits = np.arange(count, dtype=np.uint32) * np.uint32(step)
    near = RNG.normal(0, 2, count // 16).astype(np.float32)
    return np.concatenate([bits.view(np.float32), near, np.resize(SPECIAL, 64)])


def pairs(count: int) -> list[Array]:
    """Return pairs of random bit patterns, of normal numbers, and of special numbers."""
    bits = RNG.integers(0, 1 << 32, (2, count), np.uint32).view(np.float32)
    near = RNG.normal(0, 4, (2, count)).astype(np.float32)
    positive = np.stack([np.abs(near[0]), near[1]])
    special = np.array([*product(SPECIAL, repeat=2)]).T
    special = np.resize(special.T, (special.shape[1] // LANES * LANES + LANES, 2)).T
    return [*np.ascontiguousarray(np.concatenate([bits, near, positive, special], 1))]


def operands_of(op: str, count: int) -> list[Array]:
    return pairs(count // 2) if op in ("atan2", "powf") else [sample(count)]


def test_all_expansions_are_tested():
    assert {op.name for op in expansion.OF_F32} == {f"math.{name}" for name in BOUNDS}


@pytest.mark.parametrize("op", BOUNDS)
def test_error(processor: str, op: str):
    check(op, operands_of(op, 1 << (20 if THOROUGH else 18)), BOUNDS[op])


@pytest.mark.parametrize("shape", [(), (3,), (2, 8)], ids=str)
@pytest.mark.parametrize("op", ["atan2", "exp", "log10", "powf", "sin", "tan"])
def test_scalars_and_vectors_of_other_shapes(op: str, shape: tuple[int, ...]):
    operands = [operand[: 48 * 256] for operand in operands_of(op, 1 << 14)]
    check(op, operands, BOUNDS[op], shape)


@pytest.mark.parametrize("op", ["sin", "cos", "tan"])
def test_large_angles(op: str):
    """All orders of magnitude beyond those for which the reduction is exact by itself; the last
    one is nearest to a multiple of pi/2 among all numbers of f32."""
    x = np.ldexp(RNG.uniform(0.5, 1, (106, 160)), np.arange(23, 129)[:, None])
    x = np.append(x.astype(np.float32).ravel(), np.full(16, np.float32(16367173.0 * 2.0**72)))
    check(op, [x], BOUNDS[op])


@pytest.mark.parametrize(("op", "bound"), [("tanh", 9.02), ("erf", 3.92)])
def test_functions_that_end_at_1(op: str, bound: float):
    x = np.array([bound, 30, 1e30, np.inf], np.float32)
    x = np.resize(np.concatenate([x, -x]), LANES)
    np.testing.assert_array_equal(evaluate(op, [x]), np.sign(x))


@pytest.mark.parametrize("shape", [(), (LANES,)], ids=str)
def test_exp_of_normal_results(processor: str, shape: tuple[int, ...]):
    """With `afn`, results below 2^-126.5 are 0, and those above 2^127.5 infinite."""
    x = sample(1 << 16)
    actual, exact = evaluate("exp", [x], shape, "fastmath<afn>"), reference("exp", [x])
    low, high = -87.6, 88.3
    limit = np.where(x < low - 0.2, 0.0, np.where(x > high + 0.2, math.inf, exact))
    usual = (x < low - 0.2) | (x > low) & (x < high) | (x > high + 0.2) | np.isnan(x)
    assert error(actual, limit)[usual].max() <= BOUNDS["exp"]


def test_maxima_without_nan():
    x, y = pairs(1 << 10)
    x = np.where(np.isnan(x), np.float32(0), x)
    expected = np.where(np.isnan(y), x, np.maximum(x, y))
    actual = evaluate("arith.maximumf", [x, y], flags="fastmath<nnan>")
    np.testing.assert_array_equal(actual, expected)


def test_the_documentation_has_the_errors():
    rows = re.findall(r"^\| (`[a-z0-9`, ]+`) \| ([0-9.]+) \|", DOCS.read_text(), re.MULTILINE)
    documented = {name: float(bound) for names, bound in rows for name in re.findall(r"\w+", names)}
    assert documented == BOUNDS


# Other types


@pytest.mark.parametrize("shape", [(), (8,)], ids=str)
@pytest.mark.parametrize("op", ["expm1", "log1p"])
def test_small_arguments_of_f64(op: str, shape: tuple[int, ...]):
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, -2, 1e-320, -1e-320, 709.7, 710, -745]
    special += [1e300, 1.7e308, -1.7e308]
    small = RNG.normal(0, 1, 4096) * 10.0 ** RNG.uniform(-20, 0, 4096)
    x = np.concatenate([small, RNG.normal(0, 100, 4096), special])
    actual, exact = evaluate(op, [x], shape), reference(op, [x])
    np.testing.assert_allclose(actual, exact, rtol=4 * 2**-52, atol=1e-323)
    np.testing.assert_array_equal(np.signbit(actual[exact == 0]), np.signbit(exact[exact == 0]))


@pytest.mark.parametrize("shape", [(), (8,)], ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_integer_powers(dtype: type[np.generic], shape: tuple[int, ...]):
    bases, exponents = np.array([*product((-3, -2, -1, 1, 2, 5, 10), range(8))]).T.astype(dtype)
    expected = np.power(bases, exponents)
    np.testing.assert_array_equal(evaluate("ipowi", [bases, exponents], shape), expected)
    inverses = evaluate("ipowi", [bases, -exponents], shape)
    units = np.abs(bases) == 1
    np.testing.assert_array_equal(inverses, np.where(units | (exponents == 0), expected, 0))
