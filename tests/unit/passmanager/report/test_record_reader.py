"""The reader of records: whole, cut off, and of other files."""

from __future__ import annotations

import pytest
from support.passes.records import lines_of, record_of
from support.passes.toy import Append, Fail, Nothing, Tag
from support.tables import table_test

from passline.passmanager import PasslineError
from passline.passmanager.report.record_reader import read_record


def texts(hashes: list[tuple[str | None, str | None]]) -> list[tuple[bool, bool]]:
    return [(before is not None, after is not None) for before, after in hashes]


def test_steps_are_the_passes_that_changed_ir() -> None:
    record = record_of(Append(), Nothing(), Tag())
    _, *steps = record.steps()
    found = [(step.begin["name"], texts(record.replaced(step))) for step in steps]
    both = (True, True)
    assert found == [("toy-append", [(False, True)]), ("toy-tag", [both, both])]
    assert record.title == "toy.mlir" and not record.cut_off


def test_functions_are_paired_by_symbol() -> None:
    record = record_of(Tag())
    _, step = record.steps()
    for before, after in record.replaced(step):
        assert before is not None and after is not None
        assert record.texts[before]["symbol"] == record.texts[after]["symbol"]


def test_sessions_nest_as_the_passes_ran() -> None:
    (session,) = record_of(Append(), Nothing()).sessions()
    (outer,) = session.children
    assert [span.name for span in outer.children] == ["toy-append", "toy-nothing"]
    assert session.seconds >= outer.seconds >= sum(span.seconds for span in outer.children)


def test_failure_is_a_whole_recording() -> None:
    record = record_of(Append(), Fail(), Nothing())
    assert [event["event"] for event in record.events][-3:] == ["fail", "fail", "session"]
    (session,) = record.sessions()
    assert [span.failed for span in session.children[0].children] == [False, True]


@table_test("kept", [0.3, 0.6, 0.9])
def test_cut_off_record_is_read_to_its_end(kept: float) -> None:
    text = "".join(lines_of(Append(), Nothing(), Tag()))
    cut = text[: int(kept * len(text))]
    record = read_record(cut.splitlines(keepends=True))
    assert record.cut_off
    assert len(record.events) + len(record.texts) + 1 in (
        cut.count("\n"),
        cut.count("\n") + 1,
    )
    assert all(span.name == "session" for span in record.sessions())
    assert len([*record.steps()]) == sum("ir" in event for event in record.events)


@table_test(
    ("lines", "message"),
    [
        ([], "the record is empty"),
        (["func.func @f() {\n"], "not a record of a run"),
        (["[1]\n"], "not a record of a run"),
        (['{"event":"begin"}\n'], "not a record of a run"),
        (['{"event":"record","format":2}\n'], "format 2; this version reads up to 1"),
        (['{"event":"record","format":1}\n', "x\n", "{}\n"], "line 2 of the record is not JSON"),
    ],
)
def test_what_is_no_record_is_an_error(lines: list[str], message: str) -> None:
    with pytest.raises(PasslineError, match=message):
        read_record(lines)
