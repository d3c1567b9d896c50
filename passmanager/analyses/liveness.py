"""Which values are needed where."""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region, SSAValue

from ..ir.walking import walk

__all__ = ["Liveness"]


class Liveness:
    """The values that are live at the start and at the end of every block below an op.

    A value is live where it is defined and some path leads to a use. A use in a nested region is
    also one of the op that holds the region. Source: `mlir::Liveness`.
    """

    def __init__(self, op: Operation) -> None:
        self._uses: dict[Block, set[SSAValue]] = {}
        self._live_in: dict[Block, set[SSAValue]] = {}
        self._live_out: dict[Block, set[SSAValue]] = {}
        holders = [nested for nested in walk(op) if nested.regions]
        for holder in reversed(holders):  # what is nested comes first
            for region in holder.regions:
                for block in region.blocks:
                    self._uses[block] = self._used_from_outside(block)
                self._solve(region)

    def live_in(self, block: Block) -> frozenset[SSAValue]:
        """The values defined outside of `block` that it or a block after it needs."""
        return frozenset(self._live_in[block])

    def live_out(self, block: Block) -> frozenset[SSAValue]:
        """The values that blocks after `block` need."""
        return frozenset(self._live_out[block])

    def is_dead_after(self, value: SSAValue, op: Operation) -> bool:
        """Whether nothing needs `value`, which is visible at `op`, once `op` is done."""
        block = op.parent
        assert block is not None
        if value in self._live_out[block]:
            return False
        users = {block.find_ancestor_op_in_block(use.operation) for use in value.uses}
        later = op.next_op
        while later is not None:
            if later in users:
                return False
            later = later.next_op
        return True

    def _used_from_outside(self, block: Block) -> set[SSAValue]:
        """The values defined outside of the block that ops in it, at any depth, use."""
        used: set[SSAValue] = set()
        defined: set[SSAValue] = set(block.args)
        for op in block.ops:
            used.update(op.operands)
            defined.update(op.results)
            for region in op.regions:
                for nested in region.blocks:
                    used |= self._uses[nested]
        return used - defined

    def _solve(self, region: Region) -> None:
        """Propagate what blocks need to the blocks before them until nothing is new."""
        predecessors: dict[Block, list[Block]] = {block: [] for block in region.blocks}
        for block in region.blocks:
            self._live_in[block] = set(self._uses[block])
            self._live_out[block] = set()
            for successor in block.last_op.successors if block.last_op is not None else ():
                predecessors[successor].append(block)
        pending = list(predecessors)
        while pending:
            block = pending.pop()
            for predecessor in predecessors[block]:
                new = self._live_in[block] - self._live_out[predecessor]
                if new:
                    self._live_out[predecessor] |= new
                    self._live_in[predecessor] |= {
                        v for v in new if not _is_defined_in(v, predecessor)
                    }
                    pending.append(predecessor)


def _is_defined_in(value: SSAValue, block: Block) -> bool:
    """Whether the value is an argument of the block or a result of an op directly in it."""
    owner = value.owner
    return owner is block or (isinstance(owner, Operation) and owner.parent is block)
