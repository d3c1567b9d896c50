"""FoldConstant: which operations are evaluated, names, locations, failures."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.parsing import parsed
from support.suites.inprocess import capture
from xdsl.dialects.arith import ConstantOp as ArithConstantOp
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    IntAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.test import TestOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import InterpretationError
from xdsl.xdsl_opt_main import xDSLOptMain

from passline.compiler.interpreters import register_semantics
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.contraction.linear_algebra import MatmulOp
from passline.dialects.relax.elementwise.binary import AddOp, MultiplyOp
from passline.passes.relax.fold_constant import FoldConstant, fold_constants
from passline.passmanager import (
    CollectingActions,
    Diagnostic,
    PassContext,
    Remark,
    RemarkKind,
    Sequential,
)
from passline.passmanager.instruments.debug_counter import DebugCounter
from passline.passmanager.registry import make_ir_context

T = TensorType(f32, [2])


def constant(*values: float) -> ConstantOp:
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(f32, [len(values)]), values))


def fill(value: float, *shape: int) -> FullOp:
    return FullOp(FloatAttr(value, f32), TensorType(f32, shape))


def function(ops: Sequence[Operation], *results: SSAValue) -> FuncOp:
    types = [value.type for value in results]
    return FuncOp("main", ((), types), Region(Block([*ops, ReturnOp(*results)])))


def folded(func: FuncOp, max_elements: int = 1 << 24) -> int:
    """Run the algorithm on `func`, and return the number of operations that it folded."""
    fold_constants(func, max_elements, recorder := CollectingActions())
    return recorder.counts["folded"]


def names(func: FuncOp) -> list[str]:
    return [op.name for op in func.body.block.ops]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the ops that the interpreter runs during the test."""
    ran: list[str] = []
    run_op = Interpreter.run_op

    def spy(self: Interpreter, op: Operation, inputs: PythonValues = ()) -> PythonValues:
        ran.append(op.name)
        return run_op(self, op, inputs)

    monkeypatch.setattr(Interpreter, "run_op", spy)
    return ran


def test_equal_operations_are_evaluated_once(evaluated: list[str]):
    c = constant(1, 2)
    adds = [AddOp(c, c) for _ in range(5)]
    products = [MultiplyOp(add, c) for add in adds]
    func = function([c, *adds, *products], *(p.result for p in products))
    assert folded(func) == 10
    assert evaluated.count("relax.add") == evaluated.count("relax.multiply") == 1
    assert names(func) == ["relax.constant"] * 5 + ["func.return"]


def test_operations_on_other_fills_are_evaluated_again():
    """Two matrix products of the same result type, and of fills with the same number."""
    one, x, y = constant(1), fill(1.0, 1, 2), fill(1.0, 1, 3)
    shapes = [MultiplyOp(one, x), MultiplyOp(one, y)]
    products = [MatmulOp(shapes[0], fill(1.0, 2)), MatmulOp(shapes[1], fill(1.0, 3))]
    operands = [p.rhs.owner for p in products]
    ops = [one, x, y, *shapes, *(o for o in operands if isinstance(o, Operation)), *products]
    func = function(ops, *(p.result for p in products))
    fold_constants(func)
    values = [op.value.get_values() for op in func.body.block.ops if isinstance(op, ConstantOp)]
    assert values == [(2.0,), (3.0,)]


def test_a_value_has_the_name_and_location_of_what_it_replaces():
    c = constant(1, 2)
    add = AddOp(c, c)
    add.result.name_hint = "sum"
    add.location = FileLineColLoc(StringAttr("model.mlir"), IntAttr(3), IntAttr(4))
    func = function([c, add], add.result)
    fold_constants(func)
    first = func.body.block.first_op
    assert isinstance(first, ConstantOp)
    assert first.location == add.location
    assert first.result.name_hint == "sum"


def test_the_limit():
    c = constant(1, 2)
    add = AddOp(c, c)
    func = function([c, add], add.result)
    assert folded(func, max_elements=1) == 0
    assert folded(func, max_elements=2) == 1


def test_a_result_of_unknown_shape_stays():
    for c in (constant(1, 2), fill(1.0, 2)):
        add = AddOp(c, c, result_types=[TensorType(f32, [DYNAMIC_INDEX])])
        assert folded(function([c, add], add.result)) == 0


def test_a_fill_has_no_limit():
    x = fill(1.0, 1 << 20, 1 << 20)
    add = AddOp(x, x)
    func = function([x, add], add.result)
    assert folded(func) == 1
    first = func.body.block.first_op
    assert isinstance(first, FullOp) and first.value == FloatAttr(2.0, f32)


def test_only_constants_that_lost_their_use_to_folding_go():
    unused, used = constant(3), constant(1, 2)
    add = AddOp(used, used)
    func = function([unused, used, add], add.result)
    fold_constants(func)
    assert names(func) == ["relax.constant", "relax.constant", "func.return"]
    assert unused.parent is not None and used.parent is None


def test_the_branch_that_is_not_taken_gives_up_its_constants():
    condition, c = ArithConstantOp(BoolAttr.from_bool(False)), constant(1, 2)
    branch = IfOp(condition, [], [TestOp(operands=[c.result]), YieldOp()])
    func = function([condition, c, branch])
    assert folded(func) == 1
    assert names(func) == ["func.return"]


def test_a_thousand_branches_deep():
    condition = ArithConstantOp(BoolAttr.from_bool(True))
    inner: Operation = TestOp()
    for _ in range(1000):
        inner = IfOp(condition, [], [inner, YieldOp()])
    func = function([condition, inner])
    assert folded(func) == 1000
    assert names(func) == ["test.op", "func.return"]


# Another project's operation


class OtherOp(IRDLOperation):
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class DoubleOp(OtherOp):
    name = "other.double"


@irdl_op_definition
class FailingOp(OtherOp):
    name = "other.failing"


@irdl_op_definition
class WrongOp(OtherOp):
    name = "other.wrong"


@irdl_op_definition
class ImpureOp(IRDLOperation):
    name = "other.impure"
    input = operand_def()
    result = result_def()


@register_impls
class OtherFunctions(InterpreterFunctions):
    @impl(DoubleOp)
    def double(self, _: Interpreter, op: DoubleOp, args: PythonValues) -> PythonValues:
        return (args[0] + args[0],)

    @impl(FailingOp)
    def failing(self, _: Interpreter, op: FailingOp, args: PythonValues) -> PythonValues:
        raise InterpretationError("cannot")

    @impl(ImpureOp)
    def impure(self, _: Interpreter, op: ImpureOp, args: PythonValues) -> PythonValues:
        return args

    @impl(WrongOp)
    def wrong(self, _: Interpreter, op: WrongOp, args: PythonValues) -> PythonValues:
        return (args[0][:1],)


register_semantics("other", OtherFunctions)


def test_an_operation_of_another_project_takes_part():
    c = constant(1, 2)
    double = DoubleOp.create(operands=[c.result], result_types=[T])
    func = function([c, double], double.result)
    assert folded(func) == 1
    first = func.body.block.first_op
    assert isinstance(first, ConstantOp) and first.value.get_values() == (2.0, 4.0)


@pytest.mark.parametrize("cls", [FailingOp, WrongOp, ImpureOp])
def test_an_operation_that_fails_or_may_have_effects_stays(cls: type[Operation]):
    c = constant(1, 2)
    op = cls.create(operands=[c.result], result_types=[T])
    func = function([c, op], op.results[0])
    assert folded(func) == 0
    assert names(func) == ["relax.constant", cls.name, "func.return"]
    assert [use.operation for use in c.result.uses] == [op]


def test_the_pass_leaves_its_input_alone():
    c = constant(1, 2)
    op = AddOp(c, c)
    module = ModuleOp([function([c, op], op.result)])
    text = str(module)
    assert "relax.add" not in str(FoldConstant()(module))
    assert str(module) == text
    assert FoldConstant(max_elements=1)(module).is_structurally_equivalent(module)


def test_a_value_is_folded_once_its_type_is_inferred():
    """Why `infer-type` is required: a constant has a static type, which its value may lack."""
    module = parsed("""func.func @f(%x: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
      %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %d = relax.add %c, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
      %y = relax.exp %x : (tensor<2x3xf32>) -> tensor<*xf32>
      %s = relax.shape_of %y : (tensor<*xf32>) -> tensor<*xi64>
      func.return %d, %s : tensor<*xf32>, tensor<*xi64>
    }""")
    found: list[Diagnostic] = []
    with PassContext(remark_filter="fold", renderer=found.extend):
        alone = FoldConstant()(module)
    assert str(alone) == str(module)
    assert [r.name for r in found if isinstance(r, Remark)] == ["UnknownShape"]
    (func,) = Sequential([FoldConstant()])(module).ops
    assert isinstance(func, FuncOp)
    constants = [op for op in func.body.block.ops if isinstance(op, ConstantOp)]
    assert [op.value.get_values() for op in constants] == [(2.0, 4.0), (2, 3)]


@pytest.mark.parametrize(
    ("cls", "error"),
    [(FailingOp, "InterpretationError: cannot"), (WrongOp, "InterpretationError: an array of")],
)
def test_failure_to_evaluate_is_a_remark_at_each_operation(cls: type[Operation], error: str):
    c = constant(1, 2)
    ops = [cls.create(operands=[c.result], result_types=[T]) for _ in range(2)]
    found: list[Diagnostic] = []
    with PassContext(remark_filter="fold", renderer=found.extend):
        FoldConstant()(ModuleOp([function([c, *ops])]))
    remarks = [d for d in found if isinstance(d, Remark)]
    assert [(r.kind, r.name) for r in remarks] == [(RemarkKind.FAILED, "EvaluationFailed")] * 2
    assert str(remarks[0].arguments["Error"]).startswith(error)


def test_folds_are_numbered() -> None:
    text = """func.func @f() -> (tensor<4xf32>, tensor<4xf32>) {
      %c = relax.constant dense<2.0> : tensor<4xf32>
      %k = relax.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %l = relax.multiply %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %k, %l : tensor<4xf32>, tensor<4xf32>
    }"""

    def folds(*numbers: int) -> list[str]:
        module = parsed(text)
        with PassContext(instruments=[DebugCounter({"FoldConstant": numbers})]):
            FoldConstant().apply(make_ir_context(), module)
        constants = [op for op in module.walk() if isinstance(op, ConstantOp)]
        return [op.results[0].name_hint or "" for op in constants]

    assert folds() == ["c"]
    assert folds(1) == ["c", "k"]
    assert folds(2) == ["c", "l"]
    assert folds(1, 2) == ["k", "l"]


def test_xdsl_opt_runs_the_requirement_and_gives_the_option() -> None:
    text = """func.func @f() -> tensor<*xf32> {
      %c = relax.constant dense<2.0> : tensor<1xf32>
      %k = relax.exp %c : (tensor<1xf32>) -> tensor<*xf32>
      func.return %k : tensor<*xf32>
    }"""

    def shown(pipeline: str) -> str:
        return capture(lambda: xDSLOptMain(args=["-p", pipeline]).run(), text).stdout

    folded = shown("fold-constant{max-elements=1}")
    assert "relax.exp" not in folded and "tensor<*xf32>" not in folded
    assert "relax.exp" in shown("fold-constant{max-elements=0}")
