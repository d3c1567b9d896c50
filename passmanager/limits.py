"""The limit on the number of elements of tensors whose size is a number in the input."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

__all__ = ["DEFAULT_MAX_ELEMENTS", "MAX_ELEMENTS", "too_many_elements"]

MAX_ELEMENTS = "passline.max_elements"
"""The option of contexts with the limit."""
DEFAULT_MAX_ELEMENTS = 1 << 28


def too_many_elements(shape: Iterable[int], limit: int) -> str | None:
    """Return why a tensor of `shape` is not made, or None if it has no more elements than `limit`.

    Whatever allocates a tensor whose size is written in the input, rather than that of data that
    the input contains, asks here first: parser, interpreters, folding, importer.
    """
    count = prod(shape)
    if count <= limit:
        return None
    return (
        f"a tensor of {count} elements exceeds the limit of {limit}; "
        f"--config {MAX_ELEMENTS}=N sets another"
    )
