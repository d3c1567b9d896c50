"""PerClass: one answer for each class, computed once."""

from __future__ import annotations

from passline.passmanager.ir.per_class import PerClass


def test_each_class_is_asked_about_once() -> None:
    asked: list[type] = []

    def is_number(cls: type[object]) -> bool:
        asked.append(cls)
        return issubclass(cls, int)

    numbers = PerClass[object, bool](is_number)
    assert [numbers[type(value)] for value in (1, "x", 2, "y", True)] == [
        True,
        False,
        True,
        False,
        True,
    ]
    assert asked == [int, str, bool]
