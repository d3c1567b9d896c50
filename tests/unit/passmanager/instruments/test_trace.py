"""TraceInstrument: the exact events, and the file."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, module, named
from xdsl.ir import Operation

from passline.passmanager import PassContext, Sequential
from passline.passmanager import runner as runner_module
from passline.passmanager.instruments import TraceInstrument


class Clock:
    """A clock that advances by a microsecond when it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(runner_module, "perf_counter", clock)
    return clock


def events(trace: TraceInstrument) -> list[dict[str, Any]]:
    return json.loads(trace.render())["traceEvents"]


def void(_: object) -> None: ...


def names(trace: TraceInstrument) -> list[str]:
    """Return the names of the events without verification, with `!` if failed."""
    return [e["name"] + "!" * e["args"]["failed"] for e in events(trace) if e["name"] != "verify"]


def test_events(clock: Clock) -> None:
    trace = TraceInstrument(clock=clock)
    with PassContext(instruments=[trace]):
        with trace.phase("Parser"):
            pass
        Sequential([Append("y"), Nothing()])(module())
    ids = f'"pid": {os.getpid()}, "tid": {threading.get_native_id()}'
    assert trace.render() == (
        '{"traceEvents": [\n'
        '{"name": "Parser", "cat": "phase", "ph": "X", "ts": 2.0, "dur": 1.0, '
        f'{ids}, "args": {{"failed": false}}}},\n'
        '{"name": "sequential", "cat": "pass", "ph": "X", "ts": 4.0, "dur": 9.0, '
        f'{ids}, "args": {{"pass": "sequential(toy-append{{tag=\\"y\\"}},toy-nothing)", '
        '"changed": true, "failed": false}},\n'
        '{"name": "toy-append", "cat": "pass", "ph": "X", "ts": 5.0, "dur": 3.0, '
        f'{ids}, "args": {{"pass": "toy-append{{tag=\\"y\\"}}", "position": "1 of 2", '
        '"changed": true, "failed": false}},\n'
        '{"name": "verify", "cat": "pass", "ph": "X", "ts": 7.0, "dur": 1.0, '
        f'{ids}, "args": {{}}}},\n'
        '{"name": "toy-nothing", "cat": "pass", "ph": "X", "ts": 9.0, "dur": 3.0, '
        f'{ids}, "args": {{"pass": "toy-nothing", "position": "2 of 2", '
        '"changed": false, "failed": false}},\n'
        '{"name": "verify", "cat": "pass", "ph": "X", "ts": 11.0, "dur": 1.0, '
        f'{ids}, "args": {{}}}}\n'
        "]}\n"
    )


def test_analysis_is_an_event(clock: Clock) -> None:
    class Facts:
        def __init__(self, op: Operation) -> None: ...

    trace = TraceInstrument(clock=clock)
    with PassContext(instruments=[trace], verify_each=False):
        named("asks", body=lambda m, ctx: void(ctx.analyses.get(Facts, m)))(module())
    (event,) = [e for e in events(trace) if e["cat"] == "analysis"]
    assert (event["name"], event["ts"], event["dur"]) == ("(A) Facts", 3.0, 1.0)
    assert event["args"] == {"failed": False} and names(trace) == ["asks", "(A) Facts"]


def test_change_is_known_without_verification() -> None:
    trace = TraceInstrument()
    with PassContext(instruments=[trace], verify_each=False):
        Sequential([Nothing(), Append()])(module())
    assert [e["args"]["changed"] for e in events(trace) if "position" in e["args"]] == [False, True]


def test_failed_pass_is_marked_and_says_nothing_of_changes() -> None:
    trace = TraceInstrument()
    with pytest.raises(ValueError):
        with PassContext(instruments=[trace]):
            Sequential([Append(), Sequential([Fail()])])(module())
    assert names(trace) == ["sequential!", "toy-append", "sequential!", "toy-fail!"]
    assert events(trace)[-1]["args"] == {
        "pass": "toy-fail",
        "position": "1 of 1",
        "failed": True,
    }


def test_skipped_pass_leaves_nothing() -> None:
    trace = TraceInstrument()
    blocker = Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(instruments=[trace, blocker], disabled_pass=["toy-fail"]):
        Sequential([Append(), Fail(), Nothing()])(module())
    assert names(trace) == ["sequential", "toy-nothing"]


def test_nothing_ran() -> None:
    assert json.loads(TraceInstrument().render()) == {"traceEvents": []}


def test_each_thread_has_a_line() -> None:
    trace = TraceInstrument()
    meet = threading.Barrier(2)

    def work() -> None:
        with PassContext(instruments=[trace]):
            named("step", body=lambda m, c: void(meet.wait(10)))(module())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    steps = [e for e in events(trace) if e["name"] == "step"]
    assert len({e["tid"] for e in steps}) == 2


# The file


def test_file_is_written_when_the_context_is_left(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    trace = TraceInstrument(file)
    with PassContext(instruments=[trace]):
        Append()(module())
        assert not file.exists()
    assert file.read_text() == trace.render()
    assert list(tmp_path.iterdir()) == [file]


def test_second_context_is_added(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    trace = TraceInstrument(str(file))
    for pass_ in (Append(), Nothing()):
        with PassContext(instruments=[trace]):
            pass_(module())
    assert names(trace) == ["toy-append", "toy-nothing"]
    assert file.read_text() == trace.render()


def test_file_is_written_after_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    with pytest.raises(ValueError):
        with PassContext(instruments=[TraceInstrument(file)]):
            Fail()(module())
    assert [e["name"] for e in json.loads(file.read_text())["traceEvents"]] == ["toy-fail"]


def test_inner_context_writes_what_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    trace = TraceInstrument(file)

    def body(module_: object, ctx: PassContext) -> None:
        with PassContext(instruments=[trace]):
            Nothing()(module())
        seen = [e["name"] for e in json.loads(file.read_text())["traceEvents"]]
        assert seen == ["toy-nothing", "verify"]

    with PassContext(instruments=[trace]):
        named("caller", body=body)(module())
    assert names(trace) == ["caller", "toy-nothing"]


def test_missing_directory_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No such file or directory: .*nowhere"):
        with PassContext(instruments=[TraceInstrument(tmp_path / "nowhere" / "trace.json")]):
            pytest.fail("the body must not run")


def test_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    trace = TraceInstrument(file)
    file.write_text("old")
    with pytest.MonkeyPatch.context() as patch:

        def fail(*_: object) -> None:
            raise OSError("no space")

        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="no space"):
            with PassContext(instruments=[trace]):
                Append()(module())
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


def test_device_is_written_to(tmp_path: Path) -> None:
    with PassContext(instruments=[TraceInstrument("/dev/null")]):
        Append()(module())
    assert not Path("/dev/null").is_file()
