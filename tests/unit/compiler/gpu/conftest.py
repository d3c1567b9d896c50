"""Devices for tests, and a module that adds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.fake_cuda import FakeCuda
from support.gpu.cubins import cubin
from xdsl.dialects.builtin import ModuleOp

from passline import load
from passline.compiler.gpu.assemble import TILEIRAS

ADD = Path(__file__).with_name("add.mlir")


@pytest.fixture
def cuda(tmp_path: Path) -> FakeCuda:
    """A driver that runs the kernel `add`."""
    return FakeCuda(tmp_path)


@pytest.fixture
def assembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An assembler whose result is always `cubin()`, and no cache."""
    (code := tmp_path / "result").write_bytes(cubin())
    (tool := tmp_path / "tileiras").write_text(f'#!/bin/sh\nshift $(($# - 1)); cp {code} "$1"\n')
    tool.chmod(0o755)
    monkeypatch.setenv(TILEIRAS, str(tool))
    monkeypatch.setenv("PASSLINE_CACHE_SIZE", "0")
    return tool


@pytest.fixture
def add() -> Callable[[], ModuleOp]:
    """Make the module that adds an array three times: x + x + x."""
    return lambda: load(ADD)
