"""Device domains: the devices of values as unification variables.

Source: TVM's `DeviceDomains`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, TupleType, UnitAttr
from xdsl.ir import Attribute, Operation

from ...dialects.relax.device import DeviceAttr
from ...dialects.relax.types import is_tensor

T = TypeVar("T")
Kind: TypeAlias = tuple[str, int]
"""The type of a device and its number among those of the type: ("cuda", 1)."""


@dataclass(frozen=True)
class Site:
    """The operation that determines a device, and how, for the notes of an error."""

    op: Operation
    message: str


class Variable(Generic[T]):
    """A unification variable: a union-find node whose root has the value, once it is known."""

    def __init__(self) -> None:
        self._parent: Variable[T] | None = None
        self._value: T | None = None
        self._site: Site | None = None

    def find(self) -> Variable[T]:
        """Return the representative of all variables that are unified with this one."""
        root = self
        while root._parent is not None:
            root = root._parent
        while self is not root and self._parent is not None:  # path compression
            self._parent, self = root, self._parent
        return root

    @property
    def value(self) -> T | None:
        """The value; None while it is unknown."""
        return self.find()._value

    @property
    def site(self) -> Site | None:
        """The operation that determined the value first."""
        return self.find()._site

    def set(self, value: T, site: Site | None) -> None:
        """Set the value, determined by `site`."""
        root = self.find()
        root._value, root._site = value, site

    def can_unify(self, other: Variable[T]) -> bool:
        """Return whether the values are equal, or one is unknown."""
        return self.value is None or other.value is None or self.value == other.value

    def unify(self, other: Variable[T]) -> None:
        """Make both variables one; if both have values, keep this one's."""
        a, b = self.find(), other.find()
        # No union by rank: path compression alone is O(log n) for each operation, on average.
        if a is not b:
            if a._value is None:
                a._value, a._site = b._value, b._site
            b._parent = a


class DevicePlace:
    """The device and memory of one value; a tuple is in one place as a whole."""

    def __init__(self, kind: Variable[Kind] | None = None) -> None:
        self.kind: Variable[Kind] = kind or Variable()
        self.memory: Variable[str] = Variable()

    @property
    def device(self) -> DeviceAttr:
        """The attribute of the device, as far as it is known."""
        return _device(self.kind.value or ("", 0), self.memory.value or "")


@cache
def _device(kind: Kind, memory: str) -> DeviceAttr:
    return DeviceAttr(*kind, memory)


@dataclass(frozen=True)
class FunctionDomain:
    """The domains of the arguments and results of a function."""

    arguments: Sequence[Domain | None]
    results: Sequence[Domain | None]


Domain: TypeAlias = DevicePlace | FunctionDomain
Conflict: TypeAlias = tuple[DevicePlace, DevicePlace]
"""Two places that have to be unified, but are on different devices."""


def domain_of_type(type: Attribute) -> Domain | None:
    """Return a new domain for a value of `type`; None for scalars, which the host program holds,
    and for buffers, whose types have a memory space."""
    if isinstance(type, FunctionType):
        return FunctionDomain(
            [domain_of_type(t) for t in type.inputs], [domain_of_type(t) for t in type.outputs]
        )
    return DevicePlace() if has_domain(type) else None


def has_domain(type: Attribute) -> bool:
    """Return whether values of `type` are on devices: tensors, tuples and functions."""
    return is_tensor(type) or isinstance(type, TupleType | FunctionType)


def places(domain: Domain | None) -> Iterator[DevicePlace]:
    """Yield the places in `domain`, those of results before those of arguments."""
    match domain:
        case DevicePlace():
            yield domain
        case FunctionDomain():
            # Results first: the first place of a function stands for its device.
            for part in (*domain.results, *domain.arguments):
                yield from places(part)
        case None:
            pass


def has_place(domain: Domain | None) -> bool:
    """Return whether `domain` has a place."""
    return next(places(domain), None) is not None


def unify(a: Domain | None, b: Domain | None) -> Conflict | None:
    """Unify two domains; return the first conflict, or None.

    A place and a function unify if all arguments and results of the function are in that place.
    """
    for pair in _pairs(a, b):
        x, y = pair
        # Both are tested first, so that a conflict of memory scopes does not unify the devices.
        if not (x.kind.can_unify(y.kind) and x.memory.can_unify(y.memory)):
            return pair
        x.kind.unify(y.kind)
        x.memory.unify(y.memory)
    return None


def _pairs(a: Domain | None, b: Domain | None) -> Iterator[Conflict]:
    if isinstance(a, FunctionDomain) and isinstance(b, FunctionDomain):
        for x, y in zip((*a.results, *a.arguments), (*b.results, *b.arguments)):
            yield from _pairs(x, y)
    elif isinstance(a, DevicePlace):
        yield from ((a, place) for place in places(b))
    elif isinstance(b, DevicePlace):
        yield from ((place, b) for place in places(a))


# Attributes


def constrain(domain: Domain | None, attribute: Attribute, site: Site) -> bool:
    """Put `domain` on the devices of `attribute`; return False if the forms differ."""
    if (assigned := _assigned(domain, attribute)) is None:
        return False
    for place, device in assigned:
        # An attribute may leave either open: a memory scope without a device, or the reverse.
        if device.device_type.data:
            place.kind.set((device.device_type.data, device.index.data), site)
        if device.memory_scope.data:
            place.memory.set(device.memory_scope.data, site)
    return True


def _assigned(
    domain: Domain | None, attribute: Attribute
) -> list[tuple[DevicePlace, DeviceAttr]] | None:
    """Return each place in `domain` with its device in `attribute`; None if forms differ."""
    if isinstance(attribute, DeviceAttr):
        return [(place, attribute) for place in places(domain)]
    if domain is None and isinstance(attribute, UnitAttr):
        return []
    parts = _list(attribute)
    if not isinstance(domain, FunctionDomain) or len(parts) != 2:
        return None
    assigned: list[tuple[DevicePlace, DeviceAttr]] = []
    for part, domains in zip(map(_list, parts), (domain.arguments, domain.results)):
        nested = [_assigned(*pair) for pair in zip(domains, part)]
        if len(part) != len(domains) or None in nested:
            return None
        assigned += [pair for pairs in nested if pairs for pair in pairs]
    return assigned


def _list(attribute: Attribute) -> Sequence[Attribute]:
    return cast(ArrayAttr[Attribute], attribute).data if isinstance(attribute, ArrayAttr) else ()


def devices_of(domain: Domain | None) -> Attribute:
    """Return the devices of `domain` as an attribute: a device for a place, `[[...], [...]]` with
    the arguments and results of a function, `unit` for None."""
    match domain:
        case DevicePlace():
            return domain.device
        case FunctionDomain():
            parts = (domain.arguments, domain.results)
            return ArrayAttr(ArrayAttr(map(devices_of, part)) for part in parts)
        case None:
            return UnitAttr()
