"""Edits of the IR: erase and insert_before."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.test import TestOp

from passline.passmanager.ir.edit import erase, insert_before


def test_an_erased_op_is_detached_and_uses_nothing() -> None:
    module = ModuleOp([producer := TestOp(result_types=[i32]), user := TestOp(producer.results)])
    erase(user)
    assert [*module.ops] == [producer] and user.parent is None
    assert producer.results[0].first_use is None


def test_ops_are_inserted_before_another_in_order() -> None:
    module = ModuleOp([first := TestOp(), last := TestOp()])
    insert_before(last, one := TestOp(), two := TestOp())
    insert_before(first, zero := TestOp())
    assert [*module.ops] == [zero, first, one, two, last]


def test_nothing_is_inserted_before_a_detached_op() -> None:
    with pytest.raises(AssertionError):
        insert_before(TestOp(), TestOp())
