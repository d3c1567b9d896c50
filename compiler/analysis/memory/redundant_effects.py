"""Redundant stores, and loops that never run."""

from __future__ import annotations

from xdsl.dialects import memref, vector
from xdsl.dialects.scf import IfOp
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.tir.ops import ForOp
from ..arith.analyzer import Analyzer
from .effects import Effects, Epochs, Memory, Stamp, has_nested_effects

__all__ = ["RedundantEffects"]


class RedundantEffects:
    """Redundant stores of a function, and loops that never run; found in one walk over it."""

    def __init__(self, memory: Memory) -> None:
        self.loops: set[Operation] = set()
        """Loops without iterations, by their bounds and the conditions around them."""
        self.stores: set[Operation] = set()
        """Stores of a value that was loaded from the same place, and copies of a buffer to itself.

        Nothing wrote the memory between the load and the store.
        """
        self._memory = memory
        self._epochs = Epochs(memory)
        self._analyzer = Analyzer()
        self._loaded: dict[SSAValue, Stamp] = {}
        """Loaded values, with the stamp of their memory at the load."""
        self._visit_block(memory.func.body.block)

    def _visit_block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, ForOp):
                # Within `if n < 1`, which was assumed before, a loop of extent n never runs.
                high = self._analyzer.bounds(op.extent).high
                if high is not None and high <= 0:
                    self.loops.add(op)
                    continue
            effects = self._memory.of(op)
            if op.regions:
                if has_nested_effects(op):
                    self._visit_regions(op, effects)
            elif isinstance(op, memref.LoadOp | vector.LoadOp):
                # The value, not the place, is the key: `store (load b[i]), b[i]` is found, a second
                # store of an equal value that was computed anew is not.
                for root in effects.reads:
                    self._loaded[op.results[0]] = self._epochs.stamp(root)
            elif self._is_redundant(op, effects):
                self.stores.add(op)
                continue
            self._epochs.change(effects.writes, effects.is_opaque)

    def _visit_regions(self, op: Operation, effects: Effects) -> None:
        for index, region in enumerate(op.regions):
            for block in region.blocks:
                with self._epochs.scope(), self._analyzer.scope():
                    if isinstance(op, IfOp):
                        self._analyzer.assume(op.cond, index == 0)
                    else:  # an iteration runs after others: they may have written
                        self._epochs.change(effects.writes, effects.is_opaque)
                    if isinstance(op, ForOp):
                        with self._analyzer.inside(op):
                            self._visit_block(block)
                    else:
                        self._visit_block(block)

    def _is_redundant(self, op: Operation, effects: Effects) -> bool:
        """Return whether an operation stores the value that is in memory already."""
        if isinstance(op, memref.CopyOp):
            return op.source is op.destination
        if not isinstance(op, memref.StoreOp | vector.StoreOp):
            return False
        value, buffer, *indices = op.operands
        load = value.owner
        if not isinstance(load, memref.LoadOp | vector.LoadOp):
            return False
        source, *places = load.operands
        if effects.is_opaque or source is not buffer or places != indices:
            return False
        (root,) = effects.writes
        # Loads before a loop that writes the root do not count (`_visit_regions`).
        return self._loaded.get(value) == self._epochs.stamp(root)
