"""The base of classes that take the place of xDSL's in a dialect, and the extended dialect."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

__all__ = ["ExtendedOp", "extended"]


class ExtendedOp(IRDLOperation, ABC):
    """Base of a class that takes the place of xDSL's class of an operation, `PLAIN`, as it reads
    or verifies more of MLIR's operation.

    What `PLAIN` can represent is still made as `PLAIN`, in custom and in generic form: passes and
    semantics are found by the class of an operation.
    """

    PLAIN: ClassVar[type[IRDLOperation]]

    assembly_format = None  # not that of `PLAIN`: subclasses parse and print

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        """Return the properties with which `PLAIN` represents the operation, None if it cannot."""
        return properties

    @classmethod
    def create(
        cls: type[Self],
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] = {},
        attributes: Mapping[str, Attribute] = {},
        location: LocationAttr | None = None,
        successors: Sequence[Block] = (),
        regions: Sequence[Region] = (),
    ) -> Self:
        plain = cls.is_plain(operands, properties, attributes)
        make = super().create if plain is None else cls.PLAIN.create
        op = make(
            operands=operands,
            result_types=result_types,
            properties=properties if plain is None else plain,
            attributes=attributes,
            location=location,
            successors=successors,
            regions=regions,
        )
        return cast("Self", op)


def extended(
    dialect: Dialect,
    ops: Iterable[type[Operation]],
    attributes: Iterable[type[Attribute]] = (),
) -> Dialect:
    """Return a dialect with more operations and attributes, in place of those of their names."""
    operations = {op.name: op for op in (*dialect.operations, *ops)}
    known = {attribute.name: attribute for attribute in (*dialect.attributes, *attributes)}
    # By keywords, as the interfaces of a dialect have no public name.
    fields = {"_operations": [*operations.values()], "_attributes": [*known.values()]}
    return replace(dialect, **fields)
