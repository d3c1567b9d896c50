"""Code generators: other back ends, to which groups of operations are handed (TVM's BYOC).

Another project registers its back end by name with an entry point of the group
`passline.codegens`, which names an object with the methods of `Codegen`, or with
`register_codegen`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...passmanager.errors import PasslineError
from ...passmanager.extensions import DialectTable
from ...passmanager.info import did_you_mean

if TYPE_CHECKING:
    from ..arrays import Array

__all__ = ["CODEGEN", "EXTERNAL", "Codegen", "External", "codegen_named", "register_codegen"]

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
        """Return the function of which `compile` returned `external`."""


def _onnxruntime() -> Codegen:
    from .onnxruntime import OnnxRuntime

    return OnnxRuntime()


_CODEGENS: DialectTable[Codegen] = DialectTable("passline.codegens", {"onnxruntime": _onnxruntime})


def codegen_named(name: str) -> Codegen:
    """Return the back end `name`; PasslineError if there is none, or if it fails to load."""
    if (codegen := _CODEGENS.get(name)) is None:
        names = sorted(_CODEGENS.names())
        hint = did_you_mean(name, names) or f"; registered are {', '.join(names)}"
        raise PasslineError(f"there is no back end '{name}'{hint}")
    return codegen


def register_codegen(name: str, codegen: Codegen) -> None:
    """Register a back end for this process."""
    _CODEGENS.register(name, codegen)
