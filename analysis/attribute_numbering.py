"""Numbers for attributes, to compare operations by."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute

__all__ = ["AttributeNumbering"]

LARGE = 4096
"""Bytes from which constants are equal only if they share one attribute: they are not read."""


class AttributeNumbering:
    """A number for each attribute, the same for equal ones: each is hashed once."""

    def __init__(self) -> None:
        self._by_identity: dict[int, tuple[int, Attribute]] = {}
        self._by_value: dict[Attribute, int] = {}

    def of(self, attribute: Attribute) -> int:
        """Return the number of an attribute; a large constant is equal to itself alone."""
        if (found := self._by_identity.get(id(attribute))) is not None:
            return found[0]
        number = len(self._by_identity)
        if not _is_large(attribute):
            number = self._by_value.setdefault(attribute, number)
        # The attribute is kept, so that its `id` is not reused.
        self._by_identity[id(attribute)] = number, attribute
        return number

    def of_all(self, attributes: Mapping[str, Attribute]) -> tuple[str | int, ...]:
        """Return the names and numbers of a dictionary of attributes, sorted by name."""
        return tuple(x for name in sorted(attributes) for x in (name, self.of(attributes[name])))


def _is_large(attribute: Attribute) -> bool:
    return isinstance(attribute, DenseIntOrFPElementsAttr) and len(attribute.data.data) > LARGE
