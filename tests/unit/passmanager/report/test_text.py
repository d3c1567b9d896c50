"""Records as text: equal to what the instruments print in the same run."""

from __future__ import annotations

from support.passes.records import record_of
from support.passes.toy import Append, Fail, Nothing, Tag, module, named
from support.tables import table_test

from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import RecordInstrument, StatisticsInstrument
from passline.passmanager.report.page import diff_text, statistics_text, timing_text
from passline.passmanager.report.record_reader import read_record


@table_test("kind", ["text", "json"])
@table_test("fails", [False, True])
def test_statistics_are_those_of_the_instrument(kind: str, fails: bool) -> None:
    counting = named("counting", body=lambda m, ctx: ctx.count("seen", 3))
    passes = [Append(), Tag(), counting, Append("y"), Nothing(), *([Fail()] if fails else [])]
    writer, statistics = RecordInstrument(), StatisticsInstrument()
    try:
        with PassContext(instruments=[writer, statistics]):
            Sequential(passes)(module("f", "g"))
    except ValueError:
        assert fails
    record = read_record(writer.lines)
    assert kind in ("text", "json")
    assert statistics_text(record, kind) == statistics.report(kind)


def test_timing_has_the_passes_in_order() -> None:
    record = record_of(Append(), Sequential([Nothing()]), Fail())
    lines = timing_text(record).splitlines()[6:]
    names = [line[40:] for line in lines if "verify" not in line]
    assert names == [
        *("sequential (failed)", "  toy-append", "  sequential", "    toy-nothing"),
        "  toy-fail (failed)",
        *("Rest", "Total"),
    ]


def test_diff_shows_each_changed_function() -> None:
    assert diff_text(record_of(Append("y"), Nothing(), Tag())) == (
        '// -----// IR Diff After toy-append: toy-append{tag="y"} //----- //\n'
        "@@ -0,0 +1 @@\n"
        '+"test.op"() {tag = "y"} : () -> ()\n'
        "\n"
        "// -----// IR Diff After toy-tag //----- //\n"
        "@@ -1,3 +1,3 @@\n"
        "-func.func @f() {\n"
        '+func.func @f() attributes {seen = "yes"} {\n'
        "   func.return\n"
        " }\n"
        "@@ -1,3 +1,3 @@\n"
        "-func.func @g() {\n"
        '+func.func @g() attributes {seen = "yes"} {\n'
        "   func.return\n"
        " }\n"
        "\n"
    )
