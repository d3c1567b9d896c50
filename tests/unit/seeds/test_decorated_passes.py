"""The decorator examples of TVM's design document."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from passline.dialects.relax.elementwise.unary import AbsOp, LogOp, UnaryOp
from passline.passmanager import FunctionPass, ModulePass, PassContext, function_pass, module_pass


def function(name: str, shape: list[int], *ops: type[UnaryOp]) -> FuncOp:
    """Return a function of one tensor that applies the ops one after the other."""
    type_ = TensorType(f32, shape)
    func = FuncOp(name, ([type_], [type_]))
    value: SSAValue = func.args[0]
    for op in ops:
        func.body.block.add_op(applied := op(value))
        value = applied.result
    func.body.block.add_op(ReturnOp(value))
    return func


def ops(func: object) -> list[str]:
    assert isinstance(func, FuncOp)
    return [op.name for op in func.body.block.ops]


@module_pass(opt_level=2)
def transform(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    new_mod = ModuleOp([function("abs", [10], AbsOp)])
    new_mod.body.block.add_ops(op.clone() for op in mod.ops)
    return new_mod


def test_decorated_function_is_a_module_pass() -> None:
    assert isinstance(transform, ModulePass)
    assert transform.info.opt_level == 2
    assert transform.info.name == "transform"


def test_module_pass_adds_abs_to_an_empty_module() -> None:
    mod = ModuleOp([])
    (added,) = transform(mod).ops
    assert isinstance(added, FuncOp) and added.sym_name.data == "abs"
    assert ops(added) == ["relax.abs", "func.return"]
    assert list(mod.ops) == []


@function_pass(opt_level=1)
class TestReplaceFunc:
    __test__ = False

    def __init__(self, new_func: FuncOp) -> None:
        self.new_func = new_func

    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        return self.new_func


def test_function_pass_replaces_every_function() -> None:
    f1 = function("f1", [10, 20])
    fpass = TestReplaceFunc(f1)
    assert isinstance(fpass, FunctionPass) and isinstance(fpass, TestReplaceFunc)
    assert fpass.info.name == "test-replace-func" and fpass.info.opt_level == 1
    input_mod = ModuleOp([function("f", [10, 20], LogOp), function("g", [10, 20], LogOp, LogOp)])
    res_mod = fpass(input_mod)
    assert [ops(func) for func in res_mod.ops] == [["func.return"]] * 2
    assert [func.sym_name.data for func in res_mod.ops if isinstance(func, FuncOp)] == ["f", "g"]
    assert f1.parent is None, "the pass keeps the function that it returns; a clone was put in"
