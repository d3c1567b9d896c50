"""Shape rules: the dimensions of results from those of operands, as expressions of sizes, or as
what is to be computed at run time.

An operation infers its result types from operand types whose unknown sizes have expressions
(`SymbolicSize`). Operations whose parameters are operands have rules of their own. A dimension of
which nothing is known is None.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.numbers import as_size
from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.shapes import SymbolicSize
from ...dialects.relax.tuples import MatchCastOp
from ...dialects.relax.types import is_tensor, make_tensor_type, shape_of
from ...dialects.sizes import Size
from ...passmanager.ir.per_class import PerClass
from .dimensions import Dimensions, Facts, Rule, Rules, dimensions_of
from .parameter_rules import PARAMETER_RULES

__all__ = ["computed_dimensions", "inferred_dimensions"]


def computed_dimensions(op: Operation, facts: Facts) -> Sequence[Dimensions] | None:
    """Return the dimensions of each result of `op`, which has no regions; None without a rule."""
    if (rule := _rule_of[type(op)]) is None:
        return None
    try:
        return rule(op, facts)
    except VerifyException:  # invalid properties, which the verifier reports
        return None


def inferred_dimensions(
    op: Operation, facts: Facts
) -> Sequence[Sequence[Size | None] | None] | None:
    """Return the dimensions of each result of `op` that are expressions of sizes, as
    `computed_dimensions` does."""
    if (rows := computed_dimensions(op, facts)) is None:
        return None
    return [None if row is None else [as_size(number) for number in row] for row in rows]


def _infer(op: InfersType, facts: Facts) -> Sequence[Dimensions]:
    types = [_symbolic_type(value, facts) for value in op.operands]
    copy = op.create(
        operands=Block(arg_types=types).args, properties=op.properties, attributes=op.attributes
    )
    return [_dimensions_in(type) for type in copy.infer_types()]


def _symbolic_type(value: SSAValue, facts: Facts) -> Attribute:
    if not is_tensor(type := value.type) or (shape := dimensions_of(facts, value)) is None:
        return type
    sizes = (n if isinstance(n, int) and n >= 0 else SymbolicSize(n) for n in shape)
    return make_tensor_type(type.element_type, tuple(sizes))


def _dimensions_in(type: Attribute) -> Dimensions:
    if not is_tensor(type) or (shape := shape_of(type)) is None:
        return None
    return [
        size.number if isinstance(size, SymbolicSize) else None if size == DYNAMIC_INDEX else size
        for size in shape
    ]


def _first(op: Operation, facts: Facts) -> Sequence[Dimensions]:
    """The shape of the operand."""
    return [dimensions_of(facts, op.operands[0])]


_RULES: Rules = (((CastOp, MatchCastOp), _first), *PARAMETER_RULES, (InfersType, _infer))


def _find_rule(cls: type[Operation]) -> Rule | None:
    # Searched once for each class (`PerClass`). The first match counts: a class would have to stand
    # before its base.
    return next((rule for classes, rule in _RULES if issubclass(cls, classes)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)
