"""The inferred types of operations, computed once for each signature."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Operation

from ....passmanager.fast.access import read_operands, read_type

__all__ = ["SignatureTable"]

Infer: TypeAlias = Callable[[], Sequence[Attribute]]


class SignatureTable:
    """Result types by signature: the class of an operation, its properties and operand types.

    Attributes are compared by identity, as hashing a tensor type takes as long as most inferences;
    equal attributes that are different objects have an entry each. An entry keeps its attributes
    alive, so that no `id` is reused.
    """

    def __init__(self, capacity: int = 1 << 14) -> None:
        self._capacity = capacity
        self._entries: dict[Hashable, tuple[Sequence[Attribute], Sequence[Attribute]]] = {}

    def types_of(self, op: Operation, infer: Infer) -> Sequence[Attribute]:
        """Return the types for the signature of `op`; call `infer` for an unknown one.

        An error of `infer` is not recorded.
        """
        properties, operands = op.properties, read_operands(op)
        types = map(read_type, operands)
        key = (type(op), *properties, *map(id, properties.values()), *map(id, types))
        if (entry := self._entries.get(key)) is not None:
            return entry[0]
        inferred = tuple(infer())
        if len(self._entries) >= self._capacity:  # dead types would stay in it for ever
            self._entries.clear()
        self._entries[key] = inferred, (*properties.values(), *map(read_type, operands))
        return inferred
