"""The pass mlir-opt, and the search for the tool."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.suites.inprocess import passline_opt

from passline.passes.generic.mlir_opt import find_mlir_opt

FUNCTION = "func.func @f() {\n  func.return\n}\n"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, which is the whole PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("PASSLINE_MLIR_OPT", "XDSL_MLIR_OPT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def install(directory: Path, name: str) -> str:
    """Install a tool that reads its input, and prints its own name as that of a function."""
    path = directory / name
    function = name.replace("-", "_")
    path.write_text(f"""#!/bin/sh
while read line; do :; done
echo 'func.func private @{function}()'
""")
    path.chmod(0o755)
    return str(path)


def test_newest_is_found(tools: Path) -> None:
    assert find_mlir_opt() is None
    plain = install(tools, "mlir-opt")
    assert find_mlir_opt() == plain
    for version in ("19", "22", "20"):
        install(tools, f"mlir-opt-{version}")
    assert find_mlir_opt() == str(tools / "mlir-opt-22")


def test_environment_comes_first(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tools, "mlir-opt")
    monkeypatch.setenv("PASSLINE_MLIR_OPT", mine := install(tools, "mine"))
    assert find_mlir_opt() == mine
    monkeypatch.setenv("PASSLINE_MLIR_OPT", "nowhere")
    assert find_mlir_opt() is None


def test_pass_runs_the_newest_tool(tools: Path) -> None:
    install(tools, "mlir-opt-22")
    assert "@mlir_opt_22" in passline_opt("-p", "mlir-opt[cse]", stdin=FUNCTION).stdout


def test_option_of_the_pass_comes_first(tools: Path) -> None:
    install(tools, "mlir-opt-22")
    mine = install(tools, "mine")
    assert "@mine" in passline_opt("-p", f'mlir-opt{{executable="{mine}"}}', stdin=FUNCTION).stdout


def test_missing_tool(tools: Path) -> None:
    result = passline_opt("-p", "mlir-opt[cse]", stdin=FUNCTION)
    assert result.status == 1 and "'mlir-opt' is not installed" in result.stderr
    assert "XDSL_MLIR_OPT or PASSLINE_MLIR_OPT" in result.stderr
