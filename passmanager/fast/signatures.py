"""Signatures of operations: what decides their text and validity, but for names and places."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from itertools import count
from operator import attrgetter
from threading import Lock
from types import CodeType
from typing import Final, TypeAlias, cast
from weakref import ref

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatData,
    IndexType,
    IntAttr,
    IntegerType,
    SignednessAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute

from ..ir.per_class import PerClass
from ..releases.attributes import BitEnumAttribute, EnumAttribute
from ..releases.floats import DISTINGUISHES_ZEROS
from .edit import Fields, read_type

Signature: TypeAlias = tuple[object, ...]
"""Class, number of results, numbers of types, names and numbers of properties and attributes."""

_SMALL: Final = 1024
_LIMIT: Final = 1 << 16
"""Tables of attributes start anew when they have more entries: IR that repeats has far fewer."""


class Signatures:
    """A numbering of attributes and types, with the signatures that are made of these numbers.

    Attributes with the same number are equal, and look the same. They are recognized by identity,
    which is far cheaper than a hash, and if that fails by equality, but for those whose equality is
    coarser than their text. With `scalars_only` equality is asked for scalar types alone: others
    are shared as a rule, and asking costs as much as checking an op once more.

    An attribute that nothing else refers to is freed: its number goes with it, and is not given to
    another one, so signatures that were made stay right.
    """

    def __init__(self, *, scalars_only: bool = False) -> None:
        self._is_compared = _is_scalar if scalars_only else _has_known_parts
        self._numbers: dict[int, int] = {}  # by identity
        self._by_value: dict[Attribute, int] = {}
        self._next_number = count(1).__next__
        self._lock = Lock()  # without a global lock of Python, two threads may get one number
        references = self._references = dict[int, _Reference | Attribute]()
        numbers = self._numbers

        def forget(reference: _Reference) -> None:
            """Remove an attribute that is freed, before its identity may be that of another one."""
            # At the exit of Python, globals may be gone.
            numbers.pop(reference.key, None)
            references.pop(reference.key, None)

        self._forget = cast(Callable[[ref[Attribute]], object], forget)

    def of(self, op: Operation, fields: Fields) -> Signature:
        """Return the signature of an op with these fields; it has None for an attribute without a
        number.
        """
        operands, results, properties, attributes, *_ = fields
        get = self._numbers.get
        # The number of results tells where these end: the rest of the types are the operands'.
        key = (type(op), len(results), *map(get, map(id, map(read_type, results + operands))))
        if properties:
            key += (*properties, *map(get, map(id, properties.values())))
        if attributes:  # set apart from properties by the dots
            key += (..., *attributes, *map(get, map(id, attributes.values())))
        return key

    def without_types(self, op: Operation, fields: Fields, left_out: str) -> Signature:
        """Return the signature of an op but for its types, and the value of one property."""
        operands, results, properties, attributes, *_ = fields
        key: Signature = (type(op), len(results), len(operands))
        for name, value in properties.items():
            key += (name,) if name == left_out else (name, self.number(value))
        if attributes:
            key += (..., *attributes, *map(self.number, attributes.values()))
        return key

    def complete(self, op: Operation, fields: Fields, key: Signature) -> Signature:
        """Return the signature of an op, given as `of` has it, with the missing numbers."""
        if None not in key:
            return key
        # Numbers are not looked up again: the table of them may start anew meanwhile.
        operands, results, properties, attributes, *_ = fields
        number = self.number
        key = (type(op), len(results), *map(number, map(read_type, results + operands)))
        if properties:
            key += (*properties, *map(number, properties.values()))
        if attributes:
            key += (..., *attributes, *map(number, attributes.values()))
        return key

    def number(self, attribute: Attribute) -> int:
        """Return the number of an attribute."""
        if (number := self._numbers.get(id(attribute))) is not None:
            return number
        is_compared = self._is_compared[type(attribute)]
        if is_compared:
            number = self._by_value.get(attribute)
        if number is None:
            with self._lock:
                number = self._next_number()
            if len(self._by_value) > _LIMIT:
                self._by_value.clear()
            if is_compared and _is_comparable(attribute):
                self._by_value[attribute] = number
        if len(self._numbers) > _LIMIT:  # without the references, nothing is forgotten any more
            self._references.clear()
            self._numbers.clear()
        key = id(attribute)
        try:
            reference = self._references[key] = _Reference(attribute, self._forget)
            reference.key = key
        except TypeError:  # of a class with slots: it is kept, so that its identity stays its own
            self._references[key] = attribute
        self._numbers[key] = number
        if key not in self._references:  # another thread has cleared the tables meanwhile
            self._numbers.pop(key, None)
        return number


class _Reference(ref[Attribute]):
    """A reference to an attribute that does not keep it, and knows its identity."""

    __slots__ = ("key",)

    key: int


Parts: TypeAlias = Callable[[Attribute], Sequence[Attribute] | None]
"""The attributes in an attribute; None if its equality is coarser than its text."""


def _no_parts(_: Attribute) -> Sequence[Attribute]:
    return ()


def _unknown(_: Attribute) -> None:
    return None


def _elements(array: Attribute) -> Sequence[Attribute]:
    return cast(ArrayAttr[Attribute], array).data


def _no_parts_if_small(data: Attribute) -> Sequence[Attribute] | None:
    """Return nothing unless the data is slow to hash, or a set, which is printed in any order."""
    limit = _SMALL if isinstance(data, BytesAttr) else 1
    return () if len(cast(Sized, cast(BytesAttr, data).data)) <= limit else None


def _no_parts_unless_zero(data: Attribute) -> Sequence[Attribute] | None:
    return () if cast(FloatData, data).data else None


def _parts_of_class(cls: type[Attribute]) -> Parts:
    if issubclass(cls, FloatData) and not DISTINGUISHES_ZEROS:
        return _no_parts_unless_zero
    if issubclass(cls, IntAttr | StringAttr | FloatData | SignednessAttr | EnumAttribute):
        return _no_parts
    if issubclass(cls, BytesAttr | BitEnumAttribute):
        return _no_parts_if_small
    if issubclass(cls, ArrayAttr):
        return _elements
    builtin = cls.__module__ == ArrayAttr.__module__ and cls is not DenseIntOrFPElementsAttr
    if not builtin or not issubclass(cls, ParametrizedAttribute):
        return _unknown
    names = [name for name, _ in cls.get_irdl_definition().parameters]
    if len(names) < 2:  # `attrgetter` of one name gives no tuple
        return attrgetter("parameters") if names else _no_parts
    return cast(Parts, attrgetter(*names))


_parts = PerClass[Attribute, Parts](_parts_of_class)
_has_known_parts = PerClass[Attribute, bool](lambda cls: _parts[cls] is not _unknown)
_is_scalar = PerClass[Attribute, bool](
    lambda cls: issubclass(cls, IndexType | IntegerType | AnyFloat)
)


def _is_comparable(attribute: Attribute) -> bool:
    """Return whether all attributes equal to this one look the same and are cheap to compare.

    Dictionaries and sets are equal in any order, and large constants are slow to hash. Of the
    parameters of other dialects nobody knows.
    """
    pending = [attribute]
    # The list grows while it is walked: parts of parts.
    for part in pending:
        if (parts := _parts[type(part)](part)) is None:
            return False
        pending += parts
    return True


def is_of_signature(method: object) -> bool:
    """Return whether a `print` or `verify_` is declared to depend on the signature of its op alone:
    by an attribute `of_signature` of the function that is true.

    Such a `print` writes values by `print_operand` or `print_ssa_value`. It does not look at who
    defines or uses them, at what is around the op, or at its location. Of a region it may look at
    the arguments of the first block, whether it is the only one, and of the last op of this block
    at the class, whether it has attributes, and whether it is the only one. Such a `verify_` may
    look at the arguments of the first block of a region, whether it is the only one, and at the
    class of its last op and the types of its operands.
    """
    return getattr(method, "of_signature", False) is True


def reads_its_op_alone(method: object) -> bool:
    """Return whether a method of xDSL, known to look at the signature of its op alone, still does:
    it names nothing of what is around the op, or of its values."""
    pending: list[object] = [getattr(method, "__code__", None)]
    for code in pending:  # which grows: functions in functions
        if isinstance(code, CodeType):
            if not _AROUND.isdisjoint(code.co_names):
                return False
            pending += code.co_consts
    return True


_AROUND = frozenset(
    "owner op uses users first_use has_one_use get_user_of_unique_use name_hint location parent "
    "parent_op parent_block parent_region get_toplevel_object next_op prev_op walk next_block "
    "prev_block successors predecessors lookup_symbol".split()
)
