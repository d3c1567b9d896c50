"""canonicalize on scalars at their bounds, and on branches: functions before and after."""

from __future__ import annotations

from typing import Any, cast

from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.scf import IfOp

from passline.passes.generic.canonicalize.canonicalize import Canonicalize
from passline.passmanager import PassContext


def function(body: str, result: str) -> str:
    """Return a function on bytes, bits and an index that returns `%r`, the last value of `body`."""
    arguments = "%a: i8, %b: i8, %c: i1, %i: index"
    return f"func.func @f({arguments}) -> {result} {{\n{body}\nfunc.return %r : {result}\n}}\n"


def check(before: str, after: str, result: str) -> None:
    """Check that a body becomes another one, up to names."""
    found = parsed(function(before, result))
    with PassContext():
        found = Canonicalize()(found)
    expected = parsed(function(after, result))
    assert found.is_structurally_equivalent(expected), f"{found}\n{expected}"


UNSIGNED, SIGNED = (
    f"%0 = arith.{cast} %a : i8 to i32\n%1 = arith.{cast} %b : i8 to i32\n"
    for cast in ("extui", "extsi")
)


@table_test(
    ("before", "after"),
    [
        # Of numbers that are zero-extended, each signed comparison is an unsigned one.
        *(
            (f"{UNSIGNED}%r = arith.cmpi {wide}, %0, %1 : i32", narrow)
            for wide, narrow in [
                *(("eq", "eq"), ("ne", "ne"), ("slt", "ult"), ("sle", "ule")),
                *(("sgt", "ugt"), ("sge", "uge"), ("ult", "ult"), ("uge", "uge")),
            ]
        ),
        *(
            (f"{SIGNED}%r = arith.cmpi {predicate}, %0, %1 : i32", predicate)
            for predicate in ("eq", "slt", "sle", "sgt", "sge", "ult", "ule", "uge")
        ),
    ],
)
def test_extended_numbers_are_compared_before_the_extension(before: str, after: str) -> None:
    check(before, f"%r = arith.cmpi {after}, %a, %b : i8", "i1")


@table_test(
    ("predicate", "holds"),
    [
        *((name, "true") for name in ("eq", "sle", "sge", "ule", "uge")),
        *((name, "false") for name in ("ne", "slt", "sgt", "ult", "ugt")),
    ],
)
def test_a_number_is_compared_with_itself(predicate: str, holds: str) -> None:
    before = f"%r = arith.cmpi {predicate}, %a, %a : i8"
    check(before, f"%r = arith.constant {holds}", "i1")


@table_test(
    ("value", "after"),
    [
        (1, "%r = arith.extui %c : i1 to i8"),
        (-1, "%r = arith.extsi %c : i1 to i8"),
        (8, None),  # the width
        (2, None),
    ],
)
def test_a_selection_of_all_or_no_bits_is_a_cast(value: int, after: str | None) -> None:
    constants = f"%0 = arith.constant {value} : i8\n%1 = arith.constant 0 : i8\n"
    before = f"{constants}%r = arith.select %c, %0, %1 : i8"
    check(before, after or before, "i8")


@table_test(
    ("name", "lhs", "rhs", "result"),
    [
        ("divui", -1, 3, 85),
        ("divui", -1, -1, 1),
        ("remui", -1, 2, 1),
        ("shrui", -1, 1, 127),
        ("minui", -1, 3, 3),
        ("maxui", -1, 3, -1),
        ("divsi", -127, -1, 127),
        ("divsi", 0, -1, 0),
        ("divsi", -128, 1, -128),
        ("divsi", -128, -1, None),
        ("divsi", 1, 0, None),
        ("divui", 1, 0, None),
        ("shli", 1, 7, -128),
        ("shli", 1, 8, None),
    ],
)
def test_numbers_are_folded_where_the_result_is_defined(
    name: str, lhs: int, rhs: int, result: int | None
) -> None:
    constants = f"%0 = arith.constant {lhs} : i8\n%1 = arith.constant {rhs} : i8\n"
    before = f"{constants}%r = arith.{name} %0, %1 : i8"
    check(before, before if result is None else f"%r = arith.constant {result} : i8", "i8")


@table_test(
    ("cast", "value", "result"),
    [
        ("uitofp", -1, 255.0),
        ("uitofp", -128, 128.0),
        ("uitofp", 127, 127.0),
        ("sitofp", -1, -1.0),
        ("sitofp", -128, -128.0),
    ],
)
def test_casts_of_numbers_to_floats(cast: str, value: int, result: float) -> None:
    before = f"%0 = arith.constant {value} : i8\n%r = arith.{cast} %0 : i8 to f32"
    check(before, f"%r = arith.constant {result} : f32", "f32")


@table_test(
    ("low", "high", "step", "inlined"),
    [
        *((0, 1, 1, True), (0, 3, 4, True), (0, 4, 4, True), (-2, 2, 4, True)),
        *((0, 5, 4, False), (0, 2, 1, False), (-2, 3, 4, False)),
    ],
)
def test_a_loop_of_one_iteration_is_inlined(low: int, high: int, step: int, inlined: bool) -> None:
    constants = "".join(
        f"%{name} = arith.constant {value} : index\n"
        for name, value in (("low", low), ("high", high), ("step", step))
    )
    before = f"""{constants}%r = scf.for %n = %low to %high step %step
        iter_args(%x = %a) -> (i8) {{
      %m = arith.index_cast %n : index to i8
      %y = arith.addi %x, %m : i8
      scf.yield %y : i8
    }}"""
    found = parsed(function(before, "i8"))
    with PassContext():
        found = Canonicalize()(found)
    assert ("scf.for" in str(found)) is not inlined


IF = 'scf.if {} {{\n"test.op"() {{n = {}}} : () -> ()\n}}'
ELSE = IF + ' else {{\n"test.op"() {{n = {}}} : () -> ()\n}}'


@table_test(
    ("first", "second", "after"),
    [
        (IF.format("%c", 1), IF.format("%c", 2), {1: "true", 2: "true"}),
        (ELSE.format("%c", 1, 2), IF.format("%c", 3), {1: "true", 2: "false", 3: "true"}),
        (IF.format("%c", 1), ELSE.format("%c", 2, 3), {1: "true", 2: "true", 3: "false"}),
        (IF.format("%c", 1), IF.format("%d", 2), None),
    ],
)
def test_branches_on_one_condition_are_merged(
    first: str, second: str, after: dict[int, str] | None
) -> None:
    text = f"func.func @f(%c: i1, %d: i1) {{\n{first}\n{second}\nfunc.return\n}}\n"
    with PassContext():
        found = Canonicalize()(parsed(text))
    branches = [op for op in found.walk() if isinstance(op, IfOp)]
    if after is None:
        assert len(branches) == 2
        return
    (branch,) = branches
    regions = {"true": branch.true_region, "false": branch.false_region}
    places = {
        cast("IntegerAttr[Any]", op.attributes["n"]).value.data: name
        for name, region in regions.items()
        for op in region.walk()
        if "n" in op.attributes
    }
    assert places == after


def test_the_second_branch_uses_what_the_first_one_yields() -> None:
    before = """%0 = scf.if %c -> (i8) {
      %p = "test.op"() : () -> i8
      scf.yield %p : i8
    } else {
      %q = "test.op"() {n} : () -> i8
      scf.yield %q : i8
    }
    %r = scf.if %c -> (i8) {
      %x = arith.muli %0, %b : i8
      scf.yield %x : i8
    } else {
      %y = arith.addi %0, %a : i8
      scf.yield %y : i8
    }"""
    after = """%r = scf.if %c -> (i8) {
      %p = "test.op"() : () -> i8
      %x = arith.muli %p, %b : i8
      scf.yield %x : i8
    } else {
      %q = "test.op"() {n} : () -> i8
      %y = arith.addi %q, %a : i8
      scf.yield %y : i8
    }"""
    check(before, after, "i8")
