"""The frontend and the target `tileirbc` of tools: files of Tile IR bytecode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.utils.target import Target

from ....passmanager.errors import PasslineError
from ....passmanager.releases.targets import Frontend
from ..module_ops import ModuleOp
from .tile_reader import read_tile_bytecode
from .tile_writer import write_tile_bytecode


@dataclass(frozen=True)
class TileBytecodeFrontend(Frontend):
    """The reader of Tile IR bytecode: a module with one `cuda_tile.module @kernels`."""

    name = "tileirbc"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> builtin.ModuleOp:
        """Return the module; BytecodeError with the place in bytes."""
        return builtin.ModuleOp([read_tile_bytecode(input.read(), input_name)])


@dataclass(frozen=True)
class TileBytecodeTarget(Target):
    """Tile IR bytecode of the one `cuda_tile.module` of a module."""

    name = "tileirbc"

    version: float = 13.3
    """The version of the format, 13.1 to 13.5."""

    def emit_bytes(self, ctx: Context, module: builtin.ModuleOp) -> bytes:
        """Return the bytecode; PasslineError if there is not one `cuda_tile.module`."""
        found = [op for op in module.body.ops if isinstance(op, ModuleOp)]
        if len(found) != 1:
            raise PasslineError(
                f"target tileirbc: expected one cuda_tile.module in the module, got {len(found)}"
            )
        major, _, minor = str(float(self.version)).partition(".")
        return write_tile_bytecode(found[0], (int(major), int(minor)))

    def emit(self, ctx: Context, module: builtin.ModuleOp, output: IO[str]) -> None:
        """Write the bytecode to the bytes below a text stream."""
        content = self.emit_bytes(ctx, module)
        if (buffer := getattr(output, "buffer", None)) is None:
            raise PasslineError("target tileirbc: bytecode is no text; -o FILE takes it")
        buffer.write(content)
