"""The bufferization of a function on tensors of unknown sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, cf, func, memref, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from ....analysis.constants import integer_constant
from ....dialects.relax.constant import FullOp
from ....dialects.relax.dynamic.manipulation import DynamicReshapeOp
from ....dialects.relax.interfaces import View
from ....dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ....dialects.sizes import Size, TooComplex
from ....dialects.tir import ops as tir
from ...sizes.size_values import DIVISIONS, SPECULATABLE, SizeValues, Where, index_constant
from .arena import Arena
from .buffer_values import (
    Buffer,
    Memref,
    Storage,
    Value,
    has_unknown_sizes,
    is_buffer,
    leaf_names,
    leaf_types,
    offset_of,
    root_of,
    tensor_buffer,
)
from .bufferize import Function
from .constant_globals import ConstantGlobals
from .dynamic_arena import BYTES, DynamicArena, extent
from .loop_bufferizer import LoopBufferizer
from .parameter_sizes import ParameterSizes
from .view_shapes import view_shape

__all__ = ["DynamicBufferizer", "returns_buffers"]

MAX_FACTORS = 4
"""The most terms of a size from which the sizes of a view are computed, if that is too complex."""


def returns_buffers(type: FunctionType) -> bool:
    """Return whether a function on tensors of `type` has a result of unknown size: as a function on
    buffers it returns its results, which it allocates, instead of writing into parameters."""
    return any(has_unknown_sizes(leaf) for each in type.outputs for leaf in leaf_types(each))


class DynamicBufferizer(LoopBufferizer):
    """Builds the `func.func` on buffers that computes a function on tensors of unknown sizes.

    The sizes of buffers are known expressions of values (`SizeValues`). What blocks yield, tensors
    of unknown size from branches and all results of a function that has such a result, is in
    allocations of their own, which belong to the block or the function around. Sizes that would
    make an access invalid fail an assertion.
    """

    def __init__(self, source: FuncOp, symbols: ConstantGlobals) -> None:
        super().__init__(source, symbols)
        start = UnrealizedConversionCastOp.create(result_types=[BYTES])
        self.sizes = SizeValues(start)
        self.own_arena = DynamicArena(self.sizes)
        self.arena: Arena = self.own_arena
        self.returns = returns_buffers(source.function_type)
        self.parameters: dict[SSAValue, tuple[Size, ...]] = {}
        self.elements: dict[Storage, list[SSAValue]] = {}
        """The elements of tensors that are made of scalars."""

    # Functions

    def parameter_types(self, types: Sequence[Attribute], results: int) -> Sequence[Attribute]:
        return types[: len(types) - results] if self.returns else types

    def function(self, types: Sequence[Attribute], results: int, region: Region) -> Function:
        op, split = self.source, len(types) - results if self.returns else len(types)
        attributes = self.parameter_attributes() or ()
        given, returned = [*attributes][:split], [*attributes][split:]
        new = FuncOp(
            op.sym_name.data,
            FunctionType.from_lists(types[:split], types[split:]),
            region,
            op.sym_visibility,
            arg_attrs=ArrayAttr(given) if any(each.data for each in given) else None,
            res_attrs=ArrayAttr(returned) if any(each.data for each in returned) else None,
        )
        new.attributes |= op.attributes
        if not self.returns:
            new.attributes[tir.OUTPUTS] = IntegerAttr(results, i64)
        return new

    def convert_body(
        self, block: Block, inputs: Sequence[Sequence[Attribute]], outputs: Sequence[Attribute]
    ) -> None:
        block.add_op(self.sizes.start)
        self.sizes.add_parameters(block.args)
        names = ParameterSizes(self.sizes, self.check_equal)
        attributes = self.parameter_attributes()
        hints = [n for old in self.source.args for n in leaf_names(old.name_hint or "", old.type)]
        self.parameters = names.of(
            block.args, attributes, hints, is_public=self.source.sym_visibility is None
        )
        super().convert_body(block, inputs, outputs)

    def convert_body_into(self, block: Block, results: Sequence[Value]) -> None:
        leaves = [leaf for type in self.source.function_type.outputs for leaf in leaf_types(type)]
        targets = [None] * len(leaves) if self.returns else results
        block.add_op(func.ReturnOp(*self.convert_block(self.source.body.block, block, targets)))

    def argument(self, value: BlockArgument) -> Value:
        if not is_buffer(type := value.type):
            return value
        return self.based(value, type, self.parameters.get(value, ()))

    def based(
        self, base: BlockArgument | OpResult, type: Memref, sizes: tuple[Size, ...]
    ) -> Buffer:
        """Return the buffer that is the memref `base`."""
        storage = Storage(type.element_type, self.count(type, sizes), base=base)
        storage.sizes = sizes
        return Buffer(storage, type, sizes)

    # Operations

    def convert(self, op: Operation) -> None:
        match op:
            case tensor.DimOp():
                self.dimension(op)
            case tensor.FromElementsOp():
                self.values[op.result] = self.tensor_of(op)
            case tensor.ReshapeOp() | DynamicReshapeOp():
                self.reshape(op)
            case tensor.ExtractOp() if (element := self.known_element(op)) is not None:
                self.values[op.result] = element
            case _ if isinstance(op, (*SPECULATABLE, *DIVISIONS)):
                self.calculate(op)
            case _:
                super().convert(op)

    def dimension(self, op: tensor.DimOp) -> None:
        """Replace the dimension of a tensor by its size."""
        axis = integer_constant(op.index)
        buffer = self.values[op.source]
        assert axis is not None and isinstance(buffer, Buffer)
        self.values[op.result] = self.sizes.value(self.shape(buffer)[axis], self.blocks[-1])

    def tensor_of(self, op: tensor.FromElementsOp) -> Buffer:
        """Return a buffer into which scalars are stored before its first use."""
        buffer = self.new_buffer(op.result.type)
        buffer.storage.fill = op
        self.elements[buffer.storage] = [self.scalar(element) for element in op.elements]
        return buffer

    def known_element(self, op: tensor.ExtractOp) -> SSAValue | None:
        """Return the element of a tensor that is made of scalars; None for another tensor."""
        buffer, indices = self.values[op.tensor], [integer_constant(i) for i in op.indices]
        assert isinstance(buffer, Buffer)
        if (elements := self.elements.get(buffer.storage)) is None:
            return None
        number = 0
        for index, size in zip(indices, buffer.type.get_shape(), strict=True):
            if index is None or not 0 <= index < size:
                return None
            number = number * size + index
        return elements[number]

    def calculate(self, op: Operation) -> None:
        """Convert an operation on scalars, at the start of the function if it can be computed
        there."""
        copy = op.clone()
        copy.operands = [*map(self.scalar, op.operands)]
        copy.location = op.location
        if not self.sizes.hoist(copy):
            self.add(copy, op)
        self.values |= zip(op.results, copy.results, strict=True)
        self.sizes.follow(copy)

    def new_results(self, op: Operation, results: Sequence[SSAValue]) -> list[Buffer]:
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

    def at_least_zero(self, size: Size, op: Operation) -> Size:
        """Return `size`, which a result of `op` has; insert an assertion that it is not negative,
        unless that is known.

        The arena is allocated earlier, with 0 for a negative size.
        """
        if self.sizes.is_nonnegative(size):
            return size
        self.check(self.sizes.value(size, self.blocks[-1]), "sge", Size.of(0), NEGATIVE, op)
        return self.sizes.at_least_zero(size) if self.sizes.is_early(size) else size

    def call(self, op: Operation, name: str) -> None:
        callee = self.symbols.by_name[name] if name in self.symbols.planned else None
        if not isinstance(callee, FuncOp) or not returns_buffers(callee.function_type):
            super().call(op, name)
        else:
            types = [leaf for type in op.result_types for leaf in leaf_types(type)]
            operands = [self.operand(value) for value in self.arguments(op)]
            new = func.CallOp(name, operands, [*map(tensor_buffer, types)])
            new.attributes |= op.attributes
            self.add(new, op)
            self.define(op, map(self.received, new.results))

    def call_with(
        self, op: Operation, name: str, inputs: Sequence[Value], results: Sequence[Value]
    ) -> None:
        type = self.symbols.by_name[name].get_attr_or_prop("function_type")
        if isinstance(type, FunctionType) and name not in self.symbols.planned:
            for value, parameter in zip((*inputs, *results), type.inputs, strict=True):
                if isinstance(value, Buffer) and is_buffer(parameter):
                    self.check_shape(op, self.shape(value), parameter.get_shape())
        super().call_with(op, name, inputs, results)

    def like(self, value: Buffer) -> Buffer:
        return self.new_buffer(value.type, value.sizes)

    # Blocks

    def target(self, type: Attribute) -> Buffer | None:
        return None if has_unknown_sizes(type) else self.new_buffer(type)

    def own(self, value: Buffer) -> SSAValue:
        source, block = root_of(value.storage), self.blocks[-1]
        is_whole = value.storage.count == source.count and offset_of(value.storage) == 0
        if source.block is not block or source.owned or not is_whole:
            old, value = value, self.like(value)
            source = value.storage
            self.copy(old, value)
        source.owned = True
        return self.memref(value)

    def received(self, result: OpResult | BlockArgument) -> Value:
        if not is_buffer(type := result.type):
            return result
        axes = [axis for axis, size in enumerate(type.get_shape()) if size == DYNAMIC_INDEX]
        block = self.blocks[-1]
        sizes = tuple(self.sizes.dimension(result, axis, None, block) for axis in axes)
        buffer = self.based(result, type, sizes)
        buffer.storage.block, buffer.storage.depth = block, len(self.blocks) - 1
        self.own_arena.received.append(buffer.storage)
        return buffer

    def fill(self, storage: Storage, op: FullOp | tensor.FromElementsOp) -> None:
        assert isinstance(storage.count, int)
        block = self.blocks[storage.depth]
        flat = self.memref(Buffer(storage, tensor_buffer_of(storage)))
        if isinstance(op, tensor.FromElementsOp):
            for number, element in enumerate(self.elements[storage]):
                index = index_constant(number)
                block.add_ops([index, memref.StoreOp.get(element, flat, [index])])
            return
        zero, count, one = (index_constant(n) for n in (0, storage.count, 1))
        value = arith.ConstantOp(op.value)
        body = Block(arg_types=[IndexType()])
        body.add_ops([memref.StoreOp.get(value, flat, [body.args[0]]), scf.YieldOp()])
        block.add_ops([zero, count, one, value, scf.ForOp(zero, count, one, [], Region(body))])

    # Shapes

    def new_buffer(self, type: Attribute, sizes: tuple[Size, ...] = ()) -> Buffer:
        buffer = type if is_buffer(type) else tensor_buffer(type)
        count, depth, block = self.count(buffer, sizes), len(self.blocks) - 1, self.blocks[-1]
        storage = Storage(buffer.element_type, count, depth=depth, block=block)
        if not self.sizes.is_early(extent(count)):
            self.own_arena.reserve(storage, block)
        self.arena.computed.append(storage)
        return Buffer(storage, buffer, sizes)

    def count(self, type: Memref, sizes: Sequence[Size]) -> int | Size:
        """Return the number of elements of a buffer."""
        block = self.blocks[-1] if self.blocks else None
        total = self.sizes.product(shape_of(type, sizes), block)
        return total if total.known is None else total.known

    def shape(self, buffer: Buffer) -> list[Size]:
        """Return the sizes of all dimensions."""
        return shape_of(buffer.type, buffer.sizes)

    def view(self, op: Operation, value: Buffer, type: Attribute) -> Buffer:
        shape, wanted = self.shape(value), tensor_buffer(type).get_shape()
        try:
            new = view_shape(op, shape, wanted)
        except TooComplex:
            new = view_shape(op, [self.simple(size) for size in shape], wanted)
        return self.viewed(op, value, tensor_buffer(type), new)

    def simple(self, size: Size) -> Size:
        """Return `size`, as a symbol if it has many terms."""
        if len(size.terms) <= MAX_FACTORS:
            return size
        block = self.blocks[-1]
        return self.sizes.symbol(
            self.sizes.value(size, block), early=self.sizes.is_early(size), signed=True
        )

    def reshape(self, op: tensor.ReshapeOp | DynamicReshapeOp) -> None:
        """Convert a reshape to a shape that is computed."""
        source, numbers = op.operands
        value = self.values[source]
        assert isinstance(value, Buffer)
        shape = [self.at_least_zero(size, op) for size in self.numbers(numbers)]
        self.values[op.result] = self.viewed(op, value, tensor_buffer(op.result.type), shape)

    def viewed(self, op: Operation, value: Buffer, type: Memref, shape: Sequence[Size]) -> Buffer:
        """Return the elements of `value` as a buffer of `shape`, and assert that it has as many."""
        sizes = tuple(
            size for size, n in zip(shape, type.get_shape(), strict=True) if n == DYNAMIC_INDEX
        )
        self.check_shape(op, shape, type.get_shape())
        if isinstance(op, View | tensor.ReshapeOp | DynamicReshapeOp):
            new = extent(self.count(type, sizes))
            old = extent(self.count(value.type, value.sizes))
            self.check_equal(new, old, f"{op.name}: the numbers of elements differ", op)
        return Buffer(value.storage, type, sizes)

    def numbers(self, value: SSAValue) -> Iterator[Size]:
        """Yield the elements of a tensor of sizes."""
        buffer = self.values[value]
        assert isinstance(buffer, Buffer)
        if (elements := self.elements.get(buffer.storage)) is not None:
            yield from map(self.number, elements)
            return
        memory, block = self.memref(buffer), self.blocks[-1]
        for position in range(buffer.type.get_shape()[0]):
            index = index_constant(position)
            block.add_ops([index, load := memref.LoadOp.get(memory, [index])])
            yield self.number(load.res)

    def number(self, value: SSAValue) -> Size:
        """Return an integer of any type as a size."""
        owner = value.owner
        if isinstance(value.type, IndexType):
            return self.sizes.size_of(value)
        if isinstance(owner, arith.IndexCastOp) and isinstance(owner.input.type, IndexType):
            return self.sizes.size_of(owner.input)
        cast = arith.IndexCastOp(value, IndexType())
        if not self.sizes.hoist(cast):
            self.blocks[-1].add_op(cast)
        return self.sizes.size_of(cast.result)

    # Checks

    def check_shape(self, op: Operation, shape: Sequence[Size], type: Sequence[int]) -> None:
        """Assert that `shape` has the known sizes of `type`."""
        for axis, (size, expected) in enumerate(zip(shape, type, strict=True)):
            if expected != DYNAMIC_INDEX:
                text = f"{op.name}: dimension {axis} of a tensor is not {expected}"
                self.check_equal(size, Size.of(expected), text, op)

    def check_equal(self, left: Size, right: Size, message: str, op: Operation | None) -> None:
        """Assert that two sizes are equal, unless that is known: where `op` is, or at the start of
        the function."""
        if left != right:
            where = None if op is None else self.blocks[-1]
            self.check(self.sizes.value(left, where), "eq", right, message, op)

    def check(
        self, left: SSAValue, predicate: str, right: Size, message: str, op: Operation | None
    ) -> None:
        """Assert a comparison of sizes."""
        where: Where = None if op is None else self.blocks[-1]
        compared = arith.CmpiOp(left, self.sizes.value(right, where), predicate)
        assertion = cf.AssertOp(compared, message)
        assertion.location = self.source.location if op is None else op.location
        self.sizes.insert([compared, assertion], where)


NEGATIVE = "a size of a result is negative"


def shape_of(type: Memref, sizes: Sequence[Size]) -> list[Size]:
    """Return the sizes of all dimensions, those of unknown ones being `sizes`."""
    unknown = iter(sizes)
    return [next(unknown) if n == DYNAMIC_INDEX else Size.of(n) for n in type.get_shape()]


def tensor_buffer_of(storage: Storage) -> Memref:
    """Return the type of all elements of a storage of known size, in one dimension."""
    assert isinstance(storage.count, int)
    return MemRefType(storage.element, [storage.count])
