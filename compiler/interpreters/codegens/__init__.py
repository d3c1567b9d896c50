"""Code generators: other back ends, to which groups of operations are handed (TVM's BYOC).

Another project registers its back end by name with an entry point of the group
`passline.codegens`, which names an object of the class `Codegen`, or with `register_codegen`.
"""

from __future__ import annotations

from ....passmanager.errors import PasslineError
from ....passmanager.names import did_you_mean
from ....passmanager.registry import DialectTable
from .codegen import CODEGEN, EXTERNAL, Codegen, External

__all__ = ["CODEGEN", "EXTERNAL", "Codegen", "External", "codegen_named", "register_codegen"]


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
