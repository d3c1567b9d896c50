"""A proof holds only if xDSL's constraint does."""

from __future__ import annotations

from collections.abc import Mapping

from support.tables import table_test
from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    ArrayAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    f32,
    f64,
    i1,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    AllOf,
    AnyAttr,
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    IntConstraint,
    MessageConstraint,
    ParamAttrConstraint,
    RangeConstraint,
    RangeOf,
    RangeVarConstraint,
    VarConstraint,
)
from xdsl.utils.exceptions import VerifyException

from passline.passmanager.fast.definition_checks import element_proof, proof_of
from passline.passmanager.releases.attributes import AnyRange, VerificationContext

T = VarConstraint("T", AnyAttr())
ATTRIBUTES: list[Attribute] = [
    i1,
    i32,
    f32,
    f64,
    IndexType(),
    StringAttr("a"),
    StringAttr("1 a"),
    IntegerAttr(1, i32),
    IntegerAttr(1, IndexType()),
    TensorType(f32, [2]),
    TensorType(i32, [2]),
    ArrayAttr([i32]),
]
CONSTRAINTS: list[AttrConstraint] = [
    AnyAttr(),
    BaseAttr(IntegerType),
    EqAttrConstraint(i32),
    VarConstraint("T", BaseAttr(IntegerType)),
    AnyOf((BaseAttr(IntegerType), EqAttrConstraint(f32))),
    AnyFloatConstr,
    AllOf((BaseAttr(IntegerType), EqAttrConstraint(i1))),
    ParamAttrConstraint(TensorType, (AnyAttr(), EqAttrConstraint(f32), AnyAttr())),
    ParamAttrConstraint(IntegerAttr, (BaseAttr(IntAttr), T)),
    MessageConstraint(BaseAttr(IntegerType), "no"),
    SymbolNameConstraint(),
]


def holds(constraint: AttrConstraint, *attributes: Attribute) -> bool:
    context = VerificationContext()
    try:
        for attribute in attributes:
            constraint.verify(attribute, context)
    except VerifyException:
        return False
    return True


def proved(constraint: AttrConstraint, *attributes: Attribute) -> bool:
    proof, variables = proof_of(constraint), dict[str, Attribute]()
    return proof is None or all(proof(attribute, variables) for attribute in attributes)


@table_test("constraint", CONSTRAINTS)
def test_a_proof_is_found_exactly_where_the_constraint_holds(constraint: AttrConstraint) -> None:
    for one in ATTRIBUTES:
        for two in ATTRIBUTES:
            assert proved(constraint, one, two) == holds(constraint, one, two)


class OwnConstraint(AttrConstraint):
    """A constraint that nobody knows, with a variable."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        constraint_context.set_attr_variable("T", attr)

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttrConstraint:
        return self


def test_nothing_is_proved_about_unknown_variables() -> None:
    assert holds(OwnConstraint(), i32)
    assert not proved(OwnConstraint(), i32)


class StricterConstraint(BaseAttr[IntegerType]):
    """A subclass of a known constraint."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if attr != i32:
            raise VerifyException("is not i32")


def test_a_subclass_of_a_known_constraint_is_asked() -> None:
    constraint = StricterConstraint(IntegerType)
    assert proved(constraint, i32)
    assert not proved(constraint, i1)


@table_test(
    ("constraint", "single", "known"),
    [
        (RangeOf(i32), False, True),
        (RangeOf(i32).of_length(1), True, True),
        (RangeOf(i32).of_length(1), False, False),
        (RangeOf(i32).of_length(2), True, False),
        (AnyRange(), False, True),
        (RangeVarConstraint("R", AnyRange()), False, False),
    ],
)
def test_ranges(constraint: RangeConstraint, single: bool, known: bool) -> None:
    assert (element_proof(constraint, single) is not None) == known
