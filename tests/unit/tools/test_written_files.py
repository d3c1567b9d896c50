"""Files that the commands write: a place that cannot be written is refused before any work."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.suites.inprocess import capture, passline_opt

from passline.tools.bisect.bisect_tool import PasslineBisectMain
from passline.tools.compile import PasslineCompileMain
from passline.tools.opt import PasslineOptMain
from passline.tools.reduce.reduce_tool import PasslineReduceMain
from passline.tools.report import main as report
from passline.tools.run import PasslineRunMain
from passline.tools.tune import PasslineTuneMain

OPTIONS = (
    *("-o", "--record", "--report", "--trace", "--remarks-output", "--crash-reproducer"),
    *("--generate-reproducer", "--local-reproducer"),
)
TEXT = "module {\n}\n" * 60
Tool = Callable[[list[str]], None]


def tool(cls: type[PasslineOptMain]) -> Tool:
    return lambda args: cls(args=args).run()


@pytest.mark.parametrize(
    ("command", "options"),
    [
        *((tool(PasslineOptMain), [option, "{}"]) for option in OPTIONS),
        (tool(PasslineOptMain), ["--out-dir=out", "--table", "{}.csv"]),
        (tool(PasslineRunMain), ["--outputs", "{}"]),
        (tool(PasslineCompileMain), ["-o", "{}.so"]),
        (tool(PasslineCompileMain), ["-o", "x.so", "--header", "{}.h"]),
        (tool(PasslineReduceMain), ["--test=true", "-o", "{}"]),
        (tool(PasslineTuneMain), ["--database", "{}"]),
        (report, ["-o", "{}"]),
    ],
)
def test_a_file_in_no_directory(
    command: Tool, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "no" / "such" / "x"
    given = [option.format(path) for option in options]
    result = capture(lambda: command(["missing.mlir", *given]))
    assert (result.status, result.stdout) == (1, "")
    message, note = result.stderr.splitlines()
    missing = f"there is no directory '{path.parent}'"
    assert message == f"error: '{given[-1]}': No such file or directory: {missing}"
    assert note.startswith("note: given by ") and given[-2] in note.split()[-1].split("/")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (tool(PasslineOptMain), ["--dump-ir", "{}"]),
        (tool(PasslineOptMain), ["--out-dir", "{}"]),
        (tool(PasslineBisectMain), ["-O1", "--save-test", "{}"]),
    ],
)
def test_a_directory_that_is_a_file(command: Tool, options: list[str], tmp_path: Path) -> None:
    (file := tmp_path / "x").write_text("")
    result = capture(lambda: command(["missing.mlir", *(o.format(file) for o in options)]))
    given = f"note: given by {options[-2].partition('=')[0]}\n"
    assert result.status == 1 and result.stderr == f"error: '{file}': File exists\n{given}"


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file can get more than 600 bytes, as on a disk that is almost full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems end the process")
@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize(
    "option", ["--record", "--trace", "--report", "--generate-reproducer", "--dump-ir"]
)
def test_no_file_is_cut_off(option: str, tmp_path: Path) -> None:
    result = passline_opt("-p", "fold-constant", f"{option}={tmp_path / 'x'}", stdin=TEXT)
    assert result.status == 1 and "File too large" in result.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
