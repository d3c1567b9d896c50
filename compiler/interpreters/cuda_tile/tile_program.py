"""Entries that are ready to run: grids of tile blocks, in batches or one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from random import Random
from types import TracebackType
from typing import IO, Any, TypeAlias

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile.module_ops import EntryOp, PrintTkoOp
from ....dialects.cuda_tile.types import TileType
from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import place_of
from ....passmanager.ir.walk import walk
from .block_axis import Diverged
from .device_memory import DeviceMemory
from .launch_ops import Launch
from .race_check import RaceChecker
from .tile_translation import TileProgramError, Translation
from .tile_values import Compute

__all__ = ["TileProgram"]

Block: TypeAlias = tuple[int, int, int]

BATCH = 1 << 18
"""The elements of the largest tile of all blocks of a batch."""
MAX_SPLITS = 64
"""The splits of a launch after which blocks whose branches differ run one by one."""


@dataclass
class TileProgram:
    """An entry that is ready to run; it does not see later changes of the operation.

    Blocks run in batches, and one by one if accesses are checked or tiles are printed.
    """

    entry: EntryOp
    check: bool = False
    output: IO[str] | None = None
    memory: DeviceMemory = field(default_factory=DeviceMemory)

    def __post_init__(self) -> None:
        self.memory.checker = RaceChecker() if self.check else None
        translation = Translation(Launch(self.memory, self.output))
        translation.entry(self.entry)
        self._file, self._ops = f"<cuda_tile entry @{self.name}>", translation.ops
        exec(compile("\n".join(translation.lines), self._file, "exec"), translation.scope)
        self._launch: Compute = translation.scope["launch"]  # pyright: ignore[reportAttributeAccessIssue]
        prints = any(isinstance(op, PrintTkoOp) for op in walk(self.entry))
        self._batch = 1 if self.check or prints else max(1, BATCH // largest_tile(self.entry))

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.entry.sym_name.data

    def run(self, grid: Block, arguments: Sequence[Any], order: Random | None) -> None:
        """Run the blocks of a grid, in a shuffled order if there is a generator for it. The
        arguments are scalars of numpy, and addresses in the memory."""
        blocks = [(x, y, z) for z, y, x in product(*map(range, reversed(grid)))]
        if order is not None:
            order.shuffle(blocks)
        with np.errstate(all="ignore"):
            try:
                run_batch = self._launch(*map(np.int32, grid), *arguments)
            except Exception as error:
                raise self._error(error, "") from error
            size, self._splits = self._batch, 0
            batches = [blocks[i : i + size] for i in range(0, len(blocks), size)][::-1]
            while batches:
                batches += self._run_batch(run_batch, batches.pop())

    def _run_batch(self, run: Compute, batch: list[Block]) -> list[list[Block]]:
        """Run a batch of blocks. If they cannot run at once, restore the memory, and return the
        batches to run in its place; a failure is that of a single block."""
        memory, kept = self.memory, len(self.memory.buffers)
        memory.blocks = len(batch)
        if memory.checker is not None:
            memory.checker.enter(batch[0])
        try:
            run(*block_ids(batch))
        except Diverged as split:
            memory.undo()
            self._splits += 1
            if self._splits <= MAX_SPLITS:
                return [[batch[i] for i in group] for group in reversed(split.groups)]
        except Exception as error:
            if len(batch) == 1:
                raise self._error(error, f" in block {batch[0]}") from error
            memory.undo()
        else:
            return []
        finally:
            del memory.buffers[kept:]
            memory.overwritten.clear()
        return [[block] for block in reversed(batch)]

    def _error(self, error: Exception, place: str) -> TileProgramError:
        """Return the error that names the operation, the entry and the block."""
        op = self._operation(error.__traceback__)
        where = f"'{op.name}'{place_of(op)} " if op is not None else ""
        known = isinstance(error, InterpretationError | PasslineError)
        text = str(error) if known else f"{type(error).__name__}: {error}"
        return TileProgramError(f"{where}of @{self.name}{place} cannot be computed: {text}")

    def _operation(self, trace: TracebackType | None) -> Operation | None:
        """Return the operation of the innermost line of the program in a traceback."""
        found = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._file:
                found = self._ops[trace.tb_lineno - 1] or found
            trace = trace.tb_next
        return found


def block_ids(batch: Sequence[Block]) -> Iterator[Any]:
    """Yield the coordinates of blocks: one that is the same for all is a scalar."""
    for column in np.array(batch, np.int32).T:
        yield column[0] if (column == column[0]).all() else column


def largest_tile(entry: EntryOp) -> int:
    """Return the number of elements of the largest tile of an entry."""
    types = [value.type for op in walk(entry) for value in op.results]
    return max((prod(t.get_shape()) for t in types if isinstance(t, TileType)), default=1)
