"""Element-wise operations, conversions and selection."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, i1

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.elementwise import activation, binary, elementwise, unary
from passline.dialects.relax.elementwise.binary import (
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    LogicalAndOp,
    LogicalOrOp,
    LogicalXorOp,
    NotEqualOp,
)
from passline.dialects.relax.elementwise.unary import (
    AsinhOp,
    AtanOp,
    BitwiseNotOp,
    CosOp,
    ErfOp,
    Expm1Op,
    ExpOp,
    Log1pOp,
    LogicalNotOp,
    LogOp,
    SigmoidOp,
    SinhOp,
    SinOp,
    TanhOp,
    TanOp,
)
from passline.dialects.relax.reduction import nn

from ..builder import NetworkBuilder
from ..choices import ELEMENTS, FLOATS, INTEGERS
from ..values import NotApplicable

__all__ = [
    "INEXACT_UNARY",
    "astype_rule",
    "bias_rule",
    "binary_rule",
    "clip_rule",
    "unary_rule",
    "where_rule",
]

SMOOTH = (
    *(unary.AbsOp, unary.NegativeOp, unary.SquareOp, ExpOp, LogOp, unary.SqrtOp),
    *(unary.RsqrtOp, SinOp, CosOp, AtanOp, TanhOp, ErfOp),
    *(SigmoidOp, Expm1Op, Log1pOp, AsinhOp, SinhOp, TanOp),
    *(activation.ReluOp, activation.LeakyReluOp, activation.GeluOp, activation.GeluTanhOp),
    *(activation.SiluOp, activation.SoftplusOp, nn.DropoutOp),
)
INEXACT_UNARY = tuple(
    kind
    for kind in SMOOTH
    if kind not in (unary.AbsOp, unary.NegativeOp, unary.SquareOp, activation.ReluOp)
)
"""Operations of `SMOOTH` whose results are rounded even where the operand is an integer."""
STEPS = (
    *(unary.SignOp, unary.CeilOp, unary.FloorOp, unary.RoundOp, unary.TruncOp),
    *(unary.IsNanOp, unary.IsInfOp, unary.IsFiniteOp),
)
ARITHMETIC = (
    *(binary.AddOp, binary.SubtractOp, binary.MultiplyOp, binary.DivideOp),
    *(binary.MaximumOp, binary.MinimumOp, binary.AddOp, binary.MultiplyOp),
)
ROUNDED = (binary.FloorDivideOp, binary.FloorModOp, binary.ModOp)
COMPARISONS = (
    *(EqualOp, NotEqualOp, LessOp, LessEqualOp),
    *(GreaterOp, GreaterEqualOp),
)
LOGICAL = (LogicalAndOp, LogicalOrOp, LogicalXorOp)
BITWISE = (BitwiseAndOp, BitwiseOrOp, BitwiseXorOp)


def unary_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value()
    if known.element == i1:
        return LogicalNotOp(x)
    if isinstance(known.element, IntegerType):
        kinds = (unary.AbsOp, unary.NegativeOp, unary.SignOp, unary.SquareOp, BitwiseNotOp)
        return b.random.choice((*kinds, activation.ReluOp))(x)
    return b.random.choice((*SMOOTH, *STEPS) if known.exact else SMOOTH)(x)


def binary_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value()
    y = b.operand(b.random.broadcastable(known.shape), known.element)
    kinds: tuple[type[TensorOp], ...] = ARITHMETIC
    if known.element == i1:
        kinds = (*LOGICAL, *BITWISE, *COMPARISONS)
    elif isinstance(known.element, IntegerType):
        kinds = (*ARITHMETIC[:3], *ARITHMETIC[4:], *ROUNDED, *COMPARISONS, *BITWISE)
    elif known.exact and b.placeholders[y].exact:
        kinds = (*ARITHMETIC, *COMPARISONS, *ROUNDED, binary.PowerOp)
    kind = b.random.choice(kinds)
    if kind in ROUNDED and not b.placeholders[y].array.all():
        raise NotApplicable  # a division by zero
    return kind(y, x) if b.random.random() < 0.3 and kind not in ROUNDED else kind(x, y)


def where_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value()
    condition = b.operand(b.random.broadcastable(known.shape), i1)
    y = b.operand(b.random.broadcastable(known.shape), known.element)
    return elementwise.WhereOp(condition, x, y)


def clip_rule(b: NetworkBuilder) -> TensorOp:
    x, _ = b.pick_value(elements=(*FLOATS, *INTEGERS))
    low = float(b.random.randint(-3, 0))
    return elementwise.ClipOp(x, min=low, max=low + b.random.randint(0, 4))


def astype_rule(b: NetworkBuilder) -> TensorOp:
    x, _ = b.pick_value(exact=True)
    return elementwise.AstypeOp(x, dtype=b.random.choice(ELEMENTS))


def bias_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 1, (*FLOATS, *INTEGERS))
    axis = b.random.choice([1, b.axis(known)])
    kind = b.random.choice([nn.BiasAddOp, nn.BiasAddOp, activation.PReluOp])
    return kind(x, b.operand((known.shape[axis],), known.element), axis=axis)
