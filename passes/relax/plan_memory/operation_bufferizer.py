"""The conversion of operations on tensors to operations on buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects import func, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IntegerType,
    Signedness,
    SignednessAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ....compiler.analysis.constant_evaluator import integer_constant
from ....compiler.analysis.memory.storage_plan import dies_at
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.data.concatenation import ConcatenateOp
from ....dialects.relax.dynamic.data_movement import DynamicReshapeOp
from ....dialects.relax.graph import GraphOp, MatchCastOp, TupleGetItemOp, TupleOp
from ....dialects.relax.interfaces import View
from ....dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ....dialects.relax.types import is_tensor
from ....dialects.sizes import Size
from ....dialects.tir import ops as tir
from ....passmanager.ir.ordering import in_order
from .buffer_builder import BufferBuilder
from .buffer_values import (
    ConstantGlobals,
    Storage,
    TensorBuffer,
    Value,
    as_parameter,
    has_unknown_sizes,
    is_buffer,
    leaf_types,
    leaf_values,
    leaves_of,
    offset_of,
    returns_buffers,
    root_of,
    shape_of,
    tensor_buffer,
)

SMALL = 4096
"""The largest `relax.full`, in bytes, that becomes a global; a larger one is filled by a loop in
each call."""


class OperationBufferizer(BufferBuilder):
    """Converts operations to operations on buffers.

    Operations are converted in the order of execution, each at a time of its own: the live range of
    a buffer is an interval of times. The branches of an `scf.if` follow each other in time; a
    buffer from outside that a branch uses is live from its definition to that use.

    A tensor of unknown size that a block yields is in an allocation of its own, which belongs to
    the block or the function around.
    """

    def __init__(self, source: FuncOp, symbols: ConstantGlobals) -> None:
        super().__init__(source, symbols)
        self.globals: dict[memref.GlobalOp, Storage] = {}

    # Blocks

    def convert_block(
        self, old: Block, new: Block, targets: Sequence[Value | None]
    ) -> list[SSAValue]:
        """Convert the operations of `old` into `new`, and deliver the tensors that it yields to
        `targets`; return the scalars that it yields, and the buffers of tensors whose target is
        None."""
        scalars: list[SSAValue] = []
        wanted = iter(targets)
        with self.inside(new):
            end = self.convert_ops(old)
            self.time += 1
            for value in (leaf for operand in end for leaf in leaf_values(self.values[operand])):
                if not isinstance(value, TensorBuffer):
                    scalars.append(value)
                elif isinstance(target := next(wanted), TensorBuffer):
                    self.deliver(value, target)
                else:
                    scalars.append(self.own(value))
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
                self.extract(op)
            case tensor.DimOp():
                self.dimension(op)
            case tensor.FromElementsOp():
                self.values[op.result] = self.tensor_of(op)
            case tensor.ReshapeOp() | DynamicReshapeOp():
                self.reshape(op)
            case _:
                self.calculate(op)

    # Operations

    def call(self, op: Operation, name: str) -> None:
        """Call the function on buffers `name`, with new buffers for the results, unless it returns
        those."""
        callee = self.symbols.by_name[name] if name in self.symbols.planned else None
        if isinstance(callee, FuncOp) and returns_buffers(callee.function_type):
            types = leaves_of(op.result_types)
            operands = [self.operand(value) for value in self.arguments(op)]
            new = func.CallOp(name, operands, [*map(tensor_buffer, types)])
            new.attributes |= op.attributes
            self.add(new, op)
            self.define(op, map(self.received, new.results))
            return
        results = self.new_results(op, op.results)
        self.define(op, iter(results))
        self.call_with(op, name, self.arguments(op), results)

    def arguments(self, op: Operation) -> list[Value]:
        """Return the converted arguments of a call."""
        assert isinstance(op, func.CallOp | CallTIROp)
        return [leaf for value in op.arguments for leaf in leaf_values(self.values[value])]

    def new_results(self, op: Operation, results: Sequence[SSAValue]) -> list[TensorBuffer]:
        """Return new buffers for `results`, which are all results of the call `op` or some."""
        given = iter(op.sizes if isinstance(op, CallTIROp | CallTIRInplaceOp) else ())
        return [
            self.new_buffer(leaf, self.result_sizes(op, leaf, given))
            for result in results
            for leaf in leaf_types(result.type)
        ]

    def result_sizes(
        self, op: Operation, type: Attribute, given: Iterator[SSAValue]
    ) -> tuple[Size, ...]:
        """Return the sizes of the unknown dimensions of a result, the next of `given`."""
        unknown = tensor_buffer(type).get_shape().count(DYNAMIC_INDEX)
        return tuple(
            self.at_least_zero(self.sizes.size_of(self.scalar(next(given))), op)
            for _ in range(unknown)
        )

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
                assert isinstance(old, TensorBuffer)
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
        values, callee = (*inputs, *results), self.symbols.by_name[name]
        type = callee.get_attr_or_prop("function_type")
        parameters: Sequence[Attribute] = ()
        if isinstance(type, FunctionType) and name not in self.symbols.planned:
            parameters = type.inputs.data
        if self.is_dynamic:
            self.check_arguments(op, values, parameters)
        operands = [*map(self.operand, values)]
        if parameters:
            operands = [*map(self.cast_to, operands, parameters)]
        is_prim_func = name in self.symbols.planned and name not in self.symbols.dynamic
        is_func = isinstance(callee, FuncOp) and not is_prim_func
        call = func.CallOp(name, operands, []) if is_func else tir.CallOp(name, operands)
        call.attributes |= op.attributes
        self.add(call, op)

    def check_arguments(
        self, op: Operation, values: Sequence[Value], types: Sequence[Attribute]
    ) -> None:
        """Assert that the buffers of the call `op` have the known sizes of the parameters."""
        for value, type in zip(values, types, strict=False):
            if isinstance(value, TensorBuffer) and is_buffer(type):
                self.check_shape(op, shape_of(value.type, value.sizes), type.get_shape())

    def operand(self, value: Value) -> SSAValue:
        """Return the memref of a tensor, or a scalar."""
        assert not isinstance(value, tuple)
        return self.memref(value) if isinstance(value, TensorBuffer) else value

    def cast_to(self, operand: SSAValue, type: Attribute) -> SSAValue:
        """Return `operand` as a buffer of `type`, whose shape may be less specific."""
        if operand.type == type or not is_buffer(type):
            return operand
        cast = memref.CastOp.get(operand, type)
        self.blocks[-1].add_op(cast)
        return cast.dest

    def extract(self, op: tensor.ExtractOp) -> None:
        """Convert the read of an element, which is known of a tensor that is made of scalars."""
        buffer = self.values[op.tensor]
        assert isinstance(buffer, TensorBuffer)
        if (element := self.known_element(buffer, [*map(integer_constant, op.indices)])) is None:
            load = memref.LoadOp.get(self.memref(buffer), [*map(self.scalar, op.indices)])
            self.add(load, op)
            self.define(op, iter(load.results))
        else:
            self.values[op.result] = element

    def known_element(self, buffer: TensorBuffer, indices: Sequence[int | None]) -> SSAValue | None:
        """Return the element of a tensor that is made of scalars; None for another tensor."""
        if (elements := self.elements.get(buffer.storage)) is None:
            return None
        number = 0
        for index, size in zip(indices, buffer.type.get_shape(), strict=True):
            if index is None or not 0 <= index < size:
                return None
            number = number * size + index
        return elements[number]

    def dimension(self, op: tensor.DimOp) -> None:
        """Replace the dimension of a tensor by its size."""
        axis = integer_constant(op.index)
        buffer = self.values[op.source]
        assert axis is not None and isinstance(buffer, TensorBuffer)
        size = shape_of(buffer.type, buffer.sizes)[axis]
        self.values[op.result] = self.sizes.value(size, self.blocks[-1])

    def tensor_of(self, op: tensor.FromElementsOp) -> TensorBuffer:
        """Return a buffer into which scalars are stored before its first use."""
        buffer = self.new_buffer(op.result.type)
        buffer.storage.fill = op
        self.elements[buffer.storage] = [self.scalar(element) for element in op.elements]
        return buffer

    def calculate(self, op: Operation) -> None:
        """Convert an operation on scalars; where sizes are unknown, at the start of the function if
        it can be computed there."""
        copy = op.clone()
        copy.operands = [*map(self.scalar, op.operands)]
        copy.location = op.location
        if not self.is_dynamic or not self.sizes.hoist(copy):
            self.add(copy, op)
        self.values |= zip(op.results, copy.results, strict=True)
        if self.is_dynamic:
            self.sizes.follow(copy)

    def branch(self, op: IfOp) -> None:
        """Convert an `scf.if`: both branches compute tensors into the same buffers."""
        types = leaves_of(op.result_types)
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

    def target(self, type: Attribute) -> TensorBuffer | None:
        """Return the buffer into which the branches compute a tensor of `type`; None if each
        branch yields a buffer of its own: one of unknown size."""
        return None if has_unknown_sizes(type) else self.new_buffer(type)

    def own(self, value: TensorBuffer) -> SSAValue:
        """Return the memref of `value` in an allocation of its own, which the block yields."""
        source, block = root_of(value.storage), self.blocks[-1]
        is_whole = value.storage.count == source.count and offset_of(value.storage) == 0
        if source.block is not block or source.owned or not is_whole:
            old, value = value, self.like(value)
            source = value.storage
            self.copy(old, value)
        source.owned = True
        return self.memref(value)

    def deliver(self, value: TensorBuffer, target: TensorBuffer) -> None:
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

    def is_whole(self, value: TensorBuffer, target: TensorBuffer) -> bool:
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
            assert isinstance(value, TensorBuffer)
            source = value.storage
            is_free = source.joined is None and source.base is None
            if is_free and source.block is self.blocks[-1] and source is not whole:
                self.join(source, whole, offset)
                offset += source.size
            else:
                type = tensor_buffer(operand.type)
                part = Storage(type.element_type, prod(type.get_shape()), joined=whole)
                part.offset = offset
                self.copy(value, TensorBuffer(part, type))
                offset += part.size

    def join(self, source: Storage, target: Storage, offset: int = 0) -> None:
        """Let `source`, which is computed in the current block, be a part of `target`."""
        self.touch(source)
        source.joined, source.offset = target, offset
        target.has_parts |= source.has_parts
        target.first = source.first if target.first < 0 else min(target.first, source.first)
        target.last = max(target.last, source.last)

    def constant(self, op: ConstantOp | FullOp) -> TensorBuffer:
        """Return the global with the elements of a constant, as a buffer."""
        base = self.symbols.constant(op)
        if (storage := self.globals.get(base)) is None:
            self.globals[base] = storage = Storage(base.type.element_type, 0, base)
            storage.hint = op.result.name_hint
        return TensorBuffer(storage, tensor_buffer(op.result.type))

    def filled(self, op: FullOp) -> TensorBuffer:
        """Return a buffer that a loop fills before its first use, or a global if it is small."""
        buffer = self.new_buffer(op.result.type)
        # arith has constants of signless integers only.
        if buffer.storage.size <= SMALL or not is_signless(op.value.type):
            self.arena.computed.pop()
            return self.constant(op)
        buffer.storage.fill = op
        buffer.storage.hint = op.result.name_hint
        return buffer


def is_signless(type: Attribute) -> bool:
    """Return whether arith has constants of `type`."""
    match type:
        case IntegerType(signedness=SignednessAttr(data=signedness)):
            return signedness is Signedness.SIGNLESS
        case _:
            return True
