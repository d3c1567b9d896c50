"""When allocations are used, and where they may be made instead."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import AnyFloatConstr, IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import IsTerminator

from ...dialects.tir.ops import ForKind, ForOp
from ...passmanager.ir.walk import walk
from .buffers import Allocation, Buffer, View, buffer_type, byte_size, uses_of
from .storage_plan import Lifetime, peak

__all__ = ["Numbers", "Stored", "lifetime", "number", "peak_bytes", "stored"]

Numbers = dict[Operation, int]
"""The operations of a function, numbered in order, each before those nested in it."""


@dataclass(eq=False)
class Stored:
    """An allocation and its uses, in order."""

    op: Allocation
    home: Block
    """The outermost block in which it may be made."""

    touches: list[Operation] = field(default_factory=list[Operation])
    """The operations that may read or write it."""

    steps: list[Operation] = field(default_factory=list[Operation])
    """For each touch the operation, in the block of the allocation, that it is or is in."""

    shapes: list[Operation] = field(default_factory=list[Operation])
    """The operations that ask for its shape."""

    views: list[View] = field(default_factory=list[View])

    escape: str = ""
    """Why it is not known when it is used; empty if it is."""

    @property
    def type(self) -> Buffer:
        """The type of the buffer."""
        return buffer_type(self.op.memref)


def number(root: Operation) -> Numbers:
    """Number `root` and the operations in it."""
    return {op: index for index, op in enumerate(walk(root))}


def stored(op: Allocation, numbers: Numbers) -> Stored:
    """An allocation and its uses, through views as well."""
    block = op.parent
    assert block is not None
    result = Stored(op, home_of(op))
    found: list[tuple[int, Operation, Operation]] = []
    for use in uses_of(op.memref):
        user = use.operation
        if isinstance(user, View) and use.index == 0:
            result.views.append(user)
        elif isinstance(user, memref.DimOp | memref.RankOp):
            result.shapes.append(user)
        elif (step := step_of(user, block)) is None:
            result.escape = "it is used in another block than it is made in"
        elif reason := escape_of(user, use.index):
            result.escape = reason
        else:
            found.append((numbers[user], user, step))
    for _, user, step in sorted(found, key=lambda touch: touch[0]):
        result.touches.append(user)
        result.steps.append(step)
    return result


def step_of(op: Operation, block: Block) -> Operation | None:
    """The operation of the block that `op` is or is in, None if it is in another."""
    at: Operation | None = op
    while at is not None and at.parent is not block:
        at = at.parent_op()
    return at


def escape_of(op: Operation, index: int) -> str:
    """Why the memory of an operand may be used through something else, later; empty if not."""
    match op:
        case memref.LoadOp() | vector.LoadOp() | memref.CopyOp():
            return ""
        case memref.StoreOp() if index == 0:
            return "it is stored in another buffer"
        case memref.DeallocOp():
            return "it is freed"
        case memref.ExtractAlignedPointerAsIndexOp():
            return "its address is taken"
        case _ if op.has_trait(IsTerminator):
            return f"'{op.name}' hands it on"
        case _:
            blocks = (block for region in op.regions for block in region.blocks)
            arguments = (type for block in blocks for type in block.arg_types)
            if all(map(_is_number, (*op.result_types, *arguments))):
                return ""
            return f"'{op.name}' hands it on"


def _is_number(type: Attribute) -> bool:
    return isinstance(type, IntegerType | IndexType | VectorType) or AnyFloatConstr.verifies(type)


def home_of(op: Allocation) -> Block:
    """The outermost block in which an allocation may be made: in the loop whose iterations run at
    once or that has a pragma, and where its sizes are known.
    """
    block = op.parent
    assert block is not None
    known = {
        value.owner if isinstance(value.owner, Block) else value.owner.parent
        for value in op.operands
    }
    while block not in known:
        parent = block.parent_op()
        if parent is None or parent.parent is None or not runs_in_order(parent):
            break
        block = parent.parent
    return block


def runs_in_order(op: Operation) -> bool:
    """Whether the operations in `op` run one after the other, on memory from outside as well."""
    if isinstance(op, ForOp):
        return op.for_kind not in (ForKind.PARALLEL, ForKind.THREAD_BINDING) and not any(
            name.startswith("pragma_") for name in op.attributes
        )
    return isinstance(op, scf.ForOp | scf.IfOp | scf.IndexSwitchOp | scf.WhileOp)


def lifetime(stored: Stored, numbers: Numbers) -> Lifetime:
    """From the first step that touches an allocation, to the last; a loop is one step."""
    size = byte_size(stored.type)
    first, last = numbers[stored.steps[0]], end_of(stored.steps[-1], numbers)
    return Lifetime(first, last, 1 if size is None else size)


def end_of(op: Operation, numbers: Numbers) -> int:
    """The number of the last operation in `op`."""
    at: Operation | None = op
    while at is not None:
        after = at.next_op
        if after is not None and after in numbers:
            return numbers[after] - 1
        at = at.parent_op()
    return len(numbers)


def peak_bytes(numbers: Numbers) -> int:
    """The most bytes that are allocated at once; each allocation lives until its block ends."""
    lifetimes: list[Lifetime] = []
    for op, made in numbers.items():
        if isinstance(op, Allocation) and (size := byte_size(buffer_type(op.memref))):
            parent = op.parent_op()
            assert parent is not None
            lifetimes.append(Lifetime(made, end_of(parent, numbers), size))
    return peak(lifetimes, alignment=1)
