"""Algebraic interfaces: decomposition, identity element, associativity.

The passes that ask for them are `simplify-inference`, `canonicalize-ops` and `simplify-expr`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Commutative

__all__ = [
    "AssociativeCommutative",
    "CompositeOp",
    "Decomposes",
    "HasIdentityElement",
    "SimplifiesInference",
]


class Decomposes(Operation, ABC):
    """An operation that can be decomposed into simpler ones.

    Derive from one of the two subclasses: they say which pass decomposes the operation.
    """

    @abstractmethod
    def decompose(self, builder: Builder) -> Sequence[SSAValue] | None:
        """Insert an equivalent sequence of operations and return its values, one for each result.

        `builder` inserts before this operation. Return None, without inserting anything, if the
        decomposition needs types that are not known (a rank, a dimension).
        """


class SimplifiesInference(Decomposes, ABC):
    """An operation that decomposes into element-wise operations and reductions at inference.

    `simplify-inference` decomposes it (TVM SimplifyInference).
    """


class CompositeOp(Decomposes, ABC):
    """A shorthand for more basic operations, such as flatten for a reshape.

    `canonicalize-ops` decomposes it (TVM CanonicalizeOps).
    """


class HasIdentityElement(Operation, ABC):
    """A function of two tensors with a right identity element: `f(x, IDENTITY) = x`.

    With the trait `Commutative` it is also a left identity: `f(IDENTITY, x) = x`.
    """

    IDENTITY: ClassVar[float]


class AssociativeCommutative(Operation, ABC):
    """An associative and commutative function of two tensors.

    `f(f(a, b), c) = f(a, f(b, c))` and `f(a, b) = f(b, a)`; for floats, up to rounding.
    """

    traits = traits_def(Commutative())
