"""SimplifyExpr: algebra on neighboring operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import Commutative
from xdsl.utils.exceptions import VerifyException

from ...dialects.relax.binary import AddOp, DivideOp, MultiplyOp, SubtractOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.elementwise import AstypeOp
from ...dialects.relax.interfaces import AssociativeCommutative, HasIdentityElement, View
from ...dialects.relax.permutation import LayoutTransformOp, TransposeOp
from ...dialects.relax.reshape import ReshapeOp
from ...dialects.relax.shapes import Shape, broadcast
from ...dialects.relax.types import (
    Float,
    is_integer,
    is_number,
    is_ranked,
    is_tensor,
    shape_of,
    tensor_type,
)
from ...dialects.relax.unary import RsqrtOp, SqrtOp
from ...passmanager.rewriting import PatternPass

if TYPE_CHECKING:
    from ...interpreters.arrays import Array

__all__ = [
    "MergeCasts",
    "MergeConstants",
    "MergeLayoutTransforms",
    "MergeReshapes",
    "MergeTransposes",
    "MultiplyFirst",
    "ReciprocalRoot",
    "RemoveNeutral",
    "SimplifyExpr",
    "SubtractToAdd",
]


# Arithmetic with constants


class RemoveNeutral(RewritePattern):
    """`x + 0`, `x * 1` and their like are `x`, if they are of its type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: HasIdentityElement, rewriter: PatternRewriter, /) -> None:
        lhs, rhs = op.operands
        if _is_fill_of(rhs, op.IDENTITY):
            value = lhs
        elif op.has_trait(Commutative) and _is_fill_of(lhs, op.IDENTITY):
            value = rhs
        else:
            return
        if value.type == op.results[0].type:
            rewriter.replace(op, (), [value])


class SubtractToAdd(RewritePattern):
    """`x - c` of a constant is `x + (-c)`, exactly, so that sums are all there is to merge."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SubtractOp, rewriter: PatternRewriter, /) -> None:
        if _is_constant(op.lhs) or not _is_constant(op.rhs):
            return
        import numpy as np

        from ..rewriting.folding_builder import compute, constant_of, known_array

        constant, element = known_array(op.rhs), tensor_type(op.result).element_type
        if constant is None or not is_number(element) or constant.dtype == np.bool_:
            return
        negated = rewriter.insert(constant_of(compute(np.negative, constant), element))
        add = AddOp(op.lhs, negated, result_types=op.result_types)
        add.attributes = op.attributes
        rewriter.replace(op, add)


class MergeConstants(RewritePattern):
    """`(x o a) o b` of constants is `x o (a o b)`, if nothing else uses the inner one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AssociativeCommutative, rewriter: PatternRewriter, /) -> None:
        if (outer := _with_constant(op)) is None:
            return
        inner_op, b = outer[0].owner, outer[1]
        if type(inner_op) is not type(op) or not outer[0].has_one_use():
            return
        assert isinstance(inner_op, Operation)
        if (inner := _with_constant(inner_op)) is None:
            return
        x, a = inner
        if (constant := _combined(op, x, a, b)) is not None:
            op.operands = [x, rewriter.insert(constant).results[0]]
            rewriter.handle_operation_modification(op)


class MultiplyFirst(RewritePattern):
    """`(x + a) * b` of constants is `x * b + a * b`: products come together, and next to the
    convolution that may take them in (TVM SwitchAddMultiply)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter, /) -> None:
        if (outer := _with_constant(op)) is None:
            return
        add, b = outer[0].owner, outer[1]
        if not isinstance(add, AddOp) or not outer[0].has_one_use():
            return
        if (inner := _with_constant(add)) is None:
            return
        x, a = inner
        if (constant := _combined(op, x, a, b)) is None:
            return
        product = rewriter.insert(MultiplyOp(x, b))
        new = AddOp(product, rewriter.insert(constant), result_types=op.result_types)
        new.attributes = op.attributes
        rewriter.replace(op, new)


class ReciprocalRoot(RewritePattern):
    """`1 / sqrt(x)` is `rsqrt(x)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivideOp, rewriter: PatternRewriter, /) -> None:
        root = op.rhs.owner
        if isinstance(root, SqrtOp) and _is_fill_of(op.lhs, 1):
            if root.result.type == op.result.type:
                rewriter.replace(op, RsqrtOp(root.input, result_types=op.result_types))


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, ConstantOp | FullOp)


def _with_constant(op: Operation) -> tuple[SSAValue, SSAValue] | None:
    """The operand that is no constant, and the one that is; None if there are not one of each."""
    lhs, rhs = op.operands
    if _is_constant(lhs) == _is_constant(rhs):
        return None
    return (rhs, lhs) if _is_constant(lhs) else (lhs, rhs)


def _is_fill_of(value: SSAValue, number: float) -> bool:
    """Whether it is a constant with that number for each element."""
    if not isinstance(owner := value.owner, ConstantOp | FullOp):
        return False
    from ...interpreters.arrays import array_of, element_of, scalar_of

    if isinstance(owner, FullOp):  # true is -1 in the attribute, and 1 as an element
        return bool(scalar_of(owner.value, element_of(owner.result.type)) == number)
    array = array_of(owner.value)
    return array.size > 0 and bool(array.flat[0] == number) and bool((array == number).all())


def _combined(op: Operation, x: SSAValue, a: SSAValue, b: SSAValue) -> Operation | None:
    """The constant that an operation makes of two, to be used with `x`, in a shape that does no
    more than they did; None if it would have more elements than they have, or lose what they say:
    to infinity, or to less than a normal float."""
    import numpy as np

    from ..rewriting.folding_builder import compact, constant_of, evaluate, known_array

    arrays = known_array(a), known_array(b)
    type = op.results[0].type
    if arrays[0] is None or arrays[1] is None or not is_tensor(type):
        return None
    if not is_number(element := type.element_type):
        return None
    few = [compact(array) for array in arrays if array is not None]
    if prod(np.broadcast_shapes(*(array.shape for array in few))) > max(f.size for f in few):
        return None
    values = evaluate(op, *(array for array in arrays if array is not None))
    if (
        values is None
        or isinstance(element, Float)
        and _loses(values, few if isinstance(op, MultiplyOp) else ())
    ):
        return None
    least, shape = compact(values), shape_of(tensor_type(x))
    if least.size > 1 and shape is not None and broadcast(shape, least.shape) == shape_of(type):
        values = least
    return constant_of(values, element)


def _loses(values: Array, factors: Sequence[Array]) -> bool:
    """Whether one of the values is not finite, or less than a normal float while its factors are
    not 0."""
    import numpy as np

    from ..rewriting.folding_builder import compact

    values = compact(values)
    if not np.isfinite(values).all():
        return True
    if not factors:
        return False
    small = np.abs(values) < np.finfo(values.dtype).tiny
    return bool(small.any()) and bool((small & np.logical_and(*(f != 0 for f in factors))).any())


# The same elements in the same order


class MergeReshapes(RewritePattern):
    """A reshape of a reshape is one, and one to the shape that the tensor has is none: `reshape`,
    `flatten`, `squeeze`, `expand_dims`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: View, rewriter: PatternRewriter, /) -> None:
        value = op.operands[0]
        while isinstance(value.owner, View):
            value = value.owner.operands[0]
        type = op.results[0].type
        if not is_ranked(type) or not _is_told_by_size(shape := type.get_shape()):
            return
        if value.type == type:
            rewriter.replace(op, (), [value])
        elif value is not op.operands[0]:
            newshape = [-1 if size == DYNAMIC_INDEX else size for size in shape]
            reshape = ReshapeOp(value, newshape=newshape, allowzero=0 in shape, result_types=[type])
            rewriter.replace(op, reshape)


def _is_told_by_size(shape: Shape) -> bool:
    """Whether the number of elements tells what is not known of the shape."""
    unknown = shape.count(DYNAMIC_INDEX)
    return unknown == 0 or unknown == 1 and 0 not in shape


class MergeTransposes(RewritePattern):
    """A transposition of a transposition is one, and one that moves nothing is none."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter, /) -> None:
        if (axes := _axes(op)) is None:
            return
        value = op.data
        while isinstance(inner := value.owner, TransposeOp) and (first := _axes(inner)) is not None:
            value, axes = inner.data, [first[axis] for axis in axes]
        if axes == [*range(len(axes))]:
            if value.type == op.result.type:
                rewriter.replace(op, (), [value])
        elif value is not op.data:
            new = TransposeOp(value, axes=axes, result_types=op.result_types)
            rewriter.replace(op, new)


def _axes(op: TransposeOp) -> list[int] | None:
    """The order of the dimensions, counted from the first one; None if it is not known."""
    shape = shape_of(tensor_type(op.data))
    if op.axes is None:
        return None if shape is None else [*reversed(range(len(shape)))]
    axes = op.axes
    return [axis % len(axes) for axis in axes]


class MergeLayoutTransforms(RewritePattern):
    """A layout that is changed twice is changed once, or not at all if it is as it was."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LayoutTransformOp, rewriter: PatternRewriter, /) -> None:
        value, src = op.input, op.src_layout
        while isinstance(inner := value.owner, LayoutTransformOp) and inner.dst_layout == src:
            value, src = inner.input, inner.src_layout
        if src == op.dst_layout:
            if value.type == op.result.type:
                rewriter.replace(op, (), [value])
        elif value is not op.input:
            try:
                new = LayoutTransformOp(value, src_layout=src, dst_layout=op.dst_layout)
            except VerifyException:
                return
            if new.result.type == op.result.type:
                rewriter.replace(op, new)


# Types of elements


class MergeCasts(RewritePattern):
    """A conversion to a type that holds all that the tensor has, and then to another one, is the
    latter alone; and one to the type that it has is none."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AstypeOp, rewriter: PatternRewriter, /) -> None:
        value = op.input
        while isinstance(inner := value.owner, AstypeOp) and _holds_all(inner):
            value = inner.input
        if value.type == op.result.type:
            rewriter.replace(op, (), [value])
        elif value is not op.input:
            new = AstypeOp(value, dtype=op.dtype, result_types=op.result_types)
            rewriter.replace(op, new)


def _holds_all(op: AstypeOp) -> bool:
    """Whether each element that can be in the tensor stays the number that it is."""
    old, new = tensor_type(op.input).element_type, op.dtype
    if is_integer(old):
        low, high = _range(old)
        if is_integer(new):
            least, greatest = _range(new)
            return least <= low and high <= greatest
        return isinstance(new, Float) and max(-low, high) <= 1 << _digits(new)
    if not isinstance(old, Float) or not isinstance(new, Float):
        return False
    # A wider float has all that a narrower one has; f16 and bf16 have not all of each other.
    return old == new or old.bitwidth < new.bitwidth


def _range(type: IntegerType) -> tuple[int, int]:
    """The least and the greatest integer; i1 is 0 and 1."""
    if type.signedness.data is Signedness.UNSIGNED or type == i1:
        return 0, (1 << type.bitwidth) - 1
    return -1 << type.bitwidth - 1, (1 << type.bitwidth - 1) - 1


def _digits(type: Float) -> int:
    """How many binary digits a float has."""
    match type:
        case BFloat16Type():
            return 8
        case Float16Type():
            return 11
        case Float32Type():
            return 24
        case Float64Type():
            return 53


@dataclass(frozen=True)
class SimplifyExpr(PatternPass):
    """Merge neighbors: sums and products with constants, reshapes, transpositions, changes of
    layout, conversions; drop what changes nothing; source: `relay.SimplifyExpr`.

    Sums and products of floats are taken in another order, and so are rounded otherwise. What loses
    its last use goes.
    """

    name = "simplify-expr"
    opt_level = 2
    required = ("infer-type",)
    preserves = ("infer-type",)
    remove_dead = True

    def patterns(self) -> Sequence[RewritePattern]:
        return (
            RemoveNeutral(),
            SubtractToAdd(),
            MergeConstants(),
            MultiplyFirst(),
            ReciprocalRoot(),
            MergeReshapes(),
            MergeTransposes(),
            MergeLayoutTransforms(),
            MergeCasts(),
        )
