"""The mark on functions that no pass is to change."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

__all__ = ["is_skipped"]


def is_skipped(func: Operation) -> bool:
    """Return whether a function has the attribute `passline.skip_optimization`, or TVM's
    `SkipOptimization`, unless that is 0.
    """
    if not (attributes := func.attributes):
        return False
    if "passline.skip_optimization" in attributes:
        return True
    mark = attributes.get("SkipOptimization")
    return mark is not None and not (isinstance(mark, IntegerAttr) and mark.value.data == 0)
