"""Signatures of operations: what decides their text and validity, but for names and places."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Final, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatData,
    IntAttr,
    SignednessAttr,
    StringAttr,
)
from xdsl.dialects.utils.bit_enum_attribute import BitEnumAttribute
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, Operation, ParametrizedAttribute

from .access import Fields, read_type
from .per_class import PerClass

__all__ = ["Signature", "Signatures", "is_of_signature"]

Signature: TypeAlias = tuple[object, ...]
"""Class, number of results, numbers of types, names and numbers of properties and attributes."""

_SMALL: Final = 1024
_LIMIT: Final = 1 << 17
"""Tables of attributes start anew when they have more entries: IR that repeats has far fewer."""


class Signatures:
    """A numbering of attributes and types, with the signatures that are made of these numbers.

    Attributes with the same number are equal, and look the same. They are recognized by identity,
    which is far cheaper than a hash, and if that fails by equality, but for those whose equality is
    coarser than their text.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # by identity
        self._kept: list[Attribute] = []  # so that the identities stay theirs
        self._by_value: dict[Attribute, int] = {}
        self._next = 0

    def of(self, op: Operation, fields: Fields) -> Signature:
        """Return the signature of an op with these fields; it has None for an attribute without a
        number.
        """
        operands, results, properties, attributes, *_ = fields
        get = self._numbers.get
        key = (type(op), len(results), *map(get, map(id, map(read_type, results + operands))))
        if properties:
            key += (*properties, *map(get, map(id, properties.values())))
        if attributes:  # set apart from properties by the dots
            key += (..., *attributes, *map(get, map(id, attributes.values())))
        return key

    def complete(self, op: Operation, fields: Fields) -> Signature:
        """Return the signature of an op after all its attributes have got a number."""
        operands, results, properties, attributes, *_ = fields
        for attribute in (*map(read_type, results + operands), *properties.values()):
            self.number(attribute)
        for attribute in attributes.values():
            self.number(attribute)
        return self.of(op, fields)

    def number(self, attribute: Attribute) -> int:
        """Return the number of an attribute."""
        if (number := self._numbers.get(id(attribute))) is not None:
            return number
        if len(self._kept) > _LIMIT:
            self._numbers.clear()
            self._kept.clear()
        if _may_be_comparable[type(attribute)]:
            number = self._by_value.get(attribute)
        if number is None:
            number = self._next = self._next + 1
            if len(self._by_value) > _LIMIT:
                self._by_value.clear()
            if _is_comparable(attribute):
                self._by_value[attribute] = number
        self._numbers[id(attribute)] = number
        self._kept.append(attribute)
        return number


_may_be_comparable = PerClass[Attribute, bool](
    lambda cls: (
        (cls.__module__ == ArrayAttr.__module__ and cls is not DenseIntOrFPElementsAttr)
        or issubclass(cls, EnumAttribute | BitEnumAttribute)
    )
)


def _is_comparable(attribute: Attribute) -> bool:
    """Return whether all attributes equal to this one look the same and are cheap to compare.

    Dictionaries and sets are equal in any order, and large constants are slow to hash. Of the
    parameters of other dialects nobody knows.
    """
    if not _may_be_comparable[type(attribute)]:
        return False
    pending = [attribute]
    for part in pending:
        match part:
            case IntAttr() | StringAttr() | FloatData() | SignednessAttr() | EnumAttribute():
                pass
            case ArrayAttr():
                pending += cast(Sequence[Attribute], part.data)
            case BytesAttr() | BitEnumAttribute():
                if len(cast(Sized, part.data)) > (_SMALL if isinstance(part, BytesAttr) else 1):
                    return False
            case ParametrizedAttribute() if type(part).__module__ == ArrayAttr.__module__:
                pending += part.parameters
            case _:
                return False
    return True


def is_of_signature(method: object) -> bool:
    """Return whether a `print` or `verify_` is declared to depend on the signature of its op alone:
    by an attribute `of_signature` of the function that is true.

    Such a `print` writes values by `print_operand` or `print_ssa_value`. It does not look at who
    defines or uses them, at what is around the op, or at its location. Such a `verify_` may look at
    the arguments of the first block of a region, and whether it is the only one.
    """
    return getattr(method, "of_signature", False) is True
