"""An iterative walk over IR: xDSL's own `walk` recurses, at the price of a frame per level for each
op.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

__all__ = ["walk"]


def walk(root: Operation) -> Iterator[Operation]:
    """Yield `root` and all ops nested in it in preorder; the IR must not change meanwhile."""
    yield root
    pending = _first_ops(root)
    while pending:
        op: Operation | None = pending.pop()
        while op is not None:
            yield op
            if op.regions:  # first the ops nested in it, then those after it
                if (rest := op.next_op) is not None:
                    pending.append(rest)
                pending += _first_ops(op)
                break
            op = op.next_op


def _first_ops(op: Operation) -> list[Operation]:
    """Return the first op of each block directly in `op`, last block first."""
    blocks = [block for region in op.regions for block in region.blocks]
    return [first for block in reversed(blocks) if (first := block.first_op) is not None]
