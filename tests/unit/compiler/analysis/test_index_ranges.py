"""The ranges of parameters that are used as indices."""

from __future__ import annotations

from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects.func import FuncOp

from passline.compiler.analysis.index_ranges import Range, index_ranges

INDEX, X = "tensor<2xi64>", "tensor<5xf32>"


def ranges(text: str) -> dict[int, Range]:
    module = parsed(text)
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    return index_ranges(module, func)


def of_body(body: str) -> Range | None:
    """Return the range of %i, from which `body` computes %k, an index of 5 elements."""
    return ranges(f"""
func.func @main(%i: {INDEX}, %x: {X}) -> tensor<2xf32> {{
  %c2 = relax.constant dense<2> : {INDEX}
  %c13 = relax.constant dense<[1, 3]> : {INDEX}
  {body}
  %r = relax.take %x, %k {{axis = 0}} : ({X}, {INDEX}) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}}""").get(0)


@table_test(
    "body, expected",
    [
        (f"%k = relax.add %i, %c2 : ({INDEX}, {INDEX}) -> {INDEX}", (-2, 2)),
        (f"%k = relax.add %c13, %i : ({INDEX}, {INDEX}) -> {INDEX}", (-1, 1)),
        (f"%k = relax.subtract %i, %c13 : ({INDEX}, {INDEX}) -> {INDEX}", (3, 5)),
        (f"%k = relax.subtract %c2, %i : ({INDEX}, {INDEX}) -> {INDEX}", None),
        (f"%k = relax.multiply %i, %c2 : ({INDEX}, {INDEX}) -> {INDEX}", (0, 2)),
        (f"%k = relax.multiply %i, %i : ({INDEX}, {INDEX}) -> {INDEX}", None),
        (
            f"""%0 = relax.reshape %i {{newshape = [2, 1]}} : ({INDEX}) -> tensor<2x1xi64>
  %1 = relax.astype %0 {{dtype = i32}} : (tensor<2x1xi64>) -> tensor<2x1xi32>
  %2 = relax.transpose %1 {{axes = [1, 0]}} : (tensor<2x1xi32>) -> tensor<1x2xi32>
  %3 = relax.squeeze %2 {{axis = [0]}} : (tensor<1x2xi32>) -> tensor<2xi32>
  %k = relax.astype %3 {{dtype = i64}} : (tensor<2xi32>) -> {INDEX}""",
            (0, 4),
        ),
        (f"%k = relax.flip %c2 {{axis = [0]}} : ({INDEX}) -> {INDEX}", None),
    ],
)
def test_computed_indices(body: str, expected: Range | None):
    assert of_body(body) == expected


@table_test(
    "op, expected",
    [
        ("relax.take %x, %i {axis = 1} : (tensor<3x7xf32>, I) -> tensor<3x2x2xf32>", (0, 6)),
        ("relax.take %x, %i {axis = -1} : (tensor<3x?xf32>, I) -> tensor<3x2x2xf32>", (0, 0)),
        ("relax.take %x, %i : (tensor<3x7xf32>, I) -> tensor<2x2xf32>", (0, 20)),
        ("relax.gather %x, %i {axis = -1} : (tensor<3x7xf32>, I) -> tensor<2x2xf32>", (0, 6)),
        ("relax.gather_nd %x, %i : (tensor<3x7xf32>, I) -> tensor<2xf32>", (0, 2)),
        (
            "relax.gather_nd %x, %i {batch_dims = 1} : (tensor<2x7x9xf32>, I) -> tensor<2xf32>",
            (0, 6),
        ),
        ("relax.take %x, %i : (tensor<3x0xf32>, I) -> tensor<2x2xf32>", None),
    ],
)
def test_operations(op: str, expected: Range | None):
    data = op.partition("(")[2].partition(",")[0]
    result = op.rpartition("-> ")[2]
    index = "tensor<2x2xi64>"
    if "batch_dims" in op:
        data, result = "tensor<2x7x9x4xf32>", "tensor<2x9x4xf32>"
        index, op = "tensor<2x1xi64>", op.replace("2x7x9xf32", "2x7x9x4xf32")
        op = op.replace("tensor<2xf32>", "tensor<2x9x4xf32>")
    found = ranges(
        f"func.func @main(%i: {index}, %x: {data}) -> {result} {{\n"
        f"  %r = {op.replace(', I)', f', {index})')}\n  func.return %r : {result}\n}}"
    )
    assert found.get(0) == expected


def test_scatter_one_hot_and_lengths():
    text = """
func.func @main(%x: tensor<4x3xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>,
    %n: tensor<4xi64>, %c: tensor<2x1xi64>, %h: tensor<2xi64>, %on: tensor<f32>)
    -> tensor<4x3xf32> {
  %0 = relax.scatter_elements %x, %i, %u : (tensor<4x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>)
      -> tensor<4x3xf32>
  %1 = relax.reverse_sequence %0, %n : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %2 = relax.scatter_nd %1, %c, %u : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>)
      -> tensor<4x3xf32>
  %3 = relax.one_hot %h, %on, %on {depth = 9} : (tensor<2xi64>, tensor<f32>, tensor<f32>)
      -> tensor<2x9xf32>
  func.return %2 : tensor<4x3xf32>
}"""
    assert ranges(text) == {1: (0, 3), 3: (0, 3), 4: (0, 3), 5: (0, 8)}


def test_calls_and_several_uses():
    text = """
func.func @main(%x: tensor<5xf32>, %y: tensor<3xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %0 = func.call @f(%i, %y) : (tensor<2xi64>, tensor<3xf32>) -> tensor<2xf32>
  %1 = relax.gather %x, %i : (tensor<5xf32>, tensor<2xi64>) -> tensor<2xf32>
  %2 = func.call @main(%x, %y, %i) : (tensor<5xf32>, tensor<3xf32>, tensor<2xi64>)
      -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
func.func private @f(%i: tensor<2xi64>, %x: tensor<3xf32>) -> tensor<2xf32> {
  %1 = relax.gather %x, %i : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}"""
    assert ranges(text) == {2: (0, 2)}


def test_negative_indices_that_are_counted_from_the_start():
    """The importer's `where(i < 0, i + 5, i)`: the range without the sum."""
    body = f"""%z = relax.constant dense<0> : {INDEX}
  %five = relax.constant dense<5> : {INDEX}
  %n = relax.less %i, %z : ({INDEX}, {INDEX}) -> tensor<2xi1>
  %s = relax.add %i, %five : ({INDEX}, {INDEX}) -> {INDEX}
  %k = relax.where %n, %s, %i : (tensor<2xi1>, {INDEX}, {INDEX}) -> {INDEX}"""
    assert of_body(body) == (0, 4)


def test_no_valid_index():
    """Indices that are too far apart for the data have no range, not one that is empty."""
    body = f"""%far = relax.constant dense<[0, 5]> : {INDEX}
  %k = relax.add %i, %far : ({INDEX}, {INDEX}) -> {INDEX}"""
    assert of_body(body) is None


def test_an_index_that_a_loop_counts_up():
    """The first index is valid in all iterations; how many there are is not known."""
    text = """
func.func @main(%x: tensor<5000xf32>, %i: tensor<i64>, %n: index) -> tensor<i64> {
  %zero = arith.constant 0 : index
  %step = arith.constant 1 : index
  %one = relax.constant dense<1> : tensor<i64>
  %0 = scf.for %k = %zero to %n step %step iter_args(%j = %i) -> (tensor<i64>) {
    %1 = relax.take %x, %j {axis = 0} : (tensor<5000xf32>, tensor<i64>) -> tensor<f32>
    %2 = relax.add %j, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    scf.yield %2 : tensor<i64>
  }
  func.return %0 : tensor<i64>
}"""
    assert ranges(text) == {1: (0, 0)}


def test_an_index_that_a_branch_of_a_function_returns():
    text = """
func.func @main(%x: tensor<5xf32>, %c: i1, %i: tensor<2xi64>, %j: tensor<2xi64>) -> tensor<2xf32> {
  %0 = func.call @choose(%c, %i, %j) : (i1, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %1 = relax.take %x, %0 {axis = 0} : (tensor<5xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
func.func private @choose(%c: i1, %i: tensor<2xi64>, %j: tensor<2xi64>) -> tensor<2xi64> {
  %one = relax.constant dense<1> : tensor<2xi64>
  %0 = scf.if %c -> (tensor<2xi64>) {
    %1 = relax.add %i, %one : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    scf.yield %1 : tensor<2xi64>
  } else {
    scf.yield %j : tensor<2xi64>
  }
  func.return %0 : tensor<2xi64>
}"""
    assert ranges(text) == {2: (-1, 3), 3: (0, 4)}
