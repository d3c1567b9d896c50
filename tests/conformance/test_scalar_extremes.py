# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportArgumentType=false
"""Folds of scalar operations on the extremes of each type, beside exact arithmetic."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import TypeAlias

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    BFloat16Type,
    Builtin,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from passline.passes.generic.canonicalize.canonicalize import canonicalize
from passline.passes.relax.fold_constant import fold_constants

Number: TypeAlias = int | float
Reference: TypeAlias = Callable[..., Number | None]

INDEX, BF16 = IndexType(), BFloat16Type()
INTEGERS = (*map(IntegerType, (1, 8, 64)), INDEX)
FLOATS = {f16: np.float16, BF16: ml_dtypes.bfloat16, f32: np.float32, f64: np.float64}


def width_of(type: Attribute) -> int:
    return type.bitwidth if isinstance(type, IntegerType) else 64


def signed(value: int, width: int) -> int:
    return (value + (1 << width - 1)) % (1 << width) - (1 << width - 1)


def extremes(type: Attribute) -> list[Number]:
    """Return the numbers of a type at and next to its limits, and around zero."""
    if type in FLOATS:
        info = ml_dtypes.finfo(FLOATS[type])
        positive = [0.0, 1.0, 129.0, math.inf, float(info.max), float(info.smallest_subnormal)]
        return [*positive, *(-number for number in positive), math.nan]
    width = width_of(type)
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    return sorted({low, high, -1, 0} | ({low + 1, 1, width - 1, width} if width > 1 else set()))


def constant(value: Number, type: Attribute) -> arith.ConstantOp:
    if isinstance(type, IntegerType | IndexType):
        return arith.ConstantOp(IntegerAttr(int(value), type))
    return arith.ConstantOp(FloatAttr(value, type))  # pyright: ignore[reportArgumentType, reportCallIssue]


# The results of operations, exact before they are wrapped or rounded; None is undefined.


def unsigned(reference: Reference) -> Reference:
    def compute(a: int, b: int, width: int) -> Number | None:
        return reference(a % (1 << width), b % (1 << width), width)

    return compute


def division(reference: Callable[[int, int], int]) -> Reference:
    def compute(a: int, b: int, width: int) -> int | None:
        if b == 0 or (result := reference(a, b)) >= 1 << width - 1:
            return None
        return result

    return compute


def shift(reference: Callable[[int, int], int]) -> Reference:
    return lambda a, b, width: reference(a, b) if 0 <= b < width else None


def towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[type[Operation], Reference] = {
    arith.AddiOp: lambda a, b, _: a + b,
    arith.SubiOp: lambda a, b, _: a - b,
    arith.MuliOp: lambda a, b, _: a * b,
    arith.AndIOp: lambda a, b, _: a & b,
    arith.OrIOp: lambda a, b, _: a | b,
    arith.XOrIOp: lambda a, b, _: a ^ b,
    arith.MaxSIOp: lambda a, b, _: max(a, b),
    arith.MinSIOp: lambda a, b, _: min(a, b),
    arith.MaxUIOp: unsigned(lambda a, b, _: max(a, b)),
    arith.MinUIOp: unsigned(lambda a, b, _: min(a, b)),
    arith.DivSIOp: division(towards_zero),
    arith.RemSIOp: lambda a, b, width: (
        None if division(towards_zero)(a, b, width) is None else a - b * towards_zero(a, b)
    ),
    arith.FloorDivSIOp: division(lambda a, b: a // b),
    arith.CeilDivSIOp: division(lambda a, b: -(-a // b)),
    arith.DivUIOp: unsigned(lambda a, b, _: a // b if b else None),
    arith.RemUIOp: unsigned(lambda a, b, _: a % b if b else None),
    arith.CeilDivUIOp: unsigned(lambda a, b, _: -(-a // b) if b else None),
    arith.ShLIOp: shift(lambda a, b: a << b),
    arith.ShRSIOp: shift(lambda a, b: a >> b),
    arith.ShRUIOp: unsigned(shift(lambda a, b: a >> b)),
}


def float_reference(function: Callable[..., object]) -> Callable[[Attribute], Reference]:
    """Return the reference for each type: `function` on numbers of numpy of that type."""

    def of_type(type: Attribute) -> Reference:
        def compute(*values: Number) -> Number:
            with np.errstate(all="ignore"):
                return float(function(*map(FLOATS[type], values)))  # pyright: ignore[reportArgumentType]

        return compute

    return of_type


def bound(ufunc: np.ufunc, is_maximum: bool) -> Callable[..., object]:
    def compute(a: float, b: float) -> object:
        if a == b == 0:
            negative = [math.copysign(1, a) < 0, math.copysign(1, b) < 0]
            return -0.0 if (all if is_maximum else any)(negative) else 0.0
        return ufunc(np.float64(a), np.float64(b))

    return compute


FLOAT: dict[type[Operation], Callable[[Attribute], Reference]] = {
    arith.AddfOp: float_reference(lambda a, b: a + b),
    arith.SubfOp: float_reference(lambda a, b: a - b),
    arith.MulfOp: float_reference(lambda a, b: a * b),
    arith.DivfOp: float_reference(lambda a, b: a / b),
    arith.MaximumfOp: float_reference(bound(np.maximum, True)),
    arith.MinimumfOp: float_reference(bound(np.minimum, False)),
    arith.MaxnumfOp: float_reference(bound(np.fmax, True)),
    arith.MinnumfOp: float_reference(bound(np.fmin, False)),
}


# Functions of one operation


def function(make: Callable[..., Operation], operands: Sequence[Operation | Attribute]):
    """Return a function of one operation; operands are constants, or types of parameters."""
    types = [operand for operand in operands if isinstance(operand, Attribute)]
    new = func.FuncOp("f", (types, []))
    parameters = iter(new.body.block.args)
    constants = [operand for operand in operands if isinstance(operand, Operation)]
    values: list[SSAValue] = [
        operand.results[0] if isinstance(operand, Operation) else next(parameters)
        for operand in operands
    ]
    op = make(*values)
    new.body.block.add_ops([*constants, op, func.ReturnOp(op.results[0])])
    new.function_type = new.function_type.from_lists(types, [op.results[0].type])
    return new


def fold(functions: Sequence[func.FuncOp], fold_constant: bool) -> list[Number | None]:
    """Return the constants that the functions return after canonicalization; None if it is none."""
    for number, each in enumerate(functions):
        each.sym_name = StringAttr(f"f{number}")
    module = ModuleOp([*functions])
    if fold_constant:
        for each in functions:
            fold_constants(each)
    else:
        ctx = Context()
        for dialect in (Builtin, arith.Arith, func.Func):
            ctx.load_dialect(dialect)
        canonicalize(module, ctx, mlir=True)
    module.verify()
    return [*map(returned, functions)]


def returned(function: func.FuncOp) -> Number | None:
    end = function.body.block.last_op
    assert end is not None
    owner = end.operands[0].owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    value = owner.value
    assert isinstance(value, IntegerAttr | FloatAttr)
    return value.value.data


def bind(function: func.FuncOp, values: Sequence[arith.ConstantOp]) -> func.FuncOp:
    """Return a function without parameters that does what `function` does for `values`."""
    new = function.clone()
    for parameter, value in zip([*new.body.block.args], values, strict=True):
        assert new.body.block.first_op is not None
        new.body.block.insert_op_before(value, new.body.block.first_op)
        parameter.replace_all_uses_with(value.result)
        new.body.block.erase_arg(parameter)
    new.function_type = new.function_type.from_lists([], new.function_type.outputs.data)
    return new


def normal(value: Number | None, type: Attribute) -> object:
    """Return a key of a number of a type: an integer wrapped, a float by its bits."""
    if value is None:
        return None
    if type in FLOATS:
        return "nan" if math.isnan(value) else (value, math.copysign(1, value))
    return signed(int(value), width_of(type))


def check(
    make: Callable[..., Operation],
    type: Attribute,
    reference: Reference,
    numbers: Sequence[Number] | None = None,
) -> None:
    """Fold a binary operation on all pairs of `numbers`, by default the extremes: both constant;
    and each as a parameter that is bound after a first canonicalization."""
    numbers = extremes(type) if numbers is None else numbers
    pairs = [*product(numbers, repeat=2)]
    whole = [function(make, [constant(a, type), constant(b, type)]) for a, b in pairs]
    result = whole[0].function_type.outputs.data[0]
    expected = [normal(reference(a, b), result) for a, b in pairs]
    found = [normal(value, result) for value in fold([f.clone() for f in whole], False)]
    assert_equal(pairs, found, expected)
    found = [normal(value, result) for value in fold(whole, True)]
    assert_equal(pairs, found, expected)
    for right in (False, True):
        knowns = [[constant(number, type), type][:: -1 if right else 1] for number in numbers]
        parts = [function(make, operands) for operands in knowns]
        fold(parts, False)
        # All parameters for one constant after the other, and the pairs in that order.
        bound = [bind(part, [constant(number, type)]) for part in parts for number in numbers]
        order = [(b, a) if right else (a, b) for a, b in pairs]
        found = [normal(value, result) for value in fold(bound, False)]
        assert_equal(order, found, [normal(reference(a, b), result) for a, b in order])


def assert_equal(
    pairs: Sequence[object], found: Sequence[object], expected: Sequence[object]
) -> None:
    """Compare where the result is defined; there the operation is folded."""
    wrong = [
        (pair, got, want)
        for pair, got, want in zip(pairs, found, expected, strict=True)
        if want is not None and got != want
    ]
    assert not wrong


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
def test_integers(op: type[Operation]) -> None:
    for type in INTEGERS:
        width = width_of(type)
        check(op, type, lambda a, b, width=width: BINARY[op](a, b, width))


@pytest.mark.parametrize("op", FLOAT, ids=lambda op: op.name)
def test_floats(op: type[Operation]) -> None:
    for type in FLOATS:
        check(op, type, FLOAT[op](type))


SIGNED = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
ORDERED = (operator.eq, operator.gt, operator.ge, operator.lt, operator.le, operator.ne)


def compare_integers(predicate: int) -> Reference:
    """Return the reference of `arith.cmpi`: from 6 on the predicates are unsigned."""
    if predicate < 6:
        return lambda a, b, _: SIGNED[predicate](a, b)
    return unsigned(lambda a, b, _: SIGNED[predicate - 4](a, b))


def compare_floats(predicate: int) -> Reference:
    """Return the reference of `arith.cmpf`: from 8 on the predicates hold for NaN."""

    def compute(a: float, b: float) -> bool:
        if math.isnan(a) or math.isnan(b):
            return predicate >= 8
        kind = predicate - 1 if predicate < 8 else predicate - 8
        return ORDERED[kind](a, b) if 0 <= kind < 6 else predicate in (7, 15)

    return compute


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_comparisons_of_integers(type: Attribute) -> None:
    for predicate in range(10):
        reference, width = compare_integers(predicate), width_of(type)
        check(
            partial(arith.CmpiOp, arg=predicate),
            type,
            lambda a, b, reference=reference, width=width: reference(a, b, width),
            extremes(type)[:4],
        )


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_comparisons_of_floats(type: Attribute) -> None:
    for predicate in range(16):
        numbers = [-math.inf, -0.0, 0.0, 1.0, math.nan]
        check(partial(arith.CmpfOp, arg=predicate), type, compare_floats(predicate), numbers)


def truncated(value: float, low: int, high: int) -> int | None:
    """Return a float rounded towards zero; None out of range, where the conversion is undefined."""
    is_inside = math.isfinite(value) and low <= math.trunc(value) <= high
    return math.trunc(value) if is_inside else None


def casts() -> Iterator[tuple[type[Operation], Attribute, Attribute, Reference]]:
    """Yield the casts, the types that they cast from and to, and what they return."""
    for a, b in product(INTEGERS, repeat=2):
        wide, width = width_of(b), width_of(a)
        if (a is INDEX) != (b is INDEX):
            yield arith.IndexCastOp, a, b, lambda x: x
        elif wide > width:
            yield arith.ExtSIOp, a, b, lambda x: x
            yield arith.ExtUIOp, a, b, lambda x, width=width: x % (1 << width)
        elif wide < width:
            yield arith.TruncIOp, a, b, lambda x: x
    for a, b in product(FLOATS, INTEGERS[:-1]):
        width = width_of(b)
        low, high = -(1 << width - 1), (1 << width) - 1
        yield arith.FPToSIOp, a, b, partial(truncated, low=low, high=-low - 1)
        yield arith.FPToUIOp, a, b, partial(truncated, low=0, high=high)
        rounded = float_reference(lambda x: x)(a)
        yield arith.SIToFPOp, b, a, rounded
        yield arith.UIToFPOp, b, a, lambda x, n=1 << width, to=rounded: to(float(x % n))
    for a, b in product(FLOATS, repeat=2):
        if width_of_float(a) != width_of_float(b):
            cast = arith.ExtFOp if width_of_float(a) < width_of_float(b) else arith.TruncFOp
            yield cast, a, b, float_reference(lambda x: x)(b)


def width_of_float(type: Attribute) -> int:
    return np.dtype(FLOATS[type]).itemsize


@pytest.mark.parametrize(
    ("op", "source", "target", "reference"),
    [pytest.param(*c, id=f"{c[0].name}-{c[1]}-{c[2]}") for c in casts()],
)
def test_casts(
    op: type[Operation], source: Attribute, target: Attribute, reference: Reference
) -> None:
    def make(value: SSAValue) -> Operation:
        return op.create(operands=[value], result_types=[target])

    numbers = extremes(source)
    functions = [function(make, [constant(number, source)]) for number in numbers]
    found = [normal(value, target) for value in fold(functions, False)]
    assert_equal(numbers, found, [normal(reference(number), target) for number in numbers])
