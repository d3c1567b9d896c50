"""AlterOpLayout: which hook decides, what it may do, what it must not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from support.parsing import parsed
from support.passes.results import compare
from xdsl.dialects.builtin import FloatAttr, ModuleOp, TensorType, f32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import PassFailedException

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import FullOp
from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.relax.elementwise.binary import MultiplyOp
from passline.dialects.relax.interfaces import Conversion
from passline.dialects.relax.layout import Relayout
from passline.dialects.relax.types import TENSOR, make_tensor_type, shape_of, tensor_type
from passline.passes.relax.alter_op_layout import AlterOpLayout, layout_hooks, register_layout_hook
from passline.passmanager import DiagnosticError, PassContext, Sequential
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk

CONV2D = "relax.nn.conv2d"
CONVOLUTION = """
func.func @main(%x : tensor<1x32x5x4xf32>, %w : tensor<64x32x3x3xf32>) -> tensor<1x64x3x2xf32> {
  %y = relax.nn.conv2d %x, %w
    : (tensor<1x32x5x4xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x3x2xf32>
  %r = relax.nn.relu %y : (tensor<1x64x3x2xf32>) -> tensor<1x64x3x2xf32>
  return %r : tensor<1x64x3x2xf32>
}
"""
PACKED = """
func.func @main(%x : tensor<1x1x3x3x4xf32>, %w : tensor<2x1x1x1x4x4xf32>, %z : tensor<3x3x4xf32>)
    -> (tensor<1x1x3x3x4xf32>, tensor<1x2x3x3x4xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"}
    : (tensor<1x1x3x3x4xf32>, tensor<2x1x1x1x4x4xf32>) -> tensor<1x2x3x3x4xf32>
  %s = relax.strided_slice %y {begin = [0, 0], end = [1, 2], strides = [1, 8]}
    : (tensor<1x2x3x3x4xf32>) -> tensor<1x1x3x3x4xf32>
  %a = relax.add %y, %z : (tensor<1x2x3x3x4xf32>, tensor<3x3x4xf32>) -> tensor<1x2x3x3x4xf32>
  return %s, %a : tensor<1x1x3x3x4xf32>, tensor<1x2x3x3x4xf32>
}
"""
asked: list[Operation] = []


def names(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("relax.") for op in walk(module) if op.name.startswith("relax.")]


def transforms(module: ModuleOp) -> list[str]:
    found = [op for op in walk(module) if op.name == "relax.layout_transform"]
    return [f"{op.properties['src_layout']}->{op.properties['dst_layout']}" for op in found]


def alter(text: str, hook: str, **options: str) -> ModuleOp:
    """The module altered by a hook of this file for convolutions; it computes what it did."""
    module = parsed(text)
    altered = AlterOpLayout(hooks=(f"{CONV2D}={__name__}:{hook}",), **options)(module)
    verify(altered)
    assert compare(module, altered) == 1
    return altered


# Hooks


def keep(op: Operation) -> Conversion | None:
    asked.append(op)
    return None


def double_weight(op: Operation) -> Conversion | None:
    """The weight times 2, in the layouts that there are."""
    assert isinstance(op, Conv2dOp) and op.parent is not None
    two = FullOp(FloatAttr(2.0, f32), TensorType(f32, []))
    double = MultiplyOp(op.weight, two.result)
    op.parent.insert_ops_before([two, double], op)
    op.operands = [op.data, double.results[0]]
    return None


def layouts(*desired: str) -> Callable[[Operation], Conversion | None]:
    def hook(op: Operation) -> Conversion | None:
        assert isinstance(op, Conv2dOp)
        return op.to_layouts(*desired)

    return hook


block_16 = layouts("NCHW16c", "OIHW16i16o")
block_4 = layouts("NCHW4c", "OIHW4i4o")
odd_kernel = layouts("NCHW16c", "OHWI16i64o")
unpacked = layouts("NCHW")
other_axes = layouts("NCW")


def too_many(op: Operation) -> Conversion | None:
    return Conversion([None] * 3, [None])


# What they do


def test_a_hook_that_declines_is_asked_and_changes_nothing():
    asked.clear()
    module = parsed(CONVOLUTION)
    assert AlterOpLayout(hooks=(f"{CONV2D}={__name__}:keep",))(module).is_structurally_equivalent(
        module
    )
    assert [op.name for op in asked] == [CONV2D]


def test_a_hook_may_change_operands_without_layouts():
    altered = AlterOpLayout(hooks=(f"{CONV2D}={__name__}:double_weight",))(parsed(CONVOLUTION))
    verify(altered)
    assert names(altered) == ["full", "multiply", "nn.conv2d", "nn.relu"]


def test_blocks_and_what_follows():
    altered = alter(CONVOLUTION, "block_16")
    assert transforms(altered) == [
        '"NCHW"->"NCHW16c"',
        '"OIHW"->"OIHW16i16o"',
        '"NCHW16c"->"NCHW"',
    ]


def test_a_weight_of_an_odd_layout():
    assert transforms(alter(CONVOLUTION, "odd_kernel"))[1] == '"OIHW"->"OHWI16i64o"'


def test_the_module_given_stays_as_it_is():
    module = parsed(CONVOLUTION)
    before = module.clone()
    AlterOpLayout(hooks=(f"{CONV2D}={__name__}:block_16",))(module)
    assert module.is_structurally_equivalent(before)


def test_in_the_layout_that_the_hook_says_nothing_happens():
    module = parsed(PACKED)
    assert AlterOpLayout(hooks=(f"{CONV2D}={__name__}:block_4",))(
        module
    ).is_structurally_equivalent(module)


def test_what_was_in_blocks_gets_it_in_blocks_where_that_matters():
    altered = alter(PACKED, "unpacked")
    assert transforms(altered) == ['"NCHW4c"->"NCHW"', '"OIHW4i4o"->"OIHW"', '"NCHW"->"NCHW4c"']
    *_, back, slice_, add = names(altered)
    assert (back, slice_, add) == ("layout_transform", "strided_slice", "add")


# Another operation


@irdl_op_definition
class PackedDenseOp(TensorOp):
    """A dense layer whose weight is in blocks of outputs."""

    name = "test.packed_dense"

    data = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        data, weight = shape_of(tensor_type(self.data)), shape_of(tensor_type(self.weight))
        assert data is not None and weight is not None
        return (make_tensor_type(f32, (data[0], weight[0] * weight[2])),)


def pack(op: Operation) -> Conversion | None:
    return Conversion([None, Relayout.parse("NC", "NC4n")], [None], op=PackedDenseOp)


def test_another_operation_in_the_place_of_one():
    text = """
    func.func @main(%x : tensor<2x3xf32>) -> tensor<2x8xf32> {
      %w = relax.full 1.0 : tensor<8x3xf32>
      %y = relax.nn.dense %x, %w : (tensor<2x3xf32>, tensor<8x3xf32>) -> tensor<2x8xf32>
      return %y : tensor<2x8xf32>
    }
    """
    altered = AlterOpLayout(hooks=(f"relax.nn.dense={__name__}:pack",))(parsed(text))
    verify(altered)
    (dense,) = [op for op in walk(altered) if isinstance(op, PackedDenseOp)]
    assert dense.weight.type == TensorType(f32, [2, 3, 4])
    assert [op.name for op in walk(altered)].count("relax.full") == 1


# Which hook


def test_hooks_of_a_target_before_others_and_given_ones_before_these():
    register_layout_hook(CONV2D, block_16, "test-blocks")
    register_layout_hook("relax.nn.conv1d", keep, "test-blocks")
    assert layout_hooks("test-blocks").keys() == {CONV2D, "relax.nn.conv1d"} | layout_hooks().keys()
    module = parsed(CONVOLUTION)
    assert AlterOpLayout(target="test-other")(module).is_structurally_equivalent(module)
    by_target = AlterOpLayout(target="test-blocks")
    assert len(transforms(by_target(module))) == 3
    with PassContext(opt_level=3, config={"alter-op-layout": {"target": "test-blocks"}}):
        assert len(transforms(Sequential([AlterOpLayout()])(module))) == 3
    given = AlterOpLayout("test-blocks", (f"{CONV2D}={__name__}:unpacked",))
    assert given(module).is_structurally_equivalent(module)
    with pytest.raises(ValueError, match="'relax.nn.conv2d' has a layout hook already for target"):
        register_layout_hook(CONV2D, keep, "test-blocks")


# Mistakes


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("relax.nn.conv2d", "expected an operation and a function"),
        (
            "relax.nn.conv2=a:b",
            "unknown operation 'relax.nn.conv2', did you mean 'relax.nn",
        ),
        ("relax.nn.conv2d=no.such:f", "No module named 'no'"),
        (f"relax.nn.conv2d={__name__}:no_such", "has no attribute 'no_such'"),
    ],
)
def test_entries_that_are_wrong(entry: str, message: str):
    with pytest.raises(PassFailedException, match=message):
        AlterOpLayout(hooks=(entry,))(parsed(CONVOLUTION))


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("too_many", "its hook has layouts of 3 operands and 1 results, but it has 2 and 1"),
        ("other_axes", 'its hook chose: layout "NCW" does not have the axes C, H, N, W'),
    ],
)
def test_what_hooks_must_not_say(hook: str, message: str):
    with pytest.raises(DiagnosticError, match=message) as error:
        AlterOpLayout(hooks=(f"{CONV2D}={__name__}:{hook}",))(parsed(CONVOLUTION))
    assert "x.mlir:3" in str(error.value)
