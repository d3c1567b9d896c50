"""The buffers of a function that is being built: their storage, their shapes and live ranges."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from math import prod

from xdsl.dialects import arith, cf, memref, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    TupleType,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from ....compiler.analysis.symbolic_shapes import computed_dimensions
from ....dialects.numbers import as_number, as_size
from ....dialects.relax.constant import FullOp
from ....dialects.relax.data.manipulation import SqueezeOp
from ....dialects.relax.dimensions import symbolic_type
from ....dialects.relax.dynamic.data_movement import DynamicReshapeOp
from ....dialects.relax.interfaces import View
from ....dialects.sizes import Size, TooComplex
from ....dialects.tir import ops as tir
from ...sizes import FunctionSizes, Where, index_constant
from .arena import Arena
from .buffer_values import (
    ConstantGlobals,
    Memref,
    Storage,
    TensorBuffer,
    Value,
    extent,
    is_buffer,
    nested,
    root_of,
    shape_of,
    tensor_buffer,
)

MAX_TERMS = 4
"""A size with more terms is replaced by a symbol where the sizes of a view are too complex."""


class BufferBuilder:
    """The values and buffers of a function on buffers that is being built.

    The sizes of buffers are numbers, or known expressions of values (`FunctionSizes`). Sizes that
    would make an access invalid fail an assertion.
    """

    def __init__(self, source: FuncOp, symbols: ConstantGlobals) -> None:
        self.source = source
        self.symbols = symbols
        self.is_dynamic = source.sym_name.data in symbols.dynamic
        """Whether the function computes with sizes."""
        self.time: int = 0
        self.blocks: list[Block] = []
        """The new blocks that are being filled, outermost first."""
        self.starts: list[int] = []
        """For each of these blocks, the time of the operation that is being converted there."""
        self.values: dict[SSAValue, Value] = {}
        self.elements: dict[Storage, list[SSAValue]] = {}
        """The elements of tensors that are made of scalars."""
        self.copies = 0
        self.sizes = FunctionSizes(UnrealizedConversionCastOp.create())
        self.arena = Arena(self.sizes, frees=self.is_dynamic)

    def add(self, new: Operation, old: Operation) -> None:
        """Append `new` to the current block, with the location of `old`."""
        new.location = old.location
        self.blocks[-1].add_op(new)

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Convert operations into `block`."""
        self.blocks.append(block)
        self.starts.append(self.time)
        yield
        self.blocks.pop()
        self.starts.pop()

    # Values

    def scalar(self, value: SSAValue) -> SSAValue:
        """Return the converted value of a scalar."""
        scalar = self.values[value]
        assert isinstance(scalar, SSAValue)
        return scalar

    def define(self, op: Operation, leaves: Iterator[Value]) -> None:
        """Set the converted values of the results of `op`, built from the `leaves` of all."""
        for result in op.results:
            self.values[result] = value = nested(result.type, leaves)
            if isinstance(value, TensorBuffer):
                value.storage.hint = result.name_hint
            elif isinstance(value, SSAValue):
                value.name_hint = result.name_hint

    # Buffers

    def new_buffer(self, type: Attribute, sizes: tuple[Size, ...] = ()) -> TensorBuffer:
        """Return a buffer for a tensor, or of a buffer type, that is computed in the current
        block; `sizes` are those of unknown dimensions."""
        buffer = type if is_buffer(type) else tensor_buffer(type)
        count, depth, block = self.count(buffer, sizes), len(self.blocks) - 1, self.blocks[-1]
        storage = Storage(buffer.element_type, count, depth=depth, block=block)
        if isinstance(count, Size) and not self.sizes.is_early(count):
            self.arena.reserve(storage, block)
        self.arena.computed.append(storage)
        return TensorBuffer(storage, buffer, sizes)

    def like(self, value: TensorBuffer) -> TensorBuffer:
        """Return a new buffer of the shape of `value`."""
        return self.new_buffer(value.type, value.sizes)

    def based(
        self, base: BlockArgument | OpResult, type: Memref, sizes: tuple[Size, ...]
    ) -> TensorBuffer:
        """Return the buffer that is the memref `base`."""
        storage = Storage(type.element_type, self.count(type, sizes), base=base)
        storage.sizes = sizes
        return TensorBuffer(storage, type, sizes)

    def received(self, result: OpResult | BlockArgument) -> Value:
        """Return a result of a new operation, or an argument of its block, as a converted value: a
        scalar as it is."""
        if not is_buffer(type := result.type):
            return result
        axes = [axis for axis, size in enumerate(type.get_shape()) if size == DYNAMIC_INDEX]
        block = self.blocks[-1]
        sizes = tuple(self.sizes.dimension(result, axis, None, block) for axis in axes)
        buffer = self.based(result, type, sizes)
        buffer.storage.block, buffer.storage.depth = block, len(self.blocks) - 1
        self.arena.received.append(buffer.storage)
        return buffer

    def memref(self, buffer: TensorBuffer) -> SSAValue:
        """Return the memref of a buffer that is used now."""
        self.touch(buffer.storage)
        return self.arena.memref(buffer, self.blocks)

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

    def fill(self, storage: Storage, op: FullOp | tensor.FromElementsOp) -> None:
        """Store the elements that `op` gives: scalars, or one value, by a loop."""
        assert isinstance(storage.count, int)
        block = self.blocks[storage.depth]
        flat = self.memref(TensorBuffer(storage, MemRefType(storage.element, [storage.count])))
        if isinstance(op, tensor.FromElementsOp):
            for number, element in enumerate(self.elements[storage]):
                index = index_constant(number)
                block.add_ops([index, memref.StoreOp.get(element, flat, [index])])
            return
        zero, count, value = *map(index_constant, (0, storage.count)), arith.ConstantOp(op.value)
        new: list[Operation] = [zero, count, value]
        if self.is_dynamic:
            one, body = index_constant(1), Block(arg_types=[IndexType()])
            new += [one, scf.ForOp(zero, count, one, [], Region(body))]
            end = scf.YieldOp()
        else:
            new.append(loop := tir.ForOp(zero, count))
            body, end = loop.body.block, tir.YieldOp()
        body.add_ops([memref.StoreOp.get(value, flat, [body.args[0]]), end])
        for each in new:
            each.location = op.location
        block.add_ops(new)

    def copy(self, value: TensorBuffer, target: TensorBuffer) -> None:
        """Copy the elements of `value` into `target`."""
        copied = TensorBuffer(value.storage, target.type, target.sizes)
        self.blocks[-1].add_op(memref.CopyOp(self.memref(copied), self.memref(target)))
        self.copies += 1

    # Shapes

    def count(self, type: Memref, sizes: Sequence[Size]) -> int | Size:
        """Return the number of elements of a buffer."""
        if not sizes:
            return prod(type.get_shape())
        block = self.blocks[-1] if self.blocks else None
        total = self.sizes.product(shape_of(type, sizes), block)
        return total if total.known is None else total.known

    def retyped(self, op: Operation, value: Value, type: Attribute) -> Value:
        """Return the elements of `value`, the operand of the view or cast `op`, as a value of
        `type`."""
        match value:
            case TensorBuffer():
                return self.view(op, value, type)
            case tuple():
                assert isinstance(type, TupleType)
                return tuple(self.retyped(op, *pair) for pair in zip(value, type.types))
            case _:
                return value

    def view(self, op: Operation, value: TensorBuffer, type: Attribute) -> TensorBuffer:
        """Return the buffer of the result of the view or cast `op` of `value`."""
        new = tensor_buffer(type)
        if not value.sizes and DYNAMIC_INDEX not in new.get_shape():
            return TensorBuffer(value.storage, new)
        shape = shape_of(value.type, value.sizes)
        try:
            wanted = view_shape(op, shape)
        except TooComplex:
            wanted = view_shape(op, [self.simple(size) for size in shape])
        return self.viewed(op, value, new, wanted)

    def simple(self, size: Size) -> Size:
        """Return `size`, or a symbol for its value if it has more than MAX_TERMS terms."""
        if len(size.terms) <= MAX_TERMS:
            return size
        value, is_early = self.sizes.value(size, self.blocks[-1]), self.sizes.is_early(size)
        return self.sizes.symbol(value, early=is_early, signed=True)

    def reshape(self, op: tensor.ReshapeOp | DynamicReshapeOp) -> None:
        """Convert a reshape to a shape that is computed."""
        source, numbers = op.operands
        value = self.values[source]
        assert isinstance(value, TensorBuffer)
        shape = [self.at_least_zero(size, op) for size in self.numbers(numbers)]
        self.values[op.result] = self.viewed(op, value, tensor_buffer(op.result.type), shape)

    def viewed(
        self, op: Operation, value: TensorBuffer, type: Memref, shape: Sequence[Size]
    ) -> TensorBuffer:
        """Return the elements of `value` as a buffer of `shape`, and assert that it has as many."""
        sizes = tuple(
            size for size, n in zip(shape, type.get_shape(), strict=True) if n == DYNAMIC_INDEX
        )
        self.check_shape(op, shape, type.get_shape())
        if isinstance(op, View | tensor.ReshapeOp | DynamicReshapeOp):
            new = extent(self.count(type, sizes))
            old = extent(self.count(value.type, value.sizes))
            self.check_equal(new, old, f"{op.name}: the numbers of elements differ", op)
        return TensorBuffer(value.storage, type, sizes)

    def numbers(self, value: SSAValue) -> Iterator[Size]:
        """Yield the elements of a tensor of sizes."""
        buffer = self.values[value]
        assert isinstance(buffer, TensorBuffer)
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

    def at_least_zero(self, size: Size, op: Operation) -> Size:
        """Return `size`, which a result of `op` has; insert an assertion that it is not negative,
        unless that is known.

        The arena is allocated earlier, with 0 for a negative size.
        """
        if self.sizes.is_nonnegative(size):
            return size
        self.check(self.sizes.value(size, self.blocks[-1]), "sge", Size.of(0), NEGATIVE, op)
        if self.sizes.is_early(size):
            return self.sizes.at_least_zero(size)
        if len(self.blocks) == 1 and (symbol := size.lone_symbol) is not None:
            self.sizes.set_nonnegative(symbol)  # all that follows is after the assertion
        return size

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


class ViewOperand:
    """The facts about the operand of a view: its shape."""

    def __init__(self, shape: Sequence[Size]) -> None:
        self.shape = shape

    def type_of(self, value: SSAValue) -> Attribute:
        return symbolic_type(value.type, self.shape)

    def elements_of(self, value: SSAValue) -> None:
        return None


def view_shape(op: Operation, shape: Sequence[Size]) -> list[Size]:
    """Return the shape of the result of the view or cast `op`, whose operand has `shape`.

    TooComplex if a product is; the numbers of elements may differ, which the caller checks.
    """
    if isinstance(op, SqueezeOp) and op.axis is None:
        return [size for size in shape if size.known != 1]
    (dimensions,) = computed_dimensions(op, ViewOperand(shape)) or [[*map(as_number, shape)]]
    known = [size for number in dimensions or () if (size := as_size(number)) is not None]
    if dimensions is None or len(known) < len(dimensions):
        raise TooComplex(f"the shape of '{op.name}'")
    return known
