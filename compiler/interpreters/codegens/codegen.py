"""The base class of back ends that compile functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

if TYPE_CHECKING:
    from ..arrays import Array


CODEGEN = "relax.codegen"
"""The attribute of a function with the name of the back end that computes it."""
EXTERNAL = "relax.external"
"""The attribute of a declaration with what its back end made of the body: bytes, as a tensor."""

External: TypeAlias = "Callable[[Sequence[Array]], Sequence[Array]]"
"""A function that a back end compiled, from the arguments of a call to its results."""


class Codegen(ABC):
    """A back end that compiles functions of operations on tensors."""

    PATTERNS: ClassVar[Sequence[str]] = ()
    """The patterns of what it computes in one step, as of `fuse-ops-by-pattern`; their names begin
    with that of the back end and a dot."""

    def accepts(self, ops: Sequence[Operation]) -> bool:
        """Return whether operations that match one of the patterns can be compiled, by their types
        and properties."""
        return True

    @abstractmethod
    def compile(self, func: FuncOp, functions: Mapping[str, FuncOp]) -> bytes:
        """Compile `func`, which calls composite functions in `functions`.

        VerifyException if that is not possible; the message names the operation.
        """

    @abstractmethod
    def load(self, external: bytes) -> External:
        """Return the function that `compile` made `external` of."""
