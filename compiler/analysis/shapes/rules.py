"""Shape rules: the dimensions of results from those of operands, as expressions of sizes, or as
what is to be computed at run time.

An operation infers its result types from operand types whose unknown sizes have expressions
(`SymbolicSize`). An unknown dimension is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import VerifyException

from ....dialects.relax.data.creation import ArangeOp
from ....dialects.relax.dimensions import Dimensions, Facts, dimensions_in, symbolic_type
from ....dialects.relax.dynamic.base import DynamicOp
from ....dialects.relax.interfaces import Elementwise, InfersType
from ....dialects.relax.shapes import broadcast
from ....dialects.relax.tuples import MatchCastOp
from ....dialects.relax.types import is_tensor, shape_of, with_shape
from ....passmanager.ir.per_class import PerClass
from .ranges import number_of_steps

__all__ = ["computed_dimensions", "inferred_types"]


def inferred_types(op: Operation, facts: Facts) -> Sequence[Attribute] | None:
    """Return the type of each result of `op`, which has no regions, in which unknown sizes may have
    expressions; None without a rule."""
    if (rule := _rule_of[type(op)]) is None:
        return None
    try:
        return rule(op, facts)
    except VerifyException:  # invalid properties, which the verifier reports
        return None


def computed_dimensions(op: Operation, facts: Facts) -> Sequence[Dimensions] | None:
    """Return the dimensions of each result of `op`, which has no regions; None without a rule."""
    types = inferred_types(op, facts)
    return None if types is None else [dimensions_in(type) for type in types]


def _infer(op: InfersType, facts: Facts) -> Sequence[Attribute]:
    args = Block(arg_types=[facts.type_of(value) for value in op.operands]).args
    copy = op.create(operands=args, properties=op.properties, attributes=op.attributes)
    return copy.infer_types()


def _elementwise(op: Elementwise, facts: Facts) -> Sequence[Attribute]:
    """The shape to which all operands broadcast."""
    operands = map(facts.type_of, op.operands)
    shapes = [shape_of(type) if is_tensor(type) else () for type in operands]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or not known:
        return op.result_types
    shape = reduce(broadcast, known)
    return [with_shape(type, shape) if is_tensor(type) else type for type in op.result_types]


def _first(op: Operation, facts: Facts) -> Sequence[Attribute]:
    """The type of the operand."""
    return [facts.type_of(op.operands[0])]


def _dynamic(op: DynamicOp, facts: Facts) -> Sequence[Attribute]:
    return [*map(symbolic_type, op.result_types, op.infer_dimensions(facts))]


def _arange(op: ArangeOp, facts: Facts) -> Sequence[Attribute]:
    return [symbolic_type(op.result.type, [number_of_steps(op, facts)])]


Rule: TypeAlias = Callable[[Any, Facts], Sequence[Attribute]]

_RULES: Sequence[tuple[type[Operation] | tuple[type[Operation], ...], Rule]] = (
    (ArangeOp, _arange),
    ((CastOp, MatchCastOp), _first),
    (DynamicOp, _dynamic),
    (Elementwise, _elementwise),
    (InfersType, _infer),
)


def _find_rule(cls: type[Operation]) -> Rule | None:
    # Searched once for each class (`PerClass`). The first match counts: a class stands before its
    # bases.
    return next((rule for classes, rule in _RULES if issubclass(cls, classes)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)
