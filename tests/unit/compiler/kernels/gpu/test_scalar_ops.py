"""Scalar operations on tiles, beside their semantics on numpy, on the extremes of each type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from support.operations.evaluation import Array
from support.parsing import parsed
from support.passes.results import run
from support.releases import needs_xdsl
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from passline.compiler.interpreters.arrays import bounds, dtype_of, fit, float_limits, numbers_of
from passline.compiler.kernels.gpu.loop_entries import lower_kernel
from passline.compiler.kernels.gpu.scalar_ops import CASTS, EXPANSIONS, TABLE
from passline.compiler.kernels.gpu.tile_builder import add_entries
from passline.dialects.relax.types import Element, SmallFloat, is_element, is_integer
from passline.dialects.target import Target
from passline.dialects.tir.ops import PrimFuncOp
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

INTEGERS = ("i1", "i8", "i16", "i32", "i64")
WIDE = INTEGERS[1:]
FLOATS = ("f16", "bf16", "f32", "f64")
SMALL = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E8M0FNU", "f4E2M1FN")
DIGITS = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 4e-6, "f64": 1e-13}
"""The relative errors of functions that are not rounded correctly."""


def element_of(type: str) -> Element:
    element = Parser(make_ir_context(), type).parse_type()
    assert is_element(element)
    return element


def extremes(type: str) -> Array:
    """Return the numbers of a type at and next to its limits, and around zero."""
    element = element_of(type)
    dtype = dtype_of(element)
    if type == "i1":
        return np.array([False, True])
    if is_integer(element):
        low, high = bounds(element)
        return np.array([low, low + 1, -7, -1, 0, 1, 2, 7, high - 1, high], dtype)
    finite = [0.0, 0.5, 0.7, 1.0, 1.5, 2.5, 3.0, 20.0]
    if type in FLOATS:
        limits = float_limits(element)
        finite += [limits.maximum, limits.normal, 1 + limits.epsilon, limits.denormal]
    numbers = [*finite, *(-x for x in finite), np.inf, -np.inf, np.nan]
    return rounded(np.array(numbers), type)


def rounded(array: Array, type: str) -> Array:
    """Return floats of a type."""
    element = element_of(type)
    with np.errstate(all="ignore"):
        return fit(array.astype(dtype_of(element)), element)


def loop(text: str, types: Sequence[str], result: str, count: int) -> ModuleOp:
    """Return a module whose @f computes %r of %a, %b and so on for each element of buffers."""
    names = "abc"[: len(types)]
    pairs = [*zip(names, types, strict=True)]
    parameters = ", ".join(f"%{n}s: memref<{count}x{t}>" for n, t in [*pairs, ("r", result)])
    loads = "\n".join(f"%{n} = memref.load %{n}s[%i] : memref<{count}x{t}>" for n, t in pairs)
    return parsed(f"""
        tir.prim_func @f({parameters}) {{
          %zero = arith.constant 0 : index
          %count = arith.constant {count} : index
          tir.for %i = %zero extent %count {{
            {loads}
            {text if "%r = " in text else f"%r = {text}"}
            memref.store %r, %rs[%i] : memref<{count}x{result}>
          }}
        }}""")


def check(
    text: str, types: Sequence[str], result: str, arrays: Sequence[Array], rtol: float = 0
) -> None:
    """Check that tiles have the same results as scalars."""
    module = loop(text, types, result, arrays[0].size)
    out = np.zeros(arrays[0].size, np.int64 if result == "index" else dtype_of(element_of(result)))
    with np.errstate(all="ignore"):
        *_, expected = run(module, "f", (*arrays, out))
        (func,) = [op for op in module.ops if isinstance(op, PrimFuncOp)]
        add_entries(module, lower_kernel(func, Target("sm_90")))
        verify(module)
        *_, actual = run(module, "f", (*arrays, out))
    found, wanted = np.asarray(actual), np.asarray(expected)
    shown = f"{text} {[a.tolist() for a in arrays]}"
    np.testing.assert_allclose(found, wanted, rtol, rtol * 1e-3, err_msg=shown, strict=True)
    if wanted.dtype.kind == "f" and not rtol:
        known = ~np.isnan(wanted)
        signs = np.signbit(found[known]), np.signbit(wanted[known])
        np.testing.assert_array_equal(*signs, err_msg=shown)


def operands(type: str, count: int) -> list[Array]:
    """Return all combinations of the extremes of a type; of floats, of every fourth of them."""
    values = extremes(type)
    if count > 1 and type in FLOATS:
        values = np.concatenate([values[::4], values[-3:], -values[:1]])
    rows = np.array([*product(range(len(values)), repeat=count)]).T
    return [values[row] for row in rows]


INTEGER_BINARY = "addi subi muli andi ori xori maxsi maxui minsi minui".split()
DIVISIONS = "divsi divui remsi remui floordivsi ceildivsi ceildivui".split()
SHIFTS = "shli shrsi shrui".split()
EXACT_BINARY = "addf subf mulf divf maximumf maxnumf minimumf minnumf".split()
EXACT = "arith.negf math.absf math.ceil math.floor math.roundeven math.round math.trunc".split()
FUNCTIONS = (
    "acos acosh asin asinh atan atanh cbrt cos cosh erf exp exp2 expm1 log log10 log1p log2 "
    "rsqrt sin sinh sqrt tan tanh"
).split()
INEXACT_BINARY = "math.atan2 math.powf".split()
CONVERSIONS = [
    *(("extsi", a, b) for i, a in enumerate(INTEGERS) for b in INTEGERS[i + 1 :]),
    *(("extui", a, b) for i, a in enumerate(INTEGERS) for b in INTEGERS[i + 1 :]),
    *(("trunci", b, a) for i, a in enumerate(INTEGERS) for b in INTEGERS[i + 1 :]),
    *((name, a, b) for name in ("sitofp", "uitofp") for a in INTEGERS for b in FLOATS),
    *(("extf", a, b) for a, b in (("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64"))),
    *(("truncf", b, a) for a, b in (("f16", "f32"), ("bf16", "f32"), ("f32", "f64"))),
    *(("bitcast", a, b) for a, b in (("f32", "i32"), ("i64", "f64"), ("i16", "f16"))),
]


@table_test("name", INTEGER_BINARY)
def test_integers(name: str):
    for type in INTEGERS:
        check(f"arith.{name} %a, %b : {type}", [type, type], type, operands(type, 2))
    check("math.absi %a : i8", ["i8"], "i8", operands("i8", 1))


@table_test("name", DIVISIONS)
def test_divisions_where_they_are_defined(name: str):
    for type in WIDE:
        a, b = operands(type, 2)
        defined = (b != 0) & ~((a == a.min()) & (b == -1))
        check(f"arith.{name} %a, %b : {type}", [type, type], type, [a[defined], b[defined]])


@table_test("name", SHIFTS)
def test_shifts_by_less_than_the_width(name: str):
    for type in WIDE:
        width = int(type[1:])
        values = extremes(type)
        a, b = (x.ravel() for x in np.meshgrid(values, np.arange(width).astype(values.dtype)))
        check(f"arith.{name} %a, %b : {type}", [type, type], type, [a, b])


@table_test("name", EXACT_BINARY)
def test_floats_bit_by_bit(name: str):
    for type in FLOATS:
        check(f"arith.{name} %a, %b : {type}", [type, type], type, operands(type, 2))


@table_test("name", [*EXACT, "math.copysign", "math.fma"])
def test_parts_and_signs_of_floats(name: str):
    count = {"math.copysign": 2, "math.fma": 3}.get(name, 1)
    for type in FLOATS:
        values = ", ".join(["%a", "%b", "%c"][:count])
        check(f"{name} {values} : {type}", [type] * count, type, operands(type, count))


@table_test("name", [*(f"math.{name}" for name in FUNCTIONS), *INEXACT_BINARY])
def test_functions(name: str):
    count = 2 if name in INEXACT_BINARY else 1
    for type in FLOATS:
        given = operands(type, count)
        values = ", ".join(["%a", "%b"][:count])
        check(f"{name} {values} : {type}", [type] * count, type, given, DIGITS[type])


@table_test("relation", "eq ne slt sle sgt sge ult ule ugt uge".split())
def test_comparisons_of_integers(relation: str):
    for type in INTEGERS:
        text = f"arith.cmpi {relation}, %a, %b : {type}"
        check(text, [type, type], "i1", operands(type, 2))


RELATIONS = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()


@table_test("relation", RELATIONS)
def test_comparisons_of_floats(relation: str):
    for type in FLOATS:
        text = f"arith.cmpf {relation}, %a, %b : {type}"
        check(text, [type, type], "i1", operands(type, 2))


@table_test("name, source, target", CONVERSIONS)
def test_conversions(name: str, source: str, target: str):
    check(f"arith.{name} %a : {source} to {target}", [source], target, [extremes(source)])


@table_test("name", ["fptosi", "fptoui"])
def test_integers_of_floats_within_their_range(name: str):
    for source, target in product(FLOATS, WIDE):
        values = np.array([0.0, -0.0, 0.5, 1.5, 7.99, 100.0, -0.9, -1.5, -100.0])
        if name == "fptoui":
            values = values[values > -1]
        array = rounded(values, source)
        check(f"arith.{name} %a : {source} to {target}", [source], target, [array])


def test_a_choice_and_hints():
    types = ["i1", "f32", "f32"]
    choice = [np.array([False, True]), np.array([np.nan, -0.0], "f4"), np.array([1, 2], "f4")]
    check("arith.select %a, %b, %c : f32", types, "f32", choice)
    check("tir.likely %a", ["i1"], "i1", choice[:1])


def test_indices():
    values = extremes("i64")
    near = values[abs(values.astype(np.float64)) < 2**31]
    check("arith.index_cast %a : i64 to index", ["i64"], "index", [near])
    check("arith.index_cast %a : index to i64", ["index"], "i64", [near])


def test_integers_of_four_bits():
    given = [extremes("i8")]
    check("arith.trunci %a : i8 to i4", ["i8"], "i4", given)
    cast = "builtin.unrealized_conversion_cast %b : i4 to ui4"
    check(f"%b = arith.trunci %a : i8 to i4\n%r = {cast}", ["i8"], "ui4", given)


@needs_xdsl("0.67", "floats of at most 8 bits")
@table_test("type", SMALL)
def test_small_floats(type: str):
    element = element_of(type)
    assert isinstance(element, SmallFloat)
    numbers = numbers_of(np.arange(1 << element.bitwidth), element)
    finite = np.sort(numbers[np.isfinite(numbers)])
    middles = (finite[1:] + finite[:-1]) / 2
    check(f"arith.extf %a : {type} to f32", [type], "f32", [numbers])
    given = np.concatenate([middles, extremes("f32")])
    check(f"arith.truncf %a : f32 to {type}", ["f32"], type, [given])


def test_all_operations_are_here():
    arith = [*INTEGER_BINARY, *DIVISIONS, *SHIFTS, *EXACT_BINARY, *(n for n, *_ in CONVERSIONS)]
    arith += "cmpf cmpi fptosi fptoui index_cast select".split()
    math = [*FUNCTIONS, "absi", "copysign", "fma"]
    names = {*(f"arith.{name}" for name in arith), *(f"math.{name}" for name in math)}
    names |= {*EXACT, *INEXACT_BINARY, "tir.likely"}
    covered = {cls.name for cls in (*TABLE, *EXPANSIONS, *CASTS)}
    assert covered - {"builtin.unrealized_conversion_cast"} == names
