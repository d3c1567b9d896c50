"""The spelling and comparison of pass names, and the nearest valid name."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.tables import table_test

from passline import passes
from passline.passmanager import PassNotFoundError, find_pass
from passline.passmanager.foreign_names import ForeignName, ForeignTable
from passline.passmanager.names import (
    PassName,
    closest_name,
    did_you_mean,
    find_name,
    kebab_case,
    name_key,
    pass_key,
    register_foreign_names,
    register_namespace,
    typed_places,
    unknown_pass,
)


@pytest.fixture(autouse=True)
def namespaces() -> None:
    """Register what `passline.passes` registers."""
    for namespace in ("relax", "relay"):
        register_namespace(namespace)
    for namespace in ("tir", "tirx", "s_tir"):
        register_namespace(namespace, "tir")


@table_test(
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


@table_test(
    ("full", "own"),
    [
        ("relax.transform.FoldConstant", "fold-constant"),
        ("tvm.relax.transform.FoldConstant", "fold-constant"),
        ("relay.FuseOps", "fuse-ops"),
        ("relay._transform.FoldConstant", "fold-constant"),
        ("_transform.FoldConstant", "fold-constant"),
        ("transform.PrintIR", "print-ir"),
        ("tir.transform.UnrollLoop", "tir-unroll-loop"),
        ("tirx.UnrollLoop", "tir-unroll-loop"),
        ("s_tir.LoopPartition", "tir-loop-partition"),
    ],
)
def test_tvms_full_name_is_the_same_name(full: str, own: str) -> None:
    assert name_key(full) == name_key(own)


@table_test("name", ["relax.fallback_device_type", "transform.interpreter"])
def test_namespace_before_a_small_letter_is_part_of_the_name(name: str) -> None:
    assert name_key(name) == name.replace(".", "").replace("_", "")


# The nearest name


def test_closest_name_knows_other_spellings() -> None:
    assert closest_name("FoldConstnat", ["fold-constant", "infer-type"]) == "fold-constant"


def test_closest_name_of_something_else_is_none() -> None:
    assert closest_name("zzz", ["fold-constant"]) is None


def test_message_ends_with_the_nearest_name_if_there_is_one() -> None:
    assert did_you_mean("mian", ["main", "helper"]) == ", did you mean 'main'?"
    assert did_you_mean("zzz", ["main"]) == ""


@table_test("name", ["StorageFlatten", "tir.StorageFlatten", "tir-storage-flatten"])
def test_pass_of_tvm_leads_to_the_pass_that_does_what_it_does(name: str) -> None:
    assert unknown_pass(name, passes.PASSES) == ", did you mean 'tir-flatten-buffer'?"
    rows = ["StorageRewrite", "FlattenBuffer"]
    assert unknown_pass(name, rows) == ", did you mean 'FlattenBuffer'?"
    with pytest.raises(PassNotFoundError, match="did you mean 'tir-flatten-buffer'"):
        find_pass(name)


ROWS = {
    "old": ForeignName("Old", "new", is_same=True),
    "parts": ForeignName("Parts", "first,second", "both are needed"),
    "gone": ForeignName("Gone", note="nobody needs it"),
}


@table_test(
    "name, says",
    [
        ("Old", ", did you mean 'new'?"),
        ("parts", ", did you mean 'first,second'? (both are needed)"),
        ("Gone", "; Gone has no counterpart: nobody needs it"),
        ("sekond", ", did you mean 'second'?"),
        ("zzz", ""),
    ],
)
def test_names_of_another_project(name: str, says: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("passline.passmanager.names.foreign_names", [])
        register_foreign_names(lambda: ForeignTable(ROWS, {}))
        assert unknown_pass(name, ["new", "first", "second"]) == says
        assert unknown_pass("Parts", ["new"]) == ""
        assert pass_key("Old") == "new" and pass_key("Parts") == "parts"
        assert find_name("OLD", {"new": "new"}) == "new"
        assert find_name("OLD", {"new": "new", "old": "o.l.d"}) == "o.l.d"
        assert find_name("relax.transform.Old", {"new": "new", "old": "o.l.d"}) == "new"
        assert PassName("new") == "Old" and PassName("new") != "Gone"


def test_their_table_is_read_once_and_only_for_capitals() -> None:
    calls: list[int] = []

    def load() -> ForeignTable:
        calls.append(1)
        return ForeignTable(ROWS, {})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("passline.passmanager.names.foreign_names", [])
        register_foreign_names(load)
        assert PassName("new") != "fold-constant" and not calls
        assert PassName("new") == "Old" and PassName("new") == "OLD"
    assert calls == [1]


def test_typed_places_of_a_module_whose_loader_has_no_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As pytest's, which rewrites assertions in the distribution of a plugin.
    file = tmp_path / "lazy.py"
    file.write_text("if TYPE_CHECKING:\n    from .home import Name as Name\n")
    lazy = ModuleType("lazy")
    lazy.__file__ = str(file)
    lazy.__loader__ = object()  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "lazy", lazy)
    assert typed_places("lazy") == {"Name": "home:Name"}
