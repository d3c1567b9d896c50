"""Rules for sizes of results that no symbolic expression gives: values computed at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.interfaces import Elementwise
from ....dialects.relax.types import is_ranked
from ....passmanager.ir.per_class import PerClass

__all__ = ["Rule", "Scope", "rule_of"]


class Scope(Protocol):
    """A place in a function where sizes can be computed."""

    def size(self, value: SSAValue, axis: int) -> SSAValue:
        """Return the size of a dimension of a tensor."""
        ...

    def element(self, value: SSAValue, index: int) -> SSAValue:
        """Return an element of a vector of integers, or of a scalar, as an index."""
        ...

    def constant(self, number: int) -> SSAValue:
        """Return a constant of type index."""
        ...

    def insert(self, op: Operation) -> SSAValue:
        """Insert a pure operation and return its result."""
        ...


Rule: TypeAlias = Callable[[Any, int, Scope], SSAValue]
"""A function that returns the size of a dimension of the result of an operation."""


def rank_of(value: SSAValue) -> int:
    """Return the rank of a tensor."""
    type = value.type
    assert is_ranked(type)
    return type.get_num_dims()


def broadcast(op: Operation, axis: int, scope: Scope) -> SSAValue:
    """Return the size of an operand that is not 1."""
    rank = rank_of(op.results[0])
    size: SSAValue | None = None
    for operand in op.operands:
        place = axis - rank + rank_of(operand)
        if place < 0:
            continue
        other = scope.size(operand, place)
        if size is None or size is other:
            size = other
            continue
        is_one = scope.insert(arith.CmpiOp(size, scope.constant(1), "eq"))
        size = scope.insert(arith.SelectOp(is_one, other, size))
    assert size is not None
    return size


_RULES: dict[type[Operation], Rule] = {}


def _find_rule(cls: type[Operation]) -> Rule | None:
    if issubclass(cls, Elementwise):
        return broadcast
    return next((rule for other, rule in _RULES.items() if issubclass(cls, other)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)


def rule_of(op: Operation) -> Rule | None:
    """Return the rule for the sizes of the results of `op`."""
    return _rule_of[type(op)]
