"""The mark on functions that no pass is to change."""

from __future__ import annotations

from support.tables import table_test
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, UnitAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

import passline
from passline.passes.generic.call_graph import is_opaque
from passline.passmanager.ir.walk import is_skipped


@table_test(
    ("name", "value", "skipped"),
    [
        ("passline.skip_optimization", UnitAttr(), True),
        ("SkipOptimization", UnitAttr(), True),
        ("SkipOptimization", IntegerAttr(1, i32), True),
        ("SkipOptimization", IntegerAttr(0, i32), False),
        ("SkipOptimization", BoolAttr.from_bool(False), False),
        ("relax.other", UnitAttr(), False),
    ],
)
def test_marks(name: str, value: Attribute, skipped: bool) -> None:
    func = FuncOp("f", ([], []))
    assert not is_skipped(func)
    func.attributes[name] = value
    assert is_skipped(func) is is_opaque(func) is skipped


def test_fusion_leaves_a_marked_function_alone() -> None:
    text = """
    func.func @f(%x: tensor<f32>) -> tensor<f32> attributes {SkipOptimization = 1 : i32} {
      %y = relax.negative %x : (tensor<f32>) -> tensor<f32>
      func.return %y : tensor<f32>
    }"""
    assert not passline.diff(passline.load(text), passline.passes.FuseOps())
    assert passline.diff(passline.load(text.replace("= 1", "= 0")), passline.passes.FuseOps())
