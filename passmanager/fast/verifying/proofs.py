"""Proofs that attributes satisfy the constraints of xDSL, faster than by `verify`.

A proof that fails shows nothing: xDSL's own check decides then, and makes the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import (
    AllOf,
    AnyAttr,
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    EqIntConstraint,
    MessageConstraint,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VarConstraint,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.runtime_final import is_runtime_final

from ...releases.attributes import AnyRange, VerificationContext

__all__ = ["Proof", "Variables", "element_proof", "proof_of"]

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
