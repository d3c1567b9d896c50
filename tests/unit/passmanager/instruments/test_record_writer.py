"""RecordInstrument: the events of passes, changes, failures and phases, and the file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, Tag, module, named
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import RecordInstrument
from passline.passmanager.report.record_reader import read_record

Event = dict[str, Any]


def void(_: object) -> None: ...


def events(record: RecordInstrument, *kinds: str) -> list[Event]:
    found = [json.loads(line) for line in record.lines]
    return [event for event in found if not kinds or event["event"] in kinds]


def recorded(*passes: ModulePass, **settings: Any) -> RecordInstrument:
    """Return the record of a run of `passes` on a module with the functions f and g."""
    record = RecordInstrument()
    with PassContext(instruments=[record], **settings):
        Sequential(passes)(module("f", "g"))
    return record


def replay(record: RecordInstrument) -> list[list[str]]:
    """Return the texts of the module at the start and after each change."""
    texts = {event["hash"]: event["text"] for event in events(record, "ir")}
    states: list[list[str]] = [[]]
    for event in events(record):
        if "ir" in event:
            state = states[-1].copy()
            for start, end, new in event["ir"]:
                state[start:end] = new
            states.append(state)
    return [[texts[hash] for hash in state] for state in states[1:]]


F = "func.func @f() {\n  func.return\n}"
G = "func.func @g() {\n  func.return\n}"
APPENDED = '"test.op"() {tag = "x"} : () -> ()'


# Events


def test_events_of_a_pipeline() -> None:
    found = events(recorded(Append(), Nothing()))
    assert [event["event"] for event in found] == [
        *("record", "ir", "ir", "run", "begin", "begin"),
        *("ir", "end", "begin", "end", "end", "session"),
    ]
    assert found[0] == {"event": "record", "format": 1, "title": ""}
    begin = next(event for event in found if event.get("name") == "toy-append")
    assert begin | {"time": 0} == {
        "event": "begin",
        "pass": 2,
        "run": 0,
        "parent": 1,
        "name": "toy-append",
        "text": "toy-append",
        "position": "1 of 2",
        "composite": False,
        "thread": threading.get_native_id(),
        "time": 0,
    }


def test_end_says_what_changed() -> None:
    changed, unchanged, outer = events(recorded(Append(), Nothing()), "end")
    assert changed["changed"] and changed["created"] == {"test.op": 1}
    assert changed["counts"] == {"func.func": 2, "func.return": 2, "test.op": 1}
    assert not unchanged["changed"] and "ir" not in unchanged and "counts" not in unchanged
    assert outer["changed"] and "ir" not in outer


def test_times_are_in_order() -> None:
    record = recorded(Append(), Nothing())
    begins = {event["pass"]: event["time"] for event in events(record, "begin")}
    for end in events(record, "end"):
        assert begins[end["pass"]] <= end["time"]
        assert 0 <= end["verify_seconds"] <= end["time"] - begins[end["pass"]]


def test_recording_takes_no_recorded_time() -> None:
    class Clock:
        now = 0.0

        def __call__(self) -> float:
            self.now += 1
            return self.now

    record = RecordInstrument(clock=Clock())
    with PassContext(instruments=[record], verify_each=False):
        Sequential([Append(), Nothing()])(module("f"))
    ends = {event["pass"]: event["time"] for event in events(record, "end")}
    begins = {event["pass"]: event["time"] for event in events(record, "begin")}
    assert ends[2] - begins[2] == ends[3] - begins[3]  # one reads the IR, the other does not


def test_counters_are_those_of_the_run_of_the_pass() -> None:
    counting = named("counting", body=lambda m, ctx: ctx.count("seen", 3))
    ends = events(recorded(counting, counting), "end")
    assert [end.get("counters") for end in ends] == [{"seen": 3}, {"seen": 3}, None]


def test_diagnostics_and_remarks() -> None:
    def body(m: Operation, ctx: PassContext) -> None:
        ctx.diagnostics.warning(m, "is strange").note(None, "here")
        ctx.actions.missed(m, "TooLarge", "too large", Limit=4)

    shown: list[object] = []
    record = recorded(
        named("noisy", body=body), renderer=shown.extend, remark_filter={"missed": "noisy"}
    )
    warning, remark = events(record, "end")[0]["diagnostics"]
    assert warning["severity"] == "warning" and warning["message"].endswith("is strange")
    assert [note["message"] for note in warning["notes"]] == ["here"]
    assert remark["remark"] == {
        "kind": "Missed",
        "name": "TooLarge",
        "function": "",
        "arguments": {"Remark": "too large", "Op": "builtin.module", "Limit": 4},
    }
    assert len(shown) == 2


def test_skipped_passes() -> None:
    record = RecordInstrument()
    blocker = Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(instruments=[record, blocker], disabled_pass=["toy-fail"]):
        Sequential([Append(), Fail(), Nothing()])(module("f"))
    skips = events(record, "skip")
    assert [(skip["name"], skip["reason"], skip["parent"]) for skip in skips] == [
        ("toy-append", "should_run of Recorder", 1),
        ("toy-fail", "disabled", 1),
    ]


def test_analysis_is_an_event() -> None:
    class Facts:
        def __init__(self, op: Operation) -> None: ...

    asks = named("asks", body=lambda m, ctx: void(ctx.analyses.get(Facts, m)))
    (analysis,) = events(recorded(asks), "analysis")
    assert analysis["name"] == "(A) Facts" and not analysis["failed"]


def test_phases_are_events() -> None:
    record = RecordInstrument()
    with PassContext(instruments=[record]):
        with record.phase("Parser"):
            pass
        with pytest.raises(ValueError), record.phase("Output"):
            raise ValueError("no paper")
    phases = [(event["name"], event["failed"]) for event in events(record, "phase")]
    assert phases == [("Parser", False), ("Output", True)]
    assert events(record, "phase")[1]["message"] == "no paper"


# IR


def test_ir_is_that_after_each_pass() -> None:
    record = recorded(Append(), Nothing(), Append("y"))
    assert replay(record) == [
        [F, G],
        [F, G, APPENDED],
        [F, G, APPENDED, APPENDED.replace("x", "y")],
    ]


def test_only_what_changed_is_printed() -> None:
    def body(m: Any, ctx: PassContext) -> None:
        Tag().transform_function(next(iter(m.ops)), m, ctx)

    record = recorded(named("tags-the-first", body=body), Append())
    assert [event["symbol"] for event in events(record, "ir")] == ["f", "g", "f", ""]


def test_a_text_is_recorded_once() -> None:
    record = recorded(Append(), Append())
    assert [event["text"] for event in events(record, "ir")] == [F, G, APPENDED]


def test_erased_functions_are_gone() -> None:
    def body(m: Any, ctx: PassContext) -> None:
        next(iter(m.ops)).detach()

    record = recorded(named("erases", body=body))
    assert replay(record)[-1] == [G]
    assert events(record, "end")[0]["erased"] == {"func.func": 1, "func.return": 1}


def test_elements_of_large_constants_are_a_hash() -> None:
    from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i32

    def marking(elements: list[int]) -> ModulePass:
        value = DenseIntOrFPElementsAttr.from_list(TensorType(i32, [len(elements)]), elements)

        def body(m: Any, ctx: PassContext) -> None:
            m.body.block.first_op.attributes["value"] = value

        return named("sets", body=body)

    same, other = [*range(1000)], [*range(999), 0]
    record = recorded(*map(marking, [[1, 2], [7] * 1000, same, other, same]))
    texts = [state[0].partition("value = ")[2].partition("}")[0] for state in replay(record)][1:]
    assert texts[0] == "dense<[1, 2]> : tensor<2xi32>"
    assert texts[1] == "dense<7> : tensor<1000xi32>"
    assert re.fullmatch(r"dense_resource<constant_\w{16}> : tensor<1000xi32>", texts[2])
    assert texts[2] == texts[4] != texts[3]


def test_ops_have_the_types_of_their_results_and_their_attributes() -> None:
    from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr, TensorType, i32
    from xdsl.dialects.func import CallOp
    from xdsl.dialects.test import TestOp

    large = DenseIntOrFPElementsAttr.from_list(TensorType(i32, [17]), [*range(17)])

    def body(m: Any, ctx: PassContext) -> None:
        attributes = {"large": large, "long": StringAttr("x" * 1000)}
        block = m.body.block.first_op.body.block
        made = [TestOp(result_types=[i32, large.type], attributes=attributes), CallOp("g", [], [])]
        block.insert_ops_before(made, block.last_op)

    *_, changed = events(recorded(named("adds", body=body)), "ir")
    _, made, call, _ = changed["ops"]
    assert made[5] == ["i32", "tensor<17xi32>"]
    assert re.fullmatch(r"dense_resource<constant_\w{16}> : tensor<17xi32>", made[6]["large"])
    assert made[6]["long"] == f'"{"x" * 398}…'
    assert call[5:] == [[], {"callee": "@g"}]


def test_a_change_of_attributes_of_the_module_is_recorded() -> None:
    from xdsl.dialects.builtin import StringAttr

    def body(m: Any, ctx: PassContext) -> None:
        m.attributes["note"] = StringAttr("</script>")

    before, after = replay(recorded(named("marks", body=body)))
    assert after == ['builtin.module attributes {note = "</script>"} {...}', *before]


def test_nested_pass_has_its_own_changes() -> None:
    outer = named("outer", body=lambda m, ctx: Append("y").apply(ctx.ir_context, m))
    record = recorded(outer)
    begins = {event["pass"]: event["name"] for event in events(record, "begin")}
    changing = [begins[event["pass"]] for event in events(record, "end") if "ir" in event]
    assert changing == ["toy-append"]


# Failures


def test_failure_has_the_error_and_the_ir_at_that_point() -> None:
    def body(m: Any, ctx: PassContext) -> None:
        Append("half").transform_module(m, ctx)
        raise KeyError("lost")

    record = RecordInstrument()
    with pytest.raises(KeyError), PassContext(instruments=[record]):
        Sequential([Append(), named("fails", body=body), Nothing()])(module("f"))
    failed, outer = events(record, "fail")
    assert (failed["error"], failed["message"]) == ("KeyError", "'lost'")
    assert failed["notes"] == ["in pass 'fails' (2 of 3)"] and len(outer["notes"]) == 2
    assert replay(record)[-1] == [F, APPENDED, APPENDED.replace('"x"', '"half"')]


def test_invalid_ir_is_recorded() -> None:
    def body(m: Any, ctx: PassContext) -> None:
        next(iter(m.ops)).body.block.last_op.detach()

    record = RecordInstrument()
    with pytest.raises(Exception, match="block"):
        with PassContext(instruments=[record]):
            named("breaks", body=body)(module("f"))
    (failed,) = events(record, "fail")
    assert "return" not in replay(record)[-1][0] and "ir" in failed


def test_a_raising_instrument_leaves_a_whole_record() -> None:
    record = RecordInstrument()
    raising = Recorder(fail_in=frozenset(["after"]))
    with pytest.raises(RuntimeError):
        with PassContext(instruments=[record, raising]):
            Sequential([Append()])(module("f"))
    begins, ends = events(record, "begin"), events(record, "end", "fail")
    assert {e["pass"] for e in begins} == {e["pass"] for e in ends}
    assert events(record, "session")


def test_each_thread_has_a_run() -> None:
    record = RecordInstrument()
    meet = threading.Barrier(2)

    def work() -> None:
        with PassContext(instruments=[record]):
            named("step", body=lambda m, c: void(meet.wait(10)))(module("f"))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    begins = events(record, "begin")
    assert {event["run"] for event in begins} == {0, 1}
    assert len({event["thread"] for event in begins}) == 2


# The file


def test_file_has_each_event_when_it_happens(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"

    def body(m: object, ctx: PassContext) -> None:
        assert json.loads(file.read_text().splitlines()[-1])["name"] == "looks"

    record = RecordInstrument(file)
    with PassContext(instruments=[record]):
        named("looks", body=body)(module("f"))
    assert [json.loads(line)["event"] for line in file.read_text().splitlines()][-1] == "session"
    assert record.lines == []


def test_second_context_is_added(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text("old")
    record = RecordInstrument(file, keep=True)
    for pass_ in (Append(), Nothing()):
        with PassContext(instruments=[record]):
            pass_(module("f"))
    assert file.read_text() == "".join(record.lines)
    assert [event["name"] for event in events(record, "begin")] == ["toy-append", "toy-nothing"]


def test_file_that_cannot_be_opened_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        with PassContext(instruments=[RecordInstrument(tmp_path / "nowhere" / "run.jsonl")]):
            pytest.fail("the body must not run")


def test_record_of_a_killed_process_is_whole_up_to_there(tmp_path: Path) -> None:
    code = f"""
import os
from support.passes.toy import Append, module, named
from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import RecordInstrument
dies = named("dies", body=lambda m, c: os._exit(9))
with PassContext(instruments=[RecordInstrument({str(tmp_path / "run.jsonl")!r})]):
    Sequential([Append(), dies])(module("f"))
"""
    tests = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": pythonpath(tests)}
    )
    assert done.returncode == 9
    with open(tmp_path / "run.jsonl") as file:
        record = read_record(file)
    assert record.cut_off and [event["event"] for event in record.events][-2:] == [
        *("end", "begin"),
    ]


def pythonpath(folder: Path) -> str:
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


def test_full_disk_ends_with_an_error_and_loses_nothing() -> None:
    record = RecordInstrument("/dev/full")
    result = None
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        with PassContext(instruments=[record]):
            result = Append()(module("f"))
    assert result is not None and "test.op" in str(result)
    assert [event["event"] for event in events(record)][-1] == "session"
    assert len(events(record, "begin")) == len(events(record, "end")) == 1


# The documentation


def test_each_recorded_field_is_documented() -> None:
    def body(m: Operation, ctx: PassContext) -> None:
        ctx.count("seen")
        ctx.diagnostics.warning(m, "is strange").note(None, "here")
        ctx.actions.missed(m, "TooLarge", "too large")
        ctx.analyses.get(Facts, m)

    class Facts:
        def __init__(self, op: Operation) -> None: ...

    record = RecordInstrument()
    with pytest.raises(ValueError):
        with PassContext(
            instruments=[record], disabled_pass=["toy-nothing"], remark_filter="", renderer=void
        ):
            with record.phase("Parser"):
                pass
            Sequential([Append(), named("noisy", body=body), Nothing(), Fail()])(module("f"))
    documented = (Path(__file__).parents[4] / "docs" / "record.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", documented.partition("The fields of")[0], re.MULTILINE)
    assert sorted(rows) == sorted({event["event"] for event in events(record)})
    fields = {field for event in events(record) for field in event}
    fields |= {
        field for end in events(record, "end") for d in end.get("diagnostics", ()) for field in d
    }
    named_fields = set(re.findall(r"`(\w+)`", documented))
    assert fields - {"event"} <= named_fields and {"remark", "notes", "counters"} <= fields
