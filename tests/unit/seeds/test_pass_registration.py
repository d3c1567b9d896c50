"""The registration of a pass, and the first pipeline, in TVM's design document."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from passline.passes.generic.dead_code_elimination import DeadCodeElimination
from passline.passes.generic.eliminate_common_subexpr import EliminateCommonSubexpr
from passline.passes.relax.fold_constant import FoldConstant
from passline.passes.relax.infer_type import InferType
from passline.passmanager import FunctionPass, PassContext, Sequential, find_pass
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context


def test_fold_constant_is_registered_under_its_name() -> None:
    assert find_pass("FoldConstant") is find_pass("fold-constant") is FoldConstant


def test_fold_constant_is_a_function_pass_of_level_2() -> None:
    assert isinstance(FoldConstant(), FunctionPass)
    assert (FoldConstant().info.name, FoldConstant().info.opt_level) == ("fold-constant", 2)


def test_pipeline_on_a_function_that_calls_the_identity() -> None:
    text = """
    func.func @f(%x: tensor<i1>) -> tensor<*xi1> {
      %y = relax.negative %x : (tensor<i1>) -> tensor<*xi1>
      %z = relax.negative %x : (tensor<i1>) -> tensor<*xi1>
      func.return %z : tensor<*xi1>
    }
    func.func @fx(%y: tensor<i1>) -> tensor<*xi1> {
      %r = func.call @f(%y) : (tensor<i1>) -> tensor<*xi1>
      func.return %r : tensor<*xi1>
    }
    """
    module = parse_module(make_ir_context(), text, "text")
    pass_seqs = [InferType(), DeadCodeElimination(), EliminateCommonSubexpr()]
    with PassContext(opt_level=2):
        module = Sequential(pass_seqs)(module)
    f, fx = module.ops
    assert isinstance(f, FuncOp) and isinstance(fx, FuncOp)
    assert [op.name for op in f.body.block.ops] == ["relax.negative", "func.return"]
    assert str(f.function_type) == str(fx.function_type) == "(tensor<i1>) -> tensor<i1>"
