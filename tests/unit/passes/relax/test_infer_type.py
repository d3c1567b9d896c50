"""InferType: errors, operations of other projects, deep nesting."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType, f32, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.parser import Parser

from passline.dialects.relax.interfaces import InfersType
from passline.passes.relax.infer_type import InferType, are_settled, infer_types
from passline.passmanager import CollectingActions, Diagnostic, DiagnosticError
from passline.passmanager.diagnostics import Where
from passline.passmanager.registry import make_ir_context

T = TensorType(f32, [4])
D = TensorType(f32, [DYNAMIC_INDEX])


def parse(text: str) -> ModuleOp:
    return Parser(make_ir_context(allow_unregistered=True), text).parse_module()


class Errors(CollectingActions):
    """Keeps the names of ops with errors, and the messages."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def error(self, where: Where, message: str) -> Diagnostic:
        assert isinstance(where, Operation)
        self.found.append((where.name, message))
        return super().error(where, message)


def contradictions(module: ModuleOp) -> list[tuple[str, str]]:
    """Return the errors in `module`: the names of the ops and the messages."""
    errors = Errors()
    infer_types(module, actions=errors)
    return errors.found


def retyped(module: ModuleOp) -> int:
    """Infer the types in `module` without errors, and return the number of retyped values."""
    infer_types(module, actions=(recorder := CollectingActions()))
    assert recorder.errors == []
    return recorder.counts["retyped"]


CONTRADICTIONS = """
func.func @main(%a : tensor<4xf32>, %b : tensor<5xf32>, %c : i1) -> tensor<?xf32> {
  %0 = relax.exp %a : (tensor<4xf32>) -> tensor<?xf32>
  %1 = relax.add %0, %b : (tensor<?xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = relax.exp %0 : (tensor<?xf32>) -> tensor<6xf32>
  return %0 : tensor<?xf32>
}
"""


def test_contradictions_are_all_reported_and_left_as_they_are():
    module = parse(CONTRADICTIONS)
    assert contradictions(module) == [
        ("relax.add", "shapes 4 and 5 do not broadcast: dimension 0 is 4 and 5"),
        ("relax.exp", "has result type tensor<6xf32>, but tensor<4xf32> is inferred"),
    ]
    assert "-> tensor<5xf32>" in str(module) and "-> tensor<6xf32>" in str(module)


def test_the_pass_fails_with_what_was_reported():
    module = parse(CONTRADICTIONS)
    text = str(module)
    with pytest.raises(DiagnosticError) as error:
        InferType()(module)
    assert "'relax.add' op shapes 4 and 5 do not broadcast" in str(error.value)
    assert "(and 1 more)" in str(error.value)
    assert str(module) == text


def test_branches_and_returns_that_disagree():
    module = parse("""
    func.func @branches(%c : i1, %a : tensor<4xf32>, %b : tensor<4xf16>) {
      %0 = scf.if %c -> (tensor<4xf32>) {
        scf.yield %a : tensor<4xf32>
      } else {
        scf.yield %b : tensor<4xf16>
      }
      return
    }
    """)
    assert contradictions(module) == [
        ("scf.if", "the types tensor<4xf32> and tensor<4xf16> have no common type")
    ]


def test_a_declared_function_result_that_is_wrong():
    module = parse("""
    func.func @main(%a : tensor<4xf32>) -> tensor<5xf32> {
      %0 = relax.exp %a : (tensor<4xf32>) -> tensor<?xf32>
      %1 = tensor.cast %0 : tensor<?xf32> to tensor<5xf32>
      %2 = relax.exp %0 : (tensor<?xf32>) -> tensor<5xf32>
      return %2 : tensor<5xf32>
    }
    """)
    messages = contradictions(module)
    assert ("relax.exp", "has result type tensor<5xf32>, but tensor<4xf32> is inferred") in messages
    assert ("tensor.cast", "casts tensor<4xf32> to tensor<5xf32>") in messages


WRONG = {
    "the element of a tuple": (
        """
        %t = relax.tuple %x : (tensor<4xf32>) -> tuple<tensor<*xf32>>
        %0 = relax.tuple_get_item %t {index = 0} : (tuple<tensor<*xf32>>) -> tensor<5xf32>
        """,
        "relax.tuple_get_item",
        "has result type tensor<5xf32>, but tensor<4xf32> is inferred",
    ),
    "the element type": (
        "%0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf16>",
        "relax.exp",
        "has result type tensor<*xf16>, but tensor<4xf32> is inferred",
    ),
    "the element type of one operand": (
        "%0 = relax.add %u, %h : (tensor<*xf32>, tensor<4xf16>) -> tensor<*xf32>",
        "relax.add",
        "element types f32 and f16 differ",
    ),
    "the tuple": (
        """
        %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
        %t = relax.tuple %0 : (tensor<*xf32>) -> tuple<tensor<5xf32>>
        """,
        "relax.tuple",
        "has result type tuple<tensor<5xf32>>, but tuple<tensor<4xf32>> is inferred",
    ),
    "what a lambda gives, where it is made": (
        """
        %f = relax.lambda() -> tensor<5xf32> {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
          %1 = relax.exp %0 : (tensor<*xf32>) -> tensor<5xf32>
          relax.yield %1 : tensor<5xf32>
        }
        """,
        "relax.exp",
        "has result type tensor<5xf32>, but tensor<4xf32> is inferred",
    ),
    "what is done with what a function gives": (
        """
        %f = relax.lambda() -> tensor<*xf32> {
          relax.yield %u : tensor<*xf32>
        }
        %0 = relax.invoke %f() : () -> tensor<*xf32>
        %1 = relax.add %0, %y : (tensor<*xf32>, tensor<5xf32>) -> tensor<*xf32>
        """,
        "relax.add",
        "shapes 4 and 5 do not broadcast: dimension 0 is 4 and 5",
    ),
    "an argument of a function": (
        """
        %f = relax.lambda(%z : tensor<5xf32>) {
        }
        %0 = relax.exp %u : (tensor<*xf32>) -> tensor<*xf32>
        %1 = tensor.cast %0 : tensor<*xf32> to tensor<5xf32>
        relax.invoke %f(%1) : (tensor<5xf32>) -> ()
        """,
        "tensor.cast",
        "casts tensor<4xf32> to tensor<5xf32>",
    ),
    "what is done in a graph, before it is made in the text": (
        """
        relax.graph {
          %1 = relax.add %0, %y : (tensor<*xf32>, tensor<5xf32>) -> tensor<*xf32>
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
        }
        """,
        "relax.add",
        "shapes 4 and 5 do not broadcast: dimension 0 is 4 and 5",
    ),
    "what a loop carries each time": (
        """
        %0 = scf.for %i = %n to %n step %n iter_args(%a = %u) -> (tensor<*xf32>) {
          %1 = relax.add %a, %y : (tensor<*xf32>, tensor<5xf32>) -> tensor<*xf32>
          scf.yield %a : tensor<*xf32>
        }
        """,
        "relax.add",
        "shapes 4 and 5 do not broadcast: dimension 0 is 4 and 5",
    ),
    "a cast of a tuple": (
        """
        %t = relax.tuple %x : (tensor<4xf32>) -> tuple<tensor<*xf32>>
        %1 = relax.match_cast %t : (tuple<tensor<*xf32>>) -> tuple<tensor<5xf32>>
        """,
        "relax.match_cast",
        "casts tuple<tensor<4xf32>> to tuple<tensor<5xf32>>",
    ),
    "how many values a branch gives": (
        """
        %0 = scf.if %c -> (tensor<4xf32>) {
          scf.yield %x : tensor<4xf32>
        } else {
          scf.yield %x, %x : tensor<4xf32>, tensor<4xf32>
        }
        """,
        "scf.if",
        "has 1 results, but its regions yield 1 and 2 values",
    ),
    "how many values a loop passes on": (
        """
        %0 = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
          scf.condition(%c) %a : tensor<4xf32>
        } do {
        ^bb0(%b : tensor<4xf32>):
          scf.yield %b, %b : tensor<4xf32>, tensor<4xf32>
        }
        """,
        "scf.while",
        "carries 1 values, but its body yields 2",
    ),
    "how many values a condition passes on": (
        """
        %0 = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
          scf.condition(%c)
        } do {
        ^bb0(%b : tensor<4xf32>):
          scf.yield %b : tensor<4xf32>
        }
        """,
        "scf.condition",
        "expected 1 values, got 0",
    ),
}


@table_test("body, name, message", WRONG.values())
def test_wrong_is(body: str, name: str, message: str):
    module = parse(f"""
    func.func @main(
      %c : i1, %n : index, %x : tensor<4xf32>, %y : tensor<5xf32>, %h : tensor<4xf16>
    ) {{
      %u = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
      {body}
      return
    }}
    """)
    assert contradictions(module) == [(name, message)]


def test_what_is_wrong_only_before_a_loop_has_its_types_is_not_reported():
    """The first time around %a is a tensor<1xf32>, which the cast in the branch contradicts."""
    module = parse("""
    func.func @main(%n : index, %c : i1, %x : tensor<1xf32>, %y : tensor<5xf32>) {
      %0 = relax.exp %x : (tensor<1xf32>) -> tensor<?xf32>
      %1 = scf.for %i = %n to %n step %n iter_args(%a = %0) -> (tensor<?xf32>) {
        scf.if %c {
          %2 = tensor.cast %a : tensor<?xf32> to tensor<5xf32>
          "test.op"(%2) : (tensor<5xf32>) -> ()
        }
        %3 = relax.add %a, %y : (tensor<?xf32>, tensor<5xf32>) -> tensor<?xf32>
        scf.yield %3 : tensor<?xf32>
      }
      return
    }
    """)
    assert contradictions(module) == []


def test_the_error_is_shown_at_its_line(capsys: pytest.CaptureFixture[str]):
    text = """func.func @main(%x : tensor<4xf32>) {
  %t = relax.tuple %x : (tensor<4xf32>) -> tuple<tensor<*xf32>>
  %0 = relax.tuple_get_item %t {index = 0} : (tuple<tensor<*xf32>>) -> tensor<5xf32>
  return
}"""
    with pytest.raises(DiagnosticError):
        InferType()(parsed(text))
    assert capsys.readouterr().err.startswith(
        "x.mlir:3:8: error: 'relax.tuple_get_item' op has result type tensor<5xf32>, "
        "but tensor<4xf32> is inferred"
    )


def test_loops_ten_deep():
    """Each time around the outermost, all in it are inferred anew."""
    depth = 10
    starts = "".join(
        f"%{i + 1} = scf.for %i{i} = %n to %n step %n iter_args(%a{i + 1} = %a{i})"
        " -> (tensor<*xf32>) {\n"
        for i in range(depth)
    )
    ends = "".join(
        f"scf.yield %{i} : tensor<*xf32>\n}}\n" for i in (depth + 1, *range(depth, 1, -1))
    )
    module = parse(f"""
    func.func @main(%n : index, %x : tensor<1xf32>, %y : tensor<5xf32>) -> tensor<*xf32> {{
      %a0 = relax.exp %x : (tensor<1xf32>) -> tensor<*xf32>
      {starts}
      %{depth + 1} = relax.add %a{depth}, %y : (tensor<*xf32>, tensor<5xf32>) -> tensor<*xf32>
      {ends}
      return %1 : tensor<*xf32>
    }}
    """)
    assert contradictions(module) == []
    (function,) = module.ops
    assert isinstance(function, FuncOp) and function.function_type.outputs.data == (D,)


@irdl_op_definition
class FirstOp(InfersType, IRDLOperation):
    """Another project's operation."""

    name = "other.first"
    input = operand_def()
    result = result_def()

    def infer_types(self) -> Sequence[Attribute]:
        return (self.input.type,)


def function(ops: Sequence[Operation], inputs: Sequence[Attribute] = ()) -> FuncOp:
    body = Region(Block([*ops, ReturnOp()], arg_types=inputs))
    return FuncOp("main", (inputs, ()), body)


def test_an_operation_of_another_project_takes_part():
    source = TestOp(result_types=[T])
    first = FirstOp.create(operands=[source.results[0]], result_types=[D])
    second = FirstOp.create(operands=[first.result], result_types=[D])
    module = InferType()(ModuleOp([function([source, first, second])]))
    firsts = [op for op in module.walk() if isinstance(op, FirstOp)]
    assert [op.result.type for op in firsts] == [T, T]


def test_names_stay():
    module = parse("""
    func.func @main(%a : tensor<4xf32>) {
      %name = relax.exp %a : (tensor<4xf32>) -> tensor<?xf32>
      return
    }
    """)
    assert "%name = relax.exp %a : (tensor<4xf32>) -> tensor<4xf32>" in str(InferType()(module))


def test_a_thousand_branches_deep():
    condition = TestOp(result_types=[i1])
    source = TestOp(result_types=[T])
    inner: Operation = FirstOp.create(operands=[source.results[0]], result_types=[D])
    innermost = inner
    for _ in range(1000):
        region = Region(Block([inner, YieldOp(inner.results[0])]))
        other = Region(Block([YieldOp(innermost.results[0])]))
        inner = IfOp(condition.results[0], [D], region, other)
    module = ModuleOp([function([condition, source, inner])])
    assert retyped(module) == 1001
    assert inner.results[0].type == T


def test_long_chains_of_calls_and_mutual_recursion():
    calls = "\n".join(
        f"func.func private @f{i}(%x : tensor<4xf32>) -> tensor<*xf32> {{\n"
        f"  %0 = func.call @f{i + 1}(%x) : (tensor<4xf32>) -> tensor<*xf32>\n"
        f"  return %0 : tensor<*xf32>\n}}"
        for i in range(2000)
    )
    module = parse(f"""{calls}
    func.func private @f2000(%x : tensor<4xf32>) -> tensor<*xf32> {{
      %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<*xf32>
      return %0 : tensor<*xf32>
    }}
    func.func private @g(%x : tensor<4xf32>) -> tensor<*xf32> {{
      %0 = func.call @f2000(%x) : (tensor<4xf32>) -> tensor<*xf32>
      %1 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
      return %1 : tensor<*xf32>
    }}
    """)
    assert retyped(module) == 2003
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    assert {f.function_type.outputs.data for f in functions} == {(T,)}


SETTLED = """
func.func private @callee(%a : tensor<?xf32>) -> tensor<?xf32>
func.func @main(%a : tensor<4xf32>, %b : tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = relax.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @callee(%b) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = relax.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<?xf32>
}
"""


def test_settled_types_are_left_without_a_walk_through_the_calls():
    assert are_settled(module := parse(SETTLED))
    assert retyped(module) == 0


@table_test(
    "old, new",
    [
        ("negative %a : (tensor<4xf32>) -> tensor<4", "negative %a : (tensor<4xf32>) -> tensor<?"),
        ("negative %a : (tensor<4xf32>) -> tensor<4", "negative %a : (tensor<4xf32>) -> tensor<5"),
        ("-> tensor<?xf32>\nfunc.func @main", "-> tensor<7xf32>\nfunc.func @main"),
        ("-> (tensor<4xf32>, ", "-> (tensor<?xf32>, "),
        ("%0 = ", "%c = tensor.cast %b : tensor<?xf32> to tensor<4xf32>\n  %0 = "),
        ("%0 = ", "builtin.module {}\n  %0 = "),
        ("func.func private", "builtin.module {}\nfunc.func private"),
    ],
)
def test_types_that_are_not_known_to_be_settled(old: str, new: str):
    assert old in SETTLED
    assert not are_settled(parse(SETTLED.replace(old, new)))
