"""The table of `make bench`: what is selected, what is missing, and the page that holds it."""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from pathlib import Path

import bench
import pytest
from bench import matches, measured, select, until_interrupted
from cases.general import GENERAL
from cases.tool import find_tool, process
from cases.xdsl_corpus import cases as corpus_cases
from cases.xdsl_corpus import chunks_of, sources
from growth import OURS, TASKS, exponent, growths, perform
from rich.console import Console
from support.tables import table_test
from table.report import (
    BEGIN,
    DATA,
    DOCS,
    END,
    console_rows,
    markdown,
    measured_in,
    rewritten,
    saved,
    with_ratios,
    with_versions,
)
from table.rows import Case, Pair, Row, Sample, Scope, Unavailable, measure


def row(what: str, on: str = "x", ops: int = 1000, seconds: float = 1.0, peer: str = "xDSL") -> Row:
    times = (seconds,) * 3
    return Row(what, on, ops, peer, times, (2.0,) * 3 if peer else (), memory=ops * 100, size=ops)


# Selection


@table_test(
    ("words", "expected"),
    [
        ([], True),
        (["READ"], True),
        (["read", "tensor"], True),
        (["1000"], False),
        (["10000"], True),
        (["verify"], False),
    ],
)
def test_a_filter(words: list[str], expected: bool) -> None:
    assert matches("read tensor ops 10000 xDSL", words) is expected


def test_a_module_whose_package_is_not_installed_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SOURCES", ("package_that_is_not_there", "cases.xdsl_corpus"))
    missing, case = select(Scope(), [])
    assert isinstance(missing, Row)
    assert missing.note == "package_that_is_not_there is not installed" and not missing.failed
    assert isinstance(case, Case) and case.what == "read corpus"


def test_cases_are_chosen() -> None:
    found = select(Scope(), ["tool", "version"], lambda case: case.peer == "mlir-opt")
    assert [one.peer for one in found if isinstance(one, Case)] == ["mlir-opt"]


def test_our_side_has_one_time_beside_all_peers() -> None:
    log: list[str] = []

    def side(name: str) -> Sample:
        log.append(name)
        return Sample(float(len(log)))

    def case(what: str, peer: str) -> Case:
        return Case(what, "x", peer, lambda: Pair(lambda: side(what), lambda: side(peer)), rounds=1)

    found = [case("a", "p"), case("a", "q"), case("b", "p")]
    rows = [*measured(found, Console(quiet=True), seconds=0)]
    assert log == ["a", "p", "q", "b", "p"]
    assert [(r.what, r.peer, r.ours, r.theirs) for r in rows] == [
        ("a", "p", (1.0,), (2.0,)),
        ("a", "q", (1.0,), (3.0,)),
        ("b", "p", (4.0,), (5.0,)),
    ]


def test_a_page_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(bench, "save", fail)
    missing = Row("tool", "x", 0, "mlir-opt", note="there is no mlir-opt")
    with pytest.raises(SystemExit, match="tool, x, mlir-opt: there is no mlir-opt; the page"):
        bench.write([row("read"), missing])
    with pytest.raises(SystemExit) as error:
        bench.main(["--write", "read"])
    assert error.value.code == 2


def test_the_rows_before_an_interrupt_are_kept() -> None:
    def interrupt() -> Sample:
        raise KeyboardInterrupt

    def case(sample: Sample | None) -> Case:
        side = interrupt if sample is None else lambda: sample
        return Case("read", str(sample), "", lambda: Pair(side), rounds=1)

    found = [case(Sample(5.0)), case(None), case(Sample(5.0))]
    rows = until_interrupted(measured(found, Console(quiet=True)), Console(quiet=True))
    assert len([*rows]) == 1


# Peers


def test_a_tool_that_is_not_there() -> None:
    with pytest.raises(Unavailable, match="there is no tool-that-is-not-there"):
        find_tool("neither-is-this", "tool-that-is-not-there")


def test_a_tool_that_fails_says_so() -> None:
    with pytest.raises(RuntimeError, match="passline-opt: .*nowhere"):
        process([find_tool("passline-opt"), "nowhere.mlir"])()


def test_the_corpus_is_read_from_a_folder_or_an_archive(tmp_path: Path) -> None:
    tests = tmp_path / "xdsl-0" / "tests" / "filecheck"
    tests.mkdir(parents=True)
    (tests / "b.mlir").write_text('"test.op"() : () -> ()\n// -----\n"test.op"(%x) : (i32) -> ()\n')
    (tests / "a.mlir").write_text("// nothing\n")
    (tests / "not.py").write_text("")
    with tarfile.open(tmp_path / "xdsl-0.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "xdsl-0", "xdsl-0")
    for path in (tmp_path / "xdsl-0", tmp_path / "xdsl-0.tar.gz"):
        assert [len(chunks_of(text)) for text in sources(path)] == [1, 2]
        (case,) = corpus_cases(Scope(xdsl_tests=str(path)))
        found = measure(case, seconds=0)
        assert (found.note, found.ops, len(found.ratios)) == ("", 3, 3)


@table_test(
    ("path", "note"),
    [
        (None, "no XDSL_TESTS=path of xDSL's source distribution"),
        ("/no/where", "there is no where"),
    ],
)
def test_without_the_corpus_there_is_a_note(path: str | None, note: str) -> None:
    (case,) = corpus_cases(Scope(xdsl_tests=path))
    found = measure(case)
    assert (found.note, found.failed) == (note, False)


# Growth


@table_test("task", TASKS)
def test_a_task_of_growth_gives_its_time_and_memory(task: str) -> None:
    sample = perform(task, TASKS[task][0], 50, OURS)
    assert sample.seconds > 0 and sample.peak > 1 << 20


@table_test(("name", "inputs"), GENERAL.items())
def test_a_general_pass_runs_on_its_inputs(name: str, inputs: Sequence[str]) -> None:
    for on in inputs:
        assert perform(name, on, 50, OURS).seconds >= 0


def test_exponents_are_those_of_powers() -> None:
    assert exponent([(n, 3 * n**2) for n in (10, 100, 1000)]) == pytest.approx(2)
    assert exponent([(10, 1.0)]) is None
    assert exponent([(10, 1.0), (100, 0.0)]) is None


def test_the_growth_of_both_sides() -> None:
    rows = [row("growth: read", ops=n, seconds=n) for n in (10_000, 100_000)]
    assert growths([row("growth: copy")]) == []
    rows.append(row("growth: read", ops=10**6, seconds=10**6, peer=""))
    ours, theirs = growths([row("read"), *rows])
    assert (ours.side, theirs.side) == ("Passline", "xDSL")
    assert ours.time == pytest.approx(1) and ours.memory == pytest.approx(1)
    assert theirs.time == pytest.approx(0) and theirs.memory is None


# The page


def test_a_table_has_no_empty_columns() -> None:
    console = Console(width=140)
    with console.capture() as capture:
        console.print(console_rows([Row("read", "x", 0, "xDSL", (0.25,), (1.0,))]))
    header, line = (text for text in capture.get().splitlines() if "xDSL" in text or "on" in text)
    assert header.split("┃")[2:-1] and "note" not in header and "B/op" not in header
    assert [cell.strip() for cell in line.split("│")[1:-1]] == [
        *("read", "x", "250 ms", "xDSL", "1.00 s", "4.00", "4.00..4.00"),
    ]


def test_the_table_and_the_versions_of_the_readme_are_those_that_were_measured() -> None:
    readme = (
        "beside xDSL 0.70 and TVM 0.2:\n| read | x, 1,000 | xDSL | 9 |\n| read | x | xDSL | 9 |\n"
    )
    found = with_ratios(readme, [row("read", seconds=0.1)])
    assert found == readme.replace("x, 1,000 | xDSL | 9", "x, 1,000 | xDSL | 20.0")
    here = {"xdsl": "0.80.1", "apache-tvm": "1.2.3.post1"}
    assert with_versions(readme, here).startswith("beside xDSL 0.80 and TVM 1.2:\n")
    assert with_versions("attributes since xDSL 0.75", here) == "attributes since xDSL 0.75"


def test_a_page_is_rewritten_between_its_markers() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    once = rewritten(page, "new")
    assert once == f"before\n{BEGIN}\nnew\n{END}\nafter\n" == rewritten(once, "new")


def test_the_page_holds_the_rows_that_were_measured() -> None:
    page = (DOCS / "performance.md").read_text()
    assert rewritten(page, markdown(saved(DATA), measured_in(DATA))) == page
