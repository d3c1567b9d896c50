"""The spelling and comparison of pass names."""

from __future__ import annotations

import pytest

from passline.passmanager.registration.names import kebab_case, name_key, register_namespace


@pytest.fixture(autouse=True)
def namespaces() -> None:
    """Register what `passline.passes` registers."""
    for namespace in ("relax", "relay"):
        register_namespace(namespace)
    for namespace in ("tir", "tirx", "s_tir"):
        register_namespace(namespace, "tir")


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("name", ["relax.fallback_device_type", "transform.interpreter"])
def test_namespace_before_a_small_letter_is_part_of_the_name(name: str) -> None:
    assert name_key(name) == name.replace(".", "").replace("_", "")
