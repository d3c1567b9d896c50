"""The bufferization of loops that carry tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ....compiler.analysis.memory.storage_plan import source_of, users_of
from ....compiler.analysis.region_flow import forwarded
from ....dialects.relax.constant import FullOp
from ....dialects.relax.graph import MatchCastOp
from ....dialects.relax.interfaces import View
from ....dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ....dialects.relax.types import is_tensor
from .buffer_values import (
    ConstantGlobals,
    Storage,
    TensorBuffer,
    has_unknown_sizes,
    leaf_types,
    leaf_values,
    leaves_of,
    nested,
    root_of,
)
from .operation_bufferizer import OperationBufferizer


class Move(NamedTuple):
    """A tensor that an iteration yields, and the buffer from which the next one reads it."""

    value: TensorBuffer
    home: TensorBuffer


class LoopBufferizer(OperationBufferizer):
    """A bufferizer of functions with `scf.while` and `scf.for`.

    Each tensor that a loop carries has a buffer, its home, which holds the value at the start of an
    iteration, and after the last one the result. What an iteration yields is computed in the home
    if the old value is not read from there on, and otherwise in another buffer, from which it is
    copied at the end of the iteration. Scalars stay carried.

    A tensor of unknown size has no home: each iteration takes over an allocation with the value,
    and frees it, unless it gives it to the next one.

    The regions of a loop follow each other in time; a buffer from outside that is used in a loop is
    live until its end.
    """

    def __init__(self, source: FuncOp, symbols: ConstantGlobals) -> None:
        super().__init__(source, symbols)
        self.carried: dict[Storage, Block] = {}
        """The homes whose old values are read in one block only, which may overwrite them."""

    def convert(self, op: Operation) -> None:
        match op:
            case WhileOp():
                self.convert_while(op)
            case ForOp():
                self.convert_for(op)
            case _:
                super().convert(op)

    def owns(self, storage: Storage) -> bool:
        return super().owns(storage) or self.carried.get(root_of(storage)) is self.blocks[-1]

    def convert_while(self, op: WhileOp) -> None:
        """Convert an `scf.while`.

        What the first region passes on unchanged stays in its home; other tensors get a buffer that
        each iteration fills.
        """
        start = self.time
        initial, homes = self.initial_values(op)
        results = [self.new_buffer(type) for type in leaves_of(op.result_types) if has_home(type)]
        before = Block(arg_types=types_of(initial))
        forwarded: set[Storage] = set()
        with self.inside(before):
            self.enter(op.before_region.block.args, before.args, homes)
            condition, *passed = self.convert_ops(op.before_region.block)
            self.time += 1
            carried, buffers = self.separated(passed)
            targets = {home.storage for home in homes}
            for number, value in enumerate(buffers):
                if value.storage in targets - forwarded:
                    results[number] = TensorBuffer(value.storage, results[number].type)
                    forwarded.add(value.storage)
                else:
                    self.deliver(value, results[number])
            before.add_op(ConditionOp(self.scalar(condition), *carried))
        after = Block(arg_types=types_of(carried))
        with self.inside(after):
            self.enter(op.after_region.block.args, after.args, results)
            self.carried |= dict.fromkeys(forwarded, after)
            after.add_op(YieldOp(*self.advance(self.convert_ops(op.after_region.block), homes)))
        new = WhileOp(initial, types_of(carried), Region(before), Region(after))
        self.leave(op, new, homes, results, start)

    def convert_for(self, op: ForOp) -> None:
        """Convert an `scf.for`."""
        start = self.time
        initial, homes = self.initial_values(op)
        first, end, step = (self.scalar(bound) for bound in (op.lb, op.ub, op.step))
        body = Block(arg_types=[op.body.block.args[0].type, *types_of(initial)])
        with self.inside(body):
            self.values[op.body.block.args[0]] = body.args[0]
            body.args[0].name_hint = op.body.block.args[0].name_hint
            self.enter(op.body.block.args[1:], body.args[1:], homes)
            self.carried |= dict.fromkeys((home.storage for home in homes), body)
            body.add_op(YieldOp(*self.advance(self.convert_ops(op.body.block), homes)))
        self.leave(op, ForOp(first, end, step, initial, Region(body)), homes, homes, start)

    # The values of a loop

    def initial_values(self, op: WhileOp | ForOp) -> tuple[list[SSAValue], list[TensorBuffer]]:
        """Put the initial values of a loop into new homes; return the values that have no home, and
        the homes of the others."""
        homes: list[TensorBuffer] = []
        carried: list[SSAValue] = []
        for operand in op.operands[forwarded(op)[0] :]:
            is_last = is_only_use(op, operand)
            for type, value in self.leaves(operand):
                if not isinstance(value, TensorBuffer):
                    carried.append(value)
                elif not has_home(type):
                    carried.append(self.own(value if is_last else self.saved(value)))
                else:
                    homes.append(home := self.new_buffer(type))
                    home.storage.hint = value.storage.hint
                    if is_last and not root_of(value.storage).has_parts:
                        self.deliver(value, home)
                    else:
                        self.copy(value, home)
        return carried, homes

    def enter(
        self,
        arguments: Sequence[SSAValue],
        new: Sequence[BlockArgument],
        homes: Sequence[TensorBuffer],
    ) -> None:
        """Let the arguments of a region be homes, and new arguments."""
        carried, buffers = iter(new), iter(homes)
        for argument in arguments:
            leaves = [
                next(buffers) if has_home(type) else self.received(next(carried))
                for type in leaf_types(argument.type)
            ]
            self.values[argument] = value = nested(argument.type, iter(leaves))
            if isinstance(value, SSAValue):
                value.name_hint = argument.name_hint

    def advance(self, ends: Sequence[SSAValue], homes: Sequence[TensorBuffer]) -> list[SSAValue]:
        """Bring what an iteration yields into the homes; return the values that have none."""
        self.time += 1
        carried, buffers = self.separated(ends)
        moves = [Move(*pair) for pair in zip(buffers, homes, strict=True)]
        moves = [m for m in moves if m.value.storage is not m.home.storage]
        read = {root_of(move.value.storage) for move in moves}
        rest = [m for m in moves if root_of(m.home.storage) in read or not self.in_place(m)]
        while rest:
            reads = [root_of(value.storage) for value, _ in rest]
            free = (m for m in rest if root_of(m.home.storage) not in reads)
            if (move := next(free, None)) is not None:
                self.copy(*move)
                rest.remove(move)
            else:  # they exchange their homes
                rest[0] = Move(self.saved(rest[0].value), rest[0].home)
        return carried

    def in_place(self, move: Move) -> bool:
        """Let the value be computed in its home, if it is computed in this block after the last
        read of the old value; return whether it is."""
        value, home = move
        source = root_of(value.storage)
        if source.block is not self.blocks[-1]:
            return False
        self.touch(source)
        if not self.is_whole(value, home) or home.storage.last >= source.first:
            return False
        self.join(source, home.storage)
        return True

    def saved(self, value: TensorBuffer) -> TensorBuffer:
        """Return a copy of a tensor."""
        copy = self.like(value)
        self.copy(value, copy)
        return copy

    def leave(
        self,
        op: WhileOp | ForOp,
        new: WhileOp | ForOp,
        homes: Sequence[TensorBuffer],
        results: Sequence[TensorBuffer],
        start: int,
    ) -> None:
        """Add the converted loop, which began at the time `start`, and define its results."""
        self.time += 1
        for home in homes:
            self.touch(home.storage)
            self.carried.pop(home.storage, None)
        for storage in self.arena.computed:
            if storage.joined is None and 0 <= storage.first <= start < storage.last:
                storage.last = self.time
        new.attributes |= op.attributes
        self.add(new, op)
        carried, buffers = iter(new.results), iter(results)
        leaves = [
            next(buffers) if has_home(type) else self.received(next(carried))
            for type in leaves_of(op.result_types)
        ]
        self.define(op, iter(leaves))

    def separated(self, values: Sequence[SSAValue]) -> tuple[list[SSAValue], list[TensorBuffer]]:
        """Return the leaves of converted values that have no home, tensors among them as memrefs
        that this block gives away; and the tensors that have one."""
        carried: list[SSAValue] = []
        buffers: list[TensorBuffer] = []
        for type, leaf in (pair for value in values for pair in self.leaves(value)):
            if not isinstance(leaf, TensorBuffer):
                carried.append(leaf)
            elif has_home(type):
                buffers.append(leaf)
            else:
                carried.append(self.own(leaf))
        return carried, buffers

    def leaves(self, value: SSAValue) -> Iterator[tuple[Attribute, TensorBuffer | SSAValue]]:
        """Yield the types and the converted values of the leaves of a value."""
        yield from zip(leaf_types(value.type), leaf_values(self.values[value]), strict=True)


def is_only_use(loop: Operation, operand: SSAValue) -> bool:
    """Return whether a loop may overwrite its operand: it has memory of its own, and nothing else
    uses it or a view of it."""
    source = source_of(operand)
    makers = CallTIROp | CallTIRInplaceOp | CallOp | FullOp | IfOp | WhileOp | ForOp
    if not isinstance(source.owner, makers) or source.owner.parent is not loop.parent:
        return False
    others = [user for user in users_of(source) if not isinstance(user, View | MatchCastOp)]
    return others == [loop]


def has_home(type: Attribute) -> bool:
    """Return whether a loop carries a value of `type` in a buffer: a tensor of known size."""
    return is_tensor(type) and not has_unknown_sizes(type)


def types_of(values: Sequence[SSAValue]) -> list[Attribute]:
    return [value.type for value in values]
