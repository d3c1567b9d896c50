"""PassContext: construction, the stack, threads and tasks, which passes it enables."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from contextlib import AbstractContextManager

import pytest
from support.passes.toy import Append, Nothing, Recorder, collect, module, named, tags
from support.tables import table_test

from passline.passmanager import (
    ConfigError,
    ModulePass,
    Pass,
    PassContext,
    PassInfo,
    PassInstrument,
    Sequential,
)
from passline.passmanager.registry import installed

# Construction


def test_settings_read_back() -> None:
    recorder = Recorder()
    ctx = PassContext(3, ["a"], ["b"], [recorder])
    assert (ctx.opt_level, ctx.required_pass, ctx.disabled_pass) == (3, ("a",), ("b",))
    assert ctx.instruments == (recorder,)


def test_default_level_is_2() -> None:
    assert PassContext().opt_level == PassContext.create().opt_level == 2
    assert PassContext.create() is not PassContext.create()


@table_test("setting", ["required_pass", "disabled_pass"])
def test_string_where_a_list_is_meant_is_an_error(setting: str) -> None:
    with pytest.raises(TypeError, match=rf"{setting} is a list of names: write \['x'\]"):
        PassContext(**{setting: "x"})  # pyright: ignore[reportArgumentType]


def test_sets_and_generators_of_names_are_fine() -> None:
    assert PassContext(required_pass={"a"}, disabled_pass=iter(["b"])).disabled_pass == ("b",)


def test_name_that_is_no_string_is_an_error() -> None:
    with pytest.raises(TypeError, match="holds 3"):
        PassContext(disabled_pass=["a", 3])  # pyright: ignore[reportArgumentType]


def test_negative_level_is_an_error() -> None:
    with pytest.raises(ValueError, match="not -1"):
        PassContext(opt_level=-1)


@table_test("instruments", [[3], [Recorder], [Nothing()], 3, "ab"])
def test_instrument_that_is_none_is_an_error(instruments: object) -> None:
    with pytest.raises(TypeError, match="instrument"):
        PassContext(instruments=instruments)  # pyright: ignore[reportArgumentType]


def test_lone_instrument_is_an_error() -> None:
    with pytest.raises(TypeError, match="list of instruments"):
        PassContext(instruments=Recorder())  # pyright: ignore[reportArgumentType]


def test_repr_shows_the_settings() -> None:
    text = repr(PassContext(3, ["a"], ["b"], [Recorder()]))
    assert "opt_level=3" in text and "['a']" in text and "['b']" in text and "Recorder" in text


# The stack


def test_current_is_the_context_entered_last() -> None:
    with PassContext() as outer:
        with PassContext() as inner:
            assert PassContext.current() is inner
        assert PassContext.current() is outer


def test_default_context_is_current_outside_and_always_the_same() -> None:
    assert PassContext.current() is PassContext.current()
    assert PassContext.current().opt_level == 2


def test_nothing_is_inherited() -> None:
    outer = Recorder()
    with PassContext(opt_level=3, disabled_pass=["toy-append"], instruments=[outer]):
        with PassContext() as inner:
            assert (inner.opt_level, inner.disabled_pass, inner.instruments) == (2, (), ())
            assert tags(Sequential([Append("a")])(module())) == ["a"]
    assert outer.events == ["%1 enter", "%1 exit"]


def test_same_object_entered_twice() -> None:
    recorder = Recorder()
    ctx = PassContext(instruments=[recorder])
    with ctx:
        with ctx:
            assert PassContext.current() is ctx
        assert PassContext.current() is ctx
    assert PassContext.current() is not ctx
    assert recorder.events == ["%1 enter", "%1 enter", "%1 exit", "%1 exit"]


def test_leaving_a_context_that_was_not_entered_last_is_an_error() -> None:
    outer = PassContext()
    with outer:
        with PassContext() as inner:
            with pytest.raises(RuntimeError, match="not the one entered last"):
                outer.__exit__(None, None, None)
            assert PassContext.current() is inner


def leave(context: PassContext | AbstractContextManager[PassContext]) -> None:
    context.__exit__(None, None, None)


def test_context_that_was_left_out_of_order_is_not_current_again() -> None:
    before, recorder = PassContext.current(), Recorder()
    first, second, third = PassContext(), PassContext(instruments=[recorder]), PassContext()
    for context in (first, second, third):
        context.__enter__()
    with pytest.raises(RuntimeError, match="not the one entered last"):
        leave(second)
    assert recorder.events == ["%1 enter", "%1 exit"]
    leave(third)
    assert PassContext.current() is first
    leave(first)
    assert PassContext.current() is before


def test_context_that_was_left_out_of_order_may_be_entered_again() -> None:
    first, second = PassContext(), PassContext()
    first.__enter__()
    second.__enter__()
    with pytest.raises(RuntimeError):
        leave(first)
    with first:
        assert PassContext.current() is first
    assert PassContext.current() is second
    leave(second)
    with pytest.raises(RuntimeError, match="not the one entered last"):
        leave(second)


def test_copy_at_another_level_that_is_left_out_of_order_is_not_current_again() -> None:
    before, other = PassContext.current(), PassContext()
    copy = before.at_level(3)
    copy.__enter__()
    other.__enter__()
    with pytest.raises(RuntimeError, match="not the one entered last"):
        leave(copy)
    assert PassContext.current() is other
    leave(other)
    assert PassContext.current() is before


def test_exit_hooks_run_when_the_body_raises() -> None:
    recorder = Recorder()
    with pytest.raises(KeyError):
        with PassContext(instruments=[recorder]):
            raise KeyError
    assert recorder.events == ["%1 enter", "%1 exit"]


# Threads and tasks


def test_thread_sees_neither_the_stack_nor_the_default_of_another() -> None:
    seen: list[PassContext] = []
    with PassContext(opt_level=0) as ctx:
        thread = threading.Thread(target=lambda: seen.append(PassContext.current()))
        thread.start()
        thread.join()
    assert seen[0] is not ctx and seen[0].opt_level == 2
    assert seen[0] is not PassContext.current()


def test_copied_context_run_in_a_thread_has_that_threads_default() -> None:
    seen: list[PassContext] = []
    with PassContext(opt_level=0) as ctx:
        copy = contextvars.copy_context()
        thread = threading.Thread(
            target=copy.run, args=(lambda: seen.append(PassContext.current()),)
        )
        thread.start()
        thread.join()
    assert seen[0] is not ctx


def test_one_object_entered_in_two_threads_at_once() -> None:
    ctx = PassContext()
    both = threading.Barrier(2)
    seen: list[bool] = []

    def work() -> None:
        with ctx:
            both.wait()
            seen.append(PassContext.current() is ctx)
            both.wait()
        seen.append(PassContext.current() is not ctx)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 4


def test_asyncio_task_sees_the_context_it_was_created_in() -> None:
    async def current() -> PassContext:
        await asyncio.sleep(0)
        return PassContext.current()

    async def main() -> None:
        with PassContext() as outer:
            task = asyncio.create_task(current())
        with PassContext():
            assert await task is outer

    asyncio.run(main())


def test_tasks_do_not_see_each_others_contexts() -> None:
    async def work(level: int) -> int:
        with PassContext(opt_level=level):
            await asyncio.sleep(0)
            return PassContext.current().opt_level

    async def main() -> list[int]:
        return await asyncio.gather(*(work(level) for level in range(4)))

    assert asyncio.run(main()) == [0, 1, 2, 3]


# Which pass is enabled


def test_copy_at_another_level_is_current_and_enters_no_instrument_again() -> None:
    recorder = Recorder()
    with PassContext(opt_level=1, disabled_pass=["toy-tag"], instruments=[recorder]) as ctx:
        with ctx.at_level(3) as inner:
            assert PassContext.current() is inner and inner is not ctx
            assert (inner.opt_level, ctx.opt_level) == (3, 1)
            assert inner.is_disabled(PassInfo("toy-tag")) and inner.instruments == ctx.instruments
        assert PassContext.current() is ctx
    assert recorder.events == ["%1 enter", "%1 exit"]


@table_test("through_copy", [True, False])
def test_override_of_instruments_at_another_level(through_copy: bool) -> None:
    old, new = Recorder("old"), Recorder("new")
    with PassContext(instruments=[old]) as ctx:
        with ctx.at_level(3) as middle, middle.at_level(1) as inner:
            (inner if through_copy else ctx).override_instruments([new])
            assert inner.instruments == middle.instruments == ctx.instruments == (new,)
            Nothing()(module())
        Nothing()(module())
    assert old.events == ["old enter", "old exit"]
    assert new.events[0] == "new enter" and new.events.count("new exit") == 1
    assert new.events.count("new after toy-nothing") == 2


def test_override_at_another_level_whose_enter_raises_leaves_no_instrument() -> None:
    old, new = Recorder("old"), Recorder("new", fail_in=frozenset(["enter"]))
    with PassContext(instruments=[old]) as ctx:
        with ctx.at_level(3) as inner, pytest.raises(RuntimeError):
            inner.override_instruments([new])
        assert ctx.instruments == ()
    assert old.events == ["old enter", "old exit"]


@table_test("level", [-1, 5, 7, 1 << 70])
def test_level_out_of_range_is_an_error(level: int) -> None:
    with pytest.raises(ConfigError, match=f"not {level}: levels are 0 to 4"):
        PassContext(opt_level=level)
    with pytest.raises(ConfigError, match="levels are 0 to 4"), PassContext().at_level(level):
        pass


def test_level_of_the_highest_passes_is_in_range() -> None:
    levels = [getattr(factory(), "opt_level", 0) for factory in installed().passes.values()]
    assert PassContext(opt_level=max(levels)).opt_level == 4


def test_unknown_names_are_warned_about_once_at_another_level() -> None:
    found: list[str] = []
    with PassContext(disabled_pass=["no-such"], renderer=collect(found)) as ctx:
        for _ in range(2):
            with ctx.at_level(3):
                Nothing()(module())
    assert len(found) == 1


def test_copy_at_another_level_is_left_after_an_exception() -> None:
    before = PassContext.current()
    with pytest.raises(ValueError, match="boom"), before.at_level(3):
        raise ValueError("boom")
    assert PassContext.current() is before


def test_level_of_the_context_is_the_highest_enabled() -> None:
    ctx = PassContext(opt_level=2)
    assert ctx.pass_enabled(PassInfo("a", 2)) and not ctx.pass_enabled(PassInfo("a", 3))


def test_required_beats_level() -> None:
    assert PassContext(opt_level=0, required_pass=["a"]).pass_enabled(PassInfo("a", 3))


def test_disabled_beats_required() -> None:
    ctx = PassContext(required_pass=["a"], disabled_pass=["a"])
    assert not ctx.pass_enabled(PassInfo("a"))


def test_tvm_spelling_of_a_name_is_the_same_name() -> None:
    ctx = PassContext(disabled_pass=["EliminateCommonSubexpr", "tir.UnrollLoop"])
    assert not ctx.pass_enabled(PassInfo("eliminate-common-subexpr"))
    assert not ctx.pass_enabled(PassInfo("tir-unroll-loop"))


# What belongs to a run


@table_test("what", ["diagnostics", "analyses", "ir_context"])
def test_what_belongs_to_a_run_is_an_error_outside(what: str) -> None:
    with pytest.raises(RuntimeError, match="no pass is running"):
        getattr(PassContext.current(), what)


def test_ir_context_of_a_call_has_the_installed_dialects() -> None:
    found: list[object] = []
    probe = named(
        "probe", body=lambda m, ctx: found.append(ctx.ir_context.get_optional_dialect("arith"))
    )
    probe(module())
    assert found[0] is not None


def test_ir_context_of_apply_is_the_callers() -> None:
    from support.passes.toy import toy_context

    found: list[object] = []
    given = toy_context()
    named("probe", body=lambda m, ctx: found.append(ctx.ir_context)).apply(given, module())
    assert found[0] is given


def test_pass_called_from_a_pass_on_another_module_has_a_run_of_its_own() -> None:
    counts: list[int] = []

    class Inner(ModulePass):
        name = "inner"

        def transform_module(self, module: object, ctx: PassContext) -> None:
            ctx.diagnostics.note(None, "of inner")
            counts.append(len(ctx.diagnostics))

    def body(m: object, ctx: PassContext) -> None:
        ctx.diagnostics.note(None, "of outer")
        Inner()(module())
        counts.append(len(ctx.diagnostics))

    with PassContext(renderer=collect([])):
        named("outer", body=body)(module())
    assert counts == [1, 1]


# Names that match nothing


def warnings(ctx: PassContext, *passes: Pass) -> list[str]:
    """Return the diagnostics of a run of the passes under `ctx`."""
    found: list[str] = []
    ctx.renderer = collect(found)
    with ctx:
        Sequential(passes)(module())
    return found


def test_unknown_disabled_name_is_warned_about_with_the_nearest() -> None:
    (warning,) = warnings(PassContext(disabled_pass=["canonicalise"]), Nothing())
    assert "disabled_pass names 'canonicalise'" in warning
    assert "did you mean 'canonicalize'?" in warning


def test_unknown_required_name_is_warned_about() -> None:
    (warning,) = warnings(PassContext(required_pass=["toy-nothin"]), Nothing())
    assert "required_pass names 'toy-nothin'" in warning and "'toy-nothing'" in warning


def test_names_are_warned_about_once() -> None:
    ctx = PassContext(disabled_pass=["zzz"])
    assert len(warnings(ctx, Nothing())) == 1
    assert warnings(ctx, Nothing()) == []


def test_names_of_the_pipeline_and_of_installed_passes_are_not_warned_about() -> None:
    ctx = PassContext(disabled_pass=["toy-nothing", "Canonicalize"], required_pass=["cse"])
    assert warnings(ctx, Sequential([Nothing(), Append()])) == []


class Sums(PassInstrument):
    """An instrument that counts events."""

    def __init__(self) -> None:
        self.count = -1

    def enter_pass_ctx(self) -> None:
        self.count = 0

    def exit_pass_ctx(self) -> None:
        self.count = 0

    def run_before_pass(self, module: object, info: PassInfo) -> None:
        self.count += 1


def test_count_instrument_is_reset_by_the_context() -> None:
    sums = Sums()
    with PassContext(instruments=[sums]):
        assert sums.count == 0
        Sequential([Nothing(), Nothing()])(module())
        assert sums.count == 3
    assert sums.count == 0
