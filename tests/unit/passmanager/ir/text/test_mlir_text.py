"""What MLIR reads and xDSL does not, and what MLIR refuses and xDSL does not, with the place."""

from __future__ import annotations

import pytest
from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineDimExpr, AffineSymExpr
from xdsl.utils.exceptions import ParseError

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import module_text
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context


def printed(text: str) -> str:
    return module_text(parsed(text), make_ir_context())


# What is refused


@table_test(
    ("text", "place", "message"),
    [
        ("!foo.bar = i32", "!foo.bar", "expected a name without '.' for an alias"),
        ("#foo.attr = i32", "#foo.attr", "expected a name without '.' for an alias"),
        ('%0:0 = "foo"() : () -> ()', "%0:0", "expected at least 1 result for %0, but found 0"),
        ("#m = affine_map<(i, i) -> (i)>", "(i, i)", "redefinition of identifier 'i'"),
        ("#m = affine_map<(i)[i] -> (i)>", "(i)[i]", "redefinition of identifier 'i'"),
        ("#m = affine_map<(i, j) -> (i * j)>", "*", "a factor has to be a constant or made of"),
        ("#m = affine_map<(i)[s] -> (s mod i)>", "mod", "the divisor has to be a constant"),
        ("!t = tensor<2xtensor<i8>>", "tensor<2xtensor<i8>>", "invalid tensor element type"),
        ("!t = memref<2xtensor<i8>>", "memref<2xtensor<i8>>", "invalid memref element type"),
        ("!t = vector<2xvector<2xi8>>", "vector<2xvector<2xi8>>", "invalid vector element type"),
        ("!t = tensor<9223372036854775808xi8>", "tensor<922", "a dimension has at most 63 bits"),
        (
            "!t = memref<?xi8, affine_map<(i, j) -> (i, j)>>",
            "memref<?xi8",
            "memref layout mismatch between rank and affine map: 1 != 2",
        ),
        (
            "!t = memref<?x?xi8, strided<[1]>>",
            "memref<?x?xi8",
            "expected as many strides as dimensions, 2, but found 1",
        ),
        ("#a = array<i7: 1>", "i7", "the width of the elements of a dense array"),
        ("#a = array<i8: true>", "true", "expected an integer for i8, but found 'true'"),
        ("#a = array<i1: 0>", "0", "expected 'true' or 'false' for i1, but found '0'"),
        ("#a = dense<[1.0, true]> : tensor<2xf32>", "true", "expected a float for f32"),
        ("#a = dense<-0x7FFFFFFF> : tensor<2xf32>", "-0x7FFFFFFF", "have no sign"),
        ('"foo"() : () -> () loc("x":3:4 to x)', "x)", "Expected integer literal"),
        (
            "func.func @f(%a: i32) { %0 = arith.cmpi less, %a, %a : i32 }",
            "less",
            "expected a predicate, one of eq, ne, slt",
        ),
        (
            "func.func @f(%i: index) { affine.if affine_set<(d0) : (d0 == 0)>(%i, %i) { } }",
            "(%i, %i)",
            "expected 1 dimensions and 0 symbols, but got 2 and 0",
        ),
        (
            "func.func @f(%x: f32) { %0 = vector.from_elements %x : f32 }",
            "f32 }",
            "expected a vector type, but found f32",
        ),
        (
            "memref.global @a : memref<?xi32>",
            "memref<?xi32>",
            "type should be static shaped memref, but got memref<?xi32>",
        ),
    ],
)
def test_refused_with_the_place(text: str, place: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_module(make_ir_context(allow_unregistered=True), text, "x.mlir")
    assert message in caught.value.msg
    assert caught.value.span.start == text.rindex(place)


# Affine maps


def test_symbols_may_be_factors_and_divisors() -> None:
    text = '"foo"() {m = affine_map<(d0)[s0] -> (d0 * s0, s0 * d0, d0 floordiv s0)>} : () -> ()'
    (op,) = (op for op in walk(parsed(text)) if "m" in op.attributes)
    map = op.attributes["m"]
    assert isinstance(map, AffineMapAttr)
    d0, s0 = AffineDimExpr(0), AffineSymExpr(0)
    mul, div = AffineBinaryOpKind.Mul, AffineBinaryOpKind.FloorDiv
    expected = [(mul, d0, s0), (mul, s0, d0), (div, d0, s0)]
    assert [*map.data.results] == [AffineBinaryOpExpr(*each) for each in expected]


ACCESS = """
func.func @f(%m: memref<4x8xf32>, %n: index) {{
  affine.for %i = 0 to 4 {{
    %0 = affine.load %m[{}] : memref<4x8xf32>
  }}
  func.return
}}
"""


@table_test(
    ("indices", "dims", "symbols", "values"),
    [
        ("%i, %i + 1", 1, 0, ["i"]),
        ("%i, %n", 2, 0, ["i", "n"]),
        ("%i + symbol(%n), symbol(%n)", 1, 1, ["i", "n"]),
        ("symbol(%n), %i", 1, 1, ["i", "n"]),
    ],
)
def test_dimensions_and_symbols_of_an_access(
    indices: str, dims: int, symbols: int, values: list[str]
) -> None:
    (load,) = (op for op in walk(parsed(ACCESS.format(indices))) if isinstance(op, affine.LoadOp))
    assert load.map is not None
    assert (load.map.data.num_dims, load.map.data.num_symbols) == (dims, symbols)
    assert [value.name_hint for value in load.indices] == values


def test_an_access_with_symbols_is_printed_in_generic_form() -> None:
    """xDSL prints symbols as if they were dimensions."""
    shown = printed(ACCESS.format("%i, symbol(%n)"))
    assert '"affine.load"(%m, %i, %n)' in shown
    assert "affine.load %m[%i, %n]" in printed(ACCESS.format("%i, %n"))


# Locations and declarations


@table_test("end", ["", " to 5:6", " to :6"])
def test_a_range_of_a_file_is_read_as_its_start(end: str) -> None:
    module = parsed(f'"foo"() : () -> () loc("x":3:4{end})')
    start = FileLineColLoc(StringAttr("x"), IntAttr(3), IntAttr(4))
    assert [*walk(module)][-1].location == start


def test_a_fused_location_has_metadata() -> None:
    module = parsed('"foo"() : () -> () loc(fused<"m">["x":1:2, "y"("z":3:4 to :5)])')
    location = [*walk(module)][-1].location
    assert isinstance(location, FusedLoc)
    assert location.metadata == StringAttr("m")
    assert str(location) == 'loc(fused<"m">["x":1:2, "y"("z":3:4)])'


@table_test(
    ("text", "expected"),
    [
        ("func.func private @f(i32 {a}, f32)", [{"a": UnitAttr()}, {}]),
        ('func.func private @"f(g"(i32 {a} loc("x":1:2))', [{"a": UnitAttr()}]),
        ("func.func private @f(%x: i32 {a})", [{"a": UnitAttr()}]),
        ("func.func private @f(i32, f32) attributes {b}", None),
        ("func.func private @f(i32) -> (f32 {b})", None),
        ("func.func private @f(%x: i32) // {", None),
        ("func.func private @f(i32) // {a}", None),
    ],
)
def test_attributes_of_parameters_of_a_declaration(
    text: str, expected: list[dict[str, UnitAttr]] | None
) -> None:
    module = parsed(text + "\nfunc.func private @after()")
    function, after = module.body.block.ops
    assert isinstance(function, FuncOp) and isinstance(after, FuncOp)
    found = None if expected is None else ArrayAttr([DictionaryAttr(each) for each in expected])
    assert function.arg_attrs == found
    assert parsed(module_text(module, make_ir_context())).is_structurally_equivalent(module)


def test_no_inline_is_read_alike_in_both_forms() -> None:
    generic = parsed("""
        "func.func"() <{function_type = () -> (), no_inline, sym_name = "f"}> ({
          "func.call"() <{callee = @f, no_inline}> : () -> ()
          "func.return"() : () -> ()
        }) : () -> ()""")
    custom = parsed("""
        func.func @f() attributes {no_inline} {
          func.call @f() {no_inline} : () -> ()
          func.return
        }""")
    generic.verify()
    assert generic.is_structurally_equivalent(custom)
