"""Attributes and operations that are made without xDSL's checks equal those of the constructors."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    IRDLOperation,
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

from passline.passmanager.fast.creation import make_attribute, make_op


@irdl_op_definition
class ManyOp(IRDLOperation):
    """An operation with every kind of default."""

    name = "test.many"

    first = operand_def()
    rest = var_operand_def()
    given = prop_def()
    filled = prop_def(default_value=IntegerAttr(1, i64))
    absent = opt_prop_def()
    noted = attr_def(default_value=IntegerAttr(2, i64))
    result = result_def()


def state(op: Operation) -> dict[str, object]:
    """Return the fields of an operation, with values by type and number of uses."""
    return {
        "operands": [*op.operands],
        "uses": [
            {(u.operation is op, u.index) for u in v.uses if u.operation is op} for v in op.operands
        ],
        "results": [(r.type, r.index, r.op is op, r.first_use) for r in op.results],
        "properties": [*op.properties.items()],
        "attributes": op.attributes,
        "location": op.location,
        "others": (op.successors[:], op.regions, op.parent, op.next_op, op.prev_op),
    }


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_operation_equals_that_of_the_constructor(count: int):
    values = TestOp(result_types=[f32] * 2).results
    operands = [values[i % 2] for i in range(count)]
    location = NameLoc(StringAttr("here"), NoneAttr())
    properties: dict[str, Attribute] = {"given": f32}
    one = make_op(ManyOp, operands, [i64], dict(properties), location)
    two = ManyOp.create(
        operands=operands, result_types=[i64], properties=properties, location=location
    )
    assert state(one) == state(two)
    one.drop_all_references()
    two.drop_all_references()
    assert not any(value.first_use for value in values)


def test_attributes_of_operations_are_not_shared():
    (value,) = TestOp(result_types=[f32]).results
    one, two = (make_op(ManyOp, [value], [f32], {"given": f32}) for _ in range(2))
    one.attributes["noted"] = one.properties["filled"] = f32
    assert two.attributes == {"noted": IntegerAttr(2, i64)}
    assert two.properties["filled"] == IntegerAttr(1, i64)
    assert two.location is UNKNOWN_LOC


def test_an_attribute_equals_that_of_the_constructor():
    type, data = TensorType(f32, [2]), BytesAttr(bytes(8))
    dense = make_attribute(DenseIntOrFPElementsAttr, type=type, data=data)
    assert dense == DenseIntOrFPElementsAttr(type, data)
    assert hash(dense) == hash(DenseIntOrFPElementsAttr(type, data))
    text = make_attribute(StringAttr, data="here")
    location = make_attribute(NameLoc, desc=text, location=NoneAttr())
    assert location == NameLoc(StringAttr("here"), NoneAttr())
    location.verify()
