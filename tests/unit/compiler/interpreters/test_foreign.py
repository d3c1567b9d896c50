"""Operations of another project, with interpreter functions as xDSL's own are written in each
release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.tables import table_test
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_cast,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.arith import ArithFunctions
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.hints import isa

from passline.compiler.interpreters import register_semantics
from passline.compiler.interpreters.foreign import on_xdsl_values
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passes import FoldConstant
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context
from tests.support.releases import has_xdsl, needs_xdsl


@irdl_op_definition
class AddOp(IRDLOperation):
    name = "alien.add"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()


@irdl_op_definition
class RepeatOp(IRDLOperation):
    name = "alien.repeat"
    inits = var_operand_def()
    outputs = var_result_def()
    body = region_def()


@irdl_op_definition
class YieldOp(IRDLOperation):
    name = "alien.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


@irdl_op_definition
class FillOp(IRDLOperation):
    name = "alien.fill"
    value = operand_def()
    buffer = operand_def()


@irdl_op_definition
class ReverseOp(IRDLOperation):
    name = "alien.reverse"
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_attr_definition
class DoubleType(ParametrizedAttribute, TypeAttribute):
    """An integer that is held as twice its value."""

    name = "alien.double"


ATTRIBUTES = has_xdsl("0.75")


def data(value: Any) -> Any:
    return value.value.data if ATTRIBUTES else value


def scalar(value: Any, type: Attribute) -> Any:
    if not ATTRIBUTES:
        return value
    if isa(type, IntegerType):
        return IntegerAttr(value, type, truncate_bits=True)
    assert isinstance(type, AnyFloat)
    return FloatAttr(value, type)


@register_impls
class AlienFunctions(InterpreterFunctions):
    """Functions as xDSL's documentation asks for in the installed release."""

    @impl(AddOp)
    def add(self, _: Interpreter, op: AddOp, args: PythonValues) -> PythonValues:
        return (scalar(data(args[0]) + data(args[1]), op.result.type),)

    @impl(RepeatOp)
    def repeat(self, interpreter: Interpreter, op: RepeatOp, args: PythonValues) -> PythonValues:
        for i in range(3):
            counter = scalar(i, op.body.block.args[0].type)
            args = interpreter.run_ssacfg_region(op.body, (counter, *args), "repeat")
            assert not args or data(args[0]) < 1000
        return args

    @impl_terminator(YieldOp)
    def run_yield(
        self, _: Interpreter, op: YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl_cast(IntegerType, DoubleType)
    def cast_to_double(self, source: IntegerType, target: DoubleType, value: Any) -> int:
        return 2 * data(value)

    @impl_cast(DoubleType, IntegerType)
    def cast_from_double(self, source: DoubleType, target: IntegerType, value: int) -> Any:
        return scalar(value // 2, target)

    @impl(FillOp)
    def fill(self, _: Interpreter, op: FillOp, args: PythonValues) -> PythonValues:
        value, buffer = args
        for i in range(buffer.size):
            buffer.store((i,), data(value))
        return ()

    @impl(ReverseOp)
    def reverse(self, _: Interpreter, op: ReverseOp, args: PythonValues) -> PythonValues:
        (tensor,) = args
        result, (size,) = tensor.copy(), tensor.shape
        for i in range(size):
            result.store((i,), tensor.load((size - 1 - i,)))
        return (result,)


@pytest.fixture(autouse=True, params=["recognized", "declared"])
def functions(request: pytest.FixtureRequest) -> None:
    fresh = register_impls(type("Fresh", (AlienFunctions,), {}))
    register_semantics("alien", on_xdsl_values(fresh) if request.param == "declared" else fresh)


OPERATIONS: list[type[Operation]] = [AddOp, RepeatOp, YieldOp, FillOp, ReverseOp]


def run(text: str, *arguments: object) -> list[Any]:
    context = make_ir_context()
    context.load_dialect(Dialect("alien", OPERATIONS, [DoubleType]))
    module = parse_module(context, text, "alien.mlir")
    results = interpret(module, entry_function(module, "main"))(*map(np.asarray, arguments))
    return [np.asarray(result).tolist() for result in results]


@table_test("type, result", [("i8", -56), ("i64", 200), ("f32", 200.0)])
def test_scalars(type: str, result: float):
    text = f"""
      func.func @main(%a: {type}) -> {type} {{
        %b = "alien.add"(%a, %a) : ({type}, {type}) -> {type}
        return %b : {type}
      }}"""
    assert run(text, 100) == [result]


def test_scalars_go_on_as_scalars_of_arith():
    text = """
      func.func @main(%a: i64) -> i64 {
        %b = "alien.add"(%a, %a) : (i64, i64) -> i64
        %c = arith.muli %b, %b : i64
        return %c : i64
      }"""
    assert run(text, 2**40) == [0]


def test_regions_and_terminators():
    text = """
      func.func @main(%a: i32, %k: i32) -> i32 {
        %r = "alien.repeat"(%a) ({
        ^bb0(%i: i32, %x: i32):
          %y = arith.addi %x, %i : i32
          %z = "alien.add"(%y, %k) : (i32, i32) -> i32
          "alien.yield"(%z) : (i32) -> ()
        }) : (i32) -> i32
        return %r : i32
      }"""
    assert run(text, 5, 10) == [5 + 3 + 30]


def test_a_region_in_which_loops_run():
    text = """
      func.func @main(%n: index) -> i64 {
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %m = memref.alloc() : memref<i64>
        "alien.repeat"() ({
        ^bb0(%i: i64):
          scf.for %j = %zero to %n step %one {
            %old = memref.load %m[] : memref<i64>
            %new = arith.addi %old, %i : i64
            memref.store %new, %m[] : memref<i64>
          }
          "alien.yield"() : () -> ()
        }) : () -> ()
        %r = memref.load %m[] : memref<i64>
        return %r : i64
      }"""
    assert run(text, 4) == [12]


@table_test("type, value", [("f32", 1.5), ("i16", -7), ("f64", 0.1)])
def test_buffers_are_written_in_place(type: str, value: float):
    text = f"""
      func.func @main(%v: {type}) -> memref<3x{type}> {{
        %m = memref.alloc() : memref<3x{type}>
        "alien.fill"(%v, %m) : ({type}, memref<3x{type}>) -> ()
        return %m : memref<3x{type}>
      }}"""
    assert run(text, value) == [[value] * 3]


BF16 = pytest.param("bf16", marks=needs_xdsl("0.64", "arrays of bf16"))


@pytest.mark.parametrize("type", ["f32", "i64", "i1", "index", "f16", BF16])
def test_tensors(type: str):
    text = f"""
      func.func @main(%a: {type}, %b: {type}) -> tensor<2x{type}> {{
        %t = tensor.from_elements %a, %b : tensor<2x{type}>
        %r = "alien.reverse"(%t) : (tensor<2x{type}>) -> tensor<2x{type}>
        return %r : tensor<2x{type}>
      }}"""
    assert run(text, 1, 0) == [[0, 1]]


def test_casts():
    text = """
      func.func @main(%a: i32) -> i32 {
        %d = builtin.unrealized_conversion_cast %a : i32 to !alien.double
        %b = builtin.unrealized_conversion_cast %d : !alien.double to i32
        %c = "alien.add"(%b, %a) : (i32, i32) -> i32
        return %c : i32
      }"""
    assert run(text, -3) == [-6]


def test_constants_are_folded():
    context = make_ir_context()
    context.load_dialect(Dialect("alien", OPERATIONS))
    text = """
      func.func @main() -> tensor<2xf32> {
        %t = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %r = "alien.reverse"(%t) : (tensor<2xf32>) -> tensor<2xf32>
        return %r : tensor<2xf32>
      }"""
    module = parse_module(context, text, "alien.mlir")
    FoldConstant().apply(context, module)
    assert "dense<[2.000000e+00, 1.000000e+00]>" in str(module)


def test_a_class_that_derives_from_xdsls_changes_no_other_operation():
    register_semantics("alien", register_impls(type("Both", (AlienFunctions, ArithFunctions), {})))
    text = """
      func.func @main(%a: i32) -> i32 {
        %b = "alien.add"(%a, %a) : (i32, i32) -> i32
        %c = arith.divsi %b, %a : i32
        return %c : i32
      }"""
    assert run(text, 7) == [2]
    with pytest.raises(PasslineError, match="division by zero"):
        run(text, 0)
