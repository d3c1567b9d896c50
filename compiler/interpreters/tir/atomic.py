"""The kinds of combining of `memref.atomic_rmw` and of reductions of affine loops, as operations of
arith."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import InterpretationError

from ..arrays import bounds
from .arithmetic import ARITHMETIC, bind
from .table import converter, element_type, number

__all__ = ["KINDS", "combine", "identity_of"]

KINDS: dict[str, type[Operation] | None] = {
    "addf": arith.AddfOp,
    "addi": arith.AddiOp,
    "assign": None,
    "maximumf": arith.MaximumfOp,
    "maxs": arith.MaxSIOp,
    "maxu": arith.MaxUIOp,
    "minimumf": arith.MinimumfOp,
    "mins": arith.MinSIOp,
    "minu": arith.MinUIOp,
    "mulf": arith.MulfOp,
    "muli": arith.MuliOp,
    "ori": arith.OrIOp,
    "andi": arith.AndIOp,
    "maxnumf": arith.MaxnumfOp,
    "minnumf": arith.MinnumfOp,
    "xori": arith.XOrIOp,
}
"""The operation of each kind, in the order of MLIR's numbers; `assign` takes the new value."""

IDENTITIES: dict[str, float] = {
    **dict.fromkeys(("addf", "addi", "ori", "xori", "maxu"), 0),
    **dict.fromkeys(("mulf", "muli"), 1),
    **dict.fromkeys(("andi", "minu"), -1),
    **dict.fromkeys(("maximumf", "maxnumf"), -np.inf),
    **dict.fromkeys(("minimumf", "minnumf"), np.inf),
}
"""The value of each kind that does not change another one; those of `maxs` and `mins` are the
limits of the type."""


def combine(kind: str, type: Attribute, old: object, new: object) -> object:
    """Return the value of `type` that the operation of a kind makes of two."""
    return _combination(kind, type)(old, new)


@cache
def _combination(kind: str, type: Attribute) -> Callable[[object, object], object]:
    if (cls := _operation(kind)) is None:
        return lambda _, new: new
    op = cls.create(operands=Block(arg_types=(type, type)).args, result_types=(type,))
    compute, convert = bind(ARITHMETIC[cls], op), converter(type)
    return lambda old, new: convert(compute(old, new))


def _operation(kind: str) -> type[Operation] | None:
    if kind not in KINDS:
        raise InterpretationError(f"there is no combining kind {kind}: they are {', '.join(KINDS)}")
    return KINDS[kind]


def identity_of(kind: str, type: Attribute) -> object:
    """Return the value of `type` with which a reduction of a kind begins."""
    _operation(kind)
    if kind in ("maxs", "mins"):
        element = element_type(type)
        low, high = (-(1 << 63), (1 << 63) - 1) if element is None else bounds(element)
        return number(low if kind == "maxs" else high, type)
    if kind not in IDENTITIES:
        raise InterpretationError(f"a reduction of kind {kind} has no first value")
    return number(np.array(IDENTITIES[kind]), type)
