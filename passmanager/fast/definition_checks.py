"""A faster check of the definition of an op class, with the same errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i32
from xdsl.ir import Attribute, Operation, OpTraits, ParametrizedAttribute, Region
from xdsl.irdl import (
    AllOf,
    AnyAttr,
    AnyOf,
    AttrConstraint,
    AttrOrPropDef,
    AttrSizedOperandSegments,
    AttrSizedSegments,
    BaseAttr,
    EqAttrConstraint,
    EqIntConstraint,
    MessageConstraint,
    OpDef,
    OptionalDef,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    RegionDef,
    SingleBlockRegionDef,
    SuccessorDef,
    VarConstraint,
    VariadicDef,
)
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.runtime_final import is_runtime_final

from ..releases.attributes import AnyRange, VerificationContext
from .edit import read_fields, read_type

# Proofs that attributes satisfy the constraints of xDSL, faster than by `verify`.
#
# A proof that fails shows nothing: xDSL's own check decides then, and makes the error.


Variables: TypeAlias = dict[str, Attribute]
Proof: TypeAlias = Callable[[Attribute, Variables], bool]
"""Whether an attribute is known to satisfy a constraint; sets its variables."""

_KNOWN = {
    AllOf,
    AnyAttr,
    AnyOf,
    BaseAttr,
    EqAttrConstraint,
    MessageConstraint,
    ParamAttrConstraint,
    VarConstraint,
}


def proof_of(constraint: AttrConstraint) -> Proof | None:
    """Return the proof of a constraint; None if every attribute satisfies it."""
    if type(constraint) not in _KNOWN:  # a subclass may check more
        return _proof_without_variables(constraint)
    match constraint:
        case BaseAttr():
            return _proof_of_class(constraint.attr)
        case EqAttrConstraint():
            return _proof_of_equality(constraint.attr)
        case VarConstraint():
            return _proof_of_variable(constraint.name, proof_of(constraint.constraint))
        case AnyOf():
            return _proof_of_any(constraint.attr_constrs)
        case AllOf():
            return _proof_of_all([*map(proof_of, constraint.attr_constrs)])
        case ParamAttrConstraint():
            proofs = [*map(proof_of, constraint.param_constrs)]
            return _proof_of_parameters(constraint.base_attr, proofs)
        case MessageConstraint():
            return proof_of(constraint.constr)
        case _:  # AnyAttr
            return None


def element_proof(constraint: RangeConstraint, single: bool) -> tuple[Proof | None] | None:
    """Return the proof of each element of a range, or None if the range is checked as a whole.

    A `single` range is known to have one element.
    """
    if single and type(constraint) is RangeLengthConstraint:
        if constraint.length != EqIntConstraint(1):
            return None
        constraint = constraint.constraint
    if type(constraint) is AnyRange:
        return (None,)
    return (proof_of(constraint.constr),) if type(constraint) is RangeOf else None


def _no_proof(_: Attribute, __: Variables) -> bool:
    return False


def _proof_of_class(cls: type[Attribute]) -> Proof:
    return lambda attribute, _: type(attribute) is cls or isinstance(attribute, cls)


def _proof_of_equality(expected: Attribute) -> Proof:
    return lambda attribute, _: attribute is expected or attribute == expected


def _proof_of_variable(name: str, proof: Proof | None) -> Proof:
    def proves(attribute: Attribute, variables: Variables) -> bool:
        # `T` of the first operand: all others of `T` have to equal it.
        if (known := variables.get(name)) is not None:
            return known is attribute or known == attribute
        variables[name] = attribute
        # A variable that was set by an alternative that fails is of no harm: the whole proof fails
        # then.
        return proof is None or proof(attribute, variables)

    return proves


def _proof_of_any(alternatives: Sequence[AttrConstraint]) -> Proof:
    """Return the proof of the alternative that xDSL chooses by the class of the attribute."""
    by_class: dict[type[Attribute], Proof | None] = {}
    abstract: Proof = _no_proof
    for alternative in alternatives:
        proof = proof_of(alternative)
        # xDSL allows one abstract alternative, and picks by class among the others.
        if (bases := alternative.get_bases()) is None:
            abstract = proof or abstract
        else:
            by_class |= dict.fromkeys(bases, proof)

    def proves(attribute: Attribute, variables: Variables) -> bool:
        proof = by_class.get(type(attribute), abstract)
        return proof is None or proof(attribute, variables)

    return proves


def _proof_of_all(proofs: Sequence[Proof | None]) -> Proof:
    some = [proof for proof in proofs if proof is not None]

    def proves(attribute: Attribute, variables: Variables) -> bool:
        for proof in some:
            if not proof(attribute, variables):
                return False
        return True

    return proves


def _proof_of_parameters(cls: type[ParametrizedAttribute], proofs: Sequence[Proof | None]) -> Proof:
    if not is_runtime_final(cls):  # its subclasses have the parameters
        return _no_proof
    names = [name for name, _ in cls.get_irdl_definition().parameters]
    if len(names) != len(proofs):
        return _no_proof
    some = [(name, proof) for name, proof in zip(names, proofs) if proof is not None]

    def proves(attribute: Attribute, variables: Variables) -> bool:
        if type(attribute) is not cls:
            return False
        for name, proof in some:
            if not proof(getattr(attribute, name), variables):
                return False
        return True

    return proves


class _NoVariables(VerificationContext):
    """A context that raises AttributeError where a constraint has variables."""

    def __init__(self) -> None: ...


_NO_VARIABLES = _NoVariables()


def _proof_without_variables(constraint: AttrConstraint) -> Proof:
    def proves(attribute: Attribute, _: Variables) -> bool:
        try:
            constraint.verify(attribute, _NO_VARIABLES)
        except (AttributeError, VerifyException):
            return False
        return True

    return proves


ListProof: TypeAlias = Callable[[Operation, Sequence[Attribute], Variables], bool]
"""Whether the types of the operands or results of an op are known to be right."""


def check_of_definition(
    definition: OpDef, *, without: type[OpTrait] | None = None
) -> Callable[[Operation], object]:
    """Return a check that raises what `definition.verify` raises, but for a trait.

    It proves first that all constraints hold. If it cannot, xDSL's own check decides.
    """
    if without is not None:
        left = (*(trait for trait in definition.traits if not isinstance(trait, without)),)
        definition = replace(definition, traits=OpTraits(lambda: left))
    operand_definitions = [(d, d.constr) for _, d in definition.operands]
    operands = _proof_of_types(operand_definitions)
    segments = _segments_of(definition)
    # Sizes of results, regions or successors are rare, and left to xDSL.
    if isinstance(segments, AttrSizedOperandSegments):
        operands = _proof_of_segments(segments, operand_definitions)
        segments = None
    results = _proof_of_types([(d, d.constr) for _, d in definition.results])
    regions = _proof_of_regions([d for _, d in definition.regions])
    successors = _count(definition.successors)
    if segments is not None or operands is None or results is None:
        return definition.verify
    if regions is None or successors is None:
        return definition.verify
    properties = _proof_of_dictionary(definition.properties)
    attributes = _proof_of_dictionary(definition.attributes)
    names = definition.properties.keys()
    # Most traits are marks, with nothing to verify.
    traits = [trait for trait in definition.traits if type(trait).verify is not OpTrait.verify]

    def check(op: Operation) -> None:
        fields = read_fields(op)
        variables: Variables = {}
        if (
            operands(op, [*map(read_type, fields[0])], variables)
            and results(op, [*map(read_type, fields[1])], variables)
            and regions(fields[5], variables)
            and len(fields[4]) == successors
            and properties(fields[2], variables)
            # Unknown properties are an error, unknown attributes are not: these are discardable.
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
    # With one variadic definition its number of elements is what the others leave.
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

    def proves(op: Operation, types: Sequence[Attribute], variables: Variables) -> bool:
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
    # In the order of the definitions, as the first one of a type variable sets it for the others.
    first, last = _proof_of_each(before), _proof_of_each(after)
    # For operands `(a, b..., c)`: 1 before, 1 after, and all between are b's.
    start, single = len(before), len(before) + len(after)

    def proves(op: Operation, types: Sequence[Attribute], variables: Variables) -> bool:
        count = len(types) - single
        if count < 0 or (optional and count > 1) or not first(op, types[:start], variables):
            return False
        if variadic is not None:
            for type in types[start : start + count]:
                if not variadic(type, variables):
                    return False
        return last(op, types[start + count :], variables)

    return proves


def _segments_of(definition: OpDef) -> AttrSizedSegments | None:
    """Return an option by which an attribute has the sizes of variadic operands or the like;
    another than that of operands if there is one.
    """
    options = [option for option in definition.options if isinstance(option, AttrSizedSegments)]
    return next(
        (option for option in options if not isinstance(option, AttrSizedOperandSegments)),
        options[0] if options else None,
    )


def _proof_of_segments(
    option: AttrSizedSegments, definitions: Sequence[tuple[object, RangeConstraint]]
) -> ListProof | None:
    """Return the proof of operands whose numbers are in an attribute; None if their constraints are
    not those of single elements.
    """
    parts: list[tuple[bool, bool, Proof | None]] = []
    for definition, constraint in definitions:
        variadic, optional = (
            isinstance(definition, VariadicDef),
            isinstance(definition, OptionalDef),
        )
        if (element := element_proof(constraint, single=not variadic)) is None:
            return None
        parts.append((variadic and not optional, optional, *element))

    def proves(op: Operation, types: Sequence[Attribute], variables: Variables) -> bool:
        attribute = option.container(op).get(option.attribute_name)
        if not _is_array(attribute) or attribute.elt_type != i32:
            return False
        sizes, start = cast(DenseArrayBase[IntegerType], attribute).get_values(), 0
        if len(sizes) != len(parts) or sum(sizes) != len(types):
            return False
        for size, (any_size, optional, proof) in zip(sizes, parts):
            if size < 0 or not (any_size or size == 1 or (optional and size == 0)):
                return False
            if proof is not None:
                for type in types[start : start + size]:
                    if not proof(type, variables):
                        return False
            start += size
        return True

    return proves


def _is_array(attribute: Attribute | None) -> TypeIs[DenseArrayBase]:
    return isinstance(attribute, DenseArrayBase)


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
