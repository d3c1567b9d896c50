"""Legalizations of operations that create tensors: ranges, shapes, one-hot, triangles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, f64, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from ....dialects.relax.data import creation as ops
from ....dialects.relax.dynamic.computation import DynamicOneHotOp
from ....dialects.relax.types import is_integer
from ....dialects.sizes import Size
from ....dialects.tir.builder import Index, TirBuilder
from ....dialects.tir.functions import Shape, extent_of, volume
from ....dialects.tir.ops import PrimFuncOp
from ....passmanager.fast.edit import insert_before
from ....passmanager.ir.walk import symbol_of
from ..builder import Buffer, KernelBuilder, Legalization, Tensor
from ..scalars import add, as_index, compare_integers, convert, multiply, select
from .manipulation import moved


def shape_of(_: Operation, b: KernelBuilder, data: Tensor) -> Tensor:
    shape = b.alloc((len(data.shape),), i64)
    for axis, size in enumerate(data.shape):
        b.store(b.number(size, i64), shape, [axis])
    return Buffer((len(data.shape),), i64, shape)


def size_of(op: Operation, b: KernelBuilder, data: Tensor) -> Tensor:
    return moved(op, b, lambda b, _: b.number(volume(data.shape), i64))


def arange(op: ops.ArangeOp, b: KernelBuilder, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
    """Compute floats in f64, rounded once."""
    element = start.element
    wide = element if is_integer(element) else f64
    if not isinstance(b.shape_of(op.result)[0], int):
        require_finite(op, b, *(b.read(tensor, []) for tensor in (start, stop, step)))

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        # start + i * step, not a sum that grows: that would add up its rounding errors, and each
        # element would wait for the one before it.
        first, distance = (convert(b, b.read(tensor, []), wide) for tensor in (start, step))
        number = convert(b, b.index(index[0]), wide)
        return convert(b, add(b, first, multiply(b, number, distance)), element)

    return moved(op, b, read)


def require_finite(
    op: ops.ArangeOp, b: KernelBuilder, start: SSAValue, stop: SSAValue, step: SSAValue
) -> None:
    """Assert that the number of steps from `start` to `stop` is finite."""
    message = f"{op.name}: the range is not finite"
    if is_integer(step.type):
        zero = b.number(0, step.type)
        b.require(b.negation(compare_integers(b, "eq", step, zero)), message, op)
        return
    start, stop, step = (convert(b, x, f64) for x in (start, stop, step))
    distance = b.pure(arith.SubfOp, stop, start)
    conditions = [b.pure(arith.CmpfOp, step, b.number(0.0, f64), arg="une")]
    # NaN compares false in all of these. Below 2^62, the conversion to i64 does not overflow, and
    # no memory has as many elements.
    for value, limit in ((step, inf), (b.pure(arith.DivfOp, distance, step), 2.0**62)):
        size = b.pure(math.AbsFOp, value)
        conditions.append(b.pure(arith.CmpfOp, size, b.number(limit, f64), arg="olt"))
    b.require(b.all(conditions), message, op)


def one_hot(
    op: ops.OneHotOp | DynamicOneHotOp, b: KernelBuilder, indices: Tensor, on: Tensor, off: Tensor
) -> Tensor:
    axis = op.axis % (len(indices.shape) + 1)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        hot = as_index(b, b.read(indices, [*index[:axis], *index[axis + 1 :]]))
        return select(b, b.equal(hot, index[axis]), b.read(on, []), b.read(off, []))

    return moved(op, b, read)


def trilu(op: ops.TriluOp, b: KernelBuilder, data: Tensor, k: Tensor) -> Tensor:
    rows, columns = data.shape[-2:]

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        # k may be any i64. It is clipped to the range between keeping all and keeping nothing, so
        # that the sum below cannot overflow.
        diagonal = b.max(-rows - 1, b.min(as_index(b, b.read(k, [])), columns + 1))
        first = index[-2] + diagonal  # the column on the diagonal
        place = index[-1]
        kept = b.less(first - 1, place) if op.upper else b.less(place, first + 1)
        return b.choose([kept], lambda: b.read(data, index), lambda: b.number(0, data.element))

    return moved(op, b, read)


CREATION: dict[type[Operation], Legalization] = {
    ops.ArangeOp: arange,
    ops.OneHotOp: one_hot,
    ops.ShapeOfOp: shape_of,
    ops.SizeOfOp: size_of,
    ops.TriluOp: trilu,
}


# Kernels of operations whose result sizes depend on data. Their calls are inserted before the
# operations around them are legalized, since they compute sizes of tensors.


class SeparateKernels:
    """The kernels that are added to a module, one for each kind of operation and its types."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._names: dict[tuple[str, object], str] = {}
        self._taken = {symbol_of(op) for op in module.ops}

    def named(self, kind: str, key: Attribute, build: Callable[[str], PrimFuncOp]) -> str:
        """Return the name of the kernel of a kind for `key`. If there is none yet, `build` builds
        it for a new name."""
        # Calls with operands of equal types share a kernel. Names that are in use in the module are
        # left out.
        if (name := self._names.get((kind, key))) is None:
            number = 0
            while (name := f"{kind}{number}") in self._taken:
                number += 1
            self._taken.add(name)
            self._names[kind, key] = name
            self._module.body.block.add_op(build(name))
        return name

    def insert(self, before: Operation, new: Operation) -> SSAValue:
        """Insert `new` before an operation, with the location of that operation; return its first
        result."""
        new.location = before.location
        insert_before(before, new)
        return new.results[0]


def parameter_shape(b: TirBuilder, buffer: SSAValue) -> Shape:
    """Return the shape of a parameter; sizes that are not known are read at the start."""
    type = buffer.type
    assert isa(type, MemRefType) and isinstance(buffer, BlockArgument)
    sizes: list[Size] = []
    for axis, size in enumerate(type.get_shape()):
        # Each unknown size gets a symbol of its own, even where shape rules know that two are
        # equal: the kernel also serves calls in which they differ.
        name = f"?{buffer.index}.{axis}"
        if size == DYNAMIC_INDEX:
            b.read_size(name, buffer, axis)
        sizes.append(Size.symbol(name) if size == DYNAMIC_INDEX else Size.of(size))
    b.shapes[buffer] = shape = tuple(map(extent_of, sizes))
    return shape
