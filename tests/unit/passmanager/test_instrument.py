"""Instruments: order of events, failures, skipping, replacing; TVM's table, a test a row."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, module, tags
from support.tables import table_test

import passline
from passline.passmanager import (
    Fixpoint,
    PassContext,
    PassInfo,
    PassInstrument,
    Sequential,
    pass_instrument,
)


def recorders(**fail_in: str) -> tuple[list[Recorder], list[str]]:
    """Three recorders with one list of events; `_2="enter"` makes the second fail there."""
    events: list[str] = []
    made = [
        Recorder(f"%{i}", events, frozenset(fail_in.get(f"_{i}", "").split())) for i in (1, 2, 3)
    ]
    return made, events


# The table


def test_normal_order_with_two_instruments_and_two_passes() -> None:
    (one, two, _), events = recorders()
    with PassContext(instruments=[one, two]):
        Nothing()(module())
        Append()(module())
    assert events == [
        "%1 enter",
        "%2 enter",
        *(
            f"%{i} {hook} {name}"
            for name in ("toy-nothing", "toy-append")
            for hook in ("should_run", "before", "after")
            for i in (1, 2)
        ),
        "%1 exit",
        "%2 exit",
    ]


def test_enter_raises() -> None:
    instruments, events = recorders(_2="enter")
    ctx = PassContext(instruments=instruments)
    with pytest.raises(RuntimeError, match="%2 enter"):
        with ctx:
            pytest.fail("the body must not run")
    assert events == ["%1 enter", "%2 enter", "%1 exit"]
    assert ctx.instruments == () and PassContext.current() is not ctx


def test_several_entered_are_exited_in_reverse_when_enter_raises() -> None:
    instruments, events = recorders(_3="enter")
    with pytest.raises(RuntimeError, match="%3 enter"):
        PassContext(instruments=instruments).__enter__()
    assert events == ["%1 enter", "%2 enter", "%3 enter", "%2 exit", "%1 exit"]


def test_second_failure_while_unwinding_enter_does_not_hide_the_first() -> None:
    instruments, events = recorders(_3="enter", _2="exit")
    with pytest.raises(RuntimeError, match="%3 enter") as caught:
        PassContext(instruments=instruments).__enter__()
    assert events[-2:] == ["%2 exit", "%1 exit"]
    assert caught.value.__notes__ == ["and Recorder.exit_pass_ctx raised RuntimeError('%2 exit')"]


def test_exit_raises() -> None:
    instruments, events = recorders(_2="exit")
    ctx = PassContext(instruments=instruments)
    with pytest.raises(RuntimeError, match="%2 exit"):
        with ctx:
            pass
    assert events[3:] == ["%1 exit", "%2 exit"]
    assert ctx.instruments == () and PassContext.current() is not ctx


def test_exit_raises_while_the_body_raises() -> None:
    (one, *_), _ = recorders(_1="exit")
    with pytest.raises(RuntimeError, match="%1 exit") as caught:
        with PassContext(instruments=[one]):
            raise KeyError
    assert isinstance(caught.value.__context__, KeyError)


def test_context_whose_instrument_failed_can_be_entered_again_without_instruments() -> None:
    (one, *_), events = recorders(_1="enter")
    ctx = PassContext(instruments=[one])
    with pytest.raises(RuntimeError):
        ctx.__enter__()
    with ctx:
        Nothing()(module())
    assert events == ["%1 enter"]


def test_pass_body_raises() -> None:
    (one, *_), events = recorders()
    with pytest.raises(ValueError, match="boom"):
        with PassContext(instruments=[one]):
            Fail()(module())
    assert events == [
        "%1 enter",
        "%1 should_run toy-fail",
        "%1 before toy-fail",
        "%1 failed toy-fail ValueError",
        "%1 exit",
    ]


def test_should_run_raises() -> None:
    (one, two, _), events = recorders(_1="should_run")
    with pytest.raises(RuntimeError, match="%1 should_run"):
        with PassContext(instruments=[one, two]):
            Append()(module())
    assert events[2:] == ["%1 should_run toy-append", "%1 exit", "%2 exit"]


def test_run_before_raises() -> None:
    (one, two, _), events = recorders(_1="before")
    with pytest.raises(RuntimeError, match="%1 before"):
        with PassContext(instruments=[one, two]):
            Append()(module())
    assert events[2:] == [
        "%1 should_run toy-append",
        "%2 should_run toy-append",
        "%1 before toy-append",
        "%1 exit",
        "%2 exit",
    ]


def test_run_after_raises() -> None:
    (one, two, _), events = recorders(_1="after")
    with pytest.raises(RuntimeError, match="%1 after"):
        with PassContext(instruments=[one, two]):
            Append()(module())
    assert events[4:] == [
        "%1 before toy-append",
        "%2 before toy-append",
        "%1 after toy-append",
        "%1 exit",
        "%2 exit",
    ]


@table_test("hook", ["before", "after"])
def test_failure_in_a_hook_is_noted_with_instrument_and_pass(hook: str) -> None:
    (one, *_), _ = recorders(_1=hook)
    with pytest.raises(RuntimeError) as caught:
        with PassContext(instruments=[one]):
            Nothing()(module())
    assert caught.value.__notes__ == [f"in Recorder.run_{hook}_pass, for pass 'toy-nothing'"]


def test_failure_in_a_hook_of_a_pass_keeps_the_instruments() -> None:
    (one, *_), _ = recorders(_1="before")
    ctx = PassContext(instruments=[one])
    with pytest.raises(RuntimeError):
        with ctx:
            Nothing()(module())
    assert ctx.instruments == (one,)


# A pass that fails


def test_failure_is_told_to_the_child_before_the_sequential() -> None:
    (one, two, _), events = recorders()
    with pytest.raises(ValueError):
        with PassContext(instruments=[one, two]):
            Sequential([Nothing(), Fail()])(module())
    assert [e for e in events if "failed" in e] == [
        "%1 failed toy-fail ValueError",
        "%2 failed toy-fail ValueError",
        "%1 failed sequential ValueError",
        "%2 failed sequential ValueError",
    ]


def test_failing_pass_failed_hook_is_noted_and_the_others_are_told() -> None:
    (one, two, _), events = recorders(_1="failed")
    with pytest.raises(ValueError, match="boom") as caught:
        with PassContext(instruments=[one, two]):
            Fail()(module())
    assert "%2 failed toy-fail ValueError" in events
    assert "and Recorder.pass_failed raised RuntimeError('%1 failed')" in caught.value.__notes__


def test_brackets_close_around_every_pass_that_fails() -> None:
    (one, *_), events = recorders()
    with pytest.raises(ValueError):
        with PassContext(instruments=[one]):
            Sequential([Fixpoint(Sequential([Fail()]))])(module())
    opened = [e.split()[2] for e in events if "before" in e]
    closed = [e.split()[2] for e in events if "failed" in e]
    assert closed == opened[::-1] and len(closed) == 4


# should_run


def test_blocked_pass_does_not_run_and_is_told_with_the_reason() -> None:
    recorder = Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(instruments=[recorder]):
        assert tags(Append()(module())) == []
    assert recorder.events[1:-1] == [
        "%1 should_run toy-append",
        "%1 skipped toy-append (should_run of Recorder)",
    ]


def test_all_instruments_are_asked_and_one_that_blocks_is_enough() -> None:
    events: list[str] = []
    blocker = Recorder("%1", events, blocks=frozenset(["toy-append"]))
    printer = Recorder("%2", events)
    with PassContext(instruments=[printer, blocker]):
        Append()(module())
    assert events[2:4] == ["%2 should_run toy-append", "%1 should_run toy-append"]
    assert not [e for e in events if "before" in e]


def test_blocking_a_sequential_skips_all_of_it() -> None:
    recorder = Recorder(blocks=frozenset(["sequential"]))
    with PassContext(instruments=[recorder]):
        assert tags(Sequential([Append()])(module())) == []
    assert not [e for e in recorder.events if "toy-append" in e]


def test_pass_in_required_pass_is_not_asked_about() -> None:
    recorder = Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(required_pass=["ToyAppend"], instruments=[recorder]):
        assert tags(Append()(module())) == ["x"]
    assert "%1 should_run toy-append" not in recorder.events


def test_should_run_that_returns_nothing_is_an_error_that_names_it() -> None:
    class Forgetful(PassInstrument):
        def should_run(self, module: object, info: PassInfo) -> bool:
            return None  # pyright: ignore[reportReturnType]

    with PassContext(instruments=[Forgetful()]):
        with pytest.raises(
            TypeError, match="Forgetful.should_run returned None for pass 'toy-nothing'"
        ):
            Nothing()(module())


# pass_skipped


def test_pass_left_out_by_the_context_is_told_with_the_reason() -> None:
    from support.passes.toy import named

    recorder = Recorder()
    with PassContext(opt_level=1, disabled_pass=["toy-append"], instruments=[recorder]):
        Sequential([Append(), named("high", level=3), Nothing()])(module())
    assert [e for e in recorder.events if "skipped" in e] == [
        "%1 skipped toy-append (disabled)",
        "%1 skipped high (opt_level 3 > 1)",
    ]


# Making instruments


def test_hooks_that_are_not_overridden_do_nothing() -> None:
    with PassContext(instruments=[PassInstrument()]):
        assert tags(Append()(module())) == ["x"]


def test_decorated_class_is_an_instrument_of_its_own_name() -> None:
    @pass_instrument
    class Plain:
        """Doc."""

        def __init__(self, start: int) -> None:
            self.count = start

        def run_before_pass(self, module: object, info: PassInfo) -> None:
            self.count += 1

    plain = Plain(5)
    assert isinstance(plain, PassInstrument) and isinstance(plain, Plain)
    assert plain.name == "Plain" and Plain.__doc__ == "Doc."
    with PassContext(instruments=[plain]):
        Nothing()(module())
    assert plain.count == 6


def test_decorator_with_parentheses() -> None:
    @pass_instrument()
    class Plain:
        pass

    assert isinstance(Plain(), PassInstrument)


def test_subclass_of_an_instrument_stays_as_it_is() -> None:
    class Sub(PassInstrument):
        pass

    assert pass_instrument(Sub) is Sub


def test_decorated_class_can_be_subclassed_and_decorated_again() -> None:
    @pass_instrument
    class Base:
        def __init__(self) -> None:
            self.made = ["base"]

    @pass_instrument
    class Derived(Base):
        def __init__(self) -> None:
            super().__init__()
            self.made.append("derived")

    assert Derived().made == ["base", "derived"]


def test_decorating_something_else_is_an_error() -> None:
    with pytest.raises(TypeError, match="decorates a class"):
        pass_instrument(3)  # pyright: ignore[reportArgumentType, reportCallIssue]


# override_instruments


def test_override_exits_the_old_and_enters_the_new() -> None:
    (one, two, _), events = recorders()
    with PassContext(instruments=[one]) as ctx:
        ctx.override_instruments([two])
        assert ctx.instruments == (two,)
    assert events == ["%1 enter", "%1 exit", "%2 enter", "%2 exit"]


@table_test("nothing", [None, []])
def test_override_with_nothing(nothing: list[PassInstrument] | None) -> None:
    (one, *_), events = recorders()
    with PassContext(instruments=[one]) as ctx:
        ctx.override_instruments(nothing)
    assert events == ["%1 enter", "%1 exit"] and ctx.instruments == ()


def test_override_on_the_default_context_stays_until_overridden() -> None:
    (one, *_), events = recorders()
    ctx = PassContext.current()
    ctx.override_instruments([one])
    try:
        Nothing()(module())
        assert "%1 before toy-nothing" in events
    finally:
        ctx.override_instruments(None)
    Nothing()(module())
    assert events[-1] == "%1 exit"


def test_override_with_an_instrument_whose_enter_raises() -> None:
    (one, two, _), events = recorders(_2="enter")
    ctx = PassContext.current()
    with pytest.raises(RuntimeError, match="%2 enter"):
        ctx.override_instruments([one, two])
    assert ctx.instruments == ()
    assert events == ["%1 enter", "%2 enter", "%1 exit"]


def test_override_when_the_old_exit_raises_installs_nothing() -> None:
    (one, two, _), events = recorders(_1="exit")
    ctx = PassContext.current()
    ctx.override_instruments([one])
    with pytest.raises(RuntimeError, match="%1 exit"):
        ctx.override_instruments([two])
    assert ctx.instruments == () and events == ["%1 enter", "%1 exit"]


def test_override_with_what_is_no_instrument_changes_nothing() -> None:
    (one, *_), events = recorders()
    with PassContext(instruments=[one]) as ctx:
        with pytest.raises(TypeError):
            ctx.override_instruments([3])  # pyright: ignore[reportArgumentType]
        assert ctx.instruments == (one,) and events == ["%1 enter"]


# What is refused


def test_one_instrument_twice_in_a_context() -> None:
    (one, two, _), events = recorders()
    with pytest.raises(ValueError, match="is in the list twice: leave one out, or make two"):
        PassContext(instruments=[one, two, one])
    with PassContext(instruments=[one]) as ctx:
        with pytest.raises(ValueError, match="twice"):
            ctx.override_instruments([two, two])
        assert ctx.instruments == (one,) and events == ["%1 enter"]


@table_test(
    ("name", "hook"),
    [
        ("run_befor_pass", "run_before_pass"),
        ("runAfterPass", "run_after_pass"),
        ("run_after_passes", "run_after_pass"),
        ("shold_run", "should_run"),
        ("pass_fail", "pass_failed"),
        ("exit_pass_context", None),
        ("report", None),
        ("_run_before_pas", None),
    ],
)
def test_misspelled_hook(name: str, hook: str | None) -> None:
    plain = type("Plain", (), {name: lambda self, *arguments: None})  # pyright: ignore[reportUnknownLambdaType]
    for cls in (pass_instrument(plain), type("Sub", (PassInstrument, plain), {})):
        instrument = cls()
        assert isinstance(instrument, PassInstrument)
        if hook is None:
            assert PassContext(instruments=[instrument]).instruments == (instrument,)
            continue
        message = rf"Plain\.{name} is not a hook of an instrument, did you mean '{hook}'\?"
        with pytest.raises(TypeError, match=message):
            PassContext(instruments=[instrument])


def test_misspelled_value_that_cannot_be_called() -> None:
    cls = type("Plain", (PassInstrument,), {"should_runs": 3})
    assert len(PassContext(instruments=[cls()]).instruments) == 1


PROGRAM = '''# pyright: {mode}
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PassContext, PassInfo, pass_instrument


@pass_instrument
class Names:
    """Collect the names of passes."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def run_before_pass(self, module: ModuleOp, info: {info}) -> None:
        self.names.append(info.name)


names = Names()
with PassContext(instruments=[names]) as ctx:
    ctx.override_instruments([names])
print(names.names)
'''


def errors_of(programs: Mapping[str, str], folder: Path) -> dict[str, list[str]]:
    """Return the rules that pyright finds broken in each program."""
    pytest.importorskip("pyright")
    for name, program in programs.items():
        (folder / f"{name}.py").write_text(program)
    root = Path(passline.__file__).resolve().parent
    settings = {"stubPath": str(root / "typings"), "include": ["."]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(folder)]
    command += ["--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors: dict[str, list[str]] = {name: [] for name in programs}
    for entry in json.loads(done.stdout)["generalDiagnostics"]:
        errors[Path(entry["file"]).stem].append(entry.get("rule", entry["message"]))
    return errors


def test_a_decorated_class_is_an_instrument_if_its_hooks_have_the_right_parameters(tmp_path: Path):
    right = {mode: PROGRAM.format(mode=mode, info="PassInfo") for mode in ("basic", "strict")}
    wrong = PROGRAM.format(mode="basic", info="list[int]").replace("info.name", "str(info)")
    assert errors_of({**right, "wrong": wrong}, tmp_path) == {
        "basic": [],
        "strict": [],
        "wrong": ["reportArgumentType", "reportArgumentType"],
    }
