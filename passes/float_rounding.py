"""Conditions under which sums and products with constants may be rearranged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import inf, prod, sqrt
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue

from ..compiler.interpreters.arrays import Array, bounds, float_limits
from ..dialects.arith_types import FastMath
from ..dialects.relax.data.manipulation import TransposeOp
from ..dialects.relax.elementwise.activation import ReluOp
from ..dialects.relax.elementwise.binary import (
    AddOp,
    DivideOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    SubtractOp,
)
from ..dialects.relax.elementwise.elementwise import AstypeOp, ClipOp, WhereOp
from ..dialects.relax.elementwise.unary import CosOp, ErfOp, SigmoidOp, SinOp, TanhOp
from ..dialects.relax.interfaces import (
    Along,
    FusionKind,
    FusionPattern,
    Homogeneous,
    ScaleAxisRule,
    View,
)
from ..dialects.relax.reduction.nn import BiasAddOp, SoftmaxOp
from ..dialects.relax.types import Float, is_integer, is_tensor, static_shape
from ..dialects.relax.windows import MaxPoolOp
from ..passmanager.context import PassContext
from .arrays import array_in

# Conditions under which rearranged sums and products stay in the range of floats.
#
# A rearranged expression that is finite wherever the old one is, up to rounding: a result may
# become infinite only if it is within a few units in the last place of the maximum number. The
# config option `relax.fastmath=reassoc` lifts these conditions.


def reassociates() -> bool:
    """Return whether the config option `relax.fastmath` allows to rearrange sums and products
    without regard to the range of floats."""
    return PassContext.current().get_config("relax.fastmath") is FastMath.reassoc


def product_keeps_range(x: SSAValue, a: Array, b: Array, element: Float) -> bool:
    """Return whether `x * b + a * b` is finite wherever `(x + a) * b` is, for constants `a` and `b`
    that broadcast.

    Each element meets one of these conditions.

    * `|b| <= 1`: no product is greater than its factor.
    * `a * b` is at most a quarter of a unit in the last place of the maximum number. Then `x + a`
      is rounded to `x` for each `x` whose product with `b` overflows: so does the old expression.
    * `x` is known to be so small that neither product is greater than a quarter of the maximum
      number.
    """
    limits = float_limits(element)
    # In f64 the products of two f32 are exact; those of two f64 may overflow, to infinity, which no
    # condition accepts.
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        product = np.abs(wide_a * wide_b)
        small = np.abs(wide_b) <= 1
        # The unit in the last place is `greatest * epsilon / 2`, as the maximum number lies just
        # below a power of 2; a quarter of that is an eighth.
        absorbed = product <= limits.maximum * limits.epsilon / 8
        reached = np.maximum(magnitude(x) * np.abs(wide_b), product)
    return bool((small | absorbed | (reached <= limits.maximum / 4)).all())


def scale_keeps_range(scale: Array, shift: Array, element: Float) -> bool:
    """Return whether `x * scale + shift`, rounded after each step to `element`, is finite wherever
    it is finite if only the result is rounded to that type."""
    limits = float_limits(element)
    with np.errstate(all="ignore"):
        finite = (np.abs(scale) <= limits.maximum) & (np.abs(shift) <= limits.maximum)
        # `x * scale` overflows only with a scale above 1, and then a small shift could not bring it
        # back.
        kept = (np.abs(scale) <= 1) | (np.abs(shift) <= limits.maximum * limits.epsilon / 4)
    return bool((finite & kept).all())


_UNIT = (CosOp, ErfOp, SigmoidOp, SinOp, SoftmaxOp, TanhOp)
"""The functions whose results are between -1 and 1."""
_MOVES = (View, TransposeOp, ReluOp)
"""The operations whose result elements are elements of the operand, or 0."""


def magnitude(value: SSAValue) -> float:
    """Return a number that no finite element of `value` exceeds in magnitude; infinity if none is
    known."""
    # Only through operations of one operand: the bound of a sum would need those of both operands,
    # and one of these is usually infinite.
    while isinstance(owner := value.owner, Operation):
        if isinstance(owner, _UNIT):
            return 1.0
        if isinstance(owner, ClipOp):
            return max(abs(owner.min), abs(owner.max))
        if isinstance(owner, AstypeOp):
            return _magnitude_of_type(owner)
        if not isinstance(owner, _MOVES):
            break
        value = owner.operands[0]
    return inf


def _magnitude_of_type(op: AstypeOp) -> float:
    """Return the maximum magnitude of a number that is converted from an integer type."""
    type = op.input.type
    if not is_tensor(type) or not is_integer(type.element_type):
        return inf
    low, high = bounds(type.element_type)
    return float(max(-low, high))


# Conditions under which rearranged sums and products with constants change the last bits alone.
#
# The rearranged operations are a chain around one value `x`, each with one constant. All values of
# the chain are affine functions of `x`, and it is rearranged only if for each element
#
# * no offset on the way, as far as the end of the chain sees it, exceeds twice the offset at the
#   end,
#   so that the constants do not cancel: `(x + 12582912.0) - 12582912.0` rounds to an integer, and
#   is
#   not `x`. If `x` is a sum of products with constant weights, the sum of their magnitudes counts
#   as
#   such an offset;
# * `x` is no clipped, moved or converted sum with a constant above `1 / sqrt(epsilon)`, which has
#   rounded numbers of magnitude 1 to less than half of their digits, and which the chain may
#   subtract
#   again;
# * no factor on the way is below the root of the minimum normal number, or above the root of the
#   maximum one, unless the factor at the end is too: `x * 1e-40` has lost its digits.
#
# Each constant that is merged then changes a result by at most `UNITS` units in the last place of
# the greater of the magnitudes of the result, and of `x` times the factor of the chain, if that of
# `x` is between those two roots, or 0, and the result is a normal number. The config option
# `relax.fastmath=reassoc` lifts these conditions.


UNITS = 16
"""The units in the last place by which a merged constant may change a result."""
MAX_LINKS = 16
"""The most operations below and above another one that are looked at."""
MAX_ELEMENTS = 1 << 20
"""The most elements of constants that broadcast against each other."""

Constants = Callable[[Operation, int], Array | None]
"""The elements of a constant operand of an operation, None of another one."""


def constant_operand(op: Operation, index: int) -> Array | None:
    """Return the elements of an operand of `op` that is a constant, None of another one."""
    return array_in(op.operands[index])


class ChainLink(NamedTuple):
    """An operation of a chain: a sum or product of `data` and a constant."""

    op: Operation
    data: SSAValue
    constant: Array


class AffineForm(NamedTuple):
    """The affine function `x * factor + offset`."""

    factor: Array
    offset: Array


def keeps_rounding(op: Operation, constants: Constants = constant_operand) -> bool:
    """Return whether the sums and products with constants around `op` may be rearranged, as far as
    the rounding of floats is concerned."""
    links = _chain(op, constants)
    if not links or not is_tensor(type := op.results[0].type) or reassociates():
        return True
    if not isinstance(element := type.element_type, Float):
        return True
    if not _is_small(links):
        return False
    with np.errstate(all="ignore"):
        forms = _seen_from_end(links)
        return (
            not is_shifted(links[0].data, constants)
            and _offsets_add_up(links[0].data, forms, constants)
            and _factors_fit(forms, element)
        )


def minimum_factor(x: SSAValue, constants: Constants = constant_operand) -> float:
    """Return the minimum magnitude, other than 0, of the product of constants that `x` has as
    factors; 0 if it is not known."""
    op = x.owner
    if not isinstance(op, Operation) or not (links := _chain(op, constants)):
        return 1.0
    if not _is_small(links):
        return 0.0
    last = next(i for i, link in enumerate(links) if link.op is op)
    with np.errstate(all="ignore"):
        factor = _seen_from_end(links[: last + 1])[-1].factor
    return float(np.abs(factor).min(initial=inf, where=factor != 0))


def _is_small(links: Sequence[ChainLink]) -> bool:
    """Return whether the constants of a chain broadcast to few elements."""
    shapes = [link.constant.shape for link in links]
    return prod(np.broadcast_shapes(*shapes)) <= max(MAX_ELEMENTS, *map(prod, shapes))


def magnitudes_along(array: Array, along: Along) -> Array:
    """Return the magnitudes of a weight as a matrix: its rows are along `along`."""
    seen = np.abs(array if along.view is None or not array.ndim else array.reshape(along.view))
    if not array.ndim:
        return seen.reshape(1, 1)
    axes = [axis % seen.ndim for axis in along.axes]
    count = prod(seen.shape[axis] for axis in axes)
    return np.moveaxis(seen, axes, range(len(axes))).reshape(count, -1)


def _chain(op: Operation, constants: Constants) -> Sequence[ChainLink]:
    """Return the links below and above `op`, and its own; above, values have no other use."""
    if (link := _link(op, constants)) is None:
        return ()
    links = deque([link])
    for _ in range(MAX_LINKS):
        owner = links[0].data.owner
        below = _link(owner, constants) if isinstance(owner, Operation) else None
        if below is None:
            break
        links.appendleft(below)
    for _ in range(MAX_LINKS):
        use = (result := links[-1].op.results[0]).first_use
        above = _link(use.operation, constants) if use and result.has_one_use() else None
        if above is None:
            break
        links.append(above)
    return [*links]


def _link(op: Operation, constants: Constants) -> ChainLink | None:
    """Return `op` as a link of a chain, None if it is not one."""
    if not isinstance(op, AddOp | BiasAddOp | SubtractOp | MultiplyOp | DivideOp):
        return None
    lhs, rhs = constants(op, 0), constants(op, 1)
    if (lhs is None) == (rhs is None) or (lhs is not None and isinstance(op, DivideOp | BiasAddOp)):
        return None
    constant = rhs if lhs is None else lhs
    assert constant is not None
    if isinstance(op, BiasAddOp) and constant.ndim:
        rank = len(static_shape(op.data.type) or ())
        constant = constant.reshape(-1, *(1,) * (rank - 1 - op.axis % rank))
    return ChainLink(op, op.operands[0 if lhs is None else 1], constant.astype(np.float64))


def _applied(link: ChainLink, form: AffineForm) -> AffineForm:
    """Return the function whose result is that of the link for the result of `form`."""
    (factor, offset), c = form, link.constant
    match link.op:
        case MultiplyOp():
            return AffineForm(factor * c, offset * c)
        case DivideOp():
            return AffineForm(factor / c, offset / c)
        case SubtractOp() if link.data is link.op.operands[0]:
            return AffineForm(factor, offset - c)
        case SubtractOp():
            return AffineForm(-factor, c - offset)
        case _:
            return AffineForm(factor, offset + c)


def _seen_from_end(links: Sequence[ChainLink]) -> Sequence[AffineForm]:
    """Return the function after each link: its factor, and its offset times all later factors."""
    forms = [AffineForm(np.ones(()), np.zeros(()))]
    for link in links:
        forms.append(_applied(link, forms[-1]))
    later, seen = np.ones(()), list[AffineForm]()
    for link, form in zip(reversed(links), reversed(forms[1:]), strict=True):
        seen.insert(0, AffineForm(form.factor, form.offset * later))
        later = later * _applied(link, AffineForm(np.ones(()), np.zeros(()))).factor
    return seen


def is_shifted(x: SSAValue, constants: Constants = constant_operand) -> bool:
    """Return whether the elements of `x` are those of a sum with a great constant."""
    pending = [x]
    for _ in range(MAX_LINKS):
        if not pending:
            return False
        if not isinstance(op := pending.pop().owner, Operation):
            continue
        if (link := _link(op, constants)) is not None:
            if not isinstance(op, MultiplyOp | DivideOp) and _is_great(link):
                return True
            pending.append(link.data)
        elif _passes_on(op):
            pending += op.operands
    return False


_CHOICES = (Homogeneous, MaximumOp, MinimumOp, ClipOp, WhereOp, AstypeOp, MaxPoolOp)
"""The operations whose elements are those of an operand, with another sign, bounded or rounded."""


def _passes_on(op: Operation) -> bool:
    """Return whether the elements of the result are those of operands, or sums of them."""
    moves = isinstance(op, FusionPattern) and op.fusion_kind() is FusionKind.INJECTIVE
    return moves or isinstance(op, (*_CHOICES, AddOp, SubtractOp))


def _is_great(link: ChainLink) -> bool:
    """Return whether the constant of a sum rounds numbers of magnitude 1 to less than half of their
    digits."""
    if not is_tensor(type := link.data.type) or not isinstance(type.element_type, Float):
        return False
    root = sqrt(float_limits(type.element_type).epsilon)
    return not bool((np.abs(link.constant) * root <= 1).all())


def _offsets_add_up(x: SSAValue, forms: Sequence[AffineForm], constants: Constants) -> bool:
    """Return whether no offset exceeds twice the last one, or twice the terms of the sum `x`."""
    *before, (factor, last) = forms
    terms = np.abs(factor) * _terms(x, last, constants)
    allowed = 2 * np.maximum(np.abs(last), terms)
    return all(bool((np.abs(offset) <= allowed).all()) for _, offset in before)


def _factors_fit(forms: Sequence[AffineForm], element: Float) -> bool:
    """Return whether no factor loses digits or overflows where the last one does not."""
    limits = float_limits(element)
    *before, last = (np.abs(form.factor) for form in forms)
    minimum = np.minimum(last, sqrt(limits.normal))
    maximum = np.maximum(last, sqrt(limits.maximum))
    return all(bool(((minimum <= f) & (f <= maximum)).all()) for f in before)


def _terms(x: SSAValue, like: Array, constants: Constants) -> Array:
    """Return the sums of the magnitudes of the constant weights that `x` is a sum of products with,
    along the dimensions of `like` of other size than 1; 0 if there are none."""
    axes = tuple(axis for axis in range(-like.ndim, 0) if like.shape[axis] != 1)
    op, none = x.owner, np.zeros(())
    if not axes or not isinstance(op, ScaleAxisRule):
        return none
    scaling = op.scale_result(axes)
    if scaling is None or scaling.is_sum:
        return none
    given = {i: Along(a) for i, a in scaling.operands.items()} | dict(scaling.weights)
    found = [(w, along) for i, along in given.items() if (w := constants(op, i)) is not None]
    if len(found) != 1:
        return none
    weight, along = found[0]
    sums = magnitudes_along(weight.astype(np.float64), along).sum(axis=1)
    return sums.reshape(like.shape) if sums.size == like.size else none
