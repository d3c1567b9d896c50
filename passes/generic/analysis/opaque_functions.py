"""Functions whose bodies passes leave as they are."""

from __future__ import annotations

from xdsl.ir import Operation

from ....passmanager.ir.symbols import is_skipped

__all__ = ["is_opaque"]

_MARKS = ("relax.primitive", "relax.composite", "relax.codegen")


def is_opaque(func: Operation) -> bool:
    """Return whether `func` is a unit that no pass may look into.

    These are kernels (`relax.primitive`), functions for another compiler (`relax.composite`,
    `relax.codegen`), and functions excluded by the user (`passline.skip_optimization`).
    """
    # TVM marks these functions `Primitive`, `Composite` and `Codegen`.
    return any(name in func.attributes for name in _MARKS) or is_skipped(func)
