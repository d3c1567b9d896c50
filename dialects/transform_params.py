"""The attribute of a function whose last parameters another function computes from the weights.

    func.func @main(%x: ..., %w: ...) attributes {relax.transform_params = @main_transform_params}

`lift-transform-params` sets it.
"""

from __future__ import annotations

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation

__all__ = ["TRANSFORM_PARAMS", "transformation_of"]

TRANSFORM_PARAMS = "relax.transform_params"


def transformation_of(func: Operation) -> str:
    """Return the name of the function that computes the last parameters of `func`, or ""."""
    name = func.attributes.get(TRANSFORM_PARAMS)
    return name.root_reference.data if isinstance(name, SymbolRefAttr) else ""
