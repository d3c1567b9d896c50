"""Converters of operators that create tensors, or move elements without computing with them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import prod

import numpy as np
from onnx import TensorProto
from xdsl.dialects.builtin import DYNAMIC_INDEX, f32, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import MAX_RANK, MAX_SIZE, Shape, broadcast, is_static
from .....dialects.relax.types import Element, shape_of, static_shape, with_shape
from ..errors import Unsupported
from ..node import Converters, Node, direct
from ..types import element_type
from ..values import MAX_ELEMENTS, tensor_array
from .expression import Expression, indices, size_along

# Operators that move elements without computing with them.
#
# Shapes, axes and the like that depend on constants alone become attributes; others are operands
# of the operations `relax.dyn`.


# Shapes


def reshape(node: Node) -> SSAValue:
    x, allowzero = node.input(0), node.bool("allowzero")
    shape = node.ints_of(1) if node.has(1) else node.ints("shape")
    if shape is None:
        y = node.op("dyn.reshape", x, node.input(1), allowzero=allowzero)
        return with_known(node, y, reshaped(shape_of(node.type(x)), node.partly(1), allowzero))
    return node.op("reshape", x, newshape=shape, allowzero=allowzero and 0 in shape)


def reshaped(
    shape: Shape | None, newshape: Sequence[int | None] | None, allowzero: bool
) -> Shape | None:
    """Return what is known of the result of a reshape to a partly known shape."""
    if newshape is None:
        return None

    def dimension(i: int, size: int | None) -> int | None:
        if size == 0 and not allowzero:
            return shape[i] if shape is not None and i < len(shape) else DYNAMIC_INDEX
        return size

    return sizes_of([dimension(i, size) for i, size in enumerate(newshape)])


def expanded(shape: Shape | None, target: Sequence[int | None] | None) -> Shape | None:
    """Return what is known of the result of a broadcast in both directions with a partly known
    shape."""
    if shape is None or target is None:
        return None
    return broadcast(shape, sizes_of(target))


def sizes_of(elements: Sequence[int | None]) -> Shape:
    """Return a partly known shape as a shape: None and negative numbers are unknown dimensions."""
    return tuple(DYNAMIC_INDEX if size is None or size < 0 else size for size in elements)


def with_known(node: Node, value: SSAValue, shape: Shape | None) -> SSAValue:
    """Return the result of an operation with the sizes that are known of its shape."""
    return value if shape is None else node.retyped(value, with_shape(node.type(value), shape))


def flatten(node: Node) -> SSAValue:
    x = node.input(0)
    axis, rank = node.int("axis", 1), node.rank(x)
    if not -rank <= axis <= rank:
        raise Unsupported(f"axis {axis} of a tensor of rank {rank}")
    return flattened(node, x, axis + rank if axis < 0 else axis)


def flattened(node: Node, x: SSAValue, axis: int) -> SSAValue:
    """x as a matrix: the dimensions before `axis` are the rows."""
    if axis == 1 and node.rank(x) > 1:
        return node.op("nn.batch_flatten", x)
    shape = node.shape(x)
    rows, columns = (prod(part) if is_static(part) else -1 for part in (shape[:axis], shape[axis:]))
    if rows == columns == -1:
        size = node.op("strided_slice", node.op("shape_of", x), begin=[0], end=[axis])
        size = node.op("prod", size, keepdims=True)
        to = node.op("concatenate", size, node.array([-1], i64))
        return node.op("dyn.reshape", x, to)
    if (size := max(rows, columns)) > MAX_SIZE:
        raise Unsupported(f"a matrix with a dimension of {size} elements")
    return node.op("reshape", x, newshape=[rows, columns], allowzero=0 in (rows, columns))


def squeeze(node: Node) -> SSAValue:
    """The axes are an input since opset 13."""
    x = node.input(0)
    axes = node.ints_of(1) if node.has(1) else node.ints("axes")
    if axes is None and node.has(1):
        return node.op("dyn.squeeze", x, node.input(1))
    return node.op("squeeze", x, axis=axes)


def unsqueeze(node: Node) -> SSAValue:
    x = node.input(0)
    axes = node.ints_of(1) if node.has(1) else node.ints("axes")
    if axes is None:
        return node.op("dyn.expand_dims", x, node.input(1))
    return node.op("expand_dims", x, axis=axes)


def expand(node: Node) -> SSAValue:
    """Broadcast both ways: the shape may have ones where the input has not."""
    x, shape = node.input(0), node.ints_of(1)
    if shape is not None and (sizes := static_shape(node.type(x))) is not None:
        return node.op("broadcast_to", x, shape=broadcast(sizes, tuple(shape)))
    y = node.op("dyn.expand", x, node.input(1))
    return with_known(node, y, expanded(shape_of(node.type(x)), node.partly(1)))


def shape(node: Node) -> SSAValue:
    x, end = node.input(0), node.opt_int("end")
    start = node.int("start")
    dims = node.op("shape_of", x)
    if start == 0 and end is None:
        return dims
    rank = node.rank(x)
    first = min(max(start + rank if start < 0 else start, 0), rank)
    last = rank if end is None else min(max(end + rank if end < 0 else end, 0), rank)
    return node.op("strided_slice", dims, begin=[first], end=[max(first, last)])


# Order


# Parts


def concat(node: Node) -> SSAValue:
    if len(node.inputs) == 1:
        return node.input(0)
    return node.op("concatenate", *node.all_inputs(), axis=node.int("axis", 1))


def split(node: Node) -> Sequence[SSAValue]:
    """The sizes are an attribute before opset 13; without them the parts are equal, but for the
    last."""
    x, axis = node.input(0), node.int("axis")
    count = len(node.proto.output)
    sizes = node.ints_of(1) if node.has(1) else node.ints("split")
    if sizes is None and node.has(1):
        return dynamic_split(node, x, axis, count)
    if count == 1:
        return [x]
    if sizes is None:
        return node.ops("split", x, sections=count, axis=axis)
    if len(sizes) != count:
        raise Unsupported(f"splits into {len(sizes)} parts, but has {count} outputs")
    places = [*accumulate(sizes[:-1])]
    return node.ops("split", x, indices=places, axis=axis)


def dynamic_split(node: Node, x: SSAValue, axis: int, count: int) -> Sequence[SSAValue]:
    """A split whose sizes are computed; their number is that of the outputs."""
    shape = shape_of(node.type(x))
    if shape is not None:
        axis = node.axis(axis, x)
        shape = (*shape[:axis], DYNAMIC_INDEX, *shape[axis + 1 :])
    type = with_shape(node.type(x), shape)
    return node.ops("dyn.split", x, node.input(1), axis=axis, result_types=[type] * count)


def dynamic_slice(
    node: Node,
    x: SSAValue,
    begin: SSAValue,
    end: SSAValue,
    axes: SSAValue | None,
    steps: SSAValue | None,
) -> SSAValue:
    """A slice whose bounds are computed; axes and steps are given too."""
    (count,) = node.sizes(begin, 1)
    shape = shape_of(node.type(x))
    if count > (rank := MAX_RANK if shape is None else len(shape)):
        raise Unsupported(f"{count} axes of a tensor of rank {rank}")
    if axes is None:
        axes = node.array(range(count), i64)
    if steps is None:
        steps = node.array([1] * count, i64)
    begin, end, axes, steps = (node.cast(v, i64) for v in (begin, end, axes, steps))
    known = node.importer.array(steps)
    if known is None or known.min(initial=0) < 0:
        begin = clamped(node, x, begin, axes, steps)
    return node.op("dyn.strided_slice", x, begin, end, axes, steps)


def clamped(node: Node, x: SSAValue, begin: SSAValue, axes: SSAValue, steps: SSAValue) -> SSAValue:
    """Return where a slice begins: with a negative step, at the first element if it would be before
    it. In ONNX `x[-9::-1]` of three elements is `x[0]`, in Python and relax it is empty."""
    start, sizes = Expression(node, begin), Expression(node, node.op("shape_of", x))
    sizes = sizes.op("take", axes, axis=0, mode="wrap")
    first = (start < 0).where((start + sizes).op("maximum", 0), start)
    return (Expression(node, steps) < 0).where(first, start).value


def clamped_begins(
    node: Node, x: SSAValue, begin: Sequence[int], axes: Sequence[int], steps: Sequence[int]
) -> list[int] | None:
    """Return where a slice with these bounds begins, as `clamped` does; None if that depends on a
    size that is not known."""
    if not len(begin) == len(axes) == len(steps):
        raise Unsupported(f"{len(begin)} starts and {len(steps)} steps of {len(axes)} axes")
    begins: list[int] = []
    for start, axis, step in zip(begin, axes, steps, strict=True):
        if step < 0 and start < -1:
            size = node.shape(x)[node.axis(axis, x)]
            if size == DYNAMIC_INDEX:
                return None
            start = max(start, -size)
        begins.append(start)
    return begins


def slice_(node: Node) -> SSAValue:
    """The bounds are inputs since opset 10."""
    x = node.input(0)
    if node.opset < 10:
        begin, end, axes = node.ints("starts"), node.ints("ends"), node.ints("axes")
        return node.op("strided_slice", x, begin=begin, end=end, axes=axes)
    begin, end, axes, steps = (node.ints_of(i) for i in range(1, 5))
    computed = [i for i, v in ((3, axes), (4, steps)) if node.has(i) and v is None]
    if begin is not None and steps is not None:
        begin = clamped_begins(node, x, begin, axes or [*range(len(begin))], steps)
    if begin is None or end is None or computed:
        optional = [node.input(i) if node.has(i) else None for i in (3, 4)]
        return dynamic_slice(node, x, node.input(1), node.input(2), *optional)
    return node.op("strided_slice", x, begin=begin, end=end, strides=steps, axes=axes)


# Copies


def tile(node: Node) -> SSAValue:
    x = node.input(0)
    if (repeats := node.ints_of(1)) is None:
        return node.op("dyn.tile", x, node.input(1))
    return node.op("tile", x, reps=repeats)


_PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "circular"}


def pad(node: Node) -> SSAValue:
    """The widths are an attribute before opset 11; all begins, then all ends."""
    x, mode = node.input(0), node.choice("mode", _PAD_MODES, "constant")
    if node.opset < 11:
        widths, axes, value = node.ints("pads"), None, node.float("value")
    else:
        widths, axes = node.ints_of(1), node.ints_of(3)
        value = node.number_of(2) if node.has(2) else 0
    if widths is None or value is None or (node.has(3) and axes is None):
        return dynamic_pad(node, x, mode)
    rank = node.rank(x)
    chosen = [*range(rank)] if axes is None else [node.axis(axis, x) for axis in axes]
    if len(widths) != 2 * len(chosen):
        raise Unsupported(f"pads = {widths}, expected {2 * len(chosen)} numbers")
    interleaved = [0] * (2 * rank)
    for i, axis in enumerate(chosen):
        interleaved[2 * axis] = widths[i]
        interleaved[2 * axis + 1] = widths[i + len(chosen)]
    return node.op("nn.pad", x, pad_width=interleaved, pad_value=float(value), pad_mode=mode)


def dynamic_pad(node: Node, x: SSAValue, mode: str) -> SSAValue:
    """A padding that is computed."""
    value = node.input(2) if node.has(2) else node.like(0, x)
    axes = node.input(3) if node.has(3) else node.array(range(node.rank(x)), i64)
    return node.op("dyn.pad", x, node.input(1), value, node.cast(axes, i64), pad_mode=mode)


MANIPULATION: Converters = {
    "Concat": concat,
    "Expand": expand,
    "Flatten": flatten,
    "Pad": pad,
    "Reshape": reshape,
    "ReverseSequence": direct("reverse_sequence", "batch_axis", seq_axis="time_axis"),
    "Shape": shape,
    "Size": direct("size_of"),
    "Slice": slice_,
    "Split": split,
    "Squeeze": squeeze,
    "Tile": tile,
    "Transpose": direct("transpose", axes="perm"),
    "Unsqueeze": unsqueeze,
}


# Converters of operators that create tensors from attributes and shapes.


def constant(node: Node) -> SSAValue:
    """Convert Constant: the value is one of several attributes."""
    if (tensor := node.tensor("value")) is not None:
        return node.tensor_constant(tensor)
    if (number := node.opt_float("value_float")) is not None:
        return node.array(np.asarray(number, np.float32), f32)
    if (numbers := node.floats("value_floats")) is not None:
        return node.array(np.asarray(numbers, np.float32), f32)
    if (integer := node.opt_int("value_int")) is not None:
        return node.array(np.asarray(integer, np.int64), i64)
    if (integers := node.ints("value_ints")) is not None:
        return node.array(np.asarray(integers, np.int64), i64)
    raise Unsupported("strings and sparse tensors are not supported")


def constant_of_shape(node: Node) -> SSAValue:
    """Convert ConstantOfShape to a fill, by default of f32 zeros; the fill is never expanded."""
    value, element = 0, f32
    if (tensor := node.tensor("value")) is not None:
        value, element = one_element(tensor.SerializeToString())
    if (shape := node.ints_of(0)) is not None:
        return node.full(value, element, tuple(shape))
    y, sizes = node.op("dyn.full", node.full(value, element), node.input(0)), node.partly(0)
    return y if sizes is None else with_known(node, y, sizes_of(sizes))


@lru_cache(1 << 8)
def one_element(content: bytes) -> tuple[float, Element]:
    """Return the number in a serialized tensor of one element, and the element type."""
    tensor = TensorProto.FromString(content)
    element = element_type(tensor.data_type)
    if (array := tensor_array(tensor)).size != 1:
        raise Unsupported(f"attribute 'value' has {array.size} elements, expected one")
    return array.item(), element


def eye_like(node: Node) -> SSAValue:
    x = node.input(0)
    element = element_type(node.int("dtype")) if node.given("dtype") else node.element(x)
    if node.rank(x) != 2:
        raise Unsupported(f"the input has rank {node.rank(x)}, expected a matrix")
    rows, columns = node.shape(x)
    if not is_static((rows, columns)):
        row, column = (indices(size_along(Expression(node, x), i), node) for i in range(2))
        return (row + node.int("k")).expand(1).equals(column).cast(element).value
    if rows * columns > 1 << 24:
        raise Unsupported("a matrix of more than 2 ** 24 elements")
    return node.array(np.eye(rows, columns, node.int("k"), np.int8), element)


def range_(node: Node) -> SSAValue:
    """Convert Range: start, limit (excluded) and step are inputs."""
    start, stop, step = (node.number_of(i) for i in range(3))
    element = node.element(0)
    if start is not None and stop is not None and step is not None:
        count = max(np.ceil((stop - start) / step), 0) if step else 0
        if count <= MAX_ELEMENTS:  # false for NaN
            return node.array(start + np.arange(int(count)) * step, element)
    return node.op("arange", *node.all_inputs())


CREATION: Converters = {
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "EyeLike": eye_like,
    "Range": range_,
}
