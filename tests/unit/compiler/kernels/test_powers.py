"""The special cases of powers: the numpy semantics, kernels and machine code are IEEE 754's `pow`,
whatever the shape."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from support.native.compiled_operations import module_of
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant, run
from support.operations.legalized import legalized
from xdsl.dialects.builtin import bf16, f16, f32, f64
from xdsl.ir import Operation

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import compile_module
from passline.dialects.relax.elementwise.binary import BinaryOp, PowerOp
from passline.dialects.relax.types import Element
from passline.passmanager import PassContext

POSITIVE = [0.0, 5e-324, 1e-40, 6e-8, 1 / 3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 2.0**31, 2.0**53]
NUMBERS = [sign * x for x in [*POSITIVE, 1e30, math.inf] for sign in (1, -1)] + [math.nan]
SHAPES = [(), (1,), (3,), (16,), (33,)]
FLOATS: list[Element] = [bf16, f16, f32, f64]
ULP: dict[Element, float] = {bf16: 2.0**-8, f16: 2.0**-10, f32: 2.0**-22, f64: 2.0**-46}
"""The relative error that a finite power may have: exponents multiply that of the logarithm."""


def c_pow(x: float, y: float) -> float:
    """Return `pow` as C99 defines it, where Python raises an exception."""
    is_odd = math.isfinite(y) and y % 2 == 1
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and is_odd else math.inf
    except ValueError:  # a negative power of 0, or a fractional one of a negative number
        return math.nan if x else math.copysign(math.inf, x) if is_odd else math.inf


def check(powers: Array, x: Array, y: Array, element: Element) -> None:
    """Check that all powers are those of `c_pow`, rounded to the type."""
    pairs = np.broadcast(x, y)
    exact = run(constant([c_pow(float(a), float(b)) for a, b in pairs], element))
    exact = exact.reshape(pairs.shape)
    np.testing.assert_array_equal(np.isnan(powers), np.isnan(exact))
    number = ~np.isnan(exact)
    np.testing.assert_array_equal(np.signbit(powers)[number], np.signbit(exact)[number])
    ordinary = np.isfinite(exact) & (exact != 0) & (np.abs(exact) >= np.finfo(exact.dtype).tiny)
    np.testing.assert_array_equal(powers[~ordinary & number], exact[~ordinary & number])
    np.testing.assert_allclose(powers[ordinary], exact[ordinary], rtol=ULP[element])


def values(op: Operation) -> tuple[Array, ...]:
    return tuple(run(v.owner) for v in op.operands if isinstance(v.owner, Operation))


def table(element: Element) -> BinaryOp:
    x, y = zip(*product(NUMBERS, NUMBERS), strict=True)
    return PowerOp(constant(x, element), constant(y, element))


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_semantics_and_kernel(element: Element):
    op = table(element)
    x, y = values(op)
    check(run(op), x, y, element)
    module = legalized(op)
    (powers,) = interpret(module, entry_function(module, "f0"))(x, y)
    check(np.asarray(powers), x, y, element)


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_shapes(element: Element):
    """numpy has loops of its own for some exponents, for scalars and for the rest of a vector."""
    for shape in SHAPES:
        for exponent in (0.5, -0.5, 2.0, -1.0, 1 / 3, math.inf):
            for base in (-math.inf, -0.0, -4.0, math.inf):
                x, y = constant(np.full(shape, base), element), constant(exponent, element)
                check(run(PowerOp(x, y)), run(x), run(y), element)
                z = constant(np.full(shape, exponent), element)
                check(run(PowerOp(x, z)), run(x), run(z), element)
                w = constant(base, element)
                check(run(PowerOp(w, z)), run(w), run(z), element)


@needs_native
def test_machine_code():
    """All in one function: exponents of one number, and of as many as there are bases."""
    cases = [
        (element, PowerOp(constant(NUMBERS, element), constant(exponent, element)))
        for element in FLOATS
        for exponent in (0.5, 2.0, 3.0, -1.0, -0.5)
    ]
    cases += [(element, table(element)) for element in FLOATS]
    with PassContext(verify_each=False):
        function = compile_module(module_of([op for _, op in cases]))
    results = function(*(value for _, op in cases for value in values(op)))
    for (element, op), powers in zip(cases, results, strict=True):
        x, y = values(op)
        check(powers, x, y, element)
