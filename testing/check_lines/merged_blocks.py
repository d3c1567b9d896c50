"""The choice of a prefix for each block of CHECK lines, for a file with several RUN lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from .printed_blocks import BlockKey, CheckBlock

__all__ = ["ConflictingChecksError", "PrefixedBlock", "RunBlocks", "merge_blocks"]


class ConflictingChecksError(Exception):
    """The error for RUN lines that print different text and have no prefix of their own."""


@dataclass(frozen=True)
class RunBlocks:
    """The output of a RUN line, as blocks of CHECK lines, and the prefixes that it checks."""

    number: int
    line: int
    prefixes: tuple[str, ...]
    blocks: Mapping[BlockKey, CheckBlock]


@dataclass(frozen=True)
class PrefixedBlock:
    """A block of CHECK lines with the prefix under which it stands in the file."""

    prefix: str
    block: CheckBlock


def merge_blocks(runs: Sequence[RunBlocks]) -> list[tuple[PrefixedBlock, set[PrefixedBlock]]]:
    """Return the blocks to write, in an order that is right for each RUN line, each with those that
    must stand above it.

    A block that several RUN lines print alike is written once, under the first prefix that they all
    have and no other RUN line has. Errors: ConflictingChecksError.
    """
    above: dict[PrefixedBlock, set[PrefixedBlock]] = {}
    chosen: dict[tuple[int, BlockKey], PrefixedBlock] = {}
    for run in runs:
        for key in run.blocks:
            if (run.number, key) in chosen:
                continue
            block, group = _prefix_for(run, key, runs)
            above[block] = set()
            chosen |= {(other.number, key): block for other in group}
    for run in runs:
        order = [chosen[run.number, key] for key in run.blocks]
        for block, follower in pairwise(order):
            above[follower].add(block)
    try:
        return [(block, above[block]) for block in TopologicalSorter(above).static_order()]
    except CycleError:
        raise ConflictingChecksError(
            f"RUN lines of lines {_listed(runs)} print the same symbols in another order: "
            "give each a prefix of its own"
        ) from None


def _prefix_for(
    run: RunBlocks, key: BlockKey, runs: Sequence[RunBlocks]
) -> tuple[PrefixedBlock, list[RunBlocks]]:
    """Return a block of `run` with its prefix, and the RUN lines that it serves."""
    for prefix in run.prefixes:
        group = [other for other in runs if prefix in other.prefixes]
        if all(other.blocks.get(key) == run.blocks[key] for other in group):
            return PrefixedBlock(prefix, run.blocks[key]), group
    others = [other for other in runs if {*other.prefixes} & {*run.prefixes}]
    _, symbol, _ = key
    raise ConflictingChecksError(
        f"the RUN lines of lines {_listed(others)} print different text"
        f"{f' for @{symbol}' if symbol else ''}, and share the prefix {run.prefixes[-1]}: "
        "give each a prefix of its own (--check-prefix, --check-prefixes=COMMON,OWN)"
    )


def _listed(runs: Iterable[RunBlocks]) -> str:
    return ", ".join(str(run.line) for run in runs)
