"""Numbers of attributes: the same for what is equal and looks the same."""

from __future__ import annotations

import gc
from typing import cast
from weakref import ref

import pytest
from support.tables import table_test
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f32,
    i32,
)
from xdsl.dialects.test import TestOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute

from passline.passmanager.fast import signatures as table
from passline.passmanager.fast.edit import read_fields
from passline.passmanager.fast.signatures import Signatures, is_of_signature, reads_its_op_alone

ONE, TWO = StringAttr("one"), StringAttr("two")
FLAGS = [FastMathFlag.NO_NANS, FastMathFlag.NO_INFS]


@table_test(
    ("a", "b", "same"),
    [
        (TensorType(f32, [2, 3]), TensorType(f32, [2, 3]), True),
        (TensorType(f32, [2, 3]), TensorType(f32, [3, 2]), False),
        (IntegerAttr(1, i32), IntegerAttr(1, i32), True),
        (FloatAttr(0.0, f32), FloatAttr(-0.0, f32), False),
        (FastMathFlagsAttr(FLAGS[:1]), FastMathFlagsAttr(FLAGS[:1]), True),
        # equal, but they may be printed in another order
        (FastMathFlagsAttr(FLAGS), FastMathFlagsAttr(FLAGS[::-1]), False),
        (DictionaryAttr({"a": ONE, "b": TWO}), DictionaryAttr({"b": TWO, "a": ONE}), False),
        (ArrayAttr([DictionaryAttr({"a": ONE})]), ArrayAttr([DictionaryAttr({"a": ONE})]), False),
    ],
)
def test_numbers_of_two_attributes(a: Attribute, b: Attribute, same: bool) -> None:
    signatures = Signatures()
    assert (signatures.number(a) == signatures.number(b)) == same
    assert signatures.number(a) == signatures.number(a)


@table_test(
    "op",
    [
        TestOp(),
        TestOp(result_types=[f32, i32]),
        TestOp(properties={"prop1": ONE}),
        TestOp(attributes={"a": ONE, "b": TWO}),
        TestOp(result_types=[f32], properties={"prop1": ONE}, attributes={"a": ONE}),
    ],
)
def test_a_completed_signature_is_that_of_the_next_op(op: TestOp) -> None:
    signatures, fields = Signatures(), read_fields(op)
    completed = signatures.complete(op, fields, signatures.of(op, fields))
    assert None not in completed and signatures.of(op, fields) == completed
    assert signatures.complete(op, fields, completed) == completed


@table_test("scalars_only", [True, False])
def test_an_attribute_that_nothing_else_refers_to_is_freed(scalars_only: bool) -> None:
    signatures = Signatures(scalars_only=scalars_only)
    numbers: set[int] = set()
    for n in range(10):  # each may be where the one before was in memory
        attribute = DictionaryAttr({"n": IntAttr(n)})
        numbers.add(signatures.number(attribute))
        reference = ref(attribute)
        del attribute
        gc.collect(0)
        assert reference() is None
    assert len(numbers) == 10


def test_an_attribute_without_weak_references_is_kept() -> None:
    class Slotted:
        __slots__ = ()

    signatures = Signatures()
    numbers = {signatures.number(cast(Attribute, Slotted())) for _ in range(10)}
    assert len(numbers) == 10


def test_a_signature_is_complete_where_the_table_starts_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table, "_LIMIT", 0)  # with each number
    op = TestOp(result_types=[i32, f32], properties={"prop1": ONE}, attributes={"a": TWO, "b": ONE})
    signatures = Signatures()
    key = signatures.of(op, fields := read_fields(op))
    assert None in key
    assert None not in signatures.complete(op, fields, key)


def test_a_number_does_not_outlive_the_tables_that_another_thread_clears() -> None:
    class Cleared(dict[int, object]):
        def __setitem__(self, key: int, value: object) -> None:
            self.clear()

    signatures = Signatures()
    setattr(signatures, "_references", Cleared())
    assert signatures.number(ONE) != signatures.number(TWO)
    # Without references, another attribute in the place of one that is freed would have its number.
    assert not signatures._numbers  # pyright: ignore[reportPrivateUsage]


def test_a_method_that_overrides_does_not_inherit_the_promise() -> None:
    class Base:
        def print(self) -> None: ...

    setattr(Base.print, "of_signature", True)

    class Same(Base): ...

    class Other(Base):
        def print(self) -> None: ...

    assert [is_of_signature(cls.print) for cls in (Base, Same, Other)] == [True, True, False]


def alone(op: TestOp) -> object:
    return [operand.type for operand in op.operands]


def around(op: TestOp) -> object:
    return [(lambda value: value.owner)(operand) for operand in op.operands]


def test_a_method_that_looks_around_its_op_is_told():
    assert reads_its_op_alone(alone) and not reads_its_op_alone(around)
