"""Lines that are read by their shape: the same IR and the same errors as from the plain parser."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.passes.same_ir import describe, parse, parsed_alike
from support.tables import table_test
from xdsl.utils.exceptions import ParseError

from passline.passmanager.fast.reading.locating_parser import LocatingParser
from passline.passmanager.fast.reading.memoizing_parser import MemoizingParser
from passline.passmanager.registry import make_ir_context

CONTEXT = make_ir_context()
CONTEXT.allow_unregistered = True


def function(*lines: str, arguments: str = "%a: i32, %b: i32") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    # What follows a line counts, too: it is a result of another op, for the last one as for others.
    end = '  %end = "test.op"() : () -> i32\n  func.return\n'
    return f"func.func @f({arguments}) {{\n{body}{end}}}\n"


def by_shape(text: str) -> int:
    """Return how many lines were read by their shape, after comparing with the plain parser."""
    lines = parsed_alike(CONTEXT, text)
    assert lines is not None
    return lines


def error_of(text: str) -> str:
    assert by_shape(text) is not None
    with pytest.raises(ParseError) as error:
        MemoizingParser(CONTEXT, text, "a.mlir").parse_module()
    return str(error.value)


def test_a_line_that_differs_in_names_is_read_by_its_shape():
    lines = ["%0 = arith.addi %a, %b : i32", "%1 = arith.addi %0, %a : i32"]
    assert by_shape(function(*lines, "%x_1 = arith.addi %1, %1 : i32")) == 2


def test_operands_that_are_equal_do_not_teach_a_shape():
    # Which of the two names is which operand cannot be told.
    lines = ["%0 = arith.subi %a, %a : i32", "%1 = arith.subi %0, %a : i32"]
    assert by_shape(function(*lines)) == 0
    assert by_shape(function(*lines, "%2 = arith.subi %1, %0 : i32")) == 1


def test_other_types_are_another_shape():
    # The types at the end of `cmpi` are not in a declarative format.
    lines = ["%0 = arith.cmpi slt, %a, %b : i32", "%1 = arith.cmpi slt, %c, %d : i64"]
    assert by_shape(function(*lines, arguments="%a: i32, %b: i32, %c: i64, %d: i64")) == 0


BUFFERS = (
    "%m: memref<2x3xf32>, %n: memref<4x5xi32>, "
    '%o: memref<2x3xf32, "local">, %q: memref<4x4xf32, "local">'
)


@table_test(
    ("lines", "count"),
    [
        (["%{} = arith.addi %a, %b : i32", "%{} = arith.addi %c, %d : i64"], 1),
        (["%{} = arith.extsi %a : i32 to i64", "%{} = arith.extsi %e : i8 to i32"], 1),
        (
            [
                "%{} = memref.load %m[%i, %j] : memref<2x3xf32>",
                "%{} = memref.load %n[%i, %j] : memref<4x5xi32>",
            ],
            1,
        ),
        (
            [
                "memref.store %f, %m[%i, %j] : memref<2x3xf32>",
                "memref.store %a, %n[%i, %j] : memref<4x5xi32>",
                "memref.store %f, %m[%i, %j] : memref<2x3xf32>",
            ],
            1,  # what follows the last one is not what follows the first
        ),
        (
            [
                "%{} = memref.view %v[%i][] : memref<64xi8> to memref<2x3xf32>",
                "%{} = memref.view %v[%j][] : memref<64xi8> to memref<4x2xi32>",
            ],
            1,
        ),
        # A type that was not read before, as it has a memory space.
        (
            [
                "memref.store %f, %m[%i, %j] : memref<2x3xf32>",
                'memref.store %f, %o[%i, %j] : memref<2x3xf32, "local">',
            ],
            0,
        ),
        # Of another shape than one with this memory space.
        (
            [
                'memref.store %f, %o[%i, %j] : memref<2x3xf32, "local">',
                'memref.store %f, %q[%i, %j] : memref<4x4xf32, "local">',
                'memref.store %f, %q[%i, %j] : memref<4x4xf32, "local">',
            ],
            1,
        ),
        # Another number of operands, and an attribute.
        (
            [
                "%{} = memref.load %m[%i, %j] : memref<2x3xf32>",
                "%{} = memref.load %p[] : memref<f32>",
            ],
            0,
        ),
        (["%{} = arith.addi %a, %b : i32", "%{} = arith.addi %c, %d {{x}} : i64"], 0),
    ],
)
def test_types_that_others_follow_from(lines: list[str], count: int):
    arguments = "%a: i32, %b: i32, %c: i64, %d: i64, %e: i8, %f: f32, %i: index, %j: index"
    named = [line.format(f"r{number}") for number, line in enumerate(lines)]
    text = function(*named, arguments=f"{arguments}, {BUFFERS}, %p: memref<f32>, %v: memref<64xi8>")
    assert by_shape(text) == count


CAST = (
    "%{} = memref.reinterpret_cast {} to offset: {}, sizes: {}, strides: {}{} : {} to memref<{}f32>"
)


@table_test(
    ("second", "count"),
    [
        (("%m", "[0]", "[3, 2]", "[2, 1]", "", "memref<2x3xf32>", "3x2x"), 1),
        (("%m", "[0]", "[-1]", "[1]", "", "memref<2x3xf32>", "6x"), 1),
        (("%m", "[]", "[]", "[]", "", "memref<2x3xf32>", ""), 1),
        (("%m", "[999999999999999999]", "[6]", "[1]", "", "memref<2x3xf32>", "6x"), 1),
        (("%m", "[9999999999999999999]", "[6]", "[1]", "", "memref<2x3xf32>", "6x"), 0),
        (("%m", "[0]", "[%i]", "[1]", "", "memref<2x3xf32>", "?x"), 0),
        (("%m", "[0]", "[6]", "[1]", " {x = [1]}", "memref<2x3xf32>", "6x"), 0),
        (("%m", "[ 0]", "[6]", "[1]", "", "memref<2x3xf32>", "6x"), 0),
        (("%m", "[0x1]", "[6]", "[1]", "", "memref<2x3xf32>", "6x"), 0),
    ],
)
def test_numbers_in_lists(second: tuple[str, ...], count: int):
    first = ("%m", "[1]", "[2, 3]", "[3, 1]", "", "memref<2x3xf32>", "2x3x")
    lines = [CAST.format(f"r{n}", *parts) for n, parts in enumerate((first, second))]
    arguments = f"%i: index, {BUFFERS}"
    assert by_shape(function(*lines, arguments=arguments)) == count


def test_lists_that_are_not_of_numbers_alone():
    # `[1]` is in the dictionary; the list of offsets is a value.
    first = ("%m", "[%i]", "[1]", "[1]", " {x = [1]}", "memref<2x3xf32>", "1x")
    second = ("%m", "[%i]", "[2]", "[3]", " {x = [4]}", "memref<2x3xf32>", "2x")
    lines = [CAST.format(f"r{n}", *parts) for n, parts in enumerate((first, second))]
    assert by_shape(function(*lines, arguments=f"%i: index, {BUFFERS}")) == 0


@table_test("offset", ["[0]", "[#]"])
def test_a_list_in_a_string_is_text(offset: str):
    first = ("%m", "[1]", "[6]", "[1]", ' {s = "[#]"}', "memref<2x3xf32>", "6x")
    second = ("%m", offset, "[3]", "[2]", ' {s = "[1]"}', "memref<2x3xf32>", "3x")
    lines = [CAST.format(f"r{n}", *parts) for n, parts in enumerate((first, second))]
    assert by_shape(function(*lines, '%c = "test.op"() : () -> i32', arguments=BUFFERS)) == 0


@table_test(
    ("line", "message"),
    [
        ("%x = memref.load %n[%i, %j] : memref<2x3xi32>", "operand is used with type"),
        ("%x = memref.load %m[%i, %f] : memref<2x3xf32>", "operand is used with type"),
        ("%x = memref.load %m[%i, %j] : memref<2x3xf32> to f32", "to"),
        ("%x = memref.load %m[%i, %j] : ", "type expected"),
        ('%x = memref.load %o[%i, %j] : memreff32, "local"', "type expected"),
    ],
)
def test_types_that_are_not_those_of_the_operands(line: str, message: str):
    first = "%w = memref.load %m[%j, %i] : memref<2x3xf32>"
    arguments = f"%i: index, %j: index, %f: f32, {BUFFERS}"
    assert message in error_of(function(first, line, arguments=arguments))


def test_a_name_without_dialect_is_that_of_the_innermost_one():
    # `yield` is `scf.yield` in loops at any depth.
    loop, end = "scf.for %{} = %a to %b step %c {{", "yield"
    lines = [loop.format("i"), loop.format("j"), loop.format("k"), end, "}", end, "}", end, "}"]
    assert by_shape(loops(*lines, *lines)) > 0
    assert error_of(loops(*lines[:4], "}", "return"))


def test_an_operand_of_another_type_is_an_error_at_the_same_place():
    text = function(
        "%0 = arith.addi %a, %b : i32",
        "%1 = arith.addi %0, %c : i32",
        arguments="%a: i32, %b: i32, %c: i64",
    )
    assert "operand is used with type i32, but has been previously used" in error_of(text)


@table_test(
    "line",
    [
        '%{} = "test.op"(%{}, %b) {{text = "%a"}} : (i32, i32) -> i32',
        '%{} = "test.op"(%{}, %b) {{text = "// %"}} : (i32, i32) -> i32',
        '%{} = "test.op"(%{}, %b) {{text = "\\" %b"}} : (i32, i32) -> i32',
        "%{} = arith.addi %{}, %b : i32 // %a",
        "%{} = arith.addi %{}, %b : i32 // with b",
        '%{} = arith.addi %{}, %b : i32 loc("b.mlir":1:2)',
        "%{} = arith.addi %{}, %b : i32 loc(unknown)",
        '%{} = "other.op"(%{}) {{x = #other<%b>}} : (i32) -> i32',
        '%{} = "test.op"(%{}) <{{"p" = 1 : i64}}> {{"q" = array<i32: 1>}} : (i32) -> i32',
        "%{}:2 = \"test.op\"(%{}) : (i32) -> (i32, i32)",
        "%{}, %{}x = \"test.op\"(%b) : (i32) -> (i32, i32)",
        "%{}:1 = arith.addi %{}#0, %b : i32",
    ],
)  # fmt: skip
def test_a_line_repeats(line: str):
    lines = [line.format(n, n - 1 if n else "a") for n in range(4)]
    if ":2 =" in line:
        lines = [line.format(n, "a") for n in range(4)]
    by_shape(function(*lines))


def test_a_name_in_a_string_is_text():
    lines = [
        f'%{n} = "test.op"(%{x}) {{text = "%{x}"}} : (i32) -> i32' for n, x in enumerate("aab")
    ]
    text = function(*lines)
    assert by_shape(text) == 0
    module = MemoizingParser(CONTEXT, text, "a.mlir").parse_module()
    assert [str(op.attributes["text"]) for op in module.walk() if "text" in op.attributes] == [
        '"%a"',
        '"%a"',
        '"%b"',
    ]


def test_a_name_that_is_defined_twice_is_an_error():
    text = function("%0 = arith.addi %a, %b : i32", "%0 = arith.addi %a, %b : i32")
    assert "SSA value %0 is already defined" in error_of(text)


def test_a_name_that_a_line_defines_twice_is_an_error():
    line = '%{}, %{} = "test.op"() : () -> (i32, i32)'
    text = function(line.format(0, 1), line.format(2, 3), line.format(4, 4))
    assert "SSA value %4 is already defined" in error_of(text)


def test_forward_references_are_resolved():
    lines = ["%0 = arith.addi %a, %b : i32", "%1 = arith.addi %2, %b : i32"]
    assert by_shape(function(*lines, "%2 = arith.addi %0, %b : i32")) == 0
    assert by_shape(function(*lines, "%2 = arith.addi %0, %b : i32", *lines[:0])) == 0


def test_values_of_a_region_are_not_in_scope_after_it():
    text = function(
        '"test.op"() ({',
        "  %0 = arith.addi %a, %b : i32",
        "}) : () -> ()",
        "%0 = arith.addi %a, %b : i32",
        "%1 = arith.addi %0, %b : i32",
    )
    assert by_shape(text) == 1


def test_a_value_of_an_isolated_region_is_forgotten():
    text = function("%0 = arith.addi %a, %b : i32") + function(
        "%1 = arith.addi %0, %b : i32", arguments="%b: i32"
    )
    assert "%0" in error_of(text)


def test_what_follows_a_line_may_belong_to_its_op():
    lines = ["%0 = arith.addi %a, %b : i32", "%1 = arith.addi %0, %b : i32", 'loc("b.mlir":1:2)']
    assert by_shape(function(*lines, "%2 = arith.addi %1, %b : i32")) >= 0


def test_the_last_op_of_a_line_has_a_shape():
    line = "%{} = arith.addi %a, %b : i32 %{} = arith.addi %a, %b : i32"
    assert by_shape(function(line.format(0, 1), line.format(2, 3))) == 1


def test_aliases_are_part_of_the_shape():
    lines = ["%0 = arith.addi %a, %b : !i", "%1 = arith.addi %0, %b : !i"]
    assert by_shape("!i = i32\n" + function(*lines)) == 1


def test_the_end_of_the_file_ends_a_line_too():
    text = function("%0 = arith.addi %a, %b : i32")[:-4]
    for size in range(len(text)):
        assert by_shape(text[:size]) == 0


def test_a_very_long_line_has_no_shape():
    lines = [f'%{n} = "test.op"(%a) {{text = "{"x" * 5000}"}} : (i32) -> i32' for n in range(3)]
    assert by_shape(function(*lines)) == 0


def test_each_op_has_the_location_of_its_line():
    text = function("%0 = arith.addi %a, %b : i32", "   %first = arith.addi %0, %b : i32")
    module = MemoizingParser(CONTEXT, text, "a.mlir").parse_module()
    places = [str(op.location) for op in module.walk() if op.name == "arith.addi"]
    assert places == ['loc("a.mlir":2:8)', 'loc("a.mlir":3:15)']


# Lines that open a region


LOOP = "scf.for %{} = %a to %b step %c {{"
INDICES = "%a: index, %b: index, %c: index"


def loops(*texts: str) -> str:
    return function(*texts, arguments=INDICES)


def test_a_loop_is_read_by_the_shape_of_its_first_line():
    lines = [LOOP.format("i"), "%x = arith.addi %i, %a : index", "}"]
    text = loops(*lines, *lines, *lines)
    # The first loop is parsed, and so is the second, as another op follows it than before.
    assert by_shape(text) == 4
    module = MemoizingParser(CONTEXT, text, "a.mlir").parse_module()
    assert [op.name for op in module.walk()].count("scf.yield") == 3


def test_nested_loops_are_read_by_shape():
    nest = [LOOP.format(name) for name in "ijk"] + ["%x = arith.addi %i, %k : index", *"}}}"]
    assert by_shape(loops(*nest, *nest, *nest, *nest)) > 8


@table_test(
    "end",
    [
        "} {x = 1 : i32}",
        "} {\nx}",
        "scf.yield\n}",
        '"test.termop"() : () -> ()\n}',
        "cf.br ^bb1\n^bb1:\n}",
        "^bb1:\n}",
        "} loc(unknown)",
        '} loc("b.mlir":1:2)',
        "} // a comment }",
        "}}",
        "",
        "%i = arith.addi %a, %b : index\n}",
        "%y = arith.addi %x, %z : index\n%z = arith.addi %x, %x : index\n}",
        "%y = arith.addi %q, %x : index\n}",
        "cf.br ^bb7\n}",
    ],
)
def test_a_loop_that_ends_otherwise_is_parsed(end: str):
    lines = [LOOP.format("i"), "%x = arith.addi %i, %a : index"]
    for first, second in (("}", end), (end, "}"), (end, end)):
        by_shape(loops(*lines, first, *lines, first, *lines, second, *lines, first))
        nest = [*lines, *(line.replace("i", "j").replace("x", "w") for line in lines)]
        by_shape(loops(*nest, first, first, *nest, first, second, *nest, second, first))


@pytest.mark.parametrize("name", ["a", "i"])
def test_a_variable_of_a_name_that_is_taken_is_an_error(name: str):
    nest, other = (
        [LOOP.format("i"), LOOP.format(inner), f"%x = arith.addi %{inner}, %b : index", "}}"]
        for inner in ("j", name)
    )
    assert f"SSA value %{name} is already defined" in error_of(loops(*nest * 4, *other))


def test_a_body_that_defines_a_forward_reference_is_parsed():
    # Were it read by shape and then parsed after all, the use would be of a value that is gone.
    loop = [LOOP.format("i"), "%x = arith.addi %i, %a : index", "}"]
    use = '"test.op"(%z) : (index) -> ()'
    define = [LOOP.format("i"), "%z = arith.addi %i, %a : index", "} {x}"]
    assert by_shape(loops(*loop, *loop, use, *define, *loop)) > 0


def test_branches_without_else_are_read_by_shape():
    lines = ["scf.if %d {", "%x = arith.addi %a, %b : index", "}"]
    other = ["scf.if %d {", "} else {", "}"]
    arguments = f"{INDICES}, %d: i1"
    assert by_shape(function(*lines, *lines, *lines, arguments=arguments)) == 4
    by_shape(function(*lines, *lines, *other, *lines, *lines, arguments=arguments))


def test_a_loop_in_generic_form_is_parsed():
    lines = [
        '"scf.for"(%a, %b, %c) ({',
        "^bb0(%i: index):",
        "scf.yield",
        "}) : (index, index, index) -> ()",
    ]
    assert by_shape(loops(*lines, *lines, *lines)) == 2  # the terminators


def test_deep_nests_that_end_otherwise_take_linear_time():
    # Each level would else be parsed twice by the one above it.
    depth = 60
    names = [f"i{n}" for n in range(depth)]
    once = [LOOP.format("i"), "}"]
    nest = [LOOP.format(name) for name in names] + ["} {x}"] * depth
    assert by_shape(loops(*once, *once, *nest)) >= 0


# Random texts

NAMES = st.sampled_from(["a", "b", "0", "1", "2", "10", "x", "x_1", "y#0", "y#1", "z"])
LINES = st.sampled_from(
    [
        "%{r} = arith.addi %{a}, %{b} : i32",
        "%{r} = arith.addi %{a}, %{b} : i32 // %{a}",
        "%{r} =  arith.addi %{a},%{b}:i32",
        "%{r} = arith.constant 5 : i32",
        '%{r} = "test.op"(%{a}) {{s = "%{b}"}} : (i32) -> i32',
        '%{r} = "test.op"(%{a}, %{b}) : (i32, i32) -> i32',
        '%{r} = "test.op"() : () -> i64',
        '%{r}:2 = "test.op"() : () -> (i32, i32)',
        '%{r}, %{a} = "test.op"() : () -> (i32, i32)',
        '"test.op"(%{a}) : (i32) -> ()',
        '"test.op"(%{a}) ({{ "test.op"() : () -> () }}) : (i32) -> ()',
        '"test.op"() ({{\n%{r} = arith.addi %{a}, %{b} : i32\n}}) : () -> ()',
        "%{r} = arith.cmpi slt, %{a}, %{b} : i32",
        "%{r} = arith.addi %{a}, %{b} : !i",
        '%{r} = arith.addi %{a}, %{b} : i32 loc("c":1:1)',
        "%{r} = arith.addi %{a}, %{b} {{k = #k}} : i32",
        "%{r} = arith.select %{a}, %{b}, %{b} : i32",
        "%{r} = arith.addi %{a}, %{b} : i64",
        "%{r} = arith.addi %c, %{a} : i64",
        "%{r} = arith.extsi %{a} : i32 to i64",
        "%{r} = arith.extsi %{a} : i1 to i32",
        "%{r} = arith.index_cast %j : index to i32",
        "cf.br ^bb1",
        "^bb1:",
        "loc(unknown)",
        "scf.for %{r} = %j to %k step %j {{",
        "scf.for %{r} = %j to %k step %j {{\n%{a} = arith.addi %a, %b : i32\n}}",
        "scf.if %d {{",
        "}} else {{",
        "scf.yield",
        "}}",
        "}}",
        "func.return",
    ]
)


OTHERS = "%c: i64, %d: i1, %j: index, %k: index"


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 12))):
        line = draw(LINES).format(r=draw(NAMES), a=draw(NAMES), b=draw(NAMES))
        lines.append(draw(st.sampled_from(["", "  ", "\t"])) + line)
    text = "!i = i32\n#k = 1 : i8\n" + function(*lines, arguments=f"%a: i32, %b: i32, {OTHERS}")
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        edit = draw(
            st.sampled_from(["", "%", '"', "\n", "//", " ", "#", "é", "1", "a", "{", "}", ":"])
        )
        text = text[:place] + edit + text[place + draw(st.integers(0, 2)) :]
    return text


@given(texts())
@example("")
def test_random_texts_are_read_alike(text: str):
    assert parsed_alike(CONTEXT, text) is not None


def test_the_comparison_sees_a_difference():
    # The check of the check: texts that differ are described differently.
    texts = [
        function("%0 = arith.addi %a, %b : i32"),
        function("%0 = arith.addi %b, %a : i32"),
        function("%x = arith.addi %a, %b : i32"),
        function(" %0 = arith.addi %a, %b : i32"),
        function("%0 = arith.addi %a, %b : i32", "%1 = arith.addi %a, %b : i32"),
    ]
    descriptions = [
        describe(LocatingParser(CONTEXT, text, "a.mlir").parse_module()) for text in texts
    ]
    for index, description in enumerate(descriptions):
        assert description not in descriptions[:index]
    assert parse(LocatingParser(CONTEXT, "func.func", "a.mlir")) != parse(
        LocatingParser(CONTEXT, "func.func @f", "a.mlir")
    )


# Lines that differ in the types at their end


def of_types(*lines: str) -> str:
    sizes = ", ".join(f"%x{size}: tensor<{size}xf32>" for size in (4, 5, 6))
    return function(*lines, arguments=f"{sizes}, %d: tensor<?xf32>, %i: tensor<6xi32>")


@table_test(
    "line",
    [
        "%r{0} = relax.exp %x{0} : (tensor<{0}xf32>) -> tensor<{0}xf32>",
        "%r{0} = relax.add %x{0}, %x{0} : (tensor<{0}xf32>, tensor<{0}xf32>) -> tensor<{0}xf32>",
        "%r{0} = relax.sum %x{0} {{axis = [0], keepdims = true}} : (tensor<{0}xf32>) -> f32",
        '%r{0} = "relax.exp"(%x{0}) : (tensor<{0}xf32>) -> tensor<{0}xf32>',
        '"test.op"(%x{0}) {{a = 1 : i32}} : (tensor<{0}xf32>) -> ()',
        "%r{0}, %s{0} = \"test.op\"() : () -> (tensor<{0}xf32>, memref<?x{0}xf32>)",
        "%r{0} = func.call @f{0}(%x{0}) : (tensor<{0}xf32>) -> tensor<{0}xf32>",
        "func.call @f{0}(%x{0}) : (tensor<{0}xf32>) -> ()",
        "%r{0} = func.call @f{0}() : () -> tensor<{0}xf32>",
    ],
)  # fmt: skip
def test_types_at_the_end_of_a_line(line: str):
    # A line after which something else stands than after the first is parsed. `relax.add` does not
    # teach a shape, as its operands are one value.
    count = 0 if "relax.add" in line else 2 if line.startswith("%") else 1
    assert by_shape(of_types(*(line.format(size) for size in (4, 5, 6)))) == count


@table_test(
    ("line", "message"),
    [
        ("%b = relax.exp %x5 : (tensor<6xf32>) -> tensor<5xf32>", "operand is used with type"),
        ("%b = relax.exp %x5 : (tensor<5xf32>) -> ", "type expected"),
        ("%b = relax.exp %x5 : (tensor<5xf32>) -> (tensor<5xf32>, f32)", "has 2 results"),
        ("%b = relax.exp %x5 : () -> tensor<5xf32>", "expected 0 operand types but had 1"),
        ("%b = relax.exp %x5 : (tensor<5xf32> -> tensor<5xf32>", "')' expected"),
        ("%b = relax.exp %x5 : (tensor<5xf32>) -> tensor<05xf32", "expected '>'"),
        ("%b = relax.exp %x5 : (tensor<5xf32>,) -> tensor<5xf32>", "type expected"),
        ("%b = relax.exp %x5 : (tensor<5x>) -> tensor<5xf32>", "Expected shape type"),
        ("%b = relax.exp %x5 : (tensor<5xf32>) -> tensor<5xg33>", "Expected shape type"),
    ],
)
def test_types_at_the_end_of_a_line_that_are_wrong(line: str, message: str):
    first = "%a = relax.exp %x4 : (tensor<4xf32>) -> tensor<4xf32>"
    assert message.lower() in error_of(of_types(first, line)).lower()


def test_types_that_were_not_read_before_are_parsed():
    lines = [
        "%a = relax.exp %x4 : (tensor<4xf32>) -> tensor<4xf32>",
        "%b = relax.exp %d : (tensor<?xf32>) -> tensor<?xf32>",
        '%c = relax.exp %e : (tensor<4xf32, "x, y">) -> tensor<4xf32, "x, y">',
        "%g = relax.exp %h : (tensor<0x4xf32>) -> tensor<0x4xf32>",
    ]
    text = of_types(*lines).replace("%d:", '%e: tensor<4xf32, "x, y">, %h: tensor<0x4xf32>, %d:')
    assert by_shape(text) == 2


def test_a_call_in_a_string_is_text():
    lines = [
        f'%r{n} = "test.op"(%x{n}) {{text = "= func.call @f{n}("}} : (tensor<{n}xf32>) -> f32'
        for n in (4, 5)
    ]
    assert by_shape(of_types(*lines)) == 0


# Constants that differ in their numbers


@table_test(
    ("first", "literal", "count"),
    [
        ("0 : i8", "-128 : i8", 1),
        ("0 : i8", "255 : i8", 1),
        ("0 : i64", "-1 : index", 0),
        ("0 : index", "-7 : index", 1),
        ("0 : index", f"{1 << 70} : index", 1),
        ("0 : i32", "0x10 : i32", 0),
        ("true", "false", 0),
        ("1.0 : f32", "-0.0 : f32", 1),
        ("1.0 : f32", "0.1 : f32", 1),
        ("1.0 : f32", "1.e-3 : f32", 1),
        ("1.0 : f32", "1.0e-50 : f32", 1),
        ("1.0 : f32", "0x7FC00000 : f32", 0),
        ("1.0 : f32", "16777217 : f32", 0),
        ("1.0 : f16", "6.5E4 : f16", 1),
        ("1.0 : bf16", "1.003 : bf16", 0),
        ("0 : i32", '5 : i32 loc("a":1:2)', 0),
    ],
)
def test_constants_that_differ_in_the_number(first: str, literal: str, count: int):
    lines = [f"%{n} = arith.constant {text}" for n, text in enumerate((first, literal))]
    assert by_shape(function(*lines)) == count


@table_test(
    ("first", "literal", "message"),
    [
        ("0 : i8", "256 : i8", "out of range"),
        ("0 : i32", "1.5 : i32", "Floating point value is not valid"),
        ("1.0 : f32", "1.0e39 : f32", "too large"),
        ("1.0 : f16", "65520.0 : f16", "too large"),
        ("0 : i32", "- : i32", "expected"),
    ],
)
def test_constants_without_a_value(first: str, literal: str, message: str):
    lines = [f"%{n} = arith.constant {text}" for n, text in enumerate((first, literal))]
    assert message.lower() in error_of(function(*lines)).lower()


def test_a_word_before_a_constant_is_an_error():
    lines = [f"%{n} = arith.constant {n} : i32" for n in range(3)]
    assert "operation 'x'" in error_of(function(*lines[:2], f"x{lines[2]}"))
