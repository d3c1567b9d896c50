"""Finding MLIR's tools, and the errors if one is missing, fails or is too old."""

from __future__ import annotations

from pathlib import Path

import pytest

from passline.passmanager.errors import PasslineError
from passline.tools.native.toolchain import Tools, find_tools


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a temporary directory, the only one on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PASSLINE_MLIR_OPT", raising=False)
    monkeypatch.delenv("PASSLINE_MLIR_TRANSLATE", raising=False)
    return tmp_path


def tool(path: Path, name: str, text: str = "exit 0") -> str:
    (file := path / name).write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def test_the_newest_on_the_path(path: Path):
    for name in ("mlir-opt", "mlir-translate", "mlir-opt-19", "mlir-translate-19"):
        tool(path, name)
    assert find_tools() == Tools(f"{path}/mlir-opt-19", f"{path}/mlir-translate-19")
    newest = Tools(tool(path, "mlir-opt-22"), tool(path, "mlir-translate-22"))
    assert find_tools() == newest


def test_no_number(path: Path):
    assert find_tools_with(path, "mlir-opt", "mlir-translate") == find_tools()


def find_tools_with(path: Path, opt: str, translate: str) -> Tools:
    return Tools(tool(path, opt), tool(path, translate))


def test_what_the_environment_names(path: Path, monkeypatch: pytest.MonkeyPatch):
    tools = find_tools_with(path, "my-mlir-opt", "my-mlir-translate")
    tool(path, "mlir-opt-22")
    monkeypatch.setenv("PASSLINE_MLIR_OPT", tools.mlir_opt)
    assert find_tools() == tools
    other = tool(path, "translate")
    monkeypatch.setenv("PASSLINE_MLIR_TRANSLATE", other)
    assert find_tools() == Tools(tools.mlir_opt, other)


def test_what_to_install(path: Path, monkeypatch: pytest.MonkeyPatch):
    install = (
        r"install MLIR's tools \(Debian: mlir-22-tools\), or name mlir-opt in PASSLINE_MLIR_OPT"
    )
    with pytest.raises(PasslineError, match=f"there is no executable 'mlir-opt': {install}"):
        find_tools()
    opt = tool(path, "mlir-opt")
    with pytest.raises(PasslineError, match=f"no mlir-translate beside '{opt}': {install}"):
        find_tools()
    monkeypatch.setenv("PASSLINE_MLIR_OPT", "nowhere")
    with pytest.raises(PasslineError, match="there is no executable 'nowhere'"):
        find_tools()
    monkeypatch.setenv("PASSLINE_MLIR_OPT", opt)
    monkeypatch.setenv("PASSLINE_MLIR_TRANSLATE", "nowhere")
    with pytest.raises(PasslineError, match="there is no executable 'nowhere'"):
        find_tools()


def test_a_tool_that_fails(path: Path):
    fails, works = tool(path, "a", "echo wrong >&2; exit 1"), tool(path, "b", "echo text")
    with pytest.raises(PasslineError, match=f"{fails} failed with status 1:\nwrong"):
        Tools(fails, works).llvm_ir("", [])
    with pytest.raises(PasslineError, match=f"{fails} failed with status 1:\nwrong"):
        Tools(works, fails).llvm_ir("", [])
    assert Tools(works, works).llvm_ir("", []) == "text\n"


def test_a_tool_that_says_nothing(path: Path):
    fails, works = tool(path, "a", "exit 1"), tool(path, "b")
    with pytest.raises(PasslineError, match=f"{fails} failed with status 1:\nno error message$"):
        Tools(fails, works).llvm_ir("", [])
    with pytest.raises(
        PasslineError, match=f"'{works}' printed nothing, so it is not one of MLIR's"
    ):
        Tools(works, works).llvm_ir("", [])


def test_a_tool_that_is_too_old(path: Path):
    text = (
        'test "$1" = --version && echo "  Debian LLVM version {}.0.6" || {{ echo no >&2; exit 1; }}'
    )
    old, new = tool(path, "a", text.format(14)), tool(path, "b", text.format(19))
    with pytest.raises(
        PasslineError, match="no\nit belongs to LLVM 14, expected 19 or newer: install"
    ):
        Tools(old, new).llvm_ir("", [])
    with pytest.raises(PasslineError, match="failed with status 1:\nno$"):
        Tools(new, old).llvm_ir("", [])


def test_a_tool_that_cannot_be_run(path: Path):
    (broken := path / "broken").write_text("not a program")
    with pytest.raises(PasslineError, match="cannot be run: Permission denied; install MLIR's"):
        Tools(str(broken), "").llvm_ir("", [])
