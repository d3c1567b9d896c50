"""Targets: their text, their fields, and this machine."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from dataclasses import replace

import pytest
from support.tables import table_test
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.utils.exceptions import DiagnosticException

from passline.dialects.target import (
    DEFAULT,
    NAMED,
    Target,
    entered_target,
    has_target,
    host,
    is_target,
    known_target,
    set_target,
    target_of,
)


@pytest.mark.parametrize("name", NAMED)
def test_a_name_is_the_text_of_its_target(name: str):
    target = Target(name)
    assert target == NAMED[name]
    assert str(target) == name
    assert is_target(name)


def test_the_text_has_the_fields_that_differ():
    target = replace(NAMED["x86-64-v4"], cpu="znver4", cores=8, l2_cache=2 << 20)
    text = str(target)
    assert text == 'x86-64-v4{cpu="znver4" cores=8 l2-cache=2097152}'
    assert Target(text) == target
    assert is_target(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x86-64-v5", "there is no target 'x86-64-v5', did you mean 'x86-64-v"),
        ("x86-64-V3", "there is no target 'x86-64-V3', did you mean 'x86-64-v3'?"),
        ("llvm", "there is no target 'llvm'; TVM's target of this machine is 'host'"),
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
        Target(text)


def test_fields_may_be_keywords():
    assert Target("x86-64-v4", cores=8) == Target("x86-64-v4{cores=8}")
    assert Target("x86-64-v4{cores=2}", cores=8).cores == 8
    assert repr(Target("x86-64-v4", cores=8)) == "Target('x86-64-v4{cores=8}')"
    assert len({Target("aarch64"), Target("aarch64"), NAMED["aarch64"]}) == 1


@table_test(
    ("given", "message"),
    [
        ({"core": 2}, "targets have no field 'core', did you mean 'cores'?"),
        ({"cores": "two"}, "cores of a target: expected a whole number"),
        ({"cores": True}, "cores of a target: expected a whole number"),
        ({"cpu": 7}, "cpu of a target: expected a string in quotes"),
        ({"l1_cache": 0}, "l1-cache is 0: expected at least 1024"),
    ],
)
def test_mistakes_in_keywords_are_refused(given: dict[str, str | int], message: str):
    with pytest.raises(ValueError) as caught:
        Target("x86-64-v3", **given)
    assert str(caught.value).startswith(message)


def test_a_target_without_a_name_needs_all_fields():
    with pytest.raises(TypeError, match="the name of a processor, or the field triple"):
        Target(cores=2)


def test_lanes_follow_from_the_width():
    lanes = {name: target.lanes(32) for name, target in NAMED.items() if not target.is_cuda}
    expected = {"x86-64": 4, "x86-64-v2": 4, "x86-64-v3": 8, "x86-64-v4": 16, "aarch64": 4}
    assert lanes == expected
    assert [NAMED["x86-64-v3"].lanes(bits) for bits in (1, 8, 16, 64)] == [32, 32, 16, 4]
    assert replace(DEFAULT, vector_bits=64).lanes(64) == 2


def test_gpus():
    assert [name for name, target in NAMED.items() if target.is_cuda] == [
        *("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
    ]
    assert all(NAMED[name].cpu == name for name in ("sm_80", "sm_90"))


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
    assert Target("host") == target
    assert Target(str(target)) == target
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


# The entered target

V2, V4 = NAMED["x86-64-v2"], NAMED["x86-64-v4"]


def test_the_target_entered_last_is_the_current_one():
    assert Target.current() is None
    with Target("x86-64-v2") as outer:
        assert Target.current() is outer
        with Target("x86-64-v4", cores=4) as inner:
            assert Target.current() is inner
        assert Target.current() is outer
    assert Target.current() is None


def test_one_target_entered_twice():
    with V4:
        with V2, V4:
            assert Target.current() is V4
        assert Target.current() is V4
    assert Target.current() is None


def test_a_target_is_left_when_the_body_raises():
    with pytest.raises(KeyError), V4:
        raise KeyError
    assert Target.current() is None


def test_a_target_left_out_of_order_is_an_error():
    with V2:
        with V4:
            with pytest.raises(RuntimeError, match="a Target was left that is not the one entered"):
                V2.__exit__(None, None, None)
            assert Target.current() is V4
        assert Target.current() is None


def test_a_wrong_name_is_not_entered():
    with pytest.raises(ValueError, match="did you mean 'x86-64-v"):
        with Target("x86-64-v5"):
            raise AssertionError
    assert Target.current() is None


def test_a_thread_has_no_target_of_another():
    seen: list[Target | None] = []

    def work() -> None:
        seen.append(Target.current())

    with V4:
        copy = contextvars.copy_context()  # as of `asyncio.to_thread`
        for run in (work, lambda: copy.run(work)):
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
    assert seen == [None, None]


def test_one_target_entered_in_two_threads_at_once():
    both, seen = threading.Barrier(2), list[bool]()

    def work() -> None:
        with V4:
            both.wait()
            seen.append(Target.current() is V4)
            both.wait()
        seen.append(Target.current() is None)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 4


def test_tasks_keep_their_targets_across_awaits():
    async def work(name: str) -> bool:
        with Target(name) as target:
            await asyncio.sleep(0)
            return Target.current() is target

    async def created() -> Target | None:
        await asyncio.sleep(0)
        return Target.current()

    async def main() -> list[bool]:
        with V4:
            task = asyncio.create_task(created())
        assert await task is V4
        return await asyncio.gather(*map(work, NAMED))

    assert asyncio.run(main()) == [True] * len(NAMED)


def test_the_target_of_a_module_takes_precedence_over_the_entered_one():
    own, other = ModuleOp([]), ModuleOp([])
    set_target(own, V2)
    assert (known_target(own), known_target(other)) == (V2, None)
    with V4:
        assert (target_of(own), target_of(other)) == (V2, V4)
        assert (known_target(own), known_target(other)) == (V2, V4)
        assert (entered_target(own), entered_target(other)) == (None, V4)
        assert (has_target(own), has_target(other)) == (True, False)
    assert target_of(other) == DEFAULT
