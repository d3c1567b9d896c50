"""find_difference: transformations that are wrong in one way each are found, right ones are not."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from support.passes.equivalence import difference, difference_of

from passline.compiler.interpreters.equivalence import Equivalence, find_difference


def unary(op: str, shape: str = "4") -> str:
    type = f"tensor<{shape}xf32>"
    return f"""
    func.func @main(%x: {type}) -> {type} {{
      %0 = {op} : ({type}) -> {type}
      return %0 : {type}
    }}"""


def body(ops: str, params: str, result: str) -> str:
    """Return a function of some parameters that returns %r."""
    return f"func.func @main({params}) -> {result} {{\n{ops}\nreturn %r : {result}\n}}"


def scalar(ops: str, type: str = "i32") -> str:
    """Return a function of two scalars that returns %r."""
    return body(ops, f"%a: {type}, %b: {type}", type)


T = "tensor<4xf32>"
AXIS = "{axis = [0], keepdims = false} : (tensor<?xi32>) -> tensor<i32>"

LOOP = """%z = arith.constant {first} : index
%o = arith.constant 1 : index
%r = scf.for %i = %z to %n step %o iter_args(%s = %a) -> (i32) {{
  %t = arith.addi %s, %a : i32
  scf.yield %t : i32
}}"""
AFFINE = """%r = "affine.apply"(%a, %b) <{{map = affine_map<(d0)[s0] -> ({map})>}}>
    : (index, index) -> index"""
SWITCH = """%c = arith.constant 10 : i32
%r = scf.index_switch %n -> i32
case {case} {{ scf.yield %c : i32 }}
default {{ scf.yield %a : i32 }}"""
WRONG = {
    "a loop begins at 1": (
        body(LOOP.format(first=0), "%n: index, %a: i32", "i32"),
        body(LOOP.format(first=1), "%n: index, %a: i32", "i32"),
        "the value is",
    ),
    "another case of a switch": (
        body(SWITCH.format(case=1), "%n: index, %a: i32", "i32"),
        body(SWITCH.format(case=2), "%n: index, %a: i32", "i32"),
        "the value is",
    ),
    "another affine map": (
        body(AFFINE.format(map="d0 * 2 + s0"), "%a: index, %b: index", "index"),
        body(AFFINE.format(map="d0 + s0 * 2"), "%a: index, %b: index", "index"),
        "the value is",
    ),
    "i64 overflows": (
        body(
            "%c = arith.constant 1 : i64\n%d = arith.addi %a, %c : i64\n"
            "%r = arith.cmpi sgt, %d, %a : i64",
            "%a: i64",
            "i1",
        ),
        body("%r = arith.constant true", "%a: i64", "i1"),
        "the value is True, before False",
    ),
    "wrong constant": (
        scalar("%c = arith.constant 3 : i32\n%r = arith.addi %a, %c : i32"),
        scalar("%c = arith.constant 4 : i32\n%r = arith.addi %a, %c : i32"),
        "the value is 9, before 8",
    ),
    "swapped operands": (
        scalar("%r = arith.subi %a, %b : i32"),
        scalar("%r = arith.subi %b, %a : i32"),
        "the value is -3, before 3",
    ),
    "NaN becomes a number": (
        unary("relax.nn.relu %x"),
        body(
            f"%z = relax.full 0.0 : tensor<f32>\n"
            f"%g = relax.greater %x, %z : ({T}, tensor<f32>) -> tensor<4xi1>\n"
            f"%r = relax.where %g, %x, %z : (tensor<4xi1>, {T}, tensor<f32>) -> {T}",
            f"%x: {T}",
            T,
        ),
        "before nan",
    ),
    "-0.0 becomes 0.0": (
        body("%r = arith.negf %a : f32", "%a: f32", "f32"),
        body("%z = arith.constant 0.0 : f32\n%r = arith.subf %z, %a : f32", "%a: f32", "f32"),
        "the value is 0.0, before -0.0",
    ),
    "infinity minus infinity is not 0": (
        body("%r = arith.subf %a, %a : f32", "%a: f32", "f32"),
        body("%r = arith.constant 0.0 : f32", "%a: f32", "f32"),
        "the value is 0.0, before nan",
    ),
    "x / x is not 1": (
        body("%r = arith.divf %a, %a : f32", "%a: f32", "f32"),
        body("%r = arith.constant 1.0 : f32", "%a: f32", "f32"),
        "the value is 1.0, before nan",
    ),
    "denormals are flushed": (
        body("%r = arith.mulf %a, %b : f32", "%a: f32, %b: f32", "f32"),
        body(
            "%t = arith.constant 1.17549435e-38 : f32\n%z = arith.constant 0.0 : f32\n"
            "%p = arith.mulf %a, %b : f32\n%m = math.absf %p : f32\n"
            "%s = arith.cmpf olt, %m, %t : f32\n%f = math.copysign %z, %p : f32\n"
            "%r = arith.select %s, %f, %p : f32",
            "%a: f32, %b: f32",
            "f32",
        ),
        "the value is",
    ),
    "integers overflow": (
        scalar("%c = arith.constant true\n%r = arith.cmpi slt, %a, %b : i8", "i8")
        .replace("-> i8", "-> i1")
        .replace("return %r : i8", "return %r : i1"),
        scalar(
            "%z = arith.constant 0 : i8\n%d = arith.subi %a, %b : i8\n"
            "%r = arith.cmpi slt, %d, %z : i8",
            "i8",
        )
        .replace("-> i8", "-> i1")
        .replace("return %r : i8", "return %r : i1"),
        "the value is",
    ),
    "another shape": (
        body(
            f"%r = relax.reshape %x {{newshape = [2, 2]}} : ({T}) -> tensor<2x2xf32>",
            f"%x: {T}",
            "tensor<2x2xf32>",
        ),
        body(
            f"%r = relax.reshape %x {{newshape = [4, 1]}} : ({T}) -> tensor<4x1xf32>",
            f"%x: {T}",
            "tensor<4x1xf32>",
        ),
        "the shape is 4x1, before 2x2",
    ),
    "another element type": (
        body("%r = arith.extsi %a : i16 to i32", "%a: i16", "i32"),
        body("%r = arith.extsi %a : i16 to i64", "%a: i16", "i64"),
        "the element type is int64, before int32",
    ),
    "only wrong on empty tensors": (
        body(f"%r = relax.sum %x {AXIS}", "%x: tensor<?xi32>", "tensor<i32>"),
        body(
            f"%z = relax.subtract %x, %x : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>\n"
            f"%m = relax.max %z {AXIS}\n%s = relax.sum %x {AXIS}\n"
            "%r = relax.add %s, %m : (tensor<i32>, tensor<i32>) -> tensor<i32>",
            "%x: tensor<?xi32>",
            "tensor<i32>",
        ),
        "the value is -2147483648, before 0",
    ),
    "a branch is taken": (
        body("%r = arith.select %p, %a, %b : i32", "%p: i1, %a: i32, %b: i32", "i32"),
        body("%r = arith.addi %a, %b : i32", "%p: i1, %a: i32, %b: i32", "i32"),
        "the value is",
    ),
    "refuses what was computed": (
        scalar("%c = arith.constant 2 : i32\n%r = arith.divsi %a, %c : i32"),
        scalar("%c = arith.constant 0 : i32\n%r = arith.divsi %a, %c : i32"),
        "undefined behaviour: 'arith.divsi' at x.mlir:3:6 divides by zero, or overflows",
    ),
    "a tuple is swapped": (
        "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> "
        "(tensor<2xf32>, tensor<2xf32>) { return %x, %y : tensor<2xf32>, tensor<2xf32> }",
        "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> "
        "(tensor<2xf32>, tensor<2xf32>) { return %y, %x : tensor<2xf32>, tensor<2xf32> }",
        "of value 0, element [0] is",
    ),
}

RIGHT = {
    "the same": (unary("relax.tanh %x"), unary("relax.tanh %x")),
    "x + y is y + x": (
        body("%r = arith.addf %a, %b : f32", "%a: f32, %b: f32", "f32"),
        body("%r = arith.addf %b, %a : f32", "%a: f32, %b: f32", "f32"),
    ),
    "-x is -1 * x": (
        body("%r = arith.negf %a : f32", "%a: f32", "f32"),
        body("%m = arith.constant -1.0 : f32\n%r = arith.mulf %m, %a : f32", "%a: f32", "f32"),
    ),
    "2x is x shifted": (
        scalar("%c = arith.constant 2 : i32\n%r = arith.muli %a, %c : i32"),
        scalar("%c = arith.constant 1 : i32\n%r = arith.shli %a, %c : i32"),
    ),
    "undefined behaviour may be defined": (
        scalar("%r = arith.divsi %a, %b : i32\n"),
        scalar(
            "%z = arith.constant 0 : i32\n%o = arith.constant 1 : i32\n"
            "%m = arith.constant -1 : i32\n"
            "%e = arith.cmpi eq, %b, %z : i32\n%n = arith.cmpi eq, %b, %m : i32\n"
            "%f = arith.subi %z, %a : i32\n"
            "%s = arith.ori %e, %n : i1\n%c = arith.select %s, %o, %b : i32\n"
            "%d = arith.divsi %a, %c : i32\n%r = arith.select %n, %f, %d : i32"
        ),
    ),
    "an overflow under nsw is undefined": (
        scalar(
            "%s = arith.addi %a, %b overflow<nsw> : i32\n%t = arith.subi %s, %b : i32\n"
            "%u = arith.cmpi eq, %t, %a : i32\n%o = arith.constant 1 : i32\n"
            "%v = arith.addi %a, %o overflow<nsw> : i32\n%w = arith.cmpi slt, %a, %v : i32\n"
            "%r = arith.extui %w : i1 to i32"
        ),
        scalar("%r = arith.constant 1 : i32"),
    ),
    "poison that is not used may be computed": (
        scalar("%r = arith.addi %a, %b : i32"),
        scalar("%p = arith.muli %a, %b overflow<nsw> : i32\n%r = arith.addi %a, %b : i32"),
    ),
    "an index that was out of range": (
        body("%r = memref.load %m[%i] : memref<4xf32>", "%m: memref<4xf32>, %i: index", "f32"),
        body(
            "%c3 = arith.constant 3 : index\n%j = arith.minsi %i, %c3 : index\n"
            "%r = memref.load %m[%j] : memref<4xf32>",
            "%m: memref<4xf32>, %i: index",
            "f32",
        ),
    ),
}


@pytest.mark.parametrize(("before", "after", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_transformation_is_found(before: str, after: str, reason: str):
    found = difference(before, after)
    assert found is not None
    assert reason in found


@pytest.mark.parametrize(("before", "after"), RIGHT.values(), ids=RIGHT)
def test_a_right_transformation_is_not_flagged(before: str, after: str):
    assert difference(before, after, seeds=3) is None


REASSOCIATED = (
    scalar("%s = arith.addf %a, %b : f32\n%r = arith.addf %s, %a : f32", "f32"),
    scalar("%s = arith.addf %a, %a : f32\n%r = arith.addf %s, %b : f32", "f32"),
)


def test_a_reassociation_is_a_difference_unless_the_pass_rounds():
    assert difference(*REASSOCIATED, seeds=4) is not None
    assert difference(*REASSOCIATED, seeds=4, rounds=True) is None


def affine(element: str, summand: float, factor: float, distributed: bool, shape: str) -> str:
    """Return `(x + summand) * factor` as a module, or `x * factor + summand * factor`."""
    t, one = f"tensor<{shape}x{element}>", f"tensor<{element}>"
    first, second = ("multiply", "add") if distributed else ("add", "multiply")
    numbers = (factor, summand * factor) if distributed else (summand, factor)
    return f"""
func.func @f(%x : {t}) -> {t} {{
  %a = relax.full {numbers[0]:e} : {one}
  %b = relax.full {numbers[1]:e} : {one}
  %0 = relax.{first} %x, %a : ({t}, {one}) -> {t}
  %1 = relax.{second} %0, %b : ({t}, {one}) -> {t}
  return %1 : {t}
}}
"""


@pytest.mark.parametrize("shape", ["1", "4", "2x50"])
@pytest.mark.parametrize(
    ("element", "summand", "factor"),
    [("f16", -150.0, 400.0), ("f32", 1e38, 3.0), ("bf16", -1e37, 20.0), ("f64", 1e306, 100.0)],
)
def test_a_rounding_pass_may_not_make_a_result_infinite(
    element: str, summand: float, factor: float, shape: str
):
    before, after = (affine(element, summand, factor, d, shape) for d in (False, True))
    reason = difference(before, after, rounds=True)
    assert reason is not None and "inf, before" in reason
    assert difference(after, before, rounds=True) is None  # the other way it becomes finite


def test_sums_of_many_elements_may_overflow_in_another_order():
    text = """
func.func @f(%x : tensor<64xf32>) -> tensor<f32> {
  %0 = relax.sum %x : (tensor<64xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    twice = text.replace(
        "%0 = relax.sum %x : (tensor<64xf32>)",
        """%y = relax.reshape %x {newshape = [8, 8]} : (tensor<64xf32>) -> tensor<8x8xf32>
  %s = relax.sum %y {axis = [0]} : (tensor<8x8xf32>) -> tensor<8xf32>
  %0 = relax.sum %s : (tensor<8xf32>)""",
    )
    assert difference(text, twice, rounds=True) is None


@pytest.mark.parametrize("name", [name for name in WRONG if name != "denormals are flushed"])
def test_faults_are_found_in_passes_that_round_too(name: str):
    before, after, _ = WRONG[name]
    sign = "-0.0" in name  # 0.0 and -0.0 differ by rounding at most
    assert (difference(before, after, rounds=True) is None) == sign


def test_the_difference_has_what_is_needed_to_see_it_again():
    found = difference_of(unary("relax.nn.relu %x"), unary("relax.abs %x"))
    assert found is not None
    assert (found.function, found.names) == ("main", ["x"])
    (x,), (before,), after = found.inputs, found.before, found.after
    assert after is not None
    np.testing.assert_array_equal(np.asarray(before), np.maximum(np.asarray(x), 0))
    np.testing.assert_array_equal(np.asarray(after[0]), np.abs(np.asarray(x)))
    assert "'relax.abs' at x.mlir:3:12, where 'relax.nn.relu' was" in found.first
    assert "input (seed 0: ordinary floats" in found.text


def test_the_same_seeds_give_the_same_input():
    texts = [difference_of(unary("relax.nn.relu %x"), unary("relax.abs %x")) for _ in range(2)]
    assert texts[0] is not None and texts[1] is not None
    assert texts[0].text == texts[1].text


def test_the_first_difference_is_told_among_operations_that_stay():
    def chain(op: str) -> str:
        return body(
            f"%0 = relax.tanh %x : ({T}) -> {T}\n%1 = {op} %0, %x : ({T}, {T}) -> {T}\n"
            f"%2 = relax.exp %1 : ({T}) -> {T}\n%r = relax.negative %2 : ({T}) -> {T}",
            f"%x: {T}",
            T,
        )

    found = difference_of(chain("relax.subtract"), chain("relax.add"))
    assert found is not None
    assert "first operation whose value differs is 'relax.add'" in found.first


def test_the_first_difference_in_a_loop_is_told_with_the_execution():
    def loop(op: str) -> str:
        return body(
            "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
            "%c3 = arith.constant 3 : index\n"
            "%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %c0) -> (index) {\n"
            f"%v = {op} %i, %i : index\n%s = arith.addi %sum, %v : index\n"
            "scf.yield %s : index\n}",
            "",
            "index",
        )

    found = difference_of(loop("arith.addi"), loop("arith.muli"))
    assert found is not None
    assert "where 'arith.addi' was in execution 2 of 3: the value is 1, before 2" in found.first


def test_without_counterparts_the_first_difference_is_not_known():
    before = parsed(unary("relax.nn.relu %x"))
    after = parsed(unary("relax.abs %x").replace("%0", "%other"), "other.mlir")
    found = find_difference(before, after)
    assert found is not None
    assert found.first == (
        "the first operation that differs is not known: none has a counterpart before"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    {
        "func.func @f(%x: i32) -> i32 { %0 = \"x.y\"(%x) : (i32) -> i32 return %0 : i32 }":
            "no semantics for 'x.y'",
        "func.func @f(%x: !test.type<\"a\">) { return }":
            "there are no values for parameter 'x' of type !test.type<\"a\">",
        "func.func @f(%x: tensor<100000x10000xf32>) -> tensor<100000x10000xf32> {"
        "%0 = relax.exp %x : (tensor<100000x10000xf32>) -> tensor<100000x10000xf32>"
        "return %0 : tensor<100000x10000xf32> }":
            "too large (its arguments alone take more than 65536 steps)",
        "func.func @f(%n: index) -> index { %c0 = arith.constant 0 : index "
        "%c1 = arith.constant 1 : index %big = arith.constant 1000000000 : index "
        "scf.for %i = %c0 to %big step %c1 { } return %n : index }":
            "too large (more than 65536 steps)",
        "func.func @f(%x: i32) -> i32 { %0 = func.call @f(%x) : (i32) -> i32 return %0 : i32 }":
            "too large (more than 64 nested calls and loops)",
        "func.func @f() -> i32 { %z = arith.constant 0 : i32 %0 = arith.divsi %z, %z : i32 "
        "return %0 : i32 }":
            "every input is refused: undefined behaviour: 'arith.divsi'",
    }.items(),
)  # fmt: skip
def test_functions_that_cannot_be_checked_are_named(text: str, reason: str):
    check = Equivalence(parsed(text))
    assert list(check.unchecked) == ["f"]
    assert check.unchecked["f"].startswith(reason)
    assert check.compare(parsed(text)) is None


def test_sizes_that_are_arguments_take_no_memory():
    text = """
    func.func @f(%n: tensor<1xi32>) -> tensor<?xf32> {
      %v = relax.full 1.0 : tensor<f32>
      %0 = relax.dyn.full %v, %n : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    check = Equivalence(parsed(text))
    assert check.unchecked == {}
    sizes = {int(np.asarray(sample.arguments[0])[0]) for sample in check.samples["f"]}
    assert sizes and max(sizes) < 10


def test_only_public_functions_are_compared():
    before = """
    func.func private @helper(%x: i32) -> i32 { return %x : i32 }
    func.func @declared(%x: i32) -> i32
    func.func @f(%x: i32) -> i32 { return %x : i32 }"""
    check = Equivalence(parsed(before))
    assert (list(check.samples), check.unchecked) == (["f"], {})
    assert check.compare(parsed("func.func @f(%x: i32) -> i32 { return %x : i32 }")) is None


def test_a_function_that_is_removed_or_gets_other_parameters_is_named():
    text = "func.func @f(%x: i32) -> i32 { return %x : i32 }"
    removed, changed = Equivalence(parsed(text)), Equivalence(parsed(text))
    assert removed.compare(parsed("")) is None
    assert removed.unchecked == {"f": "it is removed, or private now"}
    assert changed.compare(parsed(text.replace("i32", "i64").replace("(%x", "(%y: i1, %x"))) is None
    assert changed.unchecked["f"].startswith("its parameters change: ")


def test_results_are_those_after_the_last_comparison():
    before, after = map(parsed, REASSOCIATED)
    check = Equivalence(before)
    assert check.compare(after, rounds=True) is None
    assert check.compare(after) is None  # bit for bit, as the new results were kept


def test_new_functions_are_compared_from_then_on():
    check = Equivalence(parsed(""))
    one, two = (parsed(scalar(f"%r = arith.{op} %a, %b : i32")) for op in ("addi", "subi"))
    assert check.compare(one) is None
    assert check.compare(two) is not None


def test_the_lowering_takes_tuples_apart():
    before = """
    func.func @f(%t: tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32> {
      %0 = relax.tuple_get_item %t {index = 1} :
        (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    after = """
    func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
      return %b : tensor<2xf32>
    }"""
    assert difference(before, after) is None
    assert difference(before, after.replace("return %b", "return %a")) is not None
