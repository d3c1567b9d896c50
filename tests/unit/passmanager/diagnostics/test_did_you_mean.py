"""The nearest valid name."""

from __future__ import annotations

from passline.passmanager.diagnostics.did_you_mean import closest_name, did_you_mean


def test_closest_name_knows_other_spellings() -> None:
    assert closest_name("FoldConstnat", ["fold-constant", "infer-type"]) == "fold-constant"


def test_closest_name_of_something_else_is_none() -> None:
    assert closest_name("zzz", ["fold-constant"]) is None


def test_message_ends_with_the_nearest_name_if_there_is_one() -> None:
    assert did_you_mean("mian", ["main", "helper"]) == ", did you mean 'main'?"
    assert did_you_mean("zzz", ["main"]) == ""
