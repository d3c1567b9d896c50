"""--record, --report and passline-report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.needs_numpy import needs_numpy
from support.passes.toy import Append, Fail, Nothing, register_in_test
from support.suites.inprocess import Result, capture, passline_opt
from support.tables import table_test

from passline.tools.report import main

TEXT = "func.func @f() {\n  func.return\n}\n"


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The toy passes are installed, and gone after the test."""
    register_in_test(monkeypatch, Append, Fail, Nothing)
    yield


@pytest.fixture
def record(tmp_path: Path) -> str:
    """Return the record of a run with a change."""
    file = tmp_path / "run.jsonl"
    assert run("-p", "toy-append,toy-nothing", f"--record={file}").status == 0
    return str(file)


def run(*args: str) -> Result:
    return passline_opt(*args, stdin=TEXT)


def report(*args: str) -> Result:
    return capture(lambda: main(args))


def test_record_has_phases_and_passes(record: str) -> None:
    text = Path(record).read_text()
    assert all(f'"name":"{name}"' in text for name in ("Parser", "Output", "toy-append"))
    assert '"title":"stdin"' in text.splitlines()[0]


def test_texts(record: str) -> None:
    result = report(record, "--timing", "--pass-statistics", "--print-diff")
    assert result.status == 0 and result.stderr == ""
    for part in ("Execution time report", "  toy-append", "Pass statistics report", "IR Diff"):
        assert part in result.stdout


def test_page(record: str, tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    assert report(record, "-o", str(page), "--title", "mine") == Result(0, "", "")
    assert "<title>mine</title>" in page.read_text()
    assert "<title>stdin</title>" in report(record, "-o", "-").stdout


def test_report_of_a_failure(tmp_path: Path) -> None:
    page, file = tmp_path / "run.html", tmp_path / "run.jsonl"
    result = run("-p", "toy-append,toy-fail", f"--report={page}", f"--record={file}")
    assert result.status == 3 and "boom" in result.stderr
    assert result.stderr.endswith(f"\nreport: {page}\n")
    assert page.exists() and '"message":"boom"' in file.read_text()


def test_last_line_says_where_the_report_is(tmp_path: Path) -> None:
    page, out = str(tmp_path / "run.html"), str(tmp_path / "x")
    result = run("-p", "toy-append", f"--report={page}", "--timing", "-o", out)
    assert result.stderr.endswith(f"\nreport: {page}\n") and result.stderr.count(page) == 1
    assert run("-p", "toy-append", f"--report={page}", "-o", out).stderr == f"report: {page}\n"
    quiet = run("-p", "toy-append", f"--report={page}", "-o", out, "--quiet")
    assert quiet == Result(0, "", "")
    missing = run("-p", "toy-append", f"--report={tmp_path}/no/run.html", "-o", out)
    assert missing.status == 1 and "report: " not in missing.stderr


def test_input_that_does_not_parse_gives_a_report(tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    assert passline_opt(f"--report={page}", stdin="func.func {").status == 1
    assert page.exists()


@needs_numpy
def test_remarks_are_recorded_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    text = """func.func @f() -> tensor<2xf32> {
  %a = relax.full 1.0 : tensor<2xf32>
  %b = relax.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %b : tensor<2xf32>
}"""
    silent = passline_opt("-p", "fold-constant", f"--record={file}", stdin=text)
    assert silent.status == 0 and silent.stderr == ""
    assert '"remark":{"kind":"Passed","name":"Folded"' in file.read_text()
    shown = passline_opt("-p", "fold-constant", f"--record={file}", "--remarks", stdin=text)
    assert "remark: [Passed] Folded" in shown.stderr
    missed = passline_opt("-p", "fold-constant", f"--record={file}", "--remarks-missed", stdin=text)
    assert missed.stderr == ""


def test_result_is_kept_although_the_record_is_not_written(tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    result = run("-p", "toy-append", "--record=/dev/full", "-o", str(out))
    assert result.status == 1 and "'/dev/full': No space left on device" in result.stderr
    assert "test.op" in out.read_text()


def test_file_cannot_be_written_twice(tmp_path: Path) -> None:
    result = run(f"--report={tmp_path}/x", f"--record={tmp_path}/x")
    assert result.status == 2 and "would both write the file" in result.stderr


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        ((), 2, "FILE.jsonl"),
        (("{record}",), 2, "say what to make: -o FILE.html"),
        (("{record}", "--timin"), 2, "did you mean '--timing'?"),
        (("/nowhere/x", "--timing"), 1, "'/nowhere/x': No such file or directory"),
        (("{record}", "-o", "/nowhere/x"), 1, "'/nowhere/x': No such file or directory"),
        (("{binary}", "--timing"), 1, "is not a record"),
    ],
)
def test_errors(
    record: str, tmp_path: Path, args: tuple[str, ...], status: int, message: str
) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    result = report(*(arg.format(record=record, binary=binary) for arg in args))
    assert result.status == status and message in result.stderr
    assert "Traceback" not in result.stderr


def test_blame(tmp_path: Path, record: str) -> None:
    result = run("-p", "toy-append", "--blame", "--why-erased=func", "-o", str(tmp_path / "x"))
    assert result.status == 0 and "IR Blame" in result.stderr
    assert 'toy-append              | "test.op"() {tag = "x"}' in result.stderr
    assert "no erased or moved operation contains 'func'" in result.stderr
    later = report(record, "--blame", "--why-erased=func")
    assert later.stdout == result.stderr


def test_record_is_not_overwritten_by_its_page(record: str) -> None:
    content = Path(record).read_text()
    result = capture(lambda: main([record, "-o", record]))
    assert result.status == 2 and f"-o would overwrite the record '{record}'" in result.stderr
    assert Path(record).read_text() == content


def test_error_of_a_record_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    for text, message in (("", "the record is empty"), ("[]\n", "this is not a record of a run")):
        file.write_text(text)
        result = capture(lambda: main([str(file), "--timing"]))
        assert result.status == 1 and result.stderr.startswith(f"error: '{file}': {message}")


def test_second_file_is_no_record_of_the_same_run(record: str) -> None:
    result = capture(lambda: main([record, "other.jsonl", "--timing"]))
    assert result.status == 2 and "--out-dir" not in result.stderr
    assert "there is one input file, and 'other.jsonl' is another" in result.stderr


# Damaged records


DAMAGE: list[tuple[str, str]] = [
    ('"pass":2,', ""),
    ('"name":"toy-append"', '"name":7'),
    ('"time":', '"times":'),
    ('"numbers":["', '"numbers":["0-99999999999999",""'),
    ('"numbers":["', '"numbers":["x'),
    ('"text":"func', '"text":null,"x":"func'),
    ('"seconds":', '"seconds":"1","x":'),
    ('"event":"begin"', '"event":"end"'),
    ('"hash":"', '"hash":"0'),
]


@table_test(("old", "new"), DAMAGE)
def test_damaged_record_is_refused_by_the_views_that_need_the_field(
    record: str, old: str, new: str
) -> None:
    path = Path(record)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    failed = 0
    for shown in ("--timing", "--pass-statistics", "--print-diff", "--blame", "-o-"):
        result = report(record, shown)
        assert result.status in (0, 1) and "Traceback" not in result.stderr
        if result.status:
            failed += 1
            assert result.stderr.startswith(f"error: '{record}'")
    assert failed


def test_record_of_other_values_than_events(record: str) -> None:
    path = Path(record)
    first, *rest = path.read_text().splitlines(keepends=True)
    for line in ("7", "[]", "null", '"event"', "{}", '{"event": "begin"}', '{"event": []}'):
        path.write_text("".join([first, line + "\n", *rest]))
        result = report(record, "--timing")
        assert result.status in (0, 1) and "Traceback" not in result.stderr
        assert result.status == 0 or result.stderr.startswith(f"error: '{record}'")
