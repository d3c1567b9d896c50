"""The check of a definition: xDSL's error, and xDSL's check only where there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from support.releases import needs_xdsl
from support.tables import table_test
from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, IndexType, StringAttr, f32, i1, i32, i64
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    VarConstraint,
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, OpTrait
from xdsl.utils.exceptions import VerifyException

from passline.passmanager.fast.definition_checks import check_of_definition

T = VarConstraint("T", AnyAttr())


class Refusing(OpTrait):
    """A trait that no op satisfies."""

    def verify(self, op: Operation) -> None:
        raise VerifyException("is refused")


@irdl_op_definition
class PlainOp(IRDLOperation):
    name = "mine.plain"
    first = operand_def(T)
    more = var_operand_def(i32)
    last = operand_def(T)
    result = result_def(T)
    kind = prop_def(StringAttr)
    note = opt_prop_def(StringAttr)
    mark = attr_def(StringAttr)


@irdl_op_definition
class OptionalOp(IRDLOperation):
    name = "mine.optional"
    maybe = opt_operand_def(i32)
    results_ = var_result_def(i1)


@irdl_op_definition
class SegmentsOp(IRDLOperation):
    name = "mine.segments"
    one = operand_def(i32)
    maybe = opt_operand_def(i64)
    more = var_operand_def(IndexType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


@irdl_op_definition
class BodyOp(IRDLOperation):
    name = "mine.body"
    body = region_def("single_block", entry_args=i32)
    other = region_def()


@irdl_op_definition
class RefusedOp(IRDLOperation):
    name = "mine.refused"
    traits = traits_def(Refusing())


A, B = StringAttr("a"), i32


def op_of(
    op_class: type[Operation],
    operands: Sequence[Attribute] = (),
    results: Sequence[Attribute] = (),
    properties: dict[str, Attribute] | None = None,
    attributes: dict[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
    successors: Sequence[Block] = (),
) -> Operation:
    return op_class.create(
        operands=TestOp(result_types=operands).results,
        result_types=results,
        properties=properties or {},
        attributes=attributes or {},
        regions=regions,
        successors=successors,
    )


def plain(*operands: Attribute, result: Attribute = f32, **properties: Attribute) -> Operation:
    mark = {"mark": properties.pop("mark")} if "mark" in properties else {}
    return op_of(PlainOp, operands, [result], properties, mark)


def segments(sizes: Attribute | None, *operands: Attribute) -> Operation:
    return op_of(SegmentsOp, operands, (), {} if sizes is None else {"operandSegmentSizes": sizes})


def sized(*sizes: int) -> Attribute:
    return DenseArrayBase.from_list(i32, sizes)


def body(*blocks: Block) -> Operation:
    return op_of(BodyOp, regions=[Region(blocks), Region()])


VALID: list[Callable[[], Operation]] = [
    lambda: plain(f32, f32, kind=A, mark=A),
    lambda: plain(f32, i32, i32, f32, kind=A, note=A, mark=A),
    lambda: op_of(OptionalOp),
    lambda: op_of(OptionalOp, [i32], [i1, i1]),
    lambda: segments(sized(1, 0, 0), i32),
    lambda: segments(sized(1, 1, 2), i32, i64, IndexType(), IndexType()),
    lambda: body(Block(arg_types=[i32])),
]
INVALID = [
    lambda: plain(f32, kind=A, mark=A),
    lambda: plain(f32, f32, result=i32, kind=A, mark=A),
    lambda: plain(f32, f32, f32, kind=A, mark=A),
    lambda: plain(f32, i32, i32, kind=A, mark=A),
    lambda: plain(f32, f32, mark=A),
    lambda: plain(f32, f32, kind=B, mark=A),
    lambda: plain(f32, f32, kind=A),
    lambda: plain(f32, f32, kind=A, note=B, mark=A),
    lambda: plain(f32, f32, kind=A, other=A, mark=A),
    lambda: op_of(OptionalOp, [i32, i32]),
    lambda: op_of(OptionalOp, [i64]),
    lambda: op_of(OptionalOp, [], [i1, i32]),
    lambda: op_of(OptionalOp, regions=[Region()]),
    lambda: op_of(OptionalOp, successors=[Block()]),
    lambda: segments(None, i32),
    lambda: segments(A, i32),
    lambda: segments(DenseArrayBase.from_list(i64, [1, 0, 0]), i32),
    lambda: segments(sized(1, 0), i32),
    lambda: segments(sized(0, 1, 0), i32),
    lambda: segments(sized(1, 2, 0), i32, i64, i64),
    pytest.param(
        lambda: segments(sized(1, 0, 1), i32),
        marks=needs_xdsl("0.74", "compares the sum of segment sizes with the operands"),
    ),
    lambda: segments(sized(1, -1, 1), i32),
    lambda: segments(sized(1, 1, 0), i32, i32),
    lambda: body(),
    lambda: body(Block(arg_types=[i64])),
    lambda: body(Block(arg_types=[i32]), Block()),
    lambda: op_of(BodyOp, regions=[Region(Block(arg_types=[i32]))]),
    lambda: op_of(RefusedOp),
]


def definition_of(op: Operation) -> OpDef:
    assert isinstance(op, IRDLOperation)
    return op.get_irdl_definition()


@pytest.mark.parametrize("make", VALID)
def test_xdsl_is_not_asked_about_valid_ops(
    make: Callable[[], Operation], monkeypatch: pytest.MonkeyPatch
) -> None:
    op = make()
    check = check_of_definition(definition_of(op))
    definition_of(op).verify(op)

    def fail(definition: OpDef, op: Operation) -> None:
        pytest.fail("xDSL's check was called")

    monkeypatch.setattr(OpDef, "verify", fail)
    check(op)


@table_test("make", INVALID)
def test_errors_are_those_of_xdsl(make: Callable[[], Operation]) -> None:
    op = make()
    with pytest.raises(VerifyException) as expected:
        definition_of(op).verify(op)
    with pytest.raises(VerifyException) as raised:
        check_of_definition(definition_of(op))(op)
    assert str(raised.value) == str(expected.value)


def test_a_trait_can_be_left_out() -> None:
    check_of_definition(RefusedOp.get_irdl_definition(), without=Refusing)(RefusedOp())


def test_other_traits_are_not() -> None:
    definition = scf.YieldOp.get_irdl_definition()
    op = scf.YieldOp()
    Block([op, TestOp()])
    check_of_definition(definition, without=IsTerminator)(op)
    with pytest.raises(VerifyException, match="must be the last operation"):
        check_of_definition(definition, without=Refusing)(op)
