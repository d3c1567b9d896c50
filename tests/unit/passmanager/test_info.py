"""PassInfo."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import pytest
from support.tables import table_test

from passline.passmanager import PassInfo


def test_fields_read_back() -> None:
    info = PassInfo("xyz", 1, ("abc",))
    assert (info.name, info.opt_level, info.required) == ("xyz", 1, ("abc",))


def test_required_is_a_tuple_whatever_was_given() -> None:
    assert PassInfo("xyz", required=["abc"]).required == ("abc",)  # pyright: ignore[reportArgumentType]


def test_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        PassInfo("xyz").name = "abc"  # pyright: ignore[reportAttributeAccessIssue]


@table_test("name", ["", "-", "._"])
def test_name_without_a_letter_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="at least one letter"):
        PassInfo(name)


def test_negative_level_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 or more, not -1"):
        PassInfo("xyz", -1)


@table_test("level", [True, 1.0, "1", None])
def test_level_that_is_no_whole_number_is_an_error(level: object) -> None:
    with pytest.raises(TypeError, match="whole number"):
        PassInfo("xyz", level)  # pyright: ignore[reportArgumentType]


@table_test(
    ("arguments", "message"),
    [
        (("abc", "xyz"), "opt_level is a whole number, not 'xyz'"),
        ((1, 2), "the name of a pass is a string, not 1"),
    ],
)
def test_arguments_of_one_type_are_not_exchanged(
    arguments: tuple[object, object], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        PassInfo(*arguments)  # pyright: ignore[reportArgumentType]


def test_required_string_is_an_error_that_says_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"write \['abc'\]"):
        PassInfo("xyz", required="abc")  # pyright: ignore[reportArgumentType]


def test_tvms_order_of_arguments_works() -> None:
    info = PassInfo(1, "xyz", ("abc",))  # pyright: ignore[reportArgumentType]
    assert info == PassInfo("xyz", 1, ("abc",)) and info.key == "xyz"


# Spellings of the name


def test_name_is_equal_to_the_spelling_of_tvm() -> None:
    name = PassInfo("tir-unroll-loop").name
    for spelling in ("tir-unroll-loop", "tir.UnrollLoop", "tir.transform.UnrollLoop"):
        assert name == spelling and spelling == name and name in [spelling]
        assert (name != spelling) is (spelling != name) is False
    assert name != "UnrollLoop" and name != "FuseOps" and name != 3


def test_name_is_found_in_sets_and_dicts_by_its_own_spelling() -> None:
    name = PassInfo("fuse-ops").name
    assert hash(name) == hash("fuse-ops") and {name: 1}["fuse-ops"] == {"fuse-ops": 1}[name] == 1
    assert len({name, "fuse-ops", PassInfo("fuse-ops").name}) == 1
    assert name.upper() == "FUSE-OPS" and f"{name}" == "fuse-ops"


def test_infos_of_one_pass_are_equal_and_have_one_hash() -> None:
    one, other = PassInfo("fuse-ops", 1), PassInfo("FuseOps", 1)
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert one != PassInfo("fuse-ops", 2) and one != PassInfo("fold-constant", 1)


def test_info_is_pickled_and_copied() -> None:
    info = PassInfo("fuse-ops", 1)
    for other in (pickle.loads(pickle.dumps(info)), copy.deepcopy(info)):
        assert other == info and other.name == "FuseOps"
