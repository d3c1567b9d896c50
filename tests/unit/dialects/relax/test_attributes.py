"""Properties read as Python values."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from passline.dialects.relax.attributes import (
    bool_prop,
    check_choice,
    float_prop,
    int_prop,
    ints_prop,
    opt_floats_prop,
    opt_int_prop,
    opt_ints_prop,
    opt_type_prop,
    string_prop,
    type_prop,
)
from passline.dialects.relax.elementwise.unary import UnaryOp


class Defaults:
    """A mixin that overrides properties."""

    strides = ints_prop((2, 2))


@irdl_op_definition
class TypedOp(UnaryOp):
    """An operation with a property of each kind."""

    name = "relax_typed.op"

    dtype = type_prop()
    axis = int_prop(1)
    depth = opt_int_prop()
    strides = ints_prop((1, 1))
    axes = opt_ints_prop()
    keepdims = bool_prop(False)
    epsilon = float_prop(0.5)
    scales = opt_floats_prop()
    layout = string_prop("NCHW")
    out_dtype = opt_type_prop()

    input = operand_def()
    result = result_def()


@irdl_op_definition
class InheritingOp(Defaults, UnaryOp):
    """An operation with a property of a mixin."""

    name = "relax_typed.inheriting"


X = create_ssa_value(f32)


def typed(**properties: object) -> TypedOp:
    return TypedOp(X, result_types=[f32], dtype=f32, **properties)  # pyright: ignore[reportArgumentType]


def test_absent_properties_are_none():
    op = typed()
    assert (op.depth, op.axes, op.scales, op.out_dtype) == (None, None, None, None)
    assert "depth" not in op.properties


def test_default():
    op = TypedOp.create(operands=[X], result_types=[f32], properties={"dtype": f32})
    assert op.axis == 1 and op.strides == (1, 1) and op.layout == "NCHW"
    assert op.keepdims is False and op.epsilon == 0.5


def test_python_values():
    op = typed(axis=-1, depth=3, strides=[4, 5], axes=(), keepdims=True, epsilon=1, scales=[2.0])
    assert (op.axis, op.depth, op.strides, op.axes) == (-1, 3, (4, 5), ())
    assert op.keepdims is True
    assert type(op.epsilon) is float and op.epsilon == 1.0
    assert op.scales == (2.0,) and op.dtype == f32


def test_attributes():
    op = typed(axis=2, strides=[4, 5], keepdims=True, epsilon=2.0, layout="NHWC", out_dtype=f64)
    attributes = {name: getattr(op, f"{name}_attr") for name in ("axis", "strides", "keepdims")}
    assert attributes == {
        "axis": IntegerAttr(2, i64),
        "strides": DenseArrayBase.from_list(i64, [4, 5]),
        "keepdims": IntegerAttr(1, i1),
    }
    assert op.properties["epsilon"] == FloatAttr(2.0, f64)
    assert op.properties["layout"] == StringAttr("NHWC") and op.out_dtype == f64
    assert getattr(op, "depth_attr") is None  # noqa: B009


def test_a_property_cannot_be_set_as_a_value():
    with pytest.raises(AttributeError):
        typed().axis = 2


def test_a_changed_attribute_is_read():
    op = typed()
    op.properties["axis"] = IntegerAttr(7, i64)
    assert op.axis == 7


def test_a_property_of_a_mixin():
    assert InheritingOp(X, result_types=[f32]).strides == (2, 2)
    assert InheritingOp(X, result_types=[f32], strides=(3, 3)).strides == (3, 3)


def test_printed_in_the_order_of_the_definitions():
    text = StringIO()
    Printer(text).print_op(typed(layout="NHWC", scales=[1.0], axes=[0], axis=0))
    written = "{dtype = f32, axis = 0, axes = [0], scales = [1.000000e+00 : f64], layout = "
    assert written in text.getvalue()


def test_choices():
    assert check_choice("mode", "clip", ("clip", "wrap")) == "clip"
    with pytest.raises(VerifyException, match='mode "warp" is not one of "clip", "wrap"'):
        check_choice("mode", "warp", ("clip", "wrap"))
