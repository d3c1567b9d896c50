"""PassInfo and the names of passes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from passline.passmanager import PassInfo
from passline.passmanager.registration.info import closest_name, kebab_case, name_key


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


@pytest.mark.parametrize(
    ("tvm", "kebab"),
    [
        ("FoldConstant", "fold-constant"),
        ("tir.UnrollLoop", "tir-unroll-loop"),
        ("PrintIR", "print-ir"),
        ("ToANormalForm", "to-a-normal-form"),
        ("CSEPass2", "cse-pass2"),
        ("snake_case", "snake-case"),
    ],
)
def test_kebab_case(tvm: str, kebab: str) -> None:
    assert kebab_case(tvm) == kebab


def test_spellings_of_one_name_have_one_key() -> None:
    assert name_key("tir.UnrollLoop") == name_key("tir-unroll-loop") == name_key("tir_unroll_loop")


def test_closest_name_knows_other_spellings() -> None:
    assert closest_name("FoldConstnat", ["fold-constant", "infer-type"]) == "fold-constant"


def test_closest_name_of_something_else_is_none() -> None:
    assert closest_name("zzz", ["fold-constant"]) is None


def test_tvms_order_of_arguments_works() -> None:
    info = PassInfo(1, "xyz", ("abc",))  # pyright: ignore[reportArgumentType]
    assert info == PassInfo("xyz", 1, ("abc",)) and info.key == "xyz"


@pytest.mark.parametrize(
    ("full", "own"),
    [
        ("relax.transform.FoldConstant", "fold-constant"),
        ("tvm.relax.transform.FoldConstant", "fold-constant"),
        ("relay.FuseOps", "fuse-ops"),
        ("transform.PrintIR", "print-ir"),
        ("tir.transform.UnrollLoop", "tir-unroll-loop"),
        ("tirx.UnrollLoop", "tir-unroll-loop"),
        ("s_tir.LoopPartition", "tir-loop-partition"),
    ],
)
def test_tvms_full_name_is_the_same_name(full: str, own: str) -> None:
    assert name_key(full) == name_key(own)


@pytest.mark.parametrize("name", ["relax.fallback_device_type", "transform.interpreter"])
def test_namespace_before_a_small_letter_is_part_of_the_name(name: str) -> None:
    assert name_key(name) == name.replace(".", "").replace("_", "")
