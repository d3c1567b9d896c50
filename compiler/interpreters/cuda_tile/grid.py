"""Launches of entries on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import IO, Any, cast

import numpy as np
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile.module_ops import EntryOp
from ....dialects.cuda_tile.types import PointerType, TileType
from .device_memory import DeviceMemory
from .race_check import RaceChecker
from .tile_program import TileProgram
from .tile_translation import TileProgramError
from .tile_values import Array, device_size, tile_dtype

__all__ = ["launch", "run_entry"]

MAX_FINDINGS = 10
"""The findings that an error lists."""


def run_entry(
    entry: EntryOp,
    grid: tuple[int, int, int],
    arguments: Sequence[Any],
    *,
    order: Random | None = None,
    check: bool = False,
    output: IO[str] | None = None,
) -> list[str]:
    """Run an entry on a grid of tile blocks, one by one; return the warnings of the check.

    A pointer parameter takes an array, which is changed in place, or a pair of an array and the
    index of the element that it points to; others take numbers. `order` shuffles the blocks. Raises
    TileProgramError if an operation cannot be computed, and with `check` if memory accesses are not
    ordered, or an index or assumption is wrong. What the entry prints is written to `output`.
    """
    return launch(TileProgram(entry, check, output), grid, arguments, order)


def launch(
    program: TileProgram,
    grid: tuple[int, int, int],
    arguments: Sequence[Any],
    order: Random | None = None,
) -> list[str]:
    """Run a program as `run_entry` does; it may run many times."""
    types = program.entry.function_type.inputs.data
    if len(types) != len(arguments):
        raise TileProgramError(f"@{program.name} has {len(types)} parameters, not {len(arguments)}")
    memory = program.memory
    memory.buffers.clear()
    if memory.checker is not None:
        memory.checker = RaceChecker()
    pairs = enumerate(zip(types, arguments, strict=True))
    values = [bound(memory, f"argument {i}", type, value) for i, (type, value) in pairs]
    program.run(grid, values, order)
    return findings(memory.checker, program.name)


def findings(checker: RaceChecker | None, name: str) -> list[str]:
    """Return the warnings of a check; TileProgramError if it found errors."""
    if checker is None:
        return []
    if errors := [f"{text} (@{name})" for text in checker.errors.values()]:
        more = len(errors) - MAX_FINDINGS
        rest = [f"and {more} more"] if more > 0 else []
        raise TileProgramError("\n".join((*errors[:MAX_FINDINGS], *rest)))
    return [f"{text} (@{name})" for text in checker.warnings]


def bound(memory: DeviceMemory, name: str, type: Attribute, value: Any) -> np.generic:
    """Return an argument as the program takes it: a scalar, or the address of a buffer."""
    element = cast(TileType, type).element_type
    if not isinstance(element, PointerType):
        return tile_dtype(element).type(value)
    data, offset = cast("tuple[Array, int]", value if isinstance(value, tuple) else (value, 0))
    pointee = element.pointee_type
    data = flat_buffer(data, pointee, name)
    return memory.add(name, pointee, data) + np.int64(offset * device_size(pointee))


def flat_buffer(array: Array, element: Attribute, name: str) -> Array:
    """Return all elements of an array in their order in memory, with the dtype of an element type:
    booleans and unsigned integers as signed ones of the same size."""
    wanted = tile_dtype(element)
    if not array.flags.c_contiguous:
        raise InterpretationError(f"{name} is not contiguous")
    same_bits = array.dtype.kind in "iub" and wanted.kind in "iub"
    if array.dtype != wanted and not (same_bits and array.itemsize == wanted.itemsize):
        raise TileProgramError(f"{name} is of {array.dtype}, not of {wanted}, for {element}")
    return array.reshape(-1).view(wanted)
