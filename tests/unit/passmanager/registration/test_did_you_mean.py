"""The nearest valid name."""

from __future__ import annotations

import pytest

from passline import passes
from passline.passmanager import PassNotFoundError, find_pass
from passline.passmanager.registration.did_you_mean import closest_name, did_you_mean


def test_closest_name_knows_other_spellings() -> None:
    assert closest_name("FoldConstnat", ["fold-constant", "infer-type"]) == "fold-constant"


def test_closest_name_of_something_else_is_none() -> None:
    assert closest_name("zzz", ["fold-constant"]) is None


def test_message_ends_with_the_nearest_name_if_there_is_one() -> None:
    assert did_you_mean("mian", ["main", "helper"]) == ", did you mean 'main'?"
    assert did_you_mean("zzz", ["main"]) == ""


@pytest.mark.parametrize("name", ["StorageFlatten", "tir.StorageFlatten", "tir-storage-flatten"])
def test_pass_of_tvm_leads_to_the_pass_that_does_what_it_does(name: str) -> None:
    assert closest_name(name, passes.PASSES) == "tir-flatten-buffer"
    assert closest_name(name, ["StorageRewrite", "FlattenBuffer"]) == "FlattenBuffer"
    with pytest.raises(PassNotFoundError, match="did you mean 'tir-flatten-buffer'"):
        find_pass(name)
