"""The examples of TVM's design document on passes: instruments, decorators, registration, and the
"Python Sequential Example", as examples/sequential.py has it; and the page that lists what its
documents say."""

from __future__ import annotations

import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.passes.toy import Append, Nothing, module
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.elementwise.binary import AddOp
from passline.dialects.relax.elementwise.unary import AbsOp, LogOp, UnaryOp
from passline.passes.generic.dead_code_elimination import DeadCodeElimination
from passline.passes.generic.eliminate_common_subexpr import EliminateCommonSubexpr
from passline.passes.relax.alter_op_layout import AlterOpLayout
from passline.passes.relax.fold_constant import FoldConstant
from passline.passes.relax.infer_type import InferType
from passline.passmanager import (
    FunctionPass,
    ModulePass,
    PassContext,
    PassInfo,
    Sequential,
    find_pass,
    function_pass,
    module_pass,
    pass_instrument,
)
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context


def ops(func: object) -> list[str]:
    """Return the names of the ops of a function."""
    assert isinstance(func, FuncOp)
    return [op.name.removeprefix("relax.") for op in func.body.block.ops]


# Decorated passes


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


@module_pass(opt_level=2)
def transform(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    new_mod = ModuleOp([function("abs", [10], AbsOp)])
    new_mod.body.block.add_ops(op.clone() for op in mod.ops)
    return new_mod


def test_module_pass_adds_abs_to_an_empty_module() -> None:
    assert isinstance(transform, ModulePass)
    assert (transform.info.name, transform.info.opt_level) == ("transform", 2)
    mod = ModuleOp([])
    (added,) = transform(mod).ops
    assert isinstance(added, FuncOp) and added.sym_name.data == "abs"
    assert ops(added) == ["abs", "func.return"]
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


# Instruments


@pass_instrument
class Calls:
    """An instrument that notes its calls in the words of the document."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def enter_pass_ctx(self) -> None:
        self.calls.append("EnterPassContext")

    def exit_pass_ctx(self) -> None:
        self.calls.append("ExitPassContext")

    def should_run(self, module: object, info: PassInfo) -> bool:
        self.calls.append(f"ShouldRun({info.name})")
        return True

    def run_before_pass(self, module: object, info: PassInfo) -> None:
        self.calls.append(f"RunBeforePass({info.name})")

    def run_after_pass(self, module: object, info: PassInfo) -> None:
        self.calls.append(f"RunAfterPass({info.name})")


def calls_of(name: str) -> list[str]:
    return [f"ShouldRun({name})", f"RunBeforePass({name})", f"RunAfterPass({name})"]


def test_call_sequence_of_an_instrument_within_a_context() -> None:
    pi = Calls()
    with PassContext(instruments=[pi]):  # pyright: ignore[reportArgumentType]
        Nothing()(module())
        Append()(module())
    expected = [*calls_of("toy-nothing"), *calls_of("toy-append")]
    assert pi.calls == ["EnterPassContext", *expected, "ExitPassContext"]


def test_override_instruments_in_the_current_pass_context() -> None:
    pass_inst = Calls()
    cur_pass_ctx = PassContext.current()
    cur_pass_ctx.override_instruments([pass_inst])  # pyright: ignore[reportArgumentType]
    try:
        Sequential([Append()])(module())
        result = [*pass_inst.calls]
    finally:
        cur_pass_ctx.override_instruments(None)
    assert result[1:3] == ["ShouldRun(sequential)", "RunBeforePass(sequential)"]
    assert result[3:6] == calls_of("toy-append")
    assert pass_inst.calls[-1] == "ExitPassContext"


# Registration, and the first pipeline


def test_fold_constant_is_registered_under_its_name() -> None:
    assert find_pass("FoldConstant") is find_pass("fold-constant") is FoldConstant
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
    pass_seqs = [InferType(), DeadCodeElimination(), EliminateCommonSubexpr(), AlterOpLayout()]
    with PassContext(opt_level=2, config={"relax.fallback_device_type": "cpu"}):
        module = Sequential(pass_seqs)(module)
    f, fx = module.ops
    assert isinstance(f, FuncOp) and isinstance(fx, FuncOp)
    assert ops(f) == ["negative", "func.return"]
    assert str(f.function_type) == str(fx.function_type) == "(tensor<i1>) -> tensor<i1>"


# The sequential example

EXAMPLE = Path(__file__).parents[2] / "examples" / "sequential.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sequential_example", EXAMPLE)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_constant_part_is_one_constant_and_z1_is_merged_into_z(
    example: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    (func,) = example.main().ops
    assert isinstance(func, FuncOp)
    folded, c, y, z, z2, end = func.body.block.ops
    assert isinstance(folded, ConstantOp) and isinstance(c, ConstantOp)
    if folded.result in z.operands:
        folded, c = c, folded
    assert all(isinstance(add, AddOp) for add in (y, z, z2)) and isinstance(end, ReturnOp)
    assert list(y.operands) == [func.args[0], folded.result]
    assert list(z.operands) == [y.results[0], c.result]
    assert list(z2.operands) == [z.results[0], z.results[0]]
    original = np.frombuffer(c.value.data.data, np.float32)
    np.testing.assert_array_equal(
        np.frombuffer(folded.value.data.data, np.float32), (original + original) * 2
    )
    printed = capsys.readouterr().err  # by print-ir, after fold-constant
    assert printed.startswith("PrintIR():\nbuiltin.module {")
    assert "relax.multiply" not in printed
    assert printed.count("relax.add") == 4, "eliminate-common-subexpr has not run yet"


def test_program_itself_is_left_alone(example: ModuleType) -> None:
    program = example.program()
    before = str(program)
    with PassContext(opt_level=3):
        example.pipeline(program)
    assert str(program) == before


def test_disabled_pass_and_lower_level_leave_out_eliminate_common_subexpr(
    example: ModuleType,
) -> None:
    for ctx in (
        PassContext(opt_level=3, disabled_pass=["EliminateCommonSubexpr"]),
        PassContext(opt_level=2),
    ):
        with ctx:
            (func,) = example.pipeline(example.program()).ops
            assert ops(func).count("add") == 4


# The page that lists the statements of the documents

ROOT = EXAMPLE.parents[1]


def rows() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each statement of `docs/seeds.md`, with the places and tests that it names."""
    text = re.sub(r"<!--.*?-->", "", (ROOT / "docs" / "seeds.md").read_text(), flags=re.DOTALL)
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("| statement |"):
            statement, places, tests, _ = line.removeprefix("| ").removesuffix("|").split(" | ")
            assert not re.sub(r"`[^`]+`", "", places + tests).strip(), "names alone"
            yield statement, re.findall(r"`([^`]+)`", places), re.findall(r"`([^`]+)`", tests)


def exists(place: str) -> bool:
    """Return whether there is a name of Python, a file or folder, or a test in a file."""
    file, _, test = place.partition("::")
    if place.startswith("passline."):
        return pkgutil.resolve_name(place) is not None
    return (ROOT / file).exists() and (not test or f"\ndef {test}(" in (ROOT / file).read_text())


@table_test(("statement", "places", "tests"), [*rows()])
def test_what_the_documents_say_is_built(
    statement: str, places: list[str], tests: list[str]
) -> None:
    assert places and tests, statement
    assert [place for place in (*places, *tests) if not exists(place)] == []
    assert all(test.startswith("tests/") for test in tests)


def test_the_page_of_the_documents_is_whole() -> None:
    assert len([*rows()]) > 60
    assert not exists("passmanager/no_such_file.py")
    assert not exists("tests/unit/test_tvm_document.py::test_of_nothing")
    with pytest.raises(AttributeError):
        exists("passline.passes.NoSuchPass")
