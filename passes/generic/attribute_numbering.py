"""Value numbers of attributes: equal attributes have one number."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute

from ...passmanager.releases.floats import key_of

LARGE = 4096
"""Dense constants of more bytes are compared by identity: their data are never hashed or read."""


class AttributeNumbering:
    """A number for each attribute, the same for equal ones; each object is hashed once."""

    def __init__(self, large: int = LARGE) -> None:
        """Compare dense constants of more than `large` bytes by identity."""
        self._large = large
        # Keeps a reference to each attribute, so that no `id` is reused.
        self._by_identity: dict[int, tuple[int, Attribute]] = {}
        self._by_value: dict[object, int] = {}

    def of(self, attribute: Attribute) -> int:
        """Return the number of `attribute`; a large constant is equal only to itself."""
        if (found := self._by_identity.get(id(attribute))) is not None:
            return found[0]
        number = len(self._by_identity)
        if not self._is_large(attribute):
            # The number of the first equal attribute; numbers are not dense, and need not be.
            number = self._by_value.setdefault(key_of(attribute), number)
        self._by_identity[id(attribute)] = number, attribute
        return number

    def of_all(self, attributes: Mapping[str, Attribute]) -> tuple[str | int, ...]:
        """Return the names and numbers of `attributes`, sorted by name."""
        if len(attributes) == 1:
            ((name, attribute),) = attributes.items()
            return name, self.of(attribute)
        return tuple(x for name in sorted(attributes) for x in (name, self.of(attributes[name])))

    def _is_large(self, attribute: Attribute) -> bool:
        return (
            isinstance(attribute, DenseIntOrFPElementsAttr)
            and len(attribute.data.data) > self._large
        )
