"""Tile IR bytecode as input and output of the tools."""

from __future__ import annotations

from io import BytesIO, StringIO

import pytest
from xdsl.dialects.builtin import ModuleOp

from passline.dialects.cuda_tile.bytecode.tool_formats import (
    TileBytecodeFrontend,
    TileBytecodeTarget,
)
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import installed, make_ir_context

TEXT = "cuda_tile.module @kernels { entry @f() { return } }"


def module(text: str = TEXT) -> ModuleOp:
    return parse_module(make_ir_context(), text, "x")


def test_what_the_target_writes_is_read_by_the_frontend() -> None:
    content = TileBytecodeTarget(13.4).emit_bytes(make_ir_context(), module())
    assert content[8:10] == bytes((13, 4))
    read = TileBytecodeFrontend().parse(make_ir_context(), BytesIO(content), "x.tileirbc")
    assert read.is_structurally_equivalent(module())


def test_the_tools_know_them() -> None:
    assert installed().targets["tileirbc"]() is TileBytecodeTarget
    assert installed().frontends["tileirbc"]() is TileBytecodeFrontend


def test_the_target_takes_one_module_and_known_versions() -> None:
    ctx = make_ir_context()
    with pytest.raises(PasslineError, match="expected one cuda_tile.module in the module, got 0"):
        TileBytecodeTarget().emit_bytes(ctx, module(""))
    with pytest.raises(PasslineError, match="version 13.9 .* expected 13.1 to 13.5"):
        TileBytecodeTarget(13.9).emit_bytes(ctx, module())
    with pytest.raises(PasslineError, match="bytecode is no text"):
        TileBytecodeTarget().emit(ctx, module(), StringIO())
