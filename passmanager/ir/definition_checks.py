"""A faster check of the definition of an op class, with the same errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import (
    AttrOrPropDef,
    AttrSizedSegments,
    OpDef,
    OptionalDef,
    RangeConstraint,
    RegionDef,
    SingleBlockRegionDef,
    SuccessorDef,
    VariadicDef,
)
from xdsl.traits import OpTrait

from .access import read_fields, read_type
from .proofs import Proof, Variables, element_proof, proof_of

__all__ = ["check_of_definition"]

ListProof: TypeAlias = Callable[[Sequence[Attribute], Variables], bool]
"""Whether a list of types is known to be right."""


def check_of_definition(definition: OpDef) -> Callable[[Operation], object]:
    """Return a check that raises what `definition.verify` raises.

    It proves first that all constraints hold. If it cannot, xDSL's own check decides.
    """
    operands = _proof_of_types([(d, d.constr) for _, d in definition.operands])
    results = _proof_of_types([(d, d.constr) for _, d in definition.results])
    regions = _proof_of_regions([d for _, d in definition.regions])
    successors = _count(definition.successors)
    sized = any(isinstance(option, AttrSizedSegments) for option in definition.options)
    if sized or operands is None or results is None or regions is None or successors is None:
        return definition.verify
    properties = _proof_of_dictionary(definition.properties)
    attributes = _proof_of_dictionary(definition.attributes)
    names = definition.properties.keys()
    traits = [trait for trait in definition.traits if type(trait).verify is not OpTrait.verify]

    def check(op: Operation) -> None:
        fields = read_fields(op)
        variables: Variables = {}
        if (
            operands([*map(read_type, fields[0])], variables)
            and results([*map(read_type, fields[1])], variables)
            and regions(fields[5], variables)
            and len(fields[4]) == successors
            and properties(fields[2], variables)
            and fields[2].keys() <= names
            and attributes(fields[3], variables)
        ):
            for trait in traits:
                trait.verify(op)
        else:
            definition.verify(op)

    return check


def _proof_of_types(
    definitions: Sequence[tuple[object, RangeConstraint]],
) -> ListProof | None:
    """Return the proof of operands or results of which at most one definition is variadic; None if
    there are more, or their constraints are not those of single elements.
    """
    variadic = [index for index, (d, _) in enumerate(definitions) if isinstance(d, VariadicDef)]
    if len(variadic) > 1:
        return None
    proofs: list[Proof | None] = []
    for definition, constraint in definitions:
        element = element_proof(constraint, single=not isinstance(definition, VariadicDef))
        if element is None:
            return None
        proofs += element
    if not variadic:
        return _proof_of_each(proofs)
    at = variadic[0]
    optional = isinstance(definitions[at][0], OptionalDef)
    return _proof_with_variadic(proofs[:at], proofs[at], proofs[at + 1 :], optional)


def _proof_of_each(proofs: Sequence[Proof | None]) -> ListProof:
    count = len(proofs)
    some = [(index, proof) for index, proof in enumerate(proofs) if proof is not None]

    def proves(types: Sequence[Attribute], variables: Variables) -> bool:
        if len(types) != count:
            return False
        for index, proof in some:
            if not proof(types[index], variables):
                return False
        return True

    return proves


def _proof_with_variadic(
    before: Sequence[Proof | None],
    variadic: Proof | None,
    after: Sequence[Proof | None],
    optional: bool,
) -> ListProof:
    first, last = _proof_of_each(before), _proof_of_each(after)
    start, single = len(before), len(before) + len(after)

    def proves(types: Sequence[Attribute], variables: Variables) -> bool:
        count = len(types) - single
        if count < 0 or (optional and count > 1) or not first(types[:start], variables):
            return False
        if variadic is not None:
            for type in types[start : start + count]:
                if not variadic(type, variables):
                    return False
        return last(types[start + count :], variables)

    return proves


def _proof_of_regions(
    definitions: Sequence[RegionDef],
) -> Callable[[Sequence[Region], Variables], bool] | None:
    """Return the proof of regions of which no definition is variadic; None if one is."""
    parts: list[tuple[bool, Proof | None]] = []
    for definition in definitions:
        element = element_proof(definition.entry_args, single=False)
        if isinstance(definition, VariadicDef) or element is None:
            return None
        parts.append((isinstance(definition, SingleBlockRegionDef), *element))

    def proves(regions: Sequence[Region], variables: Variables) -> bool:
        if len(regions) != len(parts):
            return False
        for region, (single, proof) in zip(regions, parts):
            if (entry := region.first_block) is None:
                if single:
                    return False
            elif single and entry.next_block is not None:
                return False
            elif proof is not None:
                for type in entry.arg_types:
                    if not proof(type, variables):
                        return False
        return True

    return proves


def _count(definitions: Sequence[tuple[str, SuccessorDef]]) -> int | None:
    """Return the number of successors; None if one is variadic."""
    if any(isinstance(definition, VariadicDef) for _, definition in definitions):
        return None
    return len(definitions)


def _proof_of_dictionary(
    definitions: Mapping[str, AttrOrPropDef],
) -> Callable[[Mapping[str, Attribute], Variables], bool]:
    parts = [
        (name, proof_of(definition.constr), isinstance(definition, OptionalDef))
        for name, definition in definitions.items()
    ]

    def proves(attributes: Mapping[str, Attribute], variables: Variables) -> bool:
        for name, proof, optional in parts:
            if (attribute := attributes.get(name)) is None:
                if not optional:
                    return False
            elif proof is not None and not proof(attribute, variables):
                return False
        return True

    return proves
