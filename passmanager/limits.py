"""The limit on the number of elements of tensors whose size is a number in the input."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from .config import DEFAULT_MAX_ELEMENTS, MAX_ELEMENTS
from .context import PassContext

__all__ = ["too_many_elements"]


def too_many_elements(shape: Iterable[int]) -> str | None:
    """Return why a tensor of `shape` is not made, or None if it has no more elements than the
    option `passline.max_elements` of the current context allows.

    Whatever allocates a tensor whose size is written in the input, rather than that of data that
    the input contains, asks here first: parser, interpreters, folding, importer.
    """
    count = prod(shape)
    if count <= DEFAULT_MAX_ELEMENTS and PassContext.current().config.empty:
        return None
    limit = PassContext.current().get_config(MAX_ELEMENTS)
    assert isinstance(limit, int)
    if count <= limit:
        return None
    return (
        f"a tensor of {count} elements exceeds the limit of {limit}; "
        f"--config {MAX_ELEMENTS}=N sets another"
    )
