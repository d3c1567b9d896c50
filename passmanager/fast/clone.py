# pyright: reportPrivateUsage=false
"""Copies of whole modules and functions, in a fraction of the time of xDSL's `Operation.clone`.

Objects are created without their constructors, and linked field by field: the constructors check
what is true of every copy. Fields with their default value are left out, as the class has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.ir.core import SSAValues

from ..ir.garbage_collection import paused_collector
from ..ir.walk import walk
from ..limits import deep_recursion
from .acceleration import choose
from .creation import is_plain, set_operands
from .interface import Cloner

OpT = TypeVar("OpT", bound=Operation)


def _keep_details(op: Operation, copy: Operation) -> None:
    """Restore what xDSL's copy loses: the name hints of blocks, and the absence of properties that
    have a default.
    """
    for old, new in zip(walk(op), walk(copy)):
        if is_plain[type(old)]:
            for name in new.properties.keys() - old.properties.keys():
                del new.properties[name]
        for region, other in zip(old.regions, new.regions):
            for block, copied in zip(region.blocks, other.blocks):
                copied.name_hint = block.name_hint


Fields: TypeAlias = tuple[
    tuple[SSAValue, ...],
    tuple[OpResult, ...],
    dict[str, Attribute],
    dict[str, Attribute],
    tuple[Block, ...],
    LocationAttr,
]
_read_fields: Callable[[Operation], Fields] = attrgetter(
    "_operands", "results", "properties", "attributes", "_successors", "location"
)


class _Cloner:
    """A copy in the making: of ops in preorder, so that a value is mostly copied before its uses.

    Operands are connected at once up to the first op that uses a value not copied yet, and from
    there on at the end. As in xDSL's copies, the uses of a value are in reverse preorder.

    With `values` their keys are replaced by their values, and a value that was not copied before it
    is used is one from outside.
    """

    def __init__(self, values: Mapping[SSAValue, SSAValue] | None = None) -> None:
        self._is_in_order = values is not None
        # by id, as xDSL's hash of a value is slow
        self._values = {id(value): new for value, new in (values or {}).items()}
        self._blocks: dict[Block, Block] = {}
        self._unconnected: list[tuple[Operation, tuple[SSAValue, ...]]] = []
        """Copied ops, with the operands of their originals."""
        self._branches: list[tuple[Operation, tuple[Block, ...]]] = []
        """Copied ops, with the successors of their originals."""
        self._pending: list[tuple[Operation, Block]] = []
        """A stack of ops; each is copied, with those after it, to the end of a new block."""

    def clone(self, root: Operation) -> Operation:
        copy = self._copy_op(root)
        self._copy_regions(root, copy)
        while self._pending:
            self._copy_ops(*self._pending.pop())
        # A value of no copy comes from outside of the root, and is used by the copy as well.
        for op, operands in self._unconnected:
            op.operands = [self._values.get(id(operand), operand) for operand in operands]
        for op, successors in self._branches:
            op.successors = [self._blocks.get(block, block) for block in successors]
        return copy

    def copy_of(self, value: SSAValue) -> SSAValue:
        """Return the copy of a value."""
        return self._values[id(value)]

    def _copy_ops(self, op: Operation | None, block: Block) -> None:
        """Copy `op` and those after it to the end of `block`, up to an op with regions to enter."""
        # Not None if the block is continued after an op with regions.
        last = block._last_op
        while op is not None:
            copy = self._copy_op(op)
            copy.parent = block
            if last is None:
                block._first_op = copy
            else:
                last._next_op = copy
                copy._prev_op = last
            last = copy
            next_op = op._next_op
            if op.regions and is_plain[type(op)]:
                if next_op is not None:
                    self._pending.append((next_op, block))
                self._copy_regions(op, copy)
                break
            op = next_op
        block._last_op = last

    def _copy_op(self, op: Operation) -> Operation:
        """Copy an op without its successors and regions, and connect its operands if possible."""
        if not is_plain[op_class := type(op)]:
            return self._copy_by_class(op)
        copy = object.__new__(op_class)
        operands, results, properties, attributes, successors, copy.location = _read_fields(op)
        copy.properties = properties.copy()
        copy.attributes = attributes.copy()
        if results:
            copy.results = self._copy_results(results, copy)
        # Once one op waits, all after it do, so that uses are added in one order: a use is put
        # before the others of its value, and passes see that order.
        if operands and (self._unconnected or not self._connect(copy, operands)):
            self._unconnected.append((copy, operands))
        if successors:
            self._branches.append((copy, successors))
        return copy

    def _copy_by_class(self, op: Operation) -> Operation:
        """Copy an op, with its regions, by the methods of its class."""
        mapped: dict[SSAValue, SSAValue] = {}
        copy = op.clone(mapped, self._blocks, clone_operands=False)
        self._values.update((id(value), new) for value, new in mapped.items())
        # The class copied the nested ops, too; their operands may be values that are copied later.
        for inner, new in zip(walk(op), walk(copy), strict=True):
            self._unconnected.append((new, inner._operands))
        return copy

    def _copy_results(self, results: tuple[OpResult, ...], owner: Operation) -> SSAValues[OpResult]:
        values, create = self._values, object.__new__
        copies: list[OpResult] = []
        for result in results:
            values[id(result)] = copy = create(OpResult)
            copy._type = result._type
            copy.op = owner
            copy.index = result.index
            if (name := result._name) is not None:
                copy._name = name
            copies.append(copy)
        return SSAValues(copies)

    def _copy_regions(self, op: Operation, owner: Operation) -> None:
        """Copy the regions of `op`, with their blocks; the ops in these are copied next."""
        copies: list[Region] = []
        entered: list[tuple[Operation, Block]] = []
        for region in op.regions:
            copies.append(copy := object.__new__(Region))
            copy.parent = owner
            last = None
            block = region._first_block
            while block is not None:
                new = self._copy_block(block)
                new.parent = copy
                if last is None:
                    copy._first_block = new
                else:
                    last._next_block = new
                    new._prev_block = last
                last = new
                if block._first_op is not None:
                    entered.append((block._first_op, new))
                block = block._next_block
            copy._last_block = last
        owner.regions = tuple(copies)
        # A stack: the first block is to be taken first.
        self._pending += reversed(entered)

    def _copy_block(self, block: Block) -> Block:
        """Copy a block with its arguments, but without its ops."""
        self._blocks[block] = copy = object.__new__(Block)
        copy._name = block._name
        copy._first_op = copy._last_op = None
        args: list[BlockArgument] = []
        for arg in block._args:
            self._values[id(arg)] = new = BlockArgument(arg._type, copy, arg.index, arg.location)
            new._name = arg._name
            args.append(new)
        copy._args = tuple(args)
        return copy

    def _connect(self, op: Operation, operands: tuple[SSAValue, ...]) -> bool:
        """Connect a copied op with the copies of its operands; return False if one is missing."""
        get = self._values.get
        values: list[SSAValue] = []
        for operand in operands:
            # Also a value from outside, which never gets a copy: the op waits for the end as well.
            if (value := get(id(operand))) is None:
                if not self._is_in_order:
                    return False
                value = operand
            values.append(value)
        set_operands(op, values)
        return True


class _OurCloner:
    def clone(self, op: OpT) -> OpT:
        if not is_plain[type(op)]:
            with deep_recursion():
                return op.clone()
        with paused_collector():
            return cast(OpT, _Cloner().clone(op))

    def clone_all(
        self,
        ops: Sequence[Operation],
        values: dict[SSAValue, SSAValue],
        wanted: Iterable[SSAValue] = (),
    ) -> list[Operation]:
        if not all(is_plain[type(inner)] for op in ops for inner in walk(op)):
            return [op.clone(values) for op in ops]
        with paused_collector():
            cloner = _Cloner(values)
            copies = [cloner.clone(op) for op in ops]
            values.update((value, cloner.copy_of(value)) for value in wanted)
            return copies


class _ClonerOfXDSL:
    def clone(self, op: OpT) -> OpT:
        with deep_recursion():
            copy = op.clone()
        _keep_details(op, copy)
        return copy

    def clone_all(
        self,
        ops: Sequence[Operation],
        values: dict[SSAValue, SSAValue],
        wanted: Iterable[SSAValue] = (),
    ) -> list[Operation]:
        return [op.clone(values) for op in ops]


_cloner: Cloner = choose("copying", _OurCloner, _ClonerOfXDSL)
clone = _cloner.clone
clone_all = _cloner.clone_all
