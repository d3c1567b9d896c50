"""Rewrite patterns of arithmetic with constants, for `simplify-expr`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import Commutative

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.elementwise.binary import AddOp, DivideOp, MultiplyOp, SubtractOp
from ...dialects.relax.elementwise.unary import RsqrtOp, SqrtOp
from ...dialects.relax.interfaces import AssociativeCommutative, HasIdentityElement
from ...dialects.relax.shapes import broadcast
from ...dialects.relax.types import Float, is_number, is_tensor, shape_of, tensor_type
from ...passmanager.fast.pattern_driver import actions_of
from ...passmanager.ir.per_class import PerClass

if TYPE_CHECKING:
    from ...compiler.interpreters.arrays import Array


class RemoveNeutral(RewritePattern):
    """Replace an operation with its identity element, such as `x + 0` or `x * 1`, by `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: HasIdentityElement, rewriter: PatternRewriter, /) -> None:
        lhs, rhs = op.operands
        if _is_fill_of(rhs, op.IDENTITY):
            value = lhs
        elif _is_commutative[type(op)] and _is_fill_of(lhs, op.IDENTITY):
            value = rhs
        else:
            return
        # `x + 0` of a larger shape broadcasts, and is no identity.
        if value.type == op.results[0].type:
            rewriter.replace(op, (), [value])


class SubtractToAdd(RewritePattern):
    """Replace `x - c` of a constant by `x + (-c)`, so that only sums have to be merged.

    The negation is exact.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SubtractOp, rewriter: PatternRewriter, /) -> None:
        if _is_constant(op.lhs) or not _is_constant(op.rhs):
            return
        import numpy as np

        from ..arrays import compute, constant_of, known

        constant, element = known(op.rhs), tensor_type(op.result).element_type
        if constant is None or not is_number(element) or constant.array.dtype == np.bool_:
            return
        negated = rewriter.insert(constant_of(compute(np.negative, constant), element))
        add = AddOp(op.lhs, negated, result_types=op.result_types)
        add.attributes = op.attributes
        rewriter.replace(op, add)


class MergeConstants(RewritePattern):
    """Replace `(x o a) o b` of constants by `x o (a o b)`, if `x o a` has no other use, and only
    the last bits of a result change (`keeps_rounding`)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AssociativeCommutative, rewriter: PatternRewriter, /) -> None:
        if (found := _two_constants(op, type(op))) is None:
            return
        x, a, b = found
        constant = _combined_constant(op, x, a, b)
        if constant is not None and _rounds_alike(op, rewriter):
            op.operands = [x, rewriter.insert(constant).results[0]]
            rewriter.handle_operation_modification(op)


class MultiplyFirst(RewritePattern):
    """Replace `(x + a) * b` of constants by `x * b + a * b`, if `x + a` has no other use, no finite
    result becomes infinite (`product_keeps_range`), and only the last bits of a result change
    (`keeps_rounding`).

    This brings products together, and next to a convolution whose weights can absorb them (TVM:
    `SwitchAddMultiply`).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter, /) -> None:
        if (found := _two_constants(op, AddOp)) is None:
            return
        x, a, b = found
        if (constant := _combined_constant(op, x, a, b)) is None:
            return
        if not _distribution_keeps_range(x, a, b):
            actions_of(rewriter).missed(
                op, "Range", "x * b or a * b may be infinite where (x + a) * b is not"
            )
            return
        if not _rounds_alike(op, rewriter):
            return
        product = rewriter.insert(MultiplyOp(x, b))
        new = AddOp(product, rewriter.insert(constant), result_types=op.result_types)
        new.attributes = op.attributes
        rewriter.replace(op, new)


class ReciprocalRoot(RewritePattern):
    """Replace `1 / sqrt(x)` by `rsqrt(x)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivideOp, rewriter: PatternRewriter, /) -> None:
        root = op.rhs.owner
        if isinstance(root, SqrtOp) and _is_fill_of(op.lhs, 1):
            if root.result.type == op.result.type:
                rewriter.replace(op, RsqrtOp(root.input, result_types=op.result_types))


# The class decides, and both are asked of each visited operation: `isinstance` of an abstract class
# and the look-up of a trait take several times as long as these look-ups.
_is_constant_class = PerClass[Operation | Block, bool](
    lambda cls: issubclass(cls, ConstantOp | FullOp)
)
_is_commutative = PerClass[Operation, bool](
    lambda cls: cls.has_trait(Commutative, value_if_unregistered=False)
)


def _is_constant(value: SSAValue) -> bool:
    return _is_constant_class[type(value.owner)]


def _with_constant(op: Operation) -> tuple[SSAValue, SSAValue] | None:
    """Return the non-constant operand and the constant one; None unless there is one of each."""
    lhs, rhs = op.operands
    is_lhs, is_rhs = _is_constant(lhs), _is_constant(rhs)
    if is_lhs == is_rhs:
        return None
    return (rhs, lhs) if is_lhs else (lhs, rhs)


def _two_constants(
    op: Operation, inner: type[Operation]
) -> tuple[SSAValue, SSAValue, SSAValue] | None:
    """Return x, a and b of `(x . a) o b` with constants a and b, where the operation `.` is of
    class `inner`, and its result has no other use; None for any other operation."""
    if (outer := _with_constant(op)) is None:
        return None
    value, b = outer
    # With another use `x . a` is computed anyway, and nothing would be saved.
    if not isinstance(owner := value.owner, inner) or not value.has_one_use():
        return None
    return None if (found := _with_constant(owner)) is None else (*found, b)


def _is_fill_of(value: SSAValue, number: float) -> bool:
    """Return whether `value` is a constant whose elements are all `number`, which is 0 or 1."""
    owner = value.owner
    if not _is_constant_class[type(owner)]:
        return False
    from ...compiler.interpreters.arrays import array_of, element_of, scalar_of

    if isinstance(owner, FullOp):  # true is -1 in the attribute, and 1 as an element
        known = owner.value
        if isinstance(known, FloatAttr) and not abs(known.value.data - number) <= 0.5:
            return False  # it is not rounded to `number`, and NaN is not equal to it
        return bool(scalar_of(known, element_of(owner.result.type)) == number)
    assert isinstance(owner, ConstantOp)
    array = array_of(owner.value)
    return array.size > 0 and bool(array.flat[0] == number) and bool((array == number).all())


def _combined_constant(op: Operation, x: SSAValue, a: SSAValue, b: SSAValue) -> Operation | None:
    """Return a new constant `a o b` for the operation `o` of `op`, to be combined with `x`.

    None if it would have more elements than `a` and `b`, or would lose precision by overflow or
    underflow: `(x * 1e30) * 1e30` may be finite for a small `x`, but `1e30 * 1e30` is infinite.
    """
    import numpy as np

    from ..arrays import Known, constant_of, evaluate, known

    constants, type = (known(a), known(b)), op.results[0].type
    if constants[0] is None or constants[1] is None or not is_tensor(type):
        return None
    if not is_number(element := type.element_type):
        return None
    few = [constants[0].array, constants[1].array]
    # (1, 8) and (8, 1) would make a constant of 64 elements of two of 8.
    if np.broadcast(*few).size > max(few[0].size, few[1].size):
        return None
    values = evaluate(op, constants[0], constants[1])
    if values is None or (
        isinstance(element, Float)
        and _loses_precision(values.array, few if isinstance(op, MultiplyOp) else ())
    ):
        return None
    if values.array.size > 1 and (shape := shape_of(tensor_type(x))) is not None:
        # Without repetitions, if the constant then still broadcasts `x` to the shape of the result.
        single = (1,) * (len(values.shape) - values.array.ndim) + values.array.shape
        if broadcast(shape, single) == shape_of(type):
            values = Known(values.array.reshape(single), single)
    return constant_of(values, element)


def _rounds_alike(op: Operation, rewriter: PatternRewriter) -> bool:
    """Return whether the sums and products around `op` may be rearranged; a remark says if not."""
    from ..float_rounding import keeps_rounding

    if not (kept := keeps_rounding(op)):
        message = "more than the last bits may change: constants cancel, are great or very small"
        actions_of(rewriter).missed(op, "Rounding", message)
    return kept


def _distribution_keeps_range(x: SSAValue, a: SSAValue, b: SSAValue) -> bool:
    """Return whether `x * b + a * b` of constants is finite wherever `(x + a) * b` is, or need not
    be."""
    from ..arrays import known
    from ..float_rounding import product_keeps_range, reassociates

    element = tensor_type(x).element_type
    if not isinstance(element, Float) or reassociates():
        return True
    elements_of_a, elements_of_b = known(a), known(b)
    assert elements_of_a is not None and elements_of_b is not None
    return product_keeps_range(x, elements_of_a.array, elements_of_b.array, element)


def _loses_precision(values: Array, factors: Sequence[Array]) -> bool:
    """Return whether an element of `values` is infinite, NaN, or a subnormal product of nonzero
    `factors`."""
    import numpy as np

    if not np.isfinite(values).all():
        return True
    if not factors:
        return False
    small = np.abs(values) < np.finfo(values.dtype).tiny
    return bool(small.any()) and bool((small & np.logical_and(*(f != 0 for f in factors))).any())
