"""Patterns of `vector.step`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects import arith
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ..arith_families import kind_of
from .constants import constant_integer, uniform_attribute
from .scalar_values import predicate_of
from .vector_values import dims

_EQUAL, _NOT_EQUAL, _LESS, _LESS_EQUAL, _GREATER, _GREATER_EQUAL = 0, 1, 6, 7, 8, 9
"""The numbers of predicates, the ordered ones unsigned."""


class CompareSteps(RewritePattern):
    """Replace a comparison of 0, 1, ... with a number that is greater than all of them, or than all
    but the last, by its constant result. Source: `StepCompareFolder` of MLIR."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite the comparisons that use `op`, a `vector.step`."""
        (count,) = dims(op.results[0].type)
        if count <= 0:
            return  # the number of elements is not known
        for use in [*op.results[0].uses]:
            compare = use.operation
            # The constant of a comparison is the second operand.
            if use.index or kind_of(compare) is not arith.CmpiOp:
                continue
            number = constant_integer(compare.operands[1])
            if number is None or (result := _result(predicate_of(compare), count, number)) is None:
                continue
            constant = uniform_attribute(result, compare.results[0].type)
            if constant is not None:
                rewriter.replace(compare, arith.ConstantOp(constant))


def _result(predicate: int, count: int, number: int) -> bool | None:
    """Return how each of the numbers below `count` compares with a number, if all compare so."""
    if count <= number and predicate in (_EQUAL, _NOT_EQUAL, _LESS, _GREATER_EQUAL):
        return predicate in (_NOT_EQUAL, _LESS)
    if count - 1 <= number and predicate in (_LESS_EQUAL, _GREATER):
        return predicate == _LESS_EQUAL
    return None


PATTERNS: Final[Sequence[RewritePattern]] = (CompareSteps(),)
