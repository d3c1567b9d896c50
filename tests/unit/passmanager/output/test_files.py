"""Files that are replaced as a whole, and the check whether they can be written."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from passline.passmanager.output.files import check_writable, check_writable_directory, replace_file


def test_a_check_leaves_nothing_behind(tmp_path: Path) -> None:
    (kept := tmp_path / "kept").write_text("old")
    for path in (kept, tmp_path / "new"):
        check_writable(path)
    check_writable_directory(tmp_path)
    check_writable_directory(tmp_path / "a" / "b")
    assert [*tmp_path.iterdir()] == [kept] and kept.read_text() == "old"


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    check_writable(pipe)


@pytest.mark.parametrize("name", ["no/such/x", "kept/x", ".", "a" * 250])
def test_what_cannot_be_written_is_refused_as_by_the_write(name: str, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("old")
    path = tmp_path / name
    with pytest.raises(OSError, match=re.escape(f"'{path}'")) as refused:
        check_writable(path)
    with pytest.raises(OSError) as failed:
        replace_file(path, ["new"])
    assert refused.value.errno == failed.value.errno


@pytest.mark.parametrize(
    ("name", "message"),
    [("kept", "File exists"), ("kept/x/y", "Not a directory"), ("/proc/x/y", "No such file")],
)
def test_a_directory_that_cannot_be_made(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("old")
    with pytest.raises(OSError, match=message):
        check_writable_directory(tmp_path / name)
