"""Uses of allocations: their live ranges, and the blocks to which they can be hoisted.

Live ranges are counted in statements. A statement is an operation in the block of the allocation; a
loop with all that is nested in it is one statement, since its iterations repeat.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import AnyFloatConstr, IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import IsTerminator

from ....dialects.tir.ops import ForKind, ForOp
from ....passes.generic.purity import Allocation, View
from ....passmanager.ir.walk import ancestors, walk
from .buffers import Buffer, buffer_type, byte_size, uses_of
from .storage_plan import LiveRange, peak_size

OpNumbers: TypeAlias = dict[Operation, int]
"""The operations of a function, numbered in pre-order: each before those nested in it."""


@dataclass(eq=False)
class AllocationUses:
    """An allocation and its uses, also through views, in program order."""

    op: Allocation

    outermost_block: Block
    """The outermost block to which the allocation can be hoisted."""

    accesses: list[Operation] = field(default_factory=list[Operation])
    """The operations that may read or write the buffer."""

    statements: list[Operation] = field(default_factory=list[Operation])
    """For each access its ancestor in the block of the allocation, or the access itself."""

    shape_queries: list[Operation] = field(default_factory=list[Operation])
    """The operations that read the shape of the buffer only."""

    views: list[View] = field(default_factory=list[View])

    escape: str = ""
    """The reason why there may be unknown uses; empty if all uses are known."""

    @property
    def type(self) -> Buffer:
        """The type of the buffer."""
        return buffer_type(self.op.memref)


def number_ops(root: Operation) -> OpNumbers:
    """Number `root` and the operations nested in it in pre-order, from 0."""
    return {op: index for index, op in enumerate(walk(root))}


def find_uses(op: Allocation, numbers: OpNumbers) -> AllocationUses:
    """Collect the uses of the allocation `op`; `numbers` are those of its function."""
    block = op.parent
    assert block is not None
    result = AllocationUses(op, find_outermost_block(op))
    found: list[tuple[int, Operation, Operation]] = []
    for use in uses_of(op.memref):
        user = use.operation
        if isinstance(user, View) and use.index == 0:
            result.views.append(user)
        elif isinstance(user, memref.DimOp | memref.RankOp):
            result.shape_queries.append(user)
        elif (statement := block.find_ancestor_op_in_block(user)) is None:
            # In a function of several blocks.
            result.escape = "it is used outside of its block"
        elif reason := escape_reason(user, use.index):
            result.escape = reason
        else:
            found.append((numbers[user], user, statement))
    for _, user, statement in sorted(found, key=lambda access: access[0]):
        result.accesses.append(user)
        result.statements.append(statement)
    return result


def escape_reason(op: Operation, index: int) -> str:
    """Return why the buffer that is operand `index` of `op` escapes, or "" if it does not.

    It escapes if its memory may be used through another value, or after `op`.
    """
    match op:
        case memref.LoadOp() | vector.LoadOp() | memref.CopyOp():
            return ""
        # A buffer whose elements are buffers.
        case memref.StoreOp() if index == 0:
            return "it is stored in another buffer"
        case memref.DeallocOp():
            return "it is freed"
        case memref.ExtractAlignedPointerAsIndexOp():
            return "its address is taken"
        case _ if op.has_trait(IsTerminator, value_if_unregistered=True):
            return f"'{op.name}' passes it on"
        case _:
            # An unknown operation can only pass a buffer on by a result that is not a number.
            blocks = (block for region in op.regions for block in region.blocks)
            arguments = (type for block in blocks for type in block.arg_types)
            if all(map(_is_number, (*op.result_types, *arguments))):
                return ""
            return f"'{op.name}' passes it on"


def _is_number(type: Attribute) -> bool:
    return isinstance(type, IntegerType | IndexType | VectorType) or AnyFloatConstr.verifies(type)


def find_outermost_block(op: Allocation) -> Block:
    """Return the outermost block to which the allocation `op` can be hoisted.

    It stays where its sizes are defined, and within a parallel loop, a loop over threads, and a
    loop with a pragma.
    """
    block = op.parent
    assert block is not None
    defining_blocks = {
        value.owner if isinstance(value.owner, Block) else value.owner.parent
        for value in op.operands
    }
    # From the inside out, up to the block that computes a size.
    while block not in defining_blocks:
        parent = block.parent_op()
        if parent is None or parent.parent is None or not runs_sequentially(parent):
            break
        block = parent.parent
    return block


def runs_sequentially(op: Operation) -> bool:
    """Return whether the regions of `op` run one at a time, so that they can share a buffer."""
    if isinstance(op, ForOp):
        return op.for_kind not in (ForKind.PARALLEL, ForKind.THREAD_BINDING) and not any(
            name.startswith("pragma_") for name in op.attributes
        )
    return isinstance(op, scf.ForOp | scf.IfOp | scf.IndexSwitchOp | scf.WhileOp)


def live_range(uses: AllocationUses, numbers: OpNumbers) -> LiveRange:
    """Return the range from the first statement that accesses an allocation to the last.

    The size is in bytes, or 1 if it is not known.
    """
    size = byte_size(uses.type)
    first, last = numbers[uses.statements[0]], last_number_in(uses.statements[-1], numbers)
    return LiveRange(first, last, 1 if size is None else size)


def last_number_in(op: Operation, numbers: OpNumbers) -> int:
    """Return the number of the last operation nested in `op`."""
    for ancestor in ancestors(op):
        # All numbers up to the next operation are nested in `op`: the numbers are in pre-order.
        following = ancestor.next_op
        if following is not None and following in numbers:
            return numbers[following] - 1
    return len(numbers)


def peak_bytes(numbers: OpNumbers) -> int:
    """Return the most bytes that are allocated at once.

    Each allocation lives until its block ends; those of unknown size count as empty.
    """
    ranges: list[LiveRange] = []
    for op, first in numbers.items():
        if isinstance(op, Allocation) and (size := byte_size(buffer_type(op.memref))):
            parent = op.parent_op()
            assert parent is not None
            ranges.append(LiveRange(first, last_number_in(parent, numbers), size))
    return peak_size(ranges, alignment=1)
