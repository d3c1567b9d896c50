"""What happens before the clock of a pass starts: `acts_on` and `load_code`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.passes.toy import Append, Recorder, module, named, toy_context
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp

from passline.passmanager import Fixpoint, ModulePass, PassContext, Sequential
from passline.passmanager.anchors import Anchored
from passline.passmanager.ir.per_class import OpClasses
from passline.passmanager.run import Run


class Marked:
    """An interface that no op of the modules here implements."""


class OnTests(ModulePass):
    """Count the runs of the body, which needs a `test.op`."""

    name = "toy-on-tests"
    acts_on = (TestOp, Marked)

    def __init__(self) -> None:
        self.ran = 0

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        self.ran += 1


class Loads(ModulePass):
    """Call `load` in `load_code`, and `body` in the body."""

    name = "toy-loads"

    def __init__(
        self, load: Callable[[], object], body: Callable[[], object] = lambda: None
    ) -> None:
        self.load, self.body = load, body

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        self.load()

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        self.body()


class LoadTimes(Recorder):
    """A recorder that also keeps the time of `load_code` of each pass."""

    def run_before_pass(self, module: ModuleOp, info: object) -> None:
        self.events.append("before")
        self.seconds = Run.current().frames[-1].load_time

    def should_run(self, module: ModuleOp, info: object) -> bool:
        return not self.blocks


# acts_on


@table_test("verify_each", [True, False])
def test_body_runs_only_on_modules_with_such_ops(verify_each: bool) -> None:
    pass_ = OnTests()
    with PassContext(verify_each=verify_each):
        pass_(module("f"))
        assert pass_.ran == 0
        Sequential([Append(), pass_])(module("f"))
    assert pass_.ran == 1


def test_ops_count_from_the_pass_on_that_made_them() -> None:
    pass_ = OnTests()
    Sequential([pass_, pass_, Append(), pass_])(module("f"))
    assert pass_.ran == 1


def test_ops_count_until_they_are_erased() -> None:
    def erase(module: ModuleOp, ctx: PassContext) -> None:
        for op in module.walk():
            if isinstance(op, TestOp):
                op.detach()

    pass_ = OnTests()
    Sequential([Append(), pass_, named("toy-erase", body=erase), pass_])(module("f"))
    assert pass_.ran == 1


def test_ops_count_that_a_running_pass_has_just_made() -> None:
    pass_ = OnTests()

    def body(module: ModuleOp, ctx: PassContext) -> None:
        pass_.apply(ctx.ir_context, module)
        module.body.block.add_op(TestOp())
        pass_.apply(ctx.ir_context, module)

    Sequential([named("toy-outer", body=body)])(module("f"))
    assert pass_.ran == 1


def test_ops_of_a_failed_pass_do_not_count_after_a_rollback() -> None:
    def fail(module: ModuleOp, ctx: PassContext) -> None:
        module.body.block.add_op(TestOp())
        module.body.block.add_op(FuncOp("g", ((), ())))
        raise ValueError

    pass_ = OnTests()

    def both(module: ModuleOp, ctx: PassContext) -> None:
        with pytest.raises(ValueError):
            named("toy-fail", body=fail).apply(ctx.ir_context, module)
        pass_.apply(ctx.ir_context, module)

    with PassContext(rollback=True):
        named("toy-both", body=both)(module("f"))
    assert pass_.ran == 0


def test_classes_may_be_interfaces() -> None:
    class Op(TestOp, Marked):
        pass

    pass_ = OnTests()
    given = module("f")
    given.body.block.add_op(Op())
    pass_.apply(toy_context(), given)
    assert pass_.ran == 1


def test_pass_without_work_has_its_events_and_is_valid() -> None:
    recorder, pass_ = Recorder(), OnTests()
    user = named("toy-user", requires=["toy-on-tests"], changes=False)
    with PassContext(instruments=[recorder]):
        Sequential([pass_, user])(module("f"))
    events = [event for event in recorder.events if "on-tests" in event]
    assert events == [f"%1 {hook} toy-on-tests" for hook in ("should_run", "before", "after")]


def test_pass_without_work_changes_nothing_for_a_fixpoint() -> None:
    pass_ = OnTests()
    Fixpoint(pass_)(module("f"))
    assert pass_.ran == 0


def test_pass_under_an_anchor_acts_on_the_same() -> None:
    pass_ = OnTests()
    anchored = Anchored(pass_, ("func.func",))
    anchored(module("f"))
    assert pass_.ran == 0
    given = module("f", "g")
    given.body.block.add_op(TestOp())
    anchored(given)
    assert pass_.ran == 2


def test_annotated_acts_on_is_refused() -> None:
    with pytest.raises(TypeError, match="acts_on has an annotation"):

        class Annotated(ModulePass):  # pyright: ignore[reportUnusedClass]
            acts_on: tuple[type, ...] = (TestOp,)  # pyright: ignore[reportIncompatibleVariableOverride]

            def transform_module(self, module: ModuleOp, ctx: PassContext) -> None: ...


# load_code


def test_code_is_loaded_before_the_events_of_the_pass() -> None:
    recorder = Recorder()
    events = recorder.events
    pass_ = Loads(lambda: events.append("load"), lambda: events.append("body"))
    with PassContext(instruments=[recorder]):
        pass_(module())
    assert events[1:-1] == [
        "%1 should_run toy-loads",
        "load",
        "%1 before toy-loads",
        "body",
        "%1 after toy-loads",
    ]


def test_load_code_gets_the_module_and_the_classes_of_its_ops() -> None:
    seen: list[tuple[ModuleOp, OpClasses]] = []

    class Sees(ModulePass):
        def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
            seen.append((module, ops))

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None: ...

    given = module("f")
    Sees().apply(toy_context(), given)
    assert seen == [(given, {ModuleOp, FuncOp, ReturnOp})]


def test_code_of_a_blocked_pass_is_not_loaded() -> None:
    pass_ = Loads(lambda: pytest.fail("it does not run"))
    with PassContext(instruments=[Recorder(blocks=frozenset(["toy-loads"]))]):
        pass_(module())


def test_code_of_a_pass_without_work_is_not_loaded() -> None:
    class Idle(Loads):
        name = "toy-idle"
        acts_on = (TestOp,)

    Idle(lambda: pytest.fail("there is no op for it"))(module("f"))


def test_pass_under_an_anchor_loads_its_code() -> None:
    loaded: list[int] = []
    Anchored(Loads(lambda: loaded.append(1)), ("func.func",))(module("f", "g"))
    assert loaded == [1]


def test_missing_module_is_a_failure_of_the_body() -> None:
    def load() -> None:
        import passline.no_such_module  # pyright: ignore # noqa: F401

    recorder = Recorder()
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught:
        with PassContext(instruments=[recorder]):
            Loads(load, load)(module())
    assert "%1 failed toy-loads ModuleNotFoundError" in recorder.events
    assert caught.value.__notes__ == ["in pass 'toy-loads'"]


def test_module_that_is_missing_but_not_needed_is_no_failure() -> None:
    def load() -> None:
        raise ImportError

    Loads(load)(module())


def test_any_other_failure_to_load_is_raised() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        Sequential([Loads(lambda: 1 / 0)])(module())
    assert caught.value.__notes__[0] == "in load_code of pass 'toy-loads' (1 of 1)"
    assert Run.active() is None


def test_only_imports_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "passline_test_needed.py").write_text("")
    times = LoadTimes()
    pass_ = Loads(lambda: __import__("passline_test_needed"))
    with PassContext(instruments=[times]):
        pass_(module())
        assert times.seconds > 0
        pass_(module())
        assert times.seconds == 0
