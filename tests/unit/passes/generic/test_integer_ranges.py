"""Tests of ranges of integers, against all results of small ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation

from passline.passes.generic.canonicalize.scalar_folds import fold_scalar
from passline.passes.generic.integer_ranges import IntegerRange, IntegerRanges, both
from passline.tests.support.tables import table_test

WIDTH = 4
TYPE = IntegerType(WIDTH)
BINARY: Sequence[type[Operation]] = (
    arith.AddiOp,
    arith.AndIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.DivSIOp,
    arith.DivUIOp,
    arith.FloorDivSIOp,
    arith.MaxSIOp,
    arith.MaxUIOp,
    arith.MinSIOp,
    arith.MinUIOp,
    arith.MuliOp,
    arith.OrIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.ShLIOp,
    arith.ShRSIOp,
    arith.ShRUIOp,
    arith.SubiOp,
    arith.XOrIOp,
)


def made(
    cls: type[Operation], numbers: Sequence[int], to: Attribute, **others: Attribute
) -> Operation:
    """Return an operation on constants."""
    constants = [
        arith.ConstantOp(IntegerAttr(number, TYPE, truncate_bits=True)) for number in numbers
    ]
    return cls.create(operands=[c.result for c in constants], result_types=[to], properties=others)


def numbers_in(known: IntegerRange) -> list[int]:
    """Return the signed numbers of a range."""
    low, high = known.signed
    return [n for n in range(low, high + 1) if holds(known, n)]


def holds(known: IntegerRange, number: int) -> bool:
    """Return whether a signed number is in a range."""
    natural = number % (1 << known.width)
    (low, high), (least, most) = known.signed, known.unsigned
    return low <= number <= high and least <= natural <= most


def some_range(source: random.Random) -> IntegerRange:
    """Return a range of signed or unsigned numbers, which may be a single one."""
    if source.random() < 0.5:
        return both(WIDTH, [source.randint(-8, 7) for _ in range(2)])
    return both(WIDTH, unsigned=[source.randint(0, 15) for _ in range(2)])


def check(cls: type[Operation], arity: int, to: IntegerType, **others: Attribute) -> None:
    """Check that each defined result is in the range of results."""
    analysis = object.__new__(IntegerRanges)  # `transfer` reads no state
    numbers = range(-8, 8)
    results: dict[tuple[int, ...], int] = {}
    for row in product(numbers, repeat=arity):
        folded = fold_scalar(made(cls, row, to, **others))
        if isinstance(folded, IntegerAttr):
            results[row] = folded.value.data
    assert results
    op, source = made(cls, [0] * arity, to, **others), random.Random(cls.name)
    for _ in range(60):
        ranges = [some_range(source) for _ in range(arity)]
        found = analysis.transfer(op, ranges)
        assert found is not None
        for row in product(*map(numbers_in, ranges)):
            if (number := results.get(row)) is not None:
                if to.width.data == 1:
                    number = -(number & 1)
                assert holds(found[0], number), (ranges, row, number, found[0])


@table_test("cls", BINARY)
def test_a_range_has_each_result_of_arithmetic(cls: type[Operation]) -> None:
    check(cls, 2, TYPE)


@table_test("predicate", range(10))
def test_a_range_has_each_result_of_a_comparison(predicate: int) -> None:
    check(arith.CmpiOp, 2, i1, predicate=IntegerAttr(predicate, 64))


@table_test(
    ("cls", "width"),
    [(arith.ExtSIOp, 6), (arith.ExtUIOp, 6), (arith.TruncIOp, 2), (arith.TruncIOp, 3)],
)
def test_a_range_has_each_result_of_a_cast(cls: type[Operation], width: int) -> None:
    check(cls, 1, IntegerType(width))


def test_one_kind_of_numbers_narrows_the_other() -> None:
    assert both(8, unsigned=(128, 130)).signed == (-128, -126)
    assert both(8, (3, 100)).unsigned == (3, 100)
    assert both(8, unsigned=(127, 128)) == IntegerRange((-128, 127), (127, 128), 8)
    assert both(8, (-3, 3), (0, 5)) == IntegerRange((0, 3), (0, 3), 8)
