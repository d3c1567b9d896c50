"""The phase `Load` of instruments that measure time: imports are not billed to a pass."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import pytest
from support.passes.toy import Nothing, module
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import ModulePass, PassContext, Sequential
from passline.passmanager.instruments import PassTimingInstrument, RecordInstrument, TraceInstrument
from passline.passmanager.instruments.spans import Span, SpanInstrument
from passline.passmanager.ir.per_class import OpClasses
from passline.passmanager.report.record_reader import read_record


@dataclass(frozen=True)
class Needs(ModulePass):
    """Import a module."""

    name = "toy-needs"

    needed: str

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        __import__(self.needed)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        __import__(self.needed)


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module, not imported yet, whose import takes 20 ms."""
    name = f"passline_test_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text("import time\ntime.sleep(0.02)\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return name


def run(instrument: SpanInstrument, needed: str) -> None:
    with PassContext(instruments=[instrument]):
        Sequential([Nothing(), Needs(needed), Needs(needed)])(module())


NAMES = ["toy-nothing", "Load", "toy-needs", "toy-needs"]


def is_import(load: Span, *passes: Span) -> bool:
    """Whether the import of `slow` is in `load`, and in none of `passes`."""
    return load.seconds >= 0.02 and all(span.seconds < 0.02 for span in passes)


def test_import_is_a_row_beside_the_pass(slow: str) -> None:
    timing = PassTimingInstrument()
    run(timing, slow)
    (outer,) = timing.spans
    assert [span.name for span in outer.children] == NAMES
    nothing, load, first, second = outer.children
    assert is_import(load, first) and load.category == "phase"
    assert nothing.began <= load.began and load.ended is not None
    assert load.ended <= first.began <= second.began
    assert outer.self_seconds < 0.02
    assert [line.split()[-1] for line in timing.report("list").splitlines()[6:-2]].count(
        "Load"
    ) == 1


def test_import_is_in_no_pass_if_only_one_pass_runs(slow: str) -> None:
    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        Needs(slow)(module())
    assert [span.name for span in timing.spans] == ["Load", "toy-needs"]
    assert is_import(*timing.spans)


def test_trace_has_the_import(slow: str) -> None:
    trace = TraceInstrument()
    run(trace, slow)
    events = json.loads(trace.render())["traceEvents"]
    (load,) = [event for event in events if event["name"] == "Load"]
    (first, _) = [event for event in events if event["name"] == "toy-needs"]
    assert load["cat"] == "phase" and load["dur"] >= 20_000 > first["dur"]
    assert 0 <= load["ts"] <= load["ts"] + load["dur"] <= first["ts"]


def test_record_has_the_import_as_a_phase_in_the_pipeline(slow: str) -> None:
    record = RecordInstrument()
    run(record, slow)
    events = [json.loads(line) for line in record.lines]
    (load,) = [event for event in events if event["event"] == "phase"]
    (outer,) = [event for event in events if event.get("name") == "sequential"]
    assert load["name"] == "Load" and load["parent"] == outer["pass"]
    assert load["seconds"] >= 0.02 and not load["failed"]


def test_record_is_read_with_the_import_beside_the_pass(slow: str) -> None:
    record = RecordInstrument()
    run(record, slow)
    (session,) = read_record(record.lines).sessions()
    (outer,) = session.children
    assert [span.name for span in outer.children] == NAMES
    assert all(not span.children for span in outer.children)


@table_test("kind", [PassTimingInstrument, TraceInstrument, RecordInstrument])
def test_imports_before_the_context_are_at_the_start(kind: type[SpanInstrument]) -> None:
    sleep(0.001)
    instrument = kind()
    with PassContext(instruments=[instrument]):
        instrument.add_load(0.5)
        Nothing()(module())
    load, nothing = instrument.spans
    (session,) = instrument.sessions
    assert (load.name, nothing.name) == ("Load", "toy-nothing")
    assert load.seconds == pytest.approx(0.5)
    assert session.began == load.began == instrument.origin
    assert session.seconds >= 0.5


def test_no_time_in_a_record_is_negative() -> None:
    record = RecordInstrument()
    with PassContext(instruments=[record]):
        record.add_load(0.5)
        Nothing()(module())
    events = [json.loads(line) for line in record.lines]
    assert min(event["time"] for event in events if "time" in event) == 0
    (session,) = read_record(record.lines).sessions()
    assert [span.name for span in session.children] == ["Load", "toy-nothing"]


def test_imports_in_a_phase_are_in_its_time_and_not_in_that_of_its_own() -> None:
    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        with timing.phase("Parser"):
            sleep(0.01)
            timing.add_load(0.01)
    (parser,) = timing.spans
    assert [span.name for span in parser.children] == ["Load"]
    assert parser.self_seconds == pytest.approx(parser.seconds - 0.01)


def test_imports_without_a_context_are_a_session() -> None:
    timing = PassTimingInstrument()
    timing.add_load(0.25)
    assert [span.name for span in timing.spans] == ["Load"]
    (session,) = timing.sessions
    assert session.ended is not None
