"""Fixtures: a caller's variables, scripts, and the warm tools of a suite."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers import Tool

from passline.tools.server.warm_tools import WarmTools


@pytest.fixture(autouse=True)
def on_linux() -> None:
    """Skip where there are no servers."""
    if sys.platform != "linux":
        pytest.skip("tools run warm on Linux alone")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the variables of a caller, with a folder for packages and one for sockets."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "runtime").mkdir(mode=0o700)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    folders = {"PYTHONPATH": tmp_path / "packages", "XDG_RUNTIME_DIR": tmp_path / "runtime"}
    return {**ours, **{name: str(folder) for name, folder in folders.items()}}


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    def write(code: str, name: str = "tool") -> str:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\n{code}\n")
        path.chmod(0o755)
        return str(path)

    return write


@pytest.fixture
def tools(environment: dict[str, str]) -> Iterator[WarmTools]:
    """Yield the warm tools of a suite."""
    tools = WarmTools(environment)
    yield tools
    tools.close()
