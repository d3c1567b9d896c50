"""Functions on tensors as functions on buffers: what plan-memory makes of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import prod
from typing import NamedTuple, TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import (
    FixedBitwidthType,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    SignednessAttr,
    TupleType,
    UnrealizedConversionCastOp,
    i8,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ...analysis.memory.storage_plan import ALIGNMENT, Lifetime, Plan, plan
from ...analysis.traversal import in_order
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.graph import GraphOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.tuples import MatchCastOp, TupleGetItemOp, TupleOp
from ...dialects.relax.types import is_ranked, is_tensor
from ...dialects.tir import ops as tir
from .constant_globals import Symbols

__all__ = ["Conversion", "MemoryUse", "leaves_of"]

"""The attribute of a function that says how many of its last parameters are its results."""
SMALL = 4096
"""Bytes up to which a `relax.full` is a constant of the module, and is not filled in each call."""
INDEX_SIZE = 8
"""Bytes of an index in memory."""

Memref: TypeAlias = MemRefType[Attribute]


class MemoryUse(NamedTuple):
    """What the buffers of a function take."""

    buffers: int
    """How many intermediate results are in the arena."""
    before: int
    """Bytes if each were a buffer of its own."""
    after: int
    """Bytes of the arena."""
    copies: int
    """How many results are copied to where they are returned."""


@dataclass(eq=False)
class Storage:
    """The elements that one or more values have, in one place."""

    element: Attribute
    count: int
    base: BlockArgument | memref.GlobalOp | None = None
    """Where they are, unless that is in the arena."""
    depth: int = 0
    """How many regions are around where they are computed."""
    block: Block | None = None
    """Where they are computed, unless they are given."""
    fill: FullOp | None = None
    """What they are, until they are used and a loop stores them."""
    joined: Storage | None = None
    """What they are computed into: the result of what is around, or of the function."""
    hint: str | None = None
    """What it is called."""
    first: int = -1
    """When they are computed, or -1 if they are not used."""
    last: int = -1
    """When they are needed last."""

    @property
    def size(self) -> int:
        """Bytes."""
        element = self.element
        return self.count * (
            element.compile_time_size if isinstance(element, FixedBitwidthType) else INDEX_SIZE
        )


@dataclass(frozen=True)
class Buffer:
    """A tensor: elements, and the shape to see them in."""

    storage: Storage
    type: Memref


Value: TypeAlias = "Buffer | SSAValue | tuple[Value, ...]"
"""What a value of a function is after planning: a number is as it was."""


class Conversion:
    """A function on the way to being one on buffers.

    Operations are converted in the order in which they run, each at a time of its own. Where a
    buffer is, is known at the end only: until then a cast from nothing, in the block of the
    function, stands for it.
    """

    def __init__(self, source: FuncOp, symbols: Symbols) -> None:
        self.source = source
        self.symbols = symbols
        self.time = 0
        self.blocks: list[Block] = []
        """Those that are being filled, from outside in."""
        self.starts: list[int] = []
        """When the operation started that is being converted in each of them."""
        self.values: dict[SSAValue, Value] = {}
        self.given: dict[memref.GlobalOp, Storage] = {}
        self.computed: list[Storage] = []
        self.casts: dict[Buffer, UnrealizedConversionCastOp] = {}
        self.copies = 0
        self.arena = Plan([], 0)

    def run(self) -> tir.PrimFuncOp:
        """Convert the function; gives the new one."""
        op, type = self.source, self.source.function_type
        inputs = [[*map(as_parameter, leaves_of(input))] for input in type.inputs]
        outputs = [as_parameter(leaf) for output in type.outputs for leaf in leaves_of(output)]
        types = [*chain(*inputs), *outputs]
        attributes = {**op.attributes, tir.OUTPUTS: IntegerAttr(len(outputs), i64)}
        visibility = None if op.sym_visibility is None else op.sym_visibility.data
        if op.is_declaration:
            region = Region()
        else:
            region = Region(Block(arg_types=types))
            self.convert_body(region.block, inputs, outputs)
        result = tir.PrimFuncOp(
            op.sym_name.data, types, region, visibility=visibility, attributes=attributes
        )
        result.location = op.location
        return result

    def result_names(self) -> Iterator[str]:
        """What buffers for the results are called: as what is returned, elements of a tuple with
        their index after it; without a name by their position."""
        end = self.source.body.block.last_op
        assert isinstance(end, ReturnOp)
        taken = {argument.name_hint for argument in self.source.args}
        for position, value in enumerate(end.operands):
            name = value.name_hint
            if name is None or name in taken:
                name = f"result{position}"
            taken.add(name)
            is_tuple = isinstance(value.type, TupleType)
            for index, _ in enumerate(leaves_of(value.type)):
                yield f"{name}.{index}" if is_tuple else name

    def use_of_memory(self) -> MemoryUse:
        """What the arena is of."""
        sizes = [storage.size for storage in self.in_arena()]
        return MemoryUse(len(sizes), sum(sizes), self.arena.total, self.copies)

    def convert_body(
        self, block: Block, inputs: Sequence[Sequence[Attribute]], outputs: Sequence[Attribute]
    ) -> None:
        """Convert the operations of the function into its new block."""
        arguments = iter(block.args)
        for old, types in zip(self.source.args, inputs, strict=True):
            new = [next(arguments) for _ in types]
            for argument in new:
                argument.location, argument.name_hint = old.location, old.name_hint
            self.values[old] = nested(old.type, iter([*map(self.argument, new)]))
        results = [*arguments]
        for argument, name in zip(results, self.result_names(), strict=True):
            argument.name_hint = name
        end = self.convert_block(self.source.body.block, block, (*map(self.argument, results),))
        assert not end, "a function on buffers returns nothing"
        block.add_op(tir.YieldOp())
        self.place(block)

    def argument(self, value: BlockArgument) -> Value:
        """A parameter as a value."""
        if not is_buffer(type := value.type):
            return value
        return Buffer(Storage(type.element_type, prod(type.get_shape()), base=value), type)

    def convert_block(self, old: Block, new: Block, targets: Sequence[Value]) -> list[SSAValue]:
        """Convert the operations of a block, and put what it ends with where that is wanted; gives
        the numbers that it ends with."""
        self.blocks.append(new)
        self.starts.append(self.time)
        end = self.convert_ops(old)
        self.time += 1
        left: list[SSAValue] = []
        wanted = [target for target in targets if isinstance(target, Buffer)]
        for value in (leaf for operand in end for leaf in elements(self.values[operand])):
            if isinstance(value, Buffer):
                self.deliver(value, wanted.pop(0))
            else:
                left.append(value)
        self.blocks.pop()
        self.starts.pop()
        return left

    def convert_ops(self, block: Block) -> Sequence[SSAValue]:
        """Convert the operations of a block; gives the operands of the last one."""
        for op in in_order(block):
            if op is block.last_op:
                continue
            self.time += 1
            self.starts[-1] = self.time
            self.convert(op)
        return () if block.last_op is None else block.last_op.operands

    def convert(self, op: Operation) -> None:
        """Convert one operation."""
        match op:
            case ConstantOp():
                self.values[op.result] = self.constant(op)
            case FullOp():
                self.values[op.result] = self.filled(op)
            case View() | MatchCastOp():
                self.values[op.results[0]] = self.cast(
                    self.values[op.operands[0]], op.result_types[0]
                )
            case TupleOp():
                self.values[op.result] = tuple(self.values[field] for field in op.fields)
            case TupleGetItemOp():
                fields = self.values[op.tuple]
                assert isinstance(fields, tuple)
                self.values[op.result] = fields[op.index]
            case GraphOp():
                ends = self.convert_ops(op.body.block)
                self.values |= zip(op.res, (self.values[end] for end in ends), strict=True)
            case CallTIROp():
                self.call(op, op.callee.root_reference.data)
            case func.CallOp() if op.callee.root_reference.data in self.symbols.planned:
                self.call(op, op.callee.root_reference.data)
            case IfOp():
                self.branch(op)
            case tensor.ExtractOp():
                buffer = self.values[op.tensor]
                assert isinstance(buffer, Buffer)
                load = memref.LoadOp.get(self.memref(buffer), [*map(self.number, op.indices)])
                self.add(load, op)
                self.define(op, iter(load.results))
            case _:
                copy = op.clone()
                copy.operands = [*map(self.number, op.operands)]
                self.add(copy, op)
                self.values |= zip(op.results, copy.results, strict=True)

    # Operations

    def call(self, op: Operation, name: str) -> None:
        """Call a function on buffers, with buffers for the results."""
        types = [leaf for type in op.result_types for leaf in leaves_of(type)]
        made = [self.computed_here(type) for type in types]
        self.define(op, iter(made))
        given = (leaf for operand in op.operands for leaf in elements(self.values[operand]))
        operands = [self.memref(x) if isinstance(x, Buffer) else x for x in (*given, *made)]
        callee = self.symbols.by_name[name]
        type = callee.get_attr_or_prop("function_type")
        if isinstance(type, FunctionType) and name not in self.symbols.planned:
            operands = [*map(self.fitted, operands, type.inputs)]
        is_func = isinstance(callee, FuncOp) and name not in self.symbols.planned
        call = func.CallOp(name, operands, []) if is_func else tir.CallOp(name, operands)
        call.attributes |= op.attributes
        self.add(call, op)

    def fitted(self, operand: SSAValue, type: Attribute) -> SSAValue:
        """The operand as a parameter of the type, which may say less of its shape."""
        if operand.type == type or not is_buffer(type):
            return operand
        cast = memref.CastOp.get(operand, type)
        self.blocks[-1].add_op(cast)
        return cast.dest

    def branch(self, op: IfOp) -> None:
        """Convert an `scf.if`: both branches put tensors into the same buffers."""
        types = [leaf for type in op.result_types for leaf in leaves_of(type)]
        wanted: list[Value] = [self.computed_here(type) for type in types if is_tensor(type)]
        regions: list[Region] = []
        for region in op.regions:
            regions.append(new := Region())
            for block in region.blocks:
                new.add_block(Block())
                left = self.convert_block(block, new.block, wanted)
                new.block.add_op(YieldOp(*left))
        numbers = [type for type in types if not is_tensor(type)]
        new_op = IfOp(self.number(op.cond), numbers, regions[0], regions[1], dict(op.attributes))
        self.add(new_op, op)
        left, rest = iter(new_op.results), iter(wanted)
        leaves = (next(rest) if is_tensor(type) else next(left) for type in types)
        self.define(op, leaves)

    def deliver(self, value: Buffer, target: Buffer) -> None:
        """Have elements computed where they are wanted, or copied if they cannot be."""
        source = root_of(value.storage)
        if source.block is self.blocks[-1]:
            self.touch(source)
            source.joined = wanted = root_of(target.storage)
            wanted.first = source.first if wanted.first < 0 else min(wanted.first, source.first)
            wanted.last = max(wanted.last, source.last)
            return
        copied = Buffer(value.storage, target.type)
        self.blocks[-1].add_op(memref.CopyOp(self.memref(copied), self.memref(target)))
        self.copies += 1

    def constant(self, op: ConstantOp | FullOp) -> Buffer:
        """The global that is a constant."""
        base = self.symbols.constant(op)
        if (storage := self.given.get(base)) is None:
            self.given[base] = storage = Storage(base.type.element_type, 0, base)
            storage.hint = op.result.name_hint
        return Buffer(storage, tensor_buffer(op.result.type))

    def filled(self, op: FullOp) -> Buffer:
        """A buffer that a loop fills before it is used, or a global if it is small."""
        buffer = self.computed_here(op.result.type)
        # arith has no constants of integers with a sign.
        if buffer.storage.size <= SMALL or not is_signless(op.value.type):
            self.computed.pop()
            return self.constant(op)
        buffer.storage.fill = op
        buffer.storage.hint = op.result.name_hint
        return buffer

    def fill(self, storage: Storage, op: FullOp) -> None:
        """Store the one value of a tensor in each element."""
        block = self.blocks[storage.depth]
        flat = Buffer(storage, MemRefType(storage.element, [storage.count]))
        zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
        count = arith.ConstantOp(IntegerAttr(storage.count, IndexType()))
        value = arith.ConstantOp(op.value)
        loop = tir.ForOp(zero, count)
        loop.body.block.add_ops(
            [memref.StoreOp.get(value, self.memref(flat), [loop.variable]), tir.YieldOp()]
        )
        for new in (zero, count, value, loop):
            new.location = op.location
        block.add_ops([zero, count, value, loop])

    # Values

    def number(self, value: SSAValue) -> SSAValue:
        """A value that is not on tensors."""
        number = self.values[value]
        assert isinstance(number, SSAValue)
        return number

    def cast(self, value: Value, type: Attribute) -> Value:
        """The same elements as a value of another type."""
        match value:
            case Buffer():
                return Buffer(value.storage, tensor_buffer(type))
            case tuple():
                assert isinstance(type, TupleType)
                return tuple(map(self.cast, value, type.types))
            case _:
                return value

    def computed_here(self, type: Attribute) -> Buffer:
        """A buffer for what is computed in the present block."""
        buffer = tensor_buffer(type)
        count, depth = prod(buffer.get_shape()), len(self.blocks) - 1
        storage = Storage(buffer.element_type, count, depth=depth, block=self.blocks[-1])
        self.computed.append(storage)
        return Buffer(storage, buffer)

    def define(self, op: Operation, leaves: Iterator[Value]) -> None:
        """Give the results of an operation their values."""
        for result in op.results:
            self.values[result] = value = nested(result.type, leaves)
            if isinstance(value, Buffer):
                value.storage.hint = result.name_hint
            elif isinstance(value, SSAValue):
                value.name_hint = result.name_hint

    def touch(self, storage: Storage) -> None:
        """Note that a buffer is used now."""
        root = root_of(storage)
        if (fill := root.fill) is not None:
            # In its own block, before the operation there that the present one is, or is in.
            root.fill = None
            root.first = self.starts[root.depth]
            self.fill(root, fill)
        root.first = self.time if root.first < 0 else root.first
        root.last = self.time

    def memref(self, buffer: Buffer) -> SSAValue:
        """The memref of a buffer that is used now."""
        self.touch(buffer.storage)
        if (cast := self.casts.get(buffer)) is None:
            cast = UnrealizedConversionCastOp.create(result_types=[buffer.type])
            self.blocks[0].add_op(cast)
            self.casts[buffer] = cast
        return cast.results[0]

    def add(self, new: Operation, old: Operation) -> None:
        """Add an operation to the present block, in the place of an old one."""
        new.location = old.location
        self.blocks[-1].add_op(new)

    # Places

    def in_arena(self) -> list[Storage]:
        """What has to be in the arena."""
        return [s for s in self.computed if s.joined is None and s.first >= 0]

    def place(self, block: Block) -> None:
        """Give each buffer its place, and put that in the place of the casts."""
        stored = self.in_arena()
        self.arena = plan([Lifetime(s.first, s.last, s.size) for s in stored])
        offsets = dict(zip(stored, self.arena.offsets, strict=True))
        arena = memref.AllocOp.get(i8, ALIGNMENT, [self.arena.total])
        arena.memref.name_hint = "arena"
        if stored:
            first = block.first_op
            assert first is not None
            block.insert_op_before(arena, first)
        placed: dict[Buffer, SSAValue] = {}
        shifts: dict[int, arith.ConstantOp] = {}
        for buffer, cast in self.casts.items():
            root, type = root_of(buffer.storage), buffer.type
            if (value := placed.get(Buffer(root, type))) is None:
                if root.base is None:
                    made: list[Operation] = []
                    offset = offsets[root]
                    if (shift := shifts.get(offset)) is None:
                        shift = arith.ConstantOp(IntegerAttr(offset, IndexType()))
                        shifts[offset] = shift
                        made.append(shift)
                    made.append(view := memref.ViewOp(arena, shift, [], type))
                    value = view.result
                else:
                    made, value = viewed(root.base, type)
                if made:
                    value.name_hint = buffer.storage.hint
                block.insert_ops_before(made, cast)
                placed[Buffer(root, type)] = value
            cast.results[0].replace_all_uses_with(value)
            cast.detach()


def viewed(base: BlockArgument | memref.GlobalOp, type: Memref) -> tuple[list[Operation], SSAValue]:
    """The memref of a parameter or a global, with its elements in the shape of a type; and what
    makes it."""
    made: list[Operation] = []
    if isinstance(base, BlockArgument):
        value: SSAValue = base
    else:
        made.append(get := memref.GetGlobalOp(base.sym_name.data, base.type))
        value = get.memref
    if value.type != type:
        shape = type.get_shape()
        strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
        cast = memref.ReinterpretCastOp(value, [], [], [], [0], shape, strides, type)
        made.append(cast)
        value = cast.result
    return made, value


def root_of(storage: Storage) -> Storage:
    """What a buffer is joined to."""
    while storage.joined is not None:
        storage = storage.joined
    return storage


def tensor_buffer(type: Attribute) -> Memref:
    """The type of the buffer of a tensor."""
    assert is_ranked(type)
    return _memref(type.element_type, type.get_shape())


# Types do not change, and xDSL verifies each that is made.
@lru_cache(1 << 12)
def _memref(element: Attribute, shape: tuple[int, ...]) -> Memref:
    return MemRefType(element, shape)


def as_parameter(type: Attribute) -> Attribute:
    """The type of the buffer of a tensor; any other type as it is."""
    return tensor_buffer(type) if is_ranked(type) else type


def is_buffer(type: Attribute) -> TypeIs[Memref]:
    """Whether it is the type of a buffer."""
    return isinstance(type, MemRefType)


def is_signless(type: Attribute) -> bool:
    """Whether arith has constants of the type."""
    match type:
        case IntegerType(signedness=SignednessAttr(data=signedness)):
            return signedness is Signedness.SIGNLESS
        case _:
            return True


def nested(type: Attribute, leaves: Iterator[Value]) -> Value:
    """A value of a type, out of those of its leaves."""
    if not isinstance(type, TupleType):
        return next(leaves)
    return tuple(nested(element, leaves) for element in type.types)


def elements(value: Value) -> Iterator[Buffer | SSAValue]:
    """The elements of a tuple, and of those in it; any other value itself."""
    if not isinstance(value, tuple):
        yield value
        return
    for element in value:
        yield from elements(element)


def leaves_of(type: Attribute) -> Iterator[Attribute]:
    """The types of the elements of a tuple, and of those in it; any other type as it is."""
    if not isinstance(type, TupleType):
        yield type
        return
    for element in type.types:
        yield from leaves_of(element)
