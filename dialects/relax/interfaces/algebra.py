"""What is the same as something simpler: for `simplify-inference`, `canonicalize-ops` and
`simplify-expr`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

__all__ = [
    "AssociativeCommutative",
    "Decomposes",
    "HasIdentityElement",
    "CompositeOp",
    "SimplifiesInference",
]


class Decomposes(Operation, ABC):
    """An operation that simpler ones compute as well; a pass asks for one of the kinds below."""

    @abstractmethod
    def decompose(self, builder: Builder) -> Sequence[SSAValue] | None:
        """Values equal to the results, made of operations that `builder` inserts before this one;
        None, and nothing inserted, if the types do not say enough."""


class SimplifiesInference(Decomposes, ABC):
    """An operation that at inference is element-wise ones and reductions (TVM
    SimplifyInference)."""


class CompositeOp(Decomposes, ABC):
    """An operation that says in one what more basic ones say (TVM CanonicalizeOps)."""


class HasIdentityElement(Operation, ABC):
    """A function of two tensors that is the first one where the second is `IDENTITY`; and the other
    way round if it is Commutative."""

    IDENTITY: ClassVar[float]


class AssociativeCommutative(Operation, ABC):
    """A function of two tensors that may be taken in any order, floats but for rounding:
    (a o b) o c is a o (b o c), and a o b is b o a."""
