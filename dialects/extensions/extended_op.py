"""The base of classes that take the place of xDSL's in a dialect, and the extended dialect."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsTerminator

__all__ = ["ExtendedOp", "extended", "with_terminator"]


class ExtendedOp(IRDLOperation, ABC):
    """Base of a class that takes the place of xDSL's class of an operation, `PLAIN`, as it reads
    or verifies more of MLIR's operation.

    What `PLAIN` can represent is still made as `PLAIN`, in custom and in generic form, as passes
    and semantics are found by the class of an operation. It is not derived from `PLAIN`: patterns
    for that do not expect vectors, or an unsigned loop.
    """

    PLAIN: ClassVar[type[IRDLOperation]]

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
    def adapt(cls, regions: Sequence[Region]) -> None:
        """Change the regions of an operation that `PLAIN` cannot represent, before it is made."""

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
        if (plain := cls.is_plain(operands, properties, attributes)) is None:
            cls.adapt(regions)
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

    @classmethod
    def build(
        cls: type[Self],
        *,
        operands: Sequence[SSAValue | Operation | Sequence[SSAValue | Operation] | None]
        | None = None,
        result_types: Sequence[Attribute | Sequence[Attribute] | None] | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
        successors: Sequence[Successor | Sequence[Successor] | None] | None = None,
        regions: Sequence[RegionArgument | Sequence[RegionArgument] | None] | None = None,
    ) -> Self:
        """Build the operation that a declarative format has parsed."""
        values = [SSAValue.get(v) for v in _flat(operands or ())]
        given = {name: value for name, value in (properties or {}).items() if value is not None}
        others = {name: value for name, value in (attributes or {}).items() if value is not None}
        make = super().build
        if (plain := cls.is_plain(values, given, others)) is not None:
            make, given = cls.PLAIN.build, plain
        op = make(
            operands=operands,
            result_types=result_types,
            attributes=others,
            properties=given,
            successors=successors,
            regions=regions,
        )
        return cast("Self", op)

    def clone_without_regions(
        self,
        value_mapper: dict[SSAValue, SSAValue] | None = None,
        block_mapper: dict[Block, Block] | None = None,
        *,
        clone_name_hints: bool = True,
        clone_operands: bool = True,
    ) -> Self:
        """Copy the operation with its operands, on which its class depends; they are taken away
        again if they are not to be copied, as xDSL's `clone` connects them at its end."""
        copy = super().clone_without_regions(
            value_mapper, block_mapper, clone_name_hints=clone_name_hints
        )
        if not clone_operands:
            copy.operands = ()
        return copy


RegionArgument: TypeAlias = Region | Sequence[Operation] | Sequence[Block]
Successor: TypeAlias = Block


def _flat(
    operands: Iterable[SSAValue | Operation | Sequence[SSAValue | Operation] | None],
) -> Iterator[SSAValue | Operation]:
    """Yield the operands in a list of operands and lists of operands."""
    for operand in operands:
        if isinstance(operand, SSAValue | Operation):
            yield operand
        elif operand is not None:
            yield from operand


def with_terminator(region: Region, terminator: type[Operation]) -> Region:
    """Add the terminator that was left out in the text of a region, if it was."""
    if (block := region.last_block) is None:
        region.add_block(block := Block())
    if (last := block.last_op) is None or not last.has_trait(
        IsTerminator, value_if_unregistered=False
    ):
        block.add_op(terminator.create())
    return region


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
