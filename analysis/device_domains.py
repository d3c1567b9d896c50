"""Where values may be: places that are found by unification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, TupleType, UnitAttr
from xdsl.ir import Attribute, Operation

from ..dialects.relax.device import DeviceAttr
from ..dialects.relax.types import is_tensor

__all__ = [
    "Conflict",
    "Domain",
    "FunctionDomain",
    "Kind",
    "Place",
    "Site",
    "Unknown",
    "constrain",
    "devices_of",
    "domain_of_type",
    "is_placed_type",
    "leaves",
    "unify",
]


T = TypeVar("T")
Kind: TypeAlias = tuple[str, int]
"""A kind of device, and which of its kind."""


@dataclass(frozen=True)
class Site:
    """What says where a value is."""

    op: Operation
    message: str


class Unknown(Generic[T]):
    """A kind of device, or a memory, that is found out by and by; the same one once unified."""

    def __init__(self) -> None:
        self._same: Unknown[T] | None = None
        self._value: T | None = None
        self._site: Site | None = None

    def find(self) -> Unknown[T]:
        """The one that stands for all that are the same."""
        root = self
        while root._same is not None:
            root = root._same
        while self is not root and self._same is not None:
            self._same, self = root, self._same
        return root

    @property
    def value(self) -> T | None:
        """What it is; None if that is not known."""
        return self.find()._value

    @property
    def site(self) -> Site | None:
        """What said so first."""
        return self.find()._site

    def set(self, value: T, site: Site | None) -> None:
        """Say what it is."""
        root = self.find()
        root._value, root._site = value, site

    def fits(self, other: Unknown[T]) -> bool:
        """Whether both may be the same."""
        return self.value is None or other.value is None or self.value == other.value

    def merge(self, other: Unknown[T]) -> None:
        """Make both the same."""
        a, b = self.find(), other.find()
        if a is not b:
            if a._value is None:
                a._value, a._site = b._value, b._site
            b._same = a


class Place:
    """Where one value is, a tuple as a whole: the kind and number of a device, and its memory."""

    def __init__(self, kind: Unknown[Kind] | None = None) -> None:
        self.kind: Unknown[Kind] = kind or Unknown()
        self.memory: Unknown[str] = Unknown()

    @property
    def device(self) -> DeviceAttr:
        """The device, as far as it is known."""
        return _device(self.kind.value or ("", 0), self.memory.value or "")


@cache
def _device(kind: Kind, memory: str) -> DeviceAttr:
    return DeviceAttr(*kind, memory)


@dataclass(frozen=True)
class FunctionDomain:
    """Where the arguments and results of a function are."""

    arguments: Sequence[Domain | None]
    results: Sequence[Domain | None]


Domain: TypeAlias = Place | FunctionDomain
Conflict: TypeAlias = tuple[Place, Place]
"""Two places that are to be one, but cannot."""


def domain_of_type(type: Attribute) -> Domain | None:
    """A new domain for a value of a type; None for scalars, which are part of the program, and for
    buffers, whose type says where they are."""
    if isinstance(type, FunctionType):
        return FunctionDomain(
            [domain_of_type(t) for t in type.inputs], [domain_of_type(t) for t in type.outputs]
        )
    return Place() if is_placed_type(type) else None


def is_placed_type(type: Attribute) -> bool:
    """Whether values of a type are on a device, functions with what they take and give."""
    return is_tensor(type) or isinstance(type, TupleType | FunctionType)


def leaves(domain: Domain | None) -> Iterator[Place]:
    """The places in a domain, results before arguments."""
    match domain:
        case Place():
            yield domain
        case FunctionDomain():
            for part in (*domain.results, *domain.arguments):
                yield from leaves(part)
        case None:
            pass


def unify(a: Domain | None, b: Domain | None) -> Conflict | None:
    """Make two domains the same; the first places that cannot be, if there are any. A function in
    one place has all of its arguments and results there."""
    for pair in _pairs(a, b):
        x, y = pair
        if not (x.kind.fits(y.kind) and x.memory.fits(y.memory)):
            return pair
        x.kind.merge(y.kind)
        x.memory.merge(y.memory)
    return None


def _pairs(a: Domain | None, b: Domain | None) -> Iterator[Conflict]:
    if isinstance(a, FunctionDomain) and isinstance(b, FunctionDomain):
        for x, y in zip((*a.results, *a.arguments), (*b.results, *b.arguments)):
            yield from _pairs(x, y)
    elif isinstance(a, Place):
        yield from ((a, leaf) for leaf in leaves(b))
    elif isinstance(b, Place):
        yield from ((leaf, b) for leaf in leaves(a))


# Attributes


def constrain(domain: Domain | None, attribute: Attribute, site: Site) -> bool:
    """Say that a value is where an attribute says, which is as `devices_of` gives it; False if it
    is of another form."""
    if (said := _said(domain, attribute)) is None:
        return False
    for place, device in said:
        if device.device_type.data:
            place.kind.set((device.device_type.data, device.index.data), site)
        if device.memory_scope.data:
            place.memory.set(device.memory_scope.data, site)
    return True


def _said(domain: Domain | None, attribute: Attribute) -> list[tuple[Place, DeviceAttr]] | None:
    """The places in a domain, with the devices that an attribute says for them."""
    if isinstance(attribute, DeviceAttr):
        return [(place, attribute) for place in leaves(domain)]
    if domain is None and isinstance(attribute, UnitAttr):
        return []
    parts = _list(attribute)
    if not isinstance(domain, FunctionDomain) or len(parts) != 2:
        return None
    found: list[tuple[Place, DeviceAttr]] = []
    for part, domains in zip(map(_list, parts), (domain.arguments, domain.results)):
        said = [_said(*pair) for pair in zip(domains, part)]
        if len(part) != len(domains) or None in said:
            return None
        found += [pair for pairs in said if pairs for pair in pairs]
    return found


def _list(attribute: Attribute) -> Sequence[Attribute]:
    return cast(ArrayAttr[Attribute], attribute).data if isinstance(attribute, ArrayAttr) else ()


def devices_of(domain: Domain | None) -> Attribute:
    """Where a value is: a device, or for a function lists of those of its arguments and results."""
    match domain:
        case Place():
            return domain.device
        case FunctionDomain():
            parts = (domain.arguments, domain.results)
            return ArrayAttr(ArrayAttr(map(devices_of, part)) for part in parts)
        case None:
            return UnitAttr()
