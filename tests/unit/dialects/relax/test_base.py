"""Construction, parsing and printing that all operations share."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    TensorType,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, result_def
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from passline.dialects.relax.attributes import (
    bool_prop,
    float_prop,
    int_prop,
    ints_prop,
    opt_int_prop,
    opt_ints_prop,
    opt_type_prop,
    string_prop,
)
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.elementwise.binary import AddOp
from passline.dialects.relax.types import TENSOR, tensor_type
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context


@irdl_op_definition
class ToyOp(TensorOp):
    """An operation with one property of each kind."""

    name = "relax_toy.op"

    data = operand_def(TENSOR)
    bias = opt_operand_def(TENSOR)
    result = result_def(TENSOR)

    groups = int_prop(1)
    axis = opt_int_prop()
    strides = ints_prop((1, 1))
    axes = opt_ints_prop()
    epsilon = float_prop(1e-5)
    keepdims = bool_prop(False)
    layout = string_prop("NCHW")
    dtype = opt_type_prop()

    def infer_types(self) -> tuple[Attribute, ...]:
        return (tensor_type(self.data),)


Toy = Dialect("relax_toy", [ToyOp])
TYPE = TensorType(f32, [4])


@pytest.fixture
def x() -> SSAValue:
    return TestOp(result_types=[TYPE]).results[0]


def text_of(op: Operation) -> str:
    stream = StringIO()
    Printer(stream).print_op(op)
    return stream.getvalue()


def test_properties_are_python_values(x: SSAValue):
    op = ToyOp(
        x,
        x,
        groups=2,
        axis=-1,
        strides=[2, 2],
        epsilon=1,
        keepdims=True,
        layout="NHWC",
        dtype=f64,
        axes=None,
    )
    op.verify()
    assert op.properties == {
        "groups": IntegerAttr(2, i64),
        "axis": IntegerAttr(-1, i64),
        "strides": DenseArrayBase.from_list(i64, [2, 2]),
        "epsilon": FloatAttr(1.0, f64),
        "keepdims": IntegerAttr(1, i1),
        "layout": StringAttr("NHWC"),
        "dtype": f64,
    }


def test_types_are_inferred_unless_given(x: SSAValue):
    assert ToyOp(x).result_types == (TYPE,)
    less = TensorType(f32, [-1])
    assert ToyOp(x, result_types=[less]).result_types == (less,)


def test_what_cannot_be_inferred_is_an_error(x: SSAValue):
    other = TestOp(result_types=[TensorType(f32, [5])]).results[0]
    with pytest.raises(VerifyException, match="4 and 5 do not broadcast"):
        AddOp(x, other)


def test_an_unknown_property_is_an_error(x: SSAValue):
    with pytest.raises(TypeError, match="relax_toy.op has no property 'stride'.*strides"):
        ToyOp(x, stride=[1, 1])
    with pytest.raises(TypeError, match="relax.add has no property 'axis': it has no properties"):
        AddOp(x, x, axis=1)


def test_a_location_may_be_given(x: SSAValue):
    location = NameLoc(StringAttr("conv1"), NoneAttr())
    assert ToyOp(x, location=location).location == location


def test_defaults_are_not_written(x: SSAValue):
    assert text_of(ToyOp(x)) == "%0 = relax_toy.op %1 : (tensor<4xf32>) -> tensor<4xf32>"


@pytest.mark.parametrize(
    "line",
    [
        "relax_toy.op %x : (tensor<4xf32>) -> tensor<4xf32>",
        "relax_toy.op %x, %x {groups = 2} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        'relax_toy.op %x {axis = -1, strides = [2, 3], axes = [], layout = "NHWC"} '
        ": (tensor<4xf32>) -> tensor<*xf32>",
        "relax_toy.op %x {epsilon = 1.000000e+00 : f64, keepdims = true, dtype = i8} "
        ": (tensor<4xf32>) -> tensor<4xf32>",
        'relax_toy.op %x {groups = 3, tag, list = array<i64: 1>, n = 1 : i64, s = "a b"} '
        ": (tensor<4xf32>) -> tensor<4xf32>",
    ],
)
def test_text_is_read_back(line: str):
    ctx = make_ir_context()
    ctx.load_dialect(Toy)
    module = parse_module(ctx, f"func.func @f(%x: tensor<4xf32>) {{ %y = {line} return }}", "x")
    module.verify()
    assert line in str(module)
    assert str(parse_module(ctx, str(module), "x")) == str(module)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("strides = [1.0]", r"property 'strides' is a list of integers such as \[1, 2\], not"),
        ("strides = 1", "property 'strides' is a list of integers"),
        ("groups = true", "property 'groups' is an integer such as 1, not"),
        ("epsilon = 1", "property 'epsilon' is a float such as 1.0, not 1"),
        ("epsilon = 1.0 : f32", "property 'epsilon' is a float such as 1.0, not"),
        ('keepdims = "yes"', "property 'keepdims' is true or false"),
        ("stride = [1, 1]", "relax_toy.op has no property .stride., did you mean .strides."),
    ],
)
def test_properties_of_another_kind_or_name_are_errors(attributes: str, message: str):
    ctx = make_ir_context()
    ctx.load_dialect(Toy)
    type = "(tensor<4xf32>) -> tensor<4xf32>"
    text = f'%x = "test.op"() : () -> tensor<4xf32> %y = relax_toy.op %x {{{attributes}}} : {type}'
    with pytest.raises(ParseError, match=message):
        parse_module(ctx, text, "x")
