"""The bufferization of one function: operations on tensors become operations on buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod
from typing import TypeAlias

from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    SignednessAttr,
    TupleType,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from ....analysis.memory.last_uses import dies_at
from ....analysis.traversal import in_order
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.data.concatenation import ConcatenateOp
from ....dialects.relax.graph import GraphOp
from ....dialects.relax.interfaces import View
from ....dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ....dialects.relax.tuples import MatchCastOp, TupleGetItemOp, TupleOp
from ....dialects.relax.types import is_tensor
from ....dialects.tir import ops as tir
from .arena import Arena, MemoryUse
from .buffer_values import (
    Buffer,
    Storage,
    Value,
    as_parameter,
    is_buffer,
    leaf_attributes,
    leaf_names,
    leaf_types,
    leaf_values,
    nested,
    offset_of,
    root_of,
    tensor_buffer,
)
from .constant_globals import ConstantGlobals

__all__ = ["Function", "FunctionBufferizer"]

Function: TypeAlias = tir.PrimFuncOp | FuncOp
"""A function on buffers."""

SMALL = 4096
"""The largest `relax.full`, in bytes, that becomes a global; a larger one is filled by a loop in
each call."""


class FunctionBufferizer:
    """Builds the `tir.prim_func` on buffers that computes a function on tensors.

    Operations are converted in the order of execution, each at a time of its own: the live range of
    a buffer is an interval of times. The branches of an `scf.if` follow each other in time; a
    buffer from outside that a branch uses is live from its definition to that use.
    """

    def __init__(self, source: FuncOp, symbols: ConstantGlobals) -> None:
        self.source = source
        self.symbols = symbols
        self.time: int = 0
        self.blocks: list[Block] = []
        """The new blocks that are being filled, outermost first."""
        self.starts: list[int] = []
        """For each of these blocks, the time of the operation that is being converted there."""
        self.values: dict[SSAValue, Value] = {}
        self.globals: dict[memref.GlobalOp, Storage] = {}
        self.copies = 0
        self.arena = Arena()

    def run(self) -> Function:
        """Return the new function."""
        op, type = self.source, self.source.function_type
        inputs = [[*map(as_parameter, leaf_types(input))] for input in type.inputs]
        outputs = [as_parameter(leaf) for output in type.outputs for leaf in leaf_types(output)]
        types = [*chain(*inputs), *outputs]
        region = Region()
        if not op.is_declaration:
            region.add_block(Block(arg_types=self.parameter_types(types, len(outputs))))
            self.convert_body(region.block, inputs, outputs)
        result = self.function(types, len(outputs), region)
        result.location = op.location
        return result

    def parameter_types(self, types: Sequence[Attribute], results: int) -> Sequence[Attribute]:
        """Return which of `types`, those of the parameters and of the last `results`, are
        parameters of the new function: all."""
        return types

    def function(self, types: Sequence[Attribute], results: int, region: Region) -> Function:
        """Return the new function on buffers of `types`, of which the last `results` are those of
        results."""
        op = self.source
        return tir.PrimFuncOp(
            op.sym_name.data,
            types,
            region,
            visibility=None if op.sym_visibility is None else op.sym_visibility.data,
            attributes={**op.attributes, tir.OUTPUTS: IntegerAttr(results, i64)},
            arg_attrs=self.parameter_attributes(),
        )

    def parameter_attributes(self) -> ArrayAttr[DictionaryAttr] | None:
        """Return the attributes of the parameters and results for the buffers of these; None if
        there are none."""
        op, type = self.source, self.source.function_type
        if op.arg_attrs is None and op.res_attrs is None:
            return None
        inputs = op.arg_attrs or [DictionaryAttr({})] * len(type.inputs)
        outputs = op.res_attrs or [DictionaryAttr({})] * len(type.outputs)
        pairs = chain(zip(type.inputs, inputs), zip(type.outputs, outputs))
        return ArrayAttr([leaf for each in pairs for leaf in leaf_attributes(*each)])

    def result_names(self) -> Iterator[str]:
        """Yield the name hints of the result buffers.

        `%y` is `y`, the elements of a tuple `%y` are `y.0`, `y.1`; a value without a name hint, or
        with the name of another parameter, is `result0` by its position.
        """
        end = self.source.body.block.last_op
        assert isinstance(end, ReturnOp)
        taken = {argument.name_hint for argument in self.source.args}
        for position, value in enumerate(end.operands):
            name = value.name_hint
            if name is None or name in taken:
                name = f"result{position}"
            taken.add(name)
            yield from leaf_names(name, value.type)

    def use_of_memory(self) -> MemoryUse:
        """Return the memory use of the new function."""
        return self.arena.use_of_memory(self.copies)

    def convert_body(
        self, block: Block, inputs: Sequence[Sequence[Attribute]], outputs: Sequence[Attribute]
    ) -> None:
        """Convert the body of the function into `block`."""
        arguments = iter(block.args)
        for old, types in zip(self.source.args, inputs, strict=True):
            new = [next(arguments) for _ in types]
            for argument, name in zip(new, leaf_names(old.name_hint or "", old.type), strict=True):
                argument.location = old.location
                argument.name_hint = name if old.name_hint else None
            self.values[old] = nested(old.type, iter([*map(self.argument, new)]))
        results = [*arguments]
        for argument, name in zip(results, self.result_names()):
            argument.name_hint = name
        self.convert_body_into(block, [*map(self.argument, results)])
        self.arena.place(block)

    def convert_body_into(self, block: Block, results: Sequence[Value]) -> None:
        """Convert the operations of the function into `block`, which computes `results`."""
        end = self.convert_block(self.source.body.block, block, results)
        assert not end, "a function on buffers returns nothing"
        block.add_op(tir.YieldOp())

    def argument(self, value: BlockArgument) -> Value:
        """Return a parameter of the new function as a converted value."""
        if not is_buffer(type := value.type):
            return value
        return Buffer(Storage(type.element_type, prod(type.get_shape()), base=value), type)

    def convert_block(
        self, old: Block, new: Block, targets: Sequence[Value | None]
    ) -> list[SSAValue]:
        """Convert the operations of `old` into `new`, and deliver the tensors that it yields to
        `targets`; return the scalars that it yields, and the buffers of tensors whose target is
        None."""
        self.blocks.append(new)
        self.starts.append(self.time)
        end = self.convert_ops(old)
        self.time += 1
        scalars: list[SSAValue] = []
        wanted = iter(targets)
        for value in (leaf for operand in end for leaf in leaf_values(self.values[operand])):
            if isinstance(value, Buffer):
                if isinstance(target := next(wanted), Buffer):
                    self.deliver(value, target)
                else:
                    scalars.append(self.own(value))
            else:
                scalars.append(value)
        self.blocks.pop()
        self.starts.pop()
        return scalars

    def convert_ops(self, block: Block) -> Sequence[SSAValue]:
        """Convert the operations of `block` except the last; return the operands of the last."""
        for op in in_order(block):
            if op is block.last_op:
                continue
            self.time += 1
            self.starts[-1] = self.time
            self.convert(op)
        return () if block.last_op is None else block.last_op.operands

    def convert(self, op: Operation) -> None:
        """Convert `op`."""
        match op:
            case ConstantOp():
                self.values[op.result] = self.constant(op)
            case FullOp():
                self.values[op.result] = self.filled(op)
            case View() | MatchCastOp() | tensor.CastOp():
                value = self.values[op.operands[0]]
                self.values[op.results[0]] = self.retyped(op, value, op.result_types[0])
            case ConcatenateOp():
                self.concatenate(op)
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
            case CallTIRInplaceOp():
                self.call_in_place(op)
            case func.CallOp() if op.callee.root_reference.data in self.symbols.planned:
                self.call(op, op.callee.root_reference.data)
            case IfOp():
                self.branch(op)
            case tensor.ExtractOp():
                buffer = self.values[op.tensor]
                assert isinstance(buffer, Buffer)
                load = memref.LoadOp.get(self.memref(buffer), [*map(self.scalar, op.indices)])
                self.add(load, op)
                self.define(op, iter(load.results))
            case _:
                copy = op.clone()
                copy.operands = [*map(self.scalar, op.operands)]
                self.add(copy, op)
                self.values |= zip(op.results, copy.results, strict=True)

    # Operations

    def call(self, op: Operation, name: str) -> None:
        """Call the function on buffers `name`, with new buffers for the results."""
        results = self.new_results(op, op.results)
        self.define(op, iter(results))
        self.call_with(op, name, self.arguments(op), results)

    def arguments(self, op: Operation) -> list[Value]:
        """Return the converted arguments of a call."""
        assert isinstance(op, func.CallOp | CallTIROp)
        return [leaf for value in op.arguments for leaf in leaf_values(self.values[value])]

    def new_results(self, op: Operation, results: Sequence[SSAValue]) -> list[Buffer]:
        """Return new buffers for `results`, which are all results of the call `op` or some."""
        return [self.new_buffer(leaf) for result in results for leaf in leaf_types(result.type)]

    def call_in_place(self, op: CallTIRInplaceOp) -> None:
        """Call a kernel whose results take the buffers of operands; an operand that is used later,
        or is not computed in this block, is copied first."""
        inputs = [self.values[operand] for operand in op.arguments]
        results: list[Value] = []
        new = self.new_results(op, op.new_results())
        rest = iter(new)
        for index in op.inplace_indices:
            if index < 0:
                buffer = next(rest)
            else:
                old = inputs[index]
                assert isinstance(old, Buffer)
                if self.owns(old.storage) and dies_at(op, op.arguments[index]):
                    buffer = old
                else:
                    buffer = self.like(old)
                    self.copy(old, buffer)
                inputs[index] = buffer
            results.append(buffer)
        self.define(op, iter(results))
        self.call_with(op, op.callee.root_reference.data, inputs, new)

    def owns(self, storage: Storage) -> bool:
        """Return whether the elements of `storage` are computed in the current block, which may
        overwrite them."""
        return root_of(storage).block is self.blocks[-1]

    def call_with(
        self, op: Operation, name: str, inputs: Sequence[Value], results: Sequence[Value]
    ) -> None:
        """Call the function on buffers `name` with the buffers of operands and results."""
        operands = [self.operand(x) for x in (*inputs, *results)]
        callee = self.symbols.by_name[name]
        type = callee.get_attr_or_prop("function_type")
        if isinstance(type, FunctionType) and name not in self.symbols.planned:
            operands = [*map(self.cast_to, operands, type.inputs)]
        is_prim_func = name in self.symbols.planned and name not in self.symbols.dynamic
        is_func = isinstance(callee, FuncOp) and not is_prim_func
        call = func.CallOp(name, operands, []) if is_func else tir.CallOp(name, operands)
        call.attributes |= op.attributes
        self.add(call, op)

    def operand(self, value: Value) -> SSAValue:
        """Return the memref of a tensor, or a scalar."""
        assert not isinstance(value, tuple)
        return self.memref(value) if isinstance(value, Buffer) else value

    def cast_to(self, operand: SSAValue, type: Attribute) -> SSAValue:
        """Return `operand` as a buffer of `type`, whose shape may be less specific."""
        if operand.type == type or not is_buffer(type):
            return operand
        cast = memref.CastOp.get(operand, type)
        self.blocks[-1].add_op(cast)
        return cast.dest

    def branch(self, op: IfOp) -> None:
        """Convert an `scf.if`: both branches compute tensors into the same buffers."""
        types = [leaf for type in op.result_types for leaf in leaf_types(type)]
        wanted = [self.target(type) for type in types if is_tensor(type)]
        regions: list[Region] = []
        for region in op.regions:
            regions.append(new := Region())
            for block in region.blocks:
                new.add_block(Block())
                new.block.add_op(YieldOp(*self.convert_block(block, new.block, wanted)))
        buffers = iter(wanted)
        leaves = [next(buffers) if is_tensor(type) else None for type in types]
        yielded = [
            as_parameter(type) for type, leaf in zip(types, leaves, strict=True) if leaf is None
        ]
        new_op = IfOp(self.scalar(op.cond), yielded, regions[0], regions[1], dict(op.attributes))
        self.add(new_op, op)
        results = map(self.received, new_op.results)
        self.define(op, (next(results) if leaf is None else leaf for leaf in leaves))

    def target(self, type: Attribute) -> Buffer | None:
        """Return the buffer into which the branches compute a tensor of `type`; None if each
        branch yields a buffer of its own."""
        return self.new_buffer(type)

    def own(self, value: Buffer) -> SSAValue:
        """Return the memref of `value` in an allocation of its own, which the block yields."""
        raise AssertionError(f"{value.type} has a static shape")

    def received(self, result: OpResult | BlockArgument) -> Value:
        """Return a result of a new operation, or an argument of its block, as a converted value: a
        scalar as it is."""
        return result

    def deliver(self, value: Buffer, target: Buffer) -> None:
        """Bring the elements of `value` into `target` at the end of the current block.

        Storage that is computed in this block is joined to the storage of `target`: the value is
        then computed in place. Other storage - a parameter, a constant, a value of an outer block,
        or one that has another target - is copied.
        """
        source, wanted = root_of(value.storage), root_of(target.storage)
        if source.block is self.blocks[-1] and self.is_whole(value, target):
            self.join(source, wanted)
        else:
            self.copy(value, target)

    def is_whole(self, value: Buffer, target: Buffer) -> bool:
        """Return whether the memory of `value` has the elements of `target` and no others, and
        can take its place."""
        source, wanted = root_of(value.storage), root_of(target.storage)
        in_part = value.storage is not source and offset_of(value.storage) > 0
        is_whole = source.count == target.storage.count and not in_part
        is_whole &= source.base is None and not source.owned
        return is_whole and not (source.has_parts and wanted.base)

    def concatenate(self, op: ConcatenateOp) -> None:
        """Convert a contiguous concatenation: each operand is computed in its part of the result,
        or copied there, like a value that is delivered."""
        result = self.new_buffer(op.result.type)
        self.define(op, iter([result]))
        whole, offset = result.storage, 0
        whole.has_parts = True
        for operand in op.tensors:
            value = self.values[operand]
            assert isinstance(value, Buffer)
            source = value.storage
            is_free = source.joined is None and source.base is None
            if is_free and source.block is self.blocks[-1] and source is not whole:
                self.join(source, whole, offset)
                offset += source.size
            else:
                type = tensor_buffer(operand.type)
                part = Storage(type.element_type, prod(type.get_shape()), joined=whole)
                part.offset = offset
                self.copy(value, Buffer(part, type))
                offset += part.size

    def join(self, source: Storage, target: Storage, offset: int = 0) -> None:
        """Let `source`, which is computed in the current block, be a part of `target`."""
        self.touch(source)
        source.joined, source.offset = target, offset
        target.has_parts |= source.has_parts
        target.first = source.first if target.first < 0 else min(target.first, source.first)
        target.last = max(target.last, source.last)

    def copy(self, value: Buffer, target: Buffer) -> None:
        """Copy the elements of `value` into `target`."""
        copied = Buffer(value.storage, target.type, target.sizes)
        self.blocks[-1].add_op(memref.CopyOp(self.memref(copied), self.memref(target)))
        self.copies += 1

    def constant(self, op: ConstantOp | FullOp) -> Buffer:
        """Return the global with the elements of a constant, as a buffer."""
        base = self.symbols.constant(op)
        if (storage := self.globals.get(base)) is None:
            self.globals[base] = storage = Storage(base.type.element_type, 0, base)
            storage.hint = op.result.name_hint
        return Buffer(storage, tensor_buffer(op.result.type))

    def filled(self, op: FullOp) -> Buffer:
        """Return a buffer that a loop fills before its first use, or a global if it is small."""
        buffer = self.new_buffer(op.result.type)
        # arith has constants of signless integers only.
        if buffer.storage.size <= SMALL or not is_signless(op.value.type):
            self.arena.computed.pop()
            return self.constant(op)
        buffer.storage.fill = op
        buffer.storage.hint = op.result.name_hint
        return buffer

    def fill(self, storage: Storage, op: FullOp | tensor.FromElementsOp) -> None:
        """Write a loop that stores the value of a fill in each element of `storage`."""
        assert isinstance(op, FullOp) and isinstance(storage.count, int)
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

    def scalar(self, value: SSAValue) -> SSAValue:
        """Return the converted value of a scalar."""
        scalar = self.values[value]
        assert isinstance(scalar, SSAValue)
        return scalar

    def retyped(self, op: Operation, value: Value, type: Attribute) -> Value:
        """Return the elements of `value`, the operand of the view or cast `op`, as a value of
        `type`."""
        match value:
            case Buffer():
                return self.view(op, value, type)
            case tuple():
                assert isinstance(type, TupleType)
                return tuple(self.retyped(op, *pair) for pair in zip(value, type.types))
            case _:
                return value

    def view(self, op: Operation, value: Buffer, type: Attribute) -> Buffer:
        """Return the buffer of the result of the view or cast `op` of `value`."""
        return Buffer(value.storage, tensor_buffer(type))

    def new_buffer(self, type: Attribute) -> Buffer:
        """Return a buffer for a tensor, or of a buffer type, that is computed in the current
        block."""
        buffer = type if is_buffer(type) else tensor_buffer(type)
        count, depth = prod(buffer.get_shape()), len(self.blocks) - 1
        storage = Storage(buffer.element_type, count, depth=depth, block=self.blocks[-1])
        self.arena.computed.append(storage)
        return Buffer(storage, buffer)

    def like(self, value: Buffer) -> Buffer:
        """Return a new buffer of the shape of `value`."""
        return self.new_buffer(value.type)

    def define(self, op: Operation, leaves: Iterator[Value]) -> None:
        """Set the converted values of the results of `op`, built from the `leaves` of all."""
        for result in op.results:
            self.values[result] = value = nested(result.type, leaves)
            if isinstance(value, Buffer):
                value.storage.hint = result.name_hint
            elif isinstance(value, SSAValue):
                value.name_hint = result.name_hint

    def touch(self, storage: Storage) -> None:
        """Extend the live range of `storage` to the current time."""
        root = root_of(storage)
        if (fill := root.fill) is not None:
            # The loop goes to the block of the fill, before the op there that contains this use.
            root.fill = None
            root.first = self.starts[root.depth]
            self.fill(root, fill)
        root.first = self.time if root.first < 0 else root.first
        root.last = self.time

    def memref(self, buffer: Buffer) -> SSAValue:
        """Return the memref of a buffer that is used now."""
        self.touch(buffer.storage)
        return self.arena.memref(buffer, self.blocks)

    def add(self, new: Operation, old: Operation) -> None:
        """Append `new` to the current block, with the location of `old`."""
        new.location = old.location
        self.blocks[-1].add_op(new)


def is_signless(type: Attribute) -> bool:
    """Return whether arith has constants of `type`."""
    match type:
        case IntegerType(signedness=SignednessAttr(data=signedness)):
            return signedness is Signedness.SIGNLESS
        case _:
            return True
