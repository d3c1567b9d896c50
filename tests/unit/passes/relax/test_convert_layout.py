"""ConvertLayout: invalid entries, remarks, and operations of other projects."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import PassFailedException, VerifyException

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.interfaces import AlongAxes, Conversion, LayoutRule, first_relayout
from passline.dialects.relax.layout import Relayout
from passline.dialects.relax.types import TENSOR, tensor_type
from passline.passes.relax.convert_layout import ConvertLayout
from passline.passmanager import Diagnostic, DiagnosticError, PassContext, PassInstrument, Remark
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

CHAIN = """
func.func @main(%x : tensor<1x3x5x4xf32>, %w : tensor<3x3x1x1xf32>) -> tensor<1x3x5x4xf32> {
  %a = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x5x4xf32>
  %b = relax.nn.relu %a : (tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32>
  %c = relax.nn.conv2d %b, %w : (tensor<1x3x5x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x5x4xf32>
  return %c : tensor<1x3x5x4xf32>
}
"""


def parse(text: str) -> ModuleOp:
    ctx = make_ir_context()
    for op in (PlainOp, RowsOp, RefusesOp):
        ctx.load_op(op)
    return parse_module(ctx, text, "test.mlir")


def ops(module: ModuleOp) -> list[str]:
    return [op.name for op in walk(module)][2:-1]


# Entries


def test_layouts_by_name():
    pass_ = ConvertLayout.of({"relax.nn.conv2d": ["NHWC", "OHWI"], "relax.nn.max_pool2d": ["NHWC"]})
    assert pass_.desired == ("relax.nn.conv2d:NHWC:OHWI", "relax.nn.max_pool2d:NHWC")
    assert ops(pass_(parse(CHAIN))).count("relax.layout_transform") == 3


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["relax.nn.conv2:NHWC"], "unknown operation 'relax.nn.conv2', did you mean"),
        (["relax.add:NHWC"], "no layouts can be chosen for 'relax.add'"),
        (["relax.nn.conv2d"], "expected layouts, as 'relax.nn.conv2d:NHWC'"),
        (["relax.nn.conv2d:nhwc"], 'layout "nhwc" is not a sequence of axes'),
        (["relax.nn.conv2d:NHWC"] * 2, "'relax.nn.conv2d' has an entry already"),
    ],
)
def test_entries_that_are_wrong(entries: Sequence[str], message: str):
    with pytest.raises(PassFailedException, match=message):
        ConvertLayout(tuple(entries))(parse(CHAIN))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("NCW", 'layout "NCW" does not have the axes C, H, N, W'),
        ("NHWC:OIW", 'layout "OIW" does not have the axes H, I, O, W'),
        ("NCHW2h", 'layout "NCHW2h" splits H'),
        ("NHWC:OHWI:NHWC:N", "has 3 layouts, but 4 are desired"),
    ],
)
def test_layouts_that_an_operation_cannot_have(entry: str, message: str):
    with pytest.raises(DiagnosticError, match=message) as error:
        ConvertLayout((f"relax.nn.conv2d:{entry}",))(parse(CHAIN))
    assert "test.mlir:3" in str(error.value)


# What is said and asked


def test_remarks():
    found: list[Diagnostic] = []
    text = CHAIN.replace("relax.nn.relu", "test.refuses")
    with PassContext(remark_filter="convert", renderer=found.extend):
        ConvertLayout.of({"relax.nn.conv2d": ["NHWC"]})(parse(text))
        ConvertLayout.of({"relax.nn.conv2d": ["NCHW4c"]})(parse(text))
    remarks = [remark for remark in found if isinstance(remark, Remark)]
    assert [remark.name for remark in remarks] == ["Converted", "KeptLayout", "Converted"] + [
        "KeptLayout"
    ] * 2
    assert "stays in its layout: not today" in remarks[1].message
    assert "axis C of size 3 does not split into blocks of 4" in remarks[3].message


def test_each_conversion_is_a_step():
    class First(PassInstrument):
        steps = 0

        def should_execute(self, tag: str) -> bool:
            self.steps += 1
            return self.steps == 1

    first = First()
    with PassContext(instruments=[first]):
        module = ConvertLayout.of({"relax.nn.conv2d": ["NHWC"]})(parse(CHAIN))
    assert first.steps == 2
    layouts = [str(op.properties["data_layout"]) for op in walk(module) if "conv2d" in op.name]
    assert layouts == ['"NHWC"', '"NCHW"']


# Operations of other projects


class SameOp(TensorOp):
    data = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type(self.data),)


@irdl_op_definition
class PlainOp(SameOp):
    """An operation without a layout rule."""

    name = "test.plain"


@irdl_op_definition
class RowsOp(AlongAxes, SameOp):
    """An operation that accepts any layout of its operand."""

    name = "test.rows"


@irdl_op_definition
class RefusesOp(LayoutRule, SameOp):
    """An operation whose layout rule refuses each conversion."""

    name = "test.refuses"

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        assert first_relayout(relayouts).key == ("ABCD", "ACDB")
        raise VerifyException("not today")


@pytest.mark.parametrize(
    ("name", "transforms"), [("test.plain", 5), ("test.rows", 3), ("test.refuses", 5)]
)
def test_only_a_rule_that_accepts_changes_a_layout(name: str, transforms: int):
    module = parse(CHAIN.replace("relax.nn.relu", name))
    module = ConvertLayout.of({"relax.nn.conv2d": ["NHWC"]})(module)
    assert ops(module).count("relax.layout_transform") == transforms
