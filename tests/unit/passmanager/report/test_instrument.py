"""ReportInstrument: the file, also after failures of passes and of writing."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.passes.toy import Append, Fail, Nothing, module

from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import ReportInstrument
from passline.passmanager.report.page import render_page
from passline.passmanager.report.record_reader import read_record


def test_page_is_written_when_the_context_is_left(tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    report = ReportInstrument(file, title="toy")
    with PassContext(instruments=[report]):
        Append()(module("f"))
        assert not file.exists()
    assert file.read_text() == render_page(read_record(report.lines))
    assert "<title>toy</title>" in file.read_text() and [*tmp_path.iterdir()] == [file]


def test_page_is_written_after_a_failure(tmp_path: Path) -> None:
    report = ReportInstrument(tmp_path / "run.html")
    with pytest.raises(ValueError), PassContext(instruments=[report]):
        Sequential([Append(), Fail()])(module("f"))
    assert '"event":"fail"' in report.lines[-2] and (tmp_path / "run.html").exists()


def test_record_is_written_too(tmp_path: Path) -> None:
    report = ReportInstrument(tmp_path / "run.html", tmp_path / "run.jsonl")
    with PassContext(instruments=[report]):
        Nothing()(module("f"))
    assert (tmp_path / "run.jsonl").read_text() == "".join(report.lines)


def test_page_is_written_although_the_record_is_not(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="/dev/full"):
        with PassContext(instruments=[ReportInstrument(tmp_path / "run.html", "/dev/full")]):
            Nothing()(module("f"))
    assert (tmp_path / "run.html").exists()


def test_missing_directory_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No such file or directory: .*nowhere"):
        with PassContext(instruments=[ReportInstrument(tmp_path / "nowhere" / "run.html")]):
            pytest.fail("the body must not run")


def test_page_that_cannot_be_written_can_be_written_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    report = ReportInstrument(folder / "run.html")
    with pytest.raises(FileNotFoundError), PassContext(instruments=[report]):
        Append()(module("f"))
        folder.rmdir()
    report.write(tmp_path / "run.html")
    assert [*tmp_path.iterdir()] == [tmp_path / "run.html"]
