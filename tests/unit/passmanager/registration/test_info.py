"""PassInfo."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from passline.passmanager import PassInfo


def test_fields_read_back() -> None:
    info = PassInfo("xyz", 1, ("abc",))
    assert (info.name, info.opt_level, info.required) == ("xyz", 1, ("abc",))


def test_required_is_a_tuple_whatever_was_given() -> None:
    assert PassInfo("xyz", required=["abc"]).required == ("abc",)  # pyright: ignore[reportArgumentType]


def test_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        PassInfo("xyz").name = "abc"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", ["", "-", "._"])
def test_name_without_a_letter_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="at least one letter"):
        PassInfo(name)


def test_negative_level_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 or more, not -1"):
        PassInfo("xyz", -1)


@pytest.mark.parametrize("level", [True, 1.0, "1", None])
def test_level_that_is_no_whole_number_is_an_error(level: object) -> None:
    with pytest.raises(TypeError, match="whole number"):
        PassInfo("xyz", level)  # pyright: ignore[reportArgumentType]


def test_required_string_is_an_error_that_says_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"write \['abc'\]"):
        PassInfo("xyz", required="abc")  # pyright: ignore[reportArgumentType]


def test_tvms_order_of_arguments_works() -> None:
    info = PassInfo(1, "xyz", ("abc",))  # pyright: ignore[reportArgumentType]
    assert info == PassInfo("xyz", 1, ("abc",)) and info.key == "xyz"
