"""Kernels of unsigned integers against the semantics, on extreme values."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native

import passline

INTEGERS = {"ui8": np.uint8, "ui64": np.uint64, "i64": np.int64}
SHAPE = (4, 6)


def values(element: str, seed: int):
    """Return elements of all magnitudes, the extremes of the type among them."""
    rng = np.random.default_rng(seed)
    if element == "f32":
        special = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, 300.7, -300.7, 1e10, 2.0**63]
        return rng.choice([*special, 2.0**64, 1.8e19], SHAPE).astype(np.float32)
    dtype = INTEGERS[element]
    info = np.iinfo(dtype)
    special = np.array([info.min, info.max, 0, 1, 2, info.max - 1, info.max // 2 + 1], dtype)
    anything = rng.integers(info.min, info.max, SHAPE, dtype, endpoint=True)
    return np.where(rng.random(SHAPE) < 0.6, rng.choice(special, SHAPE), anything)


def function(lines: list[tuple[str, int, str]], element: str) -> str:
    """Return a function with one operation for each line: its text, operands and result type."""
    given = f"tensor<4x6x{element}>"
    body = [
        f"%{i} = relax.{op} {', '.join('%x %y'.split()[:count])} {attributes} : "
        f"({', '.join([given] * count)}) -> {result}"
        for i, (text, count, result) in enumerate(lines)
        for op, _, attributes in [text.partition(" ")]
    ]
    types = ", ".join(result for _, _, result in lines)
    names = ", ".join(f"%{i}" for i in range(len(lines)))
    body.append(f"return {names} : {types}")
    return "\n".join([f"func.func @main(%x: {given}, %y: {given}) -> ({types}) {{", *body, "}"])


def check(text: str, element: str) -> None:
    compiled = passline.compile(text, level=0)
    for seed in range(4):
        given = values(element, seed), values(element, seed + 100)
        with np.errstate(all="ignore"):
            expected = passline.run(text, *given)
        for actual, wanted in zip(compiled(*given), expected, strict=True):
            assert actual.dtype == wanted.dtype
            np.testing.assert_array_equal(actual, wanted)


BINARY = "add subtract multiply divide floor_divide mod floor_mod power maximum minimum"
BITS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift"
COMPARISONS = "equal not_equal less less_equal greater greater_equal"
UNARY = "abs negative sign square bitwise_not ceil nn.relu"
REDUCTIONS = "sum prod max min mean"


@needs_native
@pytest.mark.parametrize("element", ["ui8", "ui64"])
def test_elementwise(element: str):
    whole = f"tensor<4x6x{element}>"
    lines = [(op, 2, whole) for op in f"{BINARY} {BITS}".split()]
    lines += [(op, 2, "tensor<4x6xi1>") for op in COMPARISONS.split()]
    lines += [(op, 1, whole) for op in UNARY.split()]
    lines += [
        ("clip {min = -5.0, max = 300.0}", 1, whole),
        ("clip {min = 3.0, max = 100.0}", 1, whole),
    ]
    check(function(lines, element), element)


@needs_native
@pytest.mark.parametrize("element", ["ui8", "ui64"])
def test_reductions_and_orders(element: str):
    lines = [
        (f"{op} {{axis = [{axis}]}}", 1, f"tensor<{size}x{element}>")
        for op in REDUCTIONS.split()
        for axis, size in ((0, 6), (1, 4))
    ]
    lines += [
        ("argmax {axis = 1}", 1, "tensor<4xi64>"),
        ("argmin {axis = 0}", 1, "tensor<6xi64>"),
        ("cumsum {axis = 1}", 1, f"tensor<4x6x{element}>"),
        ("argsort {axis = 1}", 1, "tensor<4x6xi64>"),
        ("sort {axis = 0, descending = true}", 1, f"tensor<4x6x{element}>"),
        ('einsum {subscripts = "ij,kj->ik"}', 2, f"tensor<4x4x{element}>"),
    ]
    check(function(lines, element), element)


@needs_native
@pytest.mark.parametrize("element", ["ui8", "ui64", "i64"])
def test_mean_of_unknown_size(element: str):
    text = f"""func.func @main(%x: tensor<4x?x{element}>) -> tensor<4x{element}> {{
  %r = relax.mean %x {{axis = [1]}} : (tensor<4x?x{element}>) -> tensor<4x{element}>
  return %r : tensor<4x{element}>
}}"""
    compiled = passline.compile(text, level=0)
    for size in (1, 5, 6):
        given = values(element, size)[:, :size]
        np.testing.assert_array_equal(compiled(given), passline.run(text, given))
    (of_none,) = compiled(given[:, :0])
    np.testing.assert_array_equal(of_none, np.zeros(4, given.dtype))


@needs_native
@pytest.mark.parametrize("element", ["f32", "i64", "ui64", "ui8", "i1"])
def test_conversions(element: str):
    targets = [t for t in ("ui8", "ui16", "ui64", "i8", "i64", "f32", "i1") if t != element]
    lines = [(f"astype {{dtype = {target}}}", 1, f"tensor<4x6x{target}>") for target in targets]
    if element == "i1":
        text = function(lines, element)
        given = np.arange(24).reshape(SHAPE) % 3 == 0
        results = zip(
            passline.compile(text, level=0)(given, given), passline.run(text, given, given)
        )
        for actual, wanted in results:
            np.testing.assert_array_equal(actual, wanted)
    else:
        check(function(lines, element), element)
