from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.suites.inprocess import passline_opt
from support.tables import table_test

TEXT = """
func.func @f(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  func.return %y : i32
}
"""


def tool(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "passline.tools.opt", *args]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def test_bytecode_is_written_to_a_file_and_read_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_text(TEXT)
    out = str(tmp_path / "out.bin")
    done = passline_opt(str(tmp_path / "x.mlir"), "--emit-bytecode", "-o", out)
    assert (done.status, done.stdout) == (0, "")
    assert Path(out).read_bytes().startswith(b"ML\xefR")
    shown = passline_opt(out, "--print-debuginfo").stdout
    assert "arith.addi %0, %0 : i32" in shown
    assert f'loc("{tmp_path}/x.mlir":3:8)' in shown


def test_bytecode_goes_through_pipes() -> None:
    written = tool("--emit-bytecode", "--emit-bytecode-version=3", stdin=TEXT.encode())
    assert written.stdout.startswith(b"ML\xefR\x07")
    shown = tool("-p", "canonicalize", "--split-input-file", stdin=written.stdout)
    assert b"arith.addi" in shown.stdout
    assert not shown.stderr


def test_bytecode_that_is_cut_is_one_line(tmp_path: Path) -> None:
    written = tool("--emit-bytecode", stdin=TEXT.encode()).stdout
    file = tmp_path / "x.mlirbc"
    file.write_bytes(written[:80])
    done = passline_opt(str(file))
    assert f"error: '{file}' is not valid bytecode: at byte " in done.stderr
    assert done.stderr.count("\n") == 1


@table_test(
    ("options", "message"),
    [
        (("--emit-bytecode-version=7",), "the versions are 0 to 6"),
        (("--split-input-file",), "it excludes --split-input-file"),
        (("--target=wat",), "--emit-bytecode excludes --target=wat"),
    ],
)
def test_options_that_exclude_bytecode(options: tuple[str, ...], message: str) -> None:
    done = passline_opt("--emit-bytecode", *options, stdin=TEXT)
    assert message in done.stderr
    assert done.status == 2


def test_a_terminal_gets_no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    import argparse

    from passline.passmanager.errors import PasslineError
    from passline.tools.bytecode_output import check_bytecode_output

    args = argparse.Namespace(
        emit_bytecode_version=None,
        split_input_file=None,
        target="mlir",
        output_file=None,
        no_print=False,
    )
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    with pytest.raises(PasslineError, match="is not written to a terminal: -o FILE or a pipe"):
        check_bytecode_output(args)
