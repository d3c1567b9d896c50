"""Edits of the IR: of lists of operations, and of uses."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import SSAValues

from passline.passmanager.fast.edit import erase, insert_before, replace_all_uses, replace_operands


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


def test_all_uses_are_replaced_as_xdsl_does() -> None:
    def module() -> tuple[TestOp, TestOp, list[TestOp]]:
        old, new = TestOp(result_types=[i32]), TestOp(result_types=[i32])
        a, b = old.results[0], new.results[0]
        a.name_hint = "a"
        users = [TestOp([a, b, a]), TestOp([b]), TestOp([b, a])]
        ModuleOp([old, new, *users])
        return old, new, users

    old, new, users = module()
    old_expected, new_expected, users_expected = module()
    replace_all_uses(old.results[0], new.results[0])
    old_expected.results[0].replace_all_uses_with(new_expected.results[0])
    assert old.results[0].first_use is None and new.results[0].name_hint == "a"
    assert all(set(user.operands) == {new.results[0]} for user in users)

    def uses(op: TestOp, users: list[TestOp]) -> list[tuple[int, int]]:
        return [(users.index(use.operation), use.index) for use in op.results[0].uses]  # pyright: ignore[reportArgumentType]

    assert uses(new, users) == uses(new_expected, users_expected)
    new.results[0].replace_all_uses_with(new.results[0])
    for use in [*new.results[0].uses]:
        new.results[0].remove_use(use)
    assert new.results[0].first_use is None


def test_replaced_operands_are_used_and_the_others_stay() -> None:
    a, b, c = TestOp(result_types=[i32] * 3).results
    user = TestOp([a, b, a])
    replace_operands(user, SSAValues([a, c, c]))
    assert [*user.operands] == [a, c, c] and b.first_use is None
    assert [use.index for use in a.uses] == [0]
    assert [use.index for use in c.uses] == [2, 1]
    user.operands = [b, b, b]
    assert a.first_use is None and c.first_use is None
