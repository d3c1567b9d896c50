"""Targets: their text, their fields, and this machine."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.utils.exceptions import DiagnosticException

from passline.dialects.target import (
    DEFAULT,
    NAMED,
    Target,
    has_target,
    host,
    is_target,
    set_target,
    target_of,
)


@pytest.mark.parametrize("name", NAMED)
def test_a_name_is_the_text_of_its_target(name: str):
    target = Target.parse(name)
    assert target == NAMED[name]
    assert str(target) == name
    assert is_target(name)


def test_the_text_has_the_fields_that_differ():
    target = replace(NAMED["x86-64-v4"], cpu="znver4", cores=8, l2_cache=2 << 20)
    text = str(target)
    assert text == 'x86-64-v4{cpu="znver4" cores=8 l2-cache=2097152}'
    assert Target.parse(text) == target
    assert is_target(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x86-64-v5", "there is no target 'x86-64-v5', did you mean 'x86-64-v"),
        ("sparc", "there is no target 'sparc'; choose from x86-64, .*, host"),
        ("x86-64-v3{core=2}", "targets have no field 'core', did you mean 'cores'?"),
        ("x86-64-v3{cores=two}", "cores of a target: expected a whole number"),
        ("x86-64-v3{cpu=7}", "cpu of a target: expected a string in quotes"),
        ("x86-64-v3{cores=0}", "cores is 0: expected at least 1"),
        ("x86-64-v3{vector-bits=96}", "vector-bits is 96: expected a power of two"),
        ("x86-64-v3{cores=1", "is not a target"),
        ("", "is not a target"),
    ],
)
def test_mistakes_are_refused(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        Target.parse(text)


def test_lanes_follow_from_the_width():
    lanes = {name: target.lanes(32) for name, target in NAMED.items()}
    expected = {"x86-64": 4, "x86-64-v2": 4, "x86-64-v3": 8, "x86-64-v4": 16, "aarch64": 4}
    assert lanes == expected
    assert [NAMED["x86-64-v3"].lanes(bits) for bits in (1, 8, 16, 64)] == [32, 32, 16, 4]
    assert replace(DEFAULT, vector_bits=64).lanes(64) == 2


def test_features():
    assert NAMED["x86-64-v3"].has("fma")
    assert not NAMED["x86-64-v2"].has("fma")
    assert NAMED["x86-64-v2"].wants < NAMED["x86-64-v3"].wants < NAMED["x86-64-v4"].wants


def test_a_module_carries_its_target():
    module = ModuleOp([])
    assert not has_target(module)
    assert target_of(module) == DEFAULT
    set_target(module, NAMED["aarch64"])
    assert has_target(module)
    assert target_of(module) == NAMED["aarch64"]


def test_a_wrong_attribute_is_an_error():
    with pytest.raises(DiagnosticException, match="attribute 'tir.target' .* expected a string"):
        target_of(ModuleOp([], {"tir.target": IntegerAttr(1, i64)}))


def test_the_host_is_known():
    pytest.importorskip("llvmlite")
    target = host()
    assert Target.parse("host") == target
    assert Target.parse(str(target)) == target
    assert target.cores >= 1
    assert target.vector_bits in (128, 256, 512)
    assert target.lanes(32) * 32 == target.vector_bits


def test_the_host_needs_llvmlite(monkeypatch: pytest.MonkeyPatch):
    host.cache_clear()
    for module in ("llvmlite", "llvmlite.binding"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match="'host' needs llvmlite: `pip install llvmlite`"):
        host()


@pytest.mark.parametrize(
    ("name", "features", "lanes", "exact", "instruction"),
    [
        ("x86-64-v4", "+avx512vnni", 16, False, "vpdpbusd"),
        ("x86-64-v4", "+avx512vnni", 8, False, None),
        ("x86-64-v4", "+avx512vnni,+avx2", 8, False, "vpmaddwd"),
        ("x86-64-v4", "+avx512vnni,+avx512vl", 8, False, "vpdpbusd"),
        ("x86-64-v3", "+avxvnni", 8, False, "vpdpbusd"),
        ("x86-64-v3", "+avxvnni", 16, False, None),
        ("x86-64-v3", "+avx2", 8, True, "vpmaddubsw"),
        ("x86-64-v3", "+avx2", 8, False, "vpmaddwd"),
        ("x86-64-v3", "+avx2", 3, True, None),
        ("aarch64", "+neon,+dotprod", 4, False, "sdot"),
        ("aarch64", "+neon,+dotprod,+i8mm", 4, False, "usdot"),
        ("aarch64", "+neon", 4, True, None),
    ],
)
def test_products_of_bytes(
    name: str, features: str, lanes: int, exact: bool, instruction: str | None
):
    target = replace(NAMED[name], features=features)
    assert target.byte_dot_product(lanes, exact_pairs=exact) == instruction
