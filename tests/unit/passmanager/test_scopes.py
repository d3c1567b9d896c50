"""Scope: the values entered in a thread, and what is left of them after a failure."""

from __future__ import annotations

import pytest

from passline.passmanager.scopes import Scope


@pytest.fixture
def scope() -> Scope[str]:
    return Scope("Color")


def test_the_value_entered_last_is_current(scope: Scope[str]) -> None:
    assert scope.current() is None
    scope.enter("red")
    scope.enter("blue")
    assert scope.current() == "blue"
    scope.leave("blue")
    assert scope.current() == "red"
    scope.leave("red")
    assert scope.current() is None


def test_scopes_do_not_mix(scope: Scope[str]) -> None:
    scope.enter("red")
    assert Scope[str]("Color").current() is None


def test_the_value_is_left_before_what_is_to_follow(scope: Scope[str]) -> None:
    seen: list[str | None] = []

    def after() -> None:
        seen.append(scope.current())
        raise KeyError

    scope.enter("red")
    with pytest.raises(KeyError):
        scope.leave("red", after)
    assert seen == [None] and scope.current() is None


def test_a_value_left_out_of_order_is_an_error_after_what_is_to_follow(scope: Scope[str]) -> None:
    seen: list[str] = []
    for value in ("red", "blue"):
        scope.enter(value)
    with pytest.raises(RuntimeError, match="a Color was left that is not the one entered last"):
        scope.leave("red", lambda: seen.append("red"))
    assert seen == ["red"] and scope.current() == "blue"
    scope.leave("blue")
    assert scope.current() is None


def test_a_value_that_was_not_entered_cannot_be_left(scope: Scope[str]) -> None:
    scope.enter("red")
    with pytest.raises(RuntimeError, match="a Color was left"):
        scope.leave("blue")
    assert scope.current() == "red"
