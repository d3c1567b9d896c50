"""parse_module: locations, errors, empty files, resources."""

from __future__ import annotations

import pytest
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects import arith, cf, func, test
from xdsl.dialects.builtin import Builtin, FileLineColLoc, LocationAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import ParseError

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context


@pytest.fixture
def ctx() -> Context:
    ctx = Context()
    for dialect in (Builtin, func.Func, test.Test, cf.Cf, arith.Arith):
        ctx.load_dialect(dialect)
    return ctx


def place(location: LocationAttr) -> tuple[str, int, int]:
    assert isinstance(location, FileLineColLoc)
    return location.filename.data, location.line.data, location.column.data


TEXT = """// a comment
func.func @f(%a: i32) -> i32 {
  %0, %x = "test.op"(%a) : (i32) -> (i32, i32)
   %1 = arith.addi %a,
     %0 : i32
  cf.br ^bb1(%1 : i32)
^bb1(%b: i32):
  func.return %b : i32
}
"""


def test_ops_are_where_their_name_is(ctx: Context):
    # The same places as `mlir-opt-22 -mlir-print-debuginfo -mlir-print-local-scope` prints.
    module = parse_module(ctx, TEXT, "a.mlir")
    places = [place(op.location) for op in walk(module)]
    lines = [(0, 0), (2, 1), (3, 12), (4, 9), (6, 3), (8, 3)]
    assert places == [("a.mlir", line, column) for line, column in lines]


def test_block_arguments_are_where_their_name_is(ctx: Context):
    function = parse_module(ctx, TEXT, "a.mlir").body.block.first_op
    assert isinstance(function, FuncOp)
    places = [place(block.args[0].location) for block in function.body.blocks]
    assert places == [("a.mlir", 2, 14), ("a.mlir", 7, 6)]


def test_nested_op_does_not_move_the_op_that_holds_it(ctx: Context):
    text = '"test.op"() ({\n  "test.op"() : () -> ()\n}) : () -> ()\n  "test.op"() : () -> ()'
    ops = [*walk(parse_module(ctx, text, "a"))]
    assert [place(op.location)[1:] for op in ops[1:]] == [(1, 1), (2, 3), (4, 3)]


def test_location_in_the_text_has_precedence(ctx: Context):
    text = '"test.op"() : () -> () loc("b":7:8)\n"test.op"() : () -> () loc(unknown)'
    first, second = parse_module(ctx, text, "a").ops
    assert place(first.location) == ("b", 7, 8)
    assert not isinstance(second.location, FileLineColLoc)


def test_line_offset_counts_for_locations_and_errors(ctx: Context):
    module = parse_module(ctx, '\n"test.op"() : () -> ()', "a", line_offset=10)
    assert [place(op.location)[1:] for op in module.ops] == [(12, 1)]
    with pytest.raises(ParseError, match="a:12:1"):
        parse_module(ctx, "\n}", "a", line_offset=10)


@pytest.mark.parametrize("text", ["", "\n\n", "// a comment\n", "!a = i32\n"])
def test_file_without_ops_is_an_empty_module(ctx: Context, text: str):
    assert not parse_module(ctx, text, "a").ops


def test_single_module_gets_no_other_around_it(ctx: Context):
    module = parse_module(ctx, "builtin.module @m {}", "a")
    assert module.sym_name is not None


def test_two_modules_get_one_around_them(ctx: Context):
    module = parse_module(ctx, "builtin.module {}\nbuiltin.module {}", "a")
    assert [type(op) for op in module.ops] == [ModuleOp, ModuleOp]


def test_module_must_be_in_the_text_if_asked_for(ctx: Context):
    with pytest.raises(ParseError, match="builtin.module operation expected"):
        parse_module(ctx, '"test.op"() : () -> ()', "a", implicit_module=False)


def test_value_that_is_never_defined_is_reported_at_its_first_use(ctx: Context):
    text = """%a = "test.op"() : () -> i32
"test.op"(%a, %q) : (i32, i32) -> ()
"test.op"(%q, %z) : (i32, i32) -> ()"""
    with pytest.raises(ParseError, match="use of undeclared SSA value name %q") as info:
        parse_module(ctx, text, "a.mlir")
    assert "a.mlir:2:15" in str(info.value)


def test_use_before_definition_is_read(ctx: Context):
    text = '"test.op"(%a) : (i32) -> ()\n%a = "test.op"() : () -> i32'
    first, second = parse_module(ctx, text, "a").ops
    assert first.operands[0] is second.results[0]


def test_what_is_no_op_is_an_error(ctx: Context):
    with pytest.raises(ParseError, match="expected an operation, but found '}'"):
        parse_module(ctx, '"test.op"() : () -> ()\n}', "a")


def test_a_number_in_a_region_is_no_block(ctx: Context):
    with pytest.raises(ParseError, match="expected an operation or '}', but found '10'"):
        parse_module(ctx, '"test.op"() ({\n  "test.op"() : () -> ()\n  10\n}) : () -> ()', "a")


# Resources


def section(**blobs: str) -> str:
    entries = ", ".join(f'{name}: "{text}"' for name, text in blobs.items())
    return f"{{-# dialect_resources: {{ builtin: {{ {entries} }} }} #-}}"


CONSTANT = "%0 = relax.constant {x = 1 : i32} dense_resource<blob> : tensor<2xf32>\n"
GENERIC = '%0 = "relax.constant"() <{value = dense_resource<blob> : tensor<2xf32>}> : () -> ()\n'
BLOB = "0x040000000000803F00000040"  # as mlir-opt-22 prints dense<[1.0, 2.0]> : tensor<2xf32>


@table_test("text", [CONSTANT, GENERIC.replace("()\n", "tensor<2xf32>\n")])
@table_test("first", [False, True])
def test_constant_has_the_elements_of_its_resource(text: str, first: bool):
    resources = section(other="0x00", blob=BLOB)
    module = parse_module(
        make_ir_context(), f"{resources}\n{text}" if first else text + resources, "a"
    )
    module.verify()
    assert "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>" in str(module)
    assert "dense_resource" not in str(module)


def test_constants_share_a_resource():
    twice = CONSTANT + CONSTANT.replace("%0", "%1").replace("tensor<2x", "tensor<1x2x")
    module = parse_module(make_ir_context(), twice + section(blob=BLOB), "a")
    assert str(module).count("dense<[1.000000e+00, 2.000000e+00]>") == 1
    assert str(module).count("dense<[[1.000000e+00, 2.000000e+00]]>") == 1


def test_files_with_one_name_for_two_resources():
    context = make_ir_context()
    for blob, element in ((BLOB, "2.0"), (BLOB.replace("40", "41"), "8.0")):
        module = parse_module(context, CONSTANT + section(blob=blob), "a")
        assert element in str(module)


def test_other_ops_keep_a_resource(ctx: Context):
    text = "%0 = arith.constant dense_resource<kept> : tensor<2xf32>\n" + section(kept=BLOB)
    assert "dense_resource<kept" in str(parse_module(ctx, text, "a"))


def test_name_of_what_was_elided_stays():
    text = "%0 = arith.constant dense_resource<__elided__> : tensor<2xf32>"
    for _ in range(2):
        assert "dense_resource<__elided__>" in str(parse_module(make_ir_context(), text, "a"))


@table_test(
    ("text", "message"),
    [
        (CONSTANT, "resource 'blob' is not defined in this file"),
        (CONSTANT + section(other=BLOB), "resource 'blob' is not defined in this file"),
        (CONSTANT + section(blob="0x04"), "resource 'blob' has 0 bytes, and tensor<2xf32> takes 8"),
        (CONSTANT + section(blob="0xzz"), "resource 'blob' is not made of hexadecimal digits"),
        (CONSTANT.replace("blob", "__elided__"), "the elements of this constant were left out"),
    ],
)
def test_resource_that_is_missing_or_wrong(text: str, message: str):
    with pytest.raises(ParseError, match=message) as info:
        parse_module(make_ir_context(), text, "a.mlir", line_offset=4)
    assert "a.mlir:5:50" in str(info.value)


# What is not registered


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ('"quite.foreign"() : () -> ()', 1, "operation 'quite.foreign'"),
        ('"test.op"() : () -> (!foo.bar)', 23, "type 'foo.bar'"),
        ('"test.op"() : () -> (!foo<bar<1>>)', 27, "type 'foo.bar'"),
        ('"test.op"() {a = #foo.bar} : () -> ()', 19, "attribute 'foo.bar'"),
    ],
)
def test_what_is_not_registered_can_be_let_pass(ctx: Context, text: str, column: int, what: str):
    message = f"{what} is not registered; --allow-unregistered-dialect allows it"
    with pytest.raises(ParseError, match=message) as info:
        parse_module(ctx, text, "a.mlir")
    assert f"a.mlir:1:{column}\n" in str(info.value)
    ctx.allow_unregistered = True
    assert "fo" in str(parse_module(ctx, text, "a.mlir"))


def test_op_of_another_dialect_can_be_let_pass_though_one_is_near(ctx: Context):
    hint = r", did you mean 'arith.addi'\? \(--allow-unregistered-dialect allows it\)"
    with pytest.raises(ParseError, match=f"operation 'arit.addi' is not registered{hint}"):
        parse_module(ctx, '"arit.addi"() : () -> ()', "a.mlir")
    with pytest.raises(ParseError, match=r"registered, did you mean 'arith.addi'\?$"):
        parse_module(ctx, '"arith.add"() : () -> ()', "a.mlir")


def test_nearest_attribute_is_named(ctx: Context):
    text = '"test.op"() {a = #arith.fastmaths<none>} : () -> ()'
    with pytest.raises(ParseError, match="did you mean 'arith.fastmath'?"):
        parse_module(ctx, text, "a.mlir")
