"""Folds and patterns of `tensor`, for `canonicalize`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ....passmanager.ir.effects import would_be_dead
from ....passmanager.ir.text.printer import is_dense
from .by_dialect import Fold, Folded
from .cast_patterns import cast_to
from .constants import (
    constant_integer,
    constant_of,
    dense_of_bytes,
    dense_of_numbers,
    numbers_of,
    signed_integer,
    uniform_attribute,
    uniform_number,
)
from .reshape_patterns import PATTERNS as RESHAPES
from .reshape_patterns import fold_reshape
from .scalar_values import element_of, is_shaped
from .shapes import (
    DYNAMIC,
    PartOperands,
    Size,
    dropped_dimensions,
    folded,
    known,
    loses_static_facts,
    rebuilt_slice,
    shape_of_type,
    slice_of,
    static_sizes,
    subview_type,
    with_shape,
    without_dimensions,
)
from .slice_patterns import PATTERNS as SLICES
from .slice_patterns import (
    TakeUncast,
    fold_cast,
    fold_dim,
    fold_rank,
    is_inside,
    replace_with,
    same_slice,
    uncast,
)

Reshape: TypeAlias = tensor.ExpandShapeOp | tensor.CollapseShapeOp | tensor.ReshapeOp

_FORALL: Final = "scf.forall"
_GENERATE: Final = "tensor.generate"
_RESHAPE: Final = "tensor.reshape"
_OF_THREADS: Final = "tensor.parallel_insert_slice"
"""The insertion in the terminator of an `scf.forall`."""


# Elements


def _fold_extract(op: Operation) -> Folded | None:
    """Fold an element of a constant, a splat, a list of elements, or of what it was written to."""
    assert isinstance(op, tensor.ExtractOp)
    source = op.tensor.owner
    if isinstance(source, tensor.SplatOp):
        return source.input
    if isinstance(source, Operation) and source.name == "linalg.fill":
        value = source.operands[0]
        return value if value.type == op.result.type else None
    constant = constant_of(op.tensor)
    if constant is not None and (number := uniform_number(constant)) is not None:
        return uniform_attribute(number, op.result.type)
    indices, shape = [signed_integer(index) for index in op.indices], shape_of_type(op.tensor.type)
    if isinstance(source, tensor.InsertOp) and [*source.indices] == [*op.indices]:
        return source.scalar
    if shape is None or (position := _position(indices, shape)) is None:
        return None
    if isinstance(source, tensor.FromElementsOp):
        return source.elements[position]
    if constant is not None and (numbers := numbers_of(constant)) is not None:
        return uniform_attribute(numbers[position], op.result.type)
    return None


def _position(indices: Sequence[int | None], shape: Sequence[int]) -> int | None:
    """Return the place of an element in row-major order, or None."""
    position = 0
    for index, size in zip(indices, shape, strict=True):
        if index is None or not 0 <= index < size:
            return None
        position = position * size + index
    return position


def _fold_insert(op: Operation) -> Folded | None:
    """Fold the insertion of a number into a constant that has it everywhere."""
    scalar, dest = op.operands[:2]
    number = uniform_number(constant_of(scalar))
    other = uniform_number(constant_of(dest))
    return dest if number is not None and _same(number, other) else None


def _same(a: float, b: float | None) -> bool:
    return b is not None and a == b and math.copysign(1, a) == math.copysign(1, b)


def _fold_from_elements(op: Operation) -> Folded | None:
    numbers = [uniform_number(constant_of(element)) for element in op.operands]
    found = [number for number in numbers if number is not None]
    if not numbers or len(found) < len(numbers):
        return None
    return dense_of_numbers(found, op.results[0].type)


def _fold_splat(op: Operation) -> Folded | None:
    number = uniform_number(constant_of(op.operands[0]))
    type = op.results[0].type
    return None if number is None or not is_shaped(type) else uniform_attribute(number, type)


# Shapes


def _fold_tensor_reshape(op: Operation) -> Folded | None:
    """Fold a reshape of a constant, or as `fold_reshape`."""
    source, to = op.operands[0], op.results[0].type
    constant = constant_of(source)
    if is_shaped(to) and to.has_static_shape() and constant is not None and is_dense(constant):
        return dense_of_bytes(constant.data.data, to)
    if op.name == _RESHAPE:
        shape = shape_of_type(to)
        # Of one unknown size and no other there is no doubt.
        is_known = shape is not None and (DYNAMIC not in shape or len(shape) == 1)
        return source if is_known and source.type == to else None
    return fold_reshape(op)


def _fold_extract_slice(op: Operation) -> Folded | None:
    """Fold a part of a uniform constant, and what was inserted at the same place."""
    assert isinstance(op, tensor.ExtractSliceOp)
    number, type = uniform_number(constant_of(op.source)), op.result.type
    if number is not None and is_shaped(type):
        return uniform_attribute(number, type)
    inserted = op.source.owner
    if isinstance(inserted, tensor.InsertSliceOp) and inserted.source.type == type:
        return inserted.source if same_slice(op, inserted) else None
    return None


def _fold_insert_slice(op: Operation) -> Folded | None:
    """Fold an insertion of all elements, of none, and of what is there already."""
    assert isinstance(op, tensor.InsertSliceOp)
    if op.source.type == op.result.type and DYNAMIC not in (shape_of_type(op.source.type) or ()):
        parts = slice_of(op)
        if all(known(start) == 0 for start in parts[0]) and all(known(s) == 1 for s in parts[2]):
            return op.source
    if 0 in (shape_of_type(op.source.type) or ()):
        return op.dest
    extracted = op.source.owner
    if isinstance(extracted, tensor.ExtractSliceOp) and extracted.source is op.dest:
        return op.dest if same_slice(op, extracted) else None
    return None


def _fold_concat(op: Operation) -> Folded | None:
    single = op.operands[0]
    return single if len(op.operands) == 1 and single.type == op.results[0].type else None


def _fold_bitcast(op: Operation) -> Folded | None:
    """Fold a bitcast to the same type; make one of two."""
    source, to = op.operands[0], op.results[0]
    if source.type == to.type:
        return source
    inner = source.owner
    if not isinstance(inner, Operation) or inner.name != op.name:
        return None
    op.operands[0] = inner.operands[0]
    return to


FOLDS: Final[Mapping[str, Fold]] = {
    "tensor.bitcast": _fold_bitcast,
    "tensor.cast": fold_cast,
    "tensor.collapse_shape": _fold_tensor_reshape,
    "tensor.concat": _fold_concat,
    "tensor.dim": fold_dim,
    "tensor.expand_shape": _fold_tensor_reshape,
    "tensor.extract": _fold_extract,
    "tensor.extract_slice": _fold_extract_slice,
    "tensor.from_elements": _fold_from_elements,
    "tensor.insert": _fold_insert,
    "tensor.insert_slice": _fold_insert_slice,
    "tensor.rank": fold_rank,
    "tensor.reshape": _fold_tensor_reshape,
    "tensor.splat": _fold_splat,
}


class ConstantEmpty(RewritePattern):
    """Write the constant sizes of an empty tensor into its type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.EmptyOp, rewriter: PatternRewriter, /) -> None:
        shape = shape_of_type(op.tensor.type)
        if not op.dynamic_sizes or shape is None:
            return
        values = iter(op.dynamic_sizes)
        sizes = folded([next(values) if size == DYNAMIC else size for size in shape], 0)
        new = static_sizes(sizes)
        if new != shape:
            kept = [size for size in sizes if isinstance(size, SSAValue)]
            replace_with(rewriter, op, tensor.EmptyOp(kept, with_shape(op.tensor.type, new)))


class CastOfEmpty(RewritePattern):
    """Make an empty tensor of the type to which it is cast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.CastOp, rewriter: PatternRewriter, /) -> None:
        made, to = op.source.owner, op.dest.type
        shape = shape_of_type(to)
        if not isinstance(made, tensor.EmptyOp) or shape is None:
            return
        values, sizes = iter(made.dynamic_sizes), list[SSAValue]()
        old = shape_of_type(made.tensor.type) or []
        for before, after in zip(old, shape, strict=True):
            value = next(values) if before == DYNAMIC else None
            if after == DYNAMIC:
                if value is None:
                    return
                sizes.append(value)
        rewriter.replace(op, tensor.EmptyOp(sizes, to))


class ReshapeElements(RewritePattern):
    """Make a tensor of elements in the shape to which it is reshaped."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Reshape, rewriter: PatternRewriter, /) -> None:
        made, to = op.operands[0].owner, op.results[0].type
        if not is_shaped(to) or not to.has_static_shape():
            return
        if isinstance(made, tensor.FromElementsOp | tensor.SplatOp):
            rewriter.replace(
                op,
                made.__class__.create(
                    operands=made.operands, result_types=[to], properties=made.properties
                ),
            )


class MergeTensorReshapes(RewritePattern):
    """Reshape what a reshape is of."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, a `tensor.reshape`."""
        inner = op.operands[0].owner
        if isinstance(inner, Operation) and inner.name == op.name:
            op.operands[0] = inner.operands[0]
            rewriter.handle_operation_modification(op)


class ReshapeToSame(RewritePattern):
    """Replace a reshape to the sizes of its operand, as `dim` or its type say."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ReshapeOp, rewriter: PatternRewriter, /) -> None:
        made, shape = op.shape.owner, shape_of_type(op.source.type)
        if not isinstance(made, tensor.FromElementsOp) or op.source.type != op.result.type:
            return
        if shape is None or len(made.elements) != len(shape):
            return
        doubtful = 0
        for index, (element, size) in enumerate(zip(made.elements, shape, strict=True)):
            dim = element.owner
            is_dim = (
                isinstance(dim, tensor.DimOp)
                and dim.source is op.source
                and signed_integer(dim.index) == index
            )
            if not is_dim and (size == DYNAMIC or constant_integer(element) != size):
                doubtful += 1
        # All but one size determine the last one.
        if doubtful <= 1 and shape.count(DYNAMIC) - doubtful <= len(shape):
            if doubtful == 0 or 0 not in shape:
                rewriter.replace(op, (), [op.source])


class CastOfPart(RewritePattern):
    """Take a part of the more static type to which it is cast. Source: `TensorCastExtractSlice` of
    MLIR."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.CastOp, rewriter: PatternRewriter, /) -> None:
        part, to = op.source.owner, op.dest.type
        shape = shape_of_type(to)
        if not isinstance(part, tensor.ExtractSliceOp) or shape is None:
            return
        if not loses_static_facts(to, op.source.type) or shape == shape_of_type(op.source.type):
            return
        offsets, sizes, strides = slice_of(part)
        dropped = dropped_dimensions(static_sizes(sizes), shape_of_type(op.source.type) or ())
        if dropped is None:
            return
        values = iter(shape)
        new = [
            size if index in dropped or (number := next(values)) == DYNAMIC else number
            for index, size in enumerate(sizes)
        ]
        if is_inside((offsets, new, strides), shape_of_type(part.source.type)):
            rewriter.replace(op, rebuilt_slice(part, [part.source], (offsets, new, strides), to))


class ConcatenateOne(RewritePattern):
    """Replace a concatenation of one tensor by a cast."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `tensor.concat`."""
        to = op.results[0].type
        if len(op.operands) == 1 and op.operands[0].type != to:
            rewriter.replace(op, cast_to(tensor.CastOp, op.operands[0], to))


class StaticConcatenation(RewritePattern):
    """Give operands and result of a concatenation the sizes that follow from the other ones.
    Source: `InferConcatOperandTypes`, `InferConcatResultType` of MLIR."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `tensor.concat`."""
        to = op.results[0].type
        shapes = [shape_of_type(operand.type) or [] for operand in op.operands]
        axis = cast(IntegerAttr, op.properties["dim"]).value.data
        inferred = [max(sizes) for sizes in zip(*shapes, strict=True)]
        for index, (operand, shape) in enumerate(zip(op.operands, shapes, strict=True)):
            wanted = [*inferred[:axis], shape[axis], *inferred[axis + 1 :]]
            if wanted != shape:
                made = cast_to(tensor.CastOp, operand, with_shape(operand.type, wanted))
                op.operands[index] = rewriter.insert(made).results[0]
                rewriter.handle_operation_modification(op)
        sizes = [shape[axis] for shape in shapes]
        inferred[axis] = DYNAMIC if DYNAMIC in sizes else sum(sizes)
        old = shape_of_type(to) or []
        known_sizes = [a if b == DYNAMIC else b for a, b in zip(inferred, old, strict=True)]
        if known_sizes != old:
            type = with_shape(to, known_sizes)
            made = op.__class__.create(
                operands=op.operands, result_types=[type], properties=op.properties
            )
            replace_with(rewriter, op, made)


# Computed tensors


class ConstantGeneration(RewritePattern):
    """Write the constant sizes of a computed tensor into its type."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, a `tensor.generate`."""
        shape = shape_of_type(op.results[0].type) or []
        values = iter(op.operands)
        sizes = folded([next(values) if size == DYNAMIC else size for size in shape], 0)
        if (new := static_sizes(sizes)) != shape:
            made = type(op).create(
                operands=[size for size in sizes if isinstance(size, SSAValue)],
                result_types=[with_shape(op.results[0].type, new)],
                attributes=op.attributes,
                regions=[op.detach_region(op.regions[0])],
            )
            replace_with(rewriter, op, made)


class ElementOfGeneration(RewritePattern):
    """Compute the element that is taken of a computed tensor, if that has no effects."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractOp, rewriter: PatternRewriter, /) -> None:
        made = op.tensor.owner
        if not isinstance(made, Operation) or made.name != _GENERATE or not would_be_dead(made):
            return
        block = made.regions[0].block
        values: dict[SSAValue, SSAValue] = dict(zip(block.args, op.indices, strict=True))
        end = block.last_op
        assert end is not None
        for inner in block.ops:
            if inner is not end:
                rewriter.insert(inner.clone(values))
        element = end.operands[0]
        rewriter.replace(op, (), [values.get(element, element)])


# Insertions


class ConstantInsertion(RewritePattern):
    """Write the constant offsets, sizes and strides of an insertion into its properties."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        source, dest = op.operands[:2]
        old = slice_of(cast(PartOperands, op))
        new = (folded(old[0], 0), folded(old[1], 0), folded(old[2], nonzero=True))
        if all(a is b for x, y in zip(old, new, strict=True) for a, b in zip(x, y, strict=True)):
            return
        reduced = shape_of_type(source.type)
        dropped = dropped_dimensions(static_sizes(old[1]), reduced or ())
        full = subview_type(dest.type, new)
        if dropped is None or full is None or not is_inside(new, shape_of_type(dest.type)):
            return
        wanted = without_dimensions(full, dropped)
        if wanted != source.type:
            made = cast_to(tensor.CastOp, source, _with_encoding(wanted, source))
            # A terminator has nothing but the insertions of its threads.
            parent = op.parent_op() if op.name == _OF_THREADS else op
            assert parent is not None
            source = rewriter.insert(made, InsertPoint.before(parent)).results[0]
        rewriter.replace(op, _inserted(op, [source, dest], new))


def _inserted(
    op: Operation, heads: Sequence[SSAValue], parts: Sequence[Sequence[Size]]
) -> Operation:
    """Return an insertion like `op`; one of threads has no result."""
    types = [] if op.name == _OF_THREADS else [heads[1].type]
    return rebuilt_slice(cast(IRDLOperation, op), heads, parts, *types)


def _with_encoding(type: Attribute, like: SSAValue) -> Attribute:
    assert isinstance(type, TensorType)
    return with_shape(like.type, type.get_shape())


class InsertUncast(RewritePattern):
    """Insert what was cast into what was cast."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        old_source, old_dest = op.operands[:2]
        source = uncast(old_source) or old_source
        dest = uncast(old_dest) or old_dest
        if source is old_source and dest is old_dest:
            return
        parts = slice_of(cast(PartOperands, op))
        if any(isinstance(s, SSAValue) and known(s) is not None for part in parts for s in part):
            return
        offsets, sizes, strides = parts
        reduced = shape_of_type(source.type) or []
        old = shape_of_type(old_source.type) or []
        dropped = dropped_dimensions(static_sizes(sizes), old)
        if dropped is None:
            return
        values = iter(reduced)
        # The sizes of a static source are numbers.
        new = [
            size
            if index in dropped or (number := next(values)) == DYNAMIC or not _is_value(size)
            else number
            for index, size in enumerate(sizes)
        ]
        made = _inserted(op, [source, dest], (offsets, new, strides))
        if op.name == _OF_THREADS:
            rewriter.replace(op, made)
        else:
            replace_with(rewriter, op, made)


def _is_value(size: Size) -> bool:
    return isinstance(size, SSAValue)


class DropOverwritten(RewritePattern):
    """Insert into what an insertion at the same place was into."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.InsertSliceOp, rewriter: PatternRewriter, /) -> None:
        inner = op.dest.owner
        if isinstance(inner, tensor.InsertSliceOp) and inner.source.type == op.source.type:
            if same_slice(op, inner):
                op.operands[1] = inner.dest
                rewriter.handle_operation_modification(op)


# Sizes


class SizeOfReshaped(RewritePattern):
    """Take the size of a dimension of a `tensor.reshape` from the tensor of sizes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.DimOp, rewriter: PatternRewriter, /) -> None:
        made = op.source.owner
        if not isinstance(made, Operation) or made.name != _RESHAPE:
            return
        sizes = made.operands[1]
        size = rewriter.insert(
            tensor.ExtractOp.build(
                operands=[sizes, [op.index]], result_types=[element_of(sizes.type)]
            )
        ).result
        if size.type != op.result.type:
            size = rewriter.insert(arith.IndexCastOp(size, op.result.type)).result
        rewriter.replace(op, (), [size])


class SizeOfDestination(RewritePattern):
    """Take the size of the tensor that was inserted into, or that an operation of `linalg` writes,
    in place of that of the result."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.DimOp, rewriter: PatternRewriter, /) -> None:
        made = op.source.owner
        if isinstance(made, tensor.InsertOp | tensor.InsertSliceOp):
            op.operands[0] = made.dest
        elif isinstance(made, Operation) and made.name.startswith("linalg."):
            assert isinstance(op.source, OpResult)
            first = len(made.operands) - len(made.results)
            op.operands[0] = made.operands[first + op.source.index]
        else:
            return
        rewriter.handle_operation_modification(op)


class SizeOfOutput(RewritePattern):
    """Take the size of a shared output of an `scf.forall` in place of that of its result."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.DimOp, rewriter: PatternRewriter, /) -> None:
        result = op.source
        loop = result.owner
        if isinstance(result, OpResult) and isinstance(loop, Operation) and loop.name == _FORALL:
            first = len(loop.operands) - len(loop.results)
            op.operands[0] = loop.operands[first + result.index]
            rewriter.handle_operation_modification(op)


_INSERTIONS: Final = (ConstantInsertion(), InsertUncast())
NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    "tensor.concat": (ConcatenateOne(), StaticConcatenation()),
    "tensor.insert_slice": _INSERTIONS,
    _GENERATE: (ConstantGeneration(),),
    _RESHAPE: (MergeTensorReshapes(),),
    _OF_THREADS: _INSERTIONS,
}
PATTERNS: Final[tuple[RewritePattern, ...]] = (
    TakeUncast({"tensor.dim": (0,), "tensor.extract": (0,)}),
    *SLICES,
    *RESHAPES,
    ConstantEmpty(),
    CastOfEmpty(),
    CastOfPart(),
    ElementOfGeneration(),
    ReshapeElements(),
    ReshapeToSame(),
    DropOverwritten(),
    SizeOfOutput(),
    SizeOfDestination(),
    SizeOfReshaped(),
)
