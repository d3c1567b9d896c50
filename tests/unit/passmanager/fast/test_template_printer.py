"""Printing from templates: the text of xDSL's printer, in every style, and how often it is used."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from support.budget import some
from support.releases import has_xdsl, needs_part
from support.tables import table_test
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DictionaryAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from passline.passmanager.fast import template_printer
from passline.passmanager.fast.op_templates import has_template
from passline.passmanager.fast.reading.locating_parser import LocatingParser
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import ExactPrinter, PlainPrinter, PrintStyle
from passline.passmanager.registry import make_ir_context

ROOT = Path(__file__).parents[4]
# xDSL's own test files, from its source distribution, if this variable names their folder
ROOTS = [
    ROOT / "tests/filecheck",
    ROOT / "examples",
    *map(Path, os.environ.get("XDSL_TESTS", "").split()),
]
FILES = sorted(path for root in ROOTS for path in root.rglob("*.mlir"))

PLAIN = PrintStyle()
STYLES = [
    PLAIN,
    PrintStyle(generic=True),
    PrintStyle(generic=True, properties_as_attributes=True),
    PrintStyle(debuginfo=True),
    PrintStyle(generic=True, debuginfo=True),
    PrintStyle(unique_ssa_ids=True),
    PrintStyle(value_users=True),
    PrintStyle(skip_regions=True),
    PrintStyle(elide_elements=4),
    PrintStyle(resource_elements=4),
]


def text_of(op: Operation, printer: type[PlainPrinter], style: PrintStyle = PLAIN) -> str:
    """Return the text of an op with its resources, or the error of printing it."""
    made = printer(stream := StringIO(), style)
    try:
        made.print_op(op)
        made.print_metadata(())
    except Exception as error:
        return f"{stream.getvalue()}{error!r}"
    return stream.getvalue()


def modules(path: Path) -> Iterator[ModuleOp]:
    """Yield the modules of a file that can be read."""
    for text in re.split(r"^// ?-----.*$", path.read_text(), flags=re.MULTILINE):
        try:
            yield parse_module(make_ir_context(allow_unregistered=True), text, path.name)
        except (ParseError, VerifyException):
            continue


def read(text: str) -> ModuleOp:
    return parse_module(make_ir_context(allow_unregistered=True), text, "x")


def printed(op: Operation, style: PrintStyle = PLAIN, *, first: bool = True) -> ExactPrinter:
    """Return a printer after it has printed `op` as the slow one does; as the `first`, which knows
    no texts of others."""
    if first:
        template_printer._shared_texts.cache_clear()  # pyright: ignore[reportPrivateUsage]
    printer = ExactPrinter(stream := StringIO(), style)
    printer.print_op(op)
    slow = PlainPrinter(expected := StringIO(), style)
    slow.print_op(op)
    assert stream.getvalue() == expected.getvalue()
    return printer


@table_test("path", some(FILES, 4))
def test_files_are_printed_as_without_templates(path: Path) -> None:
    for module in modules(path):
        for style in STYLES:
            assert text_of(module, ExactPrinter, style) == text_of(module, PlainPrinter, style)


@needs_part("printing")
def test_all_but_the_first_op_of_a_signature_are_printed_from_a_template() -> None:
    lines = [f"%{n + 2} = arith.addf %{n}, %{n + 1} : f32" for n in range(100)]
    body = "\n".join(['%0 = "test.op"() : () -> f32', '%1 = "test.op"() : () -> f32', *lines])
    assert printed(read(body)).templated == 1 + 99


@table_test("style", STYLES)
def test_names_are_given_in_the_order_of_the_text(style: PrintStyle) -> None:
    printed(
        read("""
        "test.graph"() ({
          %a = arith.addi %later, %b : i32
          %b = arith.addi %a, %a : i32
          %c = arith.addi %b, %b : i32
          %later = arith.addi %c, %a : i32
          %d, %e = "test.op"(%c, %c, %d) {text = "100 % %a"} : (i32, i32, i32) -> (i32, i32)
          %f, %g = "test.op"(%d, %e, %d) {text = "100 % %a"} : (i32, i32, i32) -> (i32, i32)
          %h, %i = "test.op"(%d, %d, %e) {text = "100 % %a"} : (i32, i32, i32) -> (i32, i32)
          %h_1 = arith.addi %h, %i : i32
        }) : () -> ()"""),
        style,
    )


LOOPS = """
  func.func @f(%a: index, %b: index, %c: i1, %m: memref<4xindex>) {
    scf.for %i = %a to %b step %a {
      scf.for %j = %a to %i step %b {
        memref.store %i, %m[%j] : memref<4xindex>
      }
    }
    scf.for %i = %a to %a step %b {
    } {text = "100 % %a"}
    scf.for %i = %a to %b step %a {
    }
    %s, %t = scf.for %i = %a to %b step %b iter_args(%x = %a, %y = %b) -> (index, index) {
      %u, %v = scf.for %j = %a to %b step %i iter_args(%z = %x, %w = %y) -> (index, index) {
        scf.yield %w, %z : index, index
      }
      scf.yield %u, %v : index, index
    }
    scf.if %c {
      scf.if %c {
      } else {
        scf.if %c {
        }
      }
    } else {
    }
    %r = scf.while (%x = %s) : (index) -> index {
      %k = arith.cmpi slt, %x, %t : index
      scf.condition(%k) %x : index
    } do {
    ^bb0(%x: index):
      scf.yield %x : index
    }
    tir.for %i = %a extent %b {
      tir.for %j = %i extent %i {
      }
    }
    "test.regions"(%r) ({
      "test.regions"(%s) ({
      ^bb0(%p: i32):
        "test.op"(%p) : (i32) -> ()
      }, {
      }) : (index) -> ()
    }, {
      "test.regions"(%t) ({
      ^bb0(%p: i32):
        "test.op"(%p) : (i32) -> ()
      ^bb1:
        "test.op"() : () -> ()
      }, {
      }) : (index) -> ()
    }) : (index) -> ()
    func.return
  }
"""


@table_test("style", STYLES)
def test_regions_are_printed_in_the_text_of_a_template(style: PrintStyle) -> None:
    loops = LOOPS if has_xdsl("0.73") else LOOPS.replace(' {text = "100 % %a"}', "")  # not read
    printed(read(loops + loops.replace("@f", "@g")), style)


@needs_part("printing")
def test_of_the_same_loops_the_first_makes_a_template() -> None:
    loop = "scf.for %i = %a to %b step %a { memref.store %i, %m[%i] : memref<4xindex> }\n"
    values = '%a, %b, %m = "test.op"() : () -> (index, index, memref<4xindex>)\n'
    assert printed(read(values + 5 * loop)).templated == 2 * 4


@needs_part("printing")
def test_a_region_that_is_not_its_own_makes_no_template() -> None:
    class BorrowingOp(test.TestOp):
        def print(self, printer: Printer) -> None:
            printer.print_region(other.regions[0])

    setattr(BorrowingOp.print, "of_signature", True)
    other = test.TestOp(regions=[[test.TestOp()]])
    ops = [BorrowingOp(regions=[[test.TestOp()]]) for _ in range(2)]
    assert printed(ModuleOp([*ops])).templated == 2 - 1


@needs_part("printing")
def test_equal_types_of_different_identity_share_a_template() -> None:
    line = '%{} = "test.op"() : () -> tensor<16x32xf32>'
    text = "\n".join(line.format(n) for n in range(5))
    ctx = make_ir_context(allow_unregistered=True)
    module = LocatingParser(ctx, text, "x").parse_module()
    types = {id(result.type) for op in module.ops for result in op.results}
    assert len(types) == 5
    assert printed(module).templated == 4


@needs_part("printing")
def test_ops_without_the_name_of_their_dialect_have_templates_of_their_own() -> None:
    lines = [f"%{n} = addi %x, %y overflow<no_wrap> : tile<i32>" for n in range(5)]
    body = "\n".join([*lines, "%z = addi %x, %x overflow<no_wrap> : tile<i32>", "return"])
    text = f"cuda_tile.module @m {{ entry @e(%x: tile<i32>, %y: tile<i32>) {{ {body} }} }}"
    assert printed(read(text)).templated == 4


@needs_part("printing")
def test_printers_of_one_style_share_templates() -> None:
    module = read('%0 = "test.op"() {name = "x"} : () -> i32')
    assert [printed(module, first=first).templated for first in (True, False)] == [0, 1]
    assert printed(module, PrintStyle(debuginfo=True), first=False).templated == 0


def test_each_printer_prints_the_resources_that_its_text_refers_to() -> None:
    text = '"test.op"() {value = dense<[1, 2, 3, 4, 5]> : tensor<5xi32>} : () -> ()'
    style = PrintStyle(resource_elements=4)
    texts = {text_of(read(f"{text}\n{text}"), ExactPrinter, style) for _ in range(3)}
    assert len(texts) == 1 and texts.pop().count("constant_") == 2 + 1


def test_equal_dictionaries_in_another_order_do_not() -> None:
    one, two = StringAttr("one"), StringAttr("two")
    orders = [{"a": one, "b": two}, {"b": two, "a": one}]
    ops = [test.TestOp(attributes={"d": DictionaryAttr(order)}) for order in orders]
    assert printed(ModuleOp([*ops])).templated == 0


def test_properties_and_attributes_are_different() -> None:
    known = {"prop1": UnitAttr()}
    ops = [test.TestOp(properties=known), test.TestOp(attributes=known)]
    assert printed(ModuleOp([*ops]), PrintStyle(generic=True)).templated == 0


def test_text_of_several_lines_is_no_template() -> None:
    module = read(
        '"test.op"() {a = #x.y<1,\n 2>} : () -> ()\n"test.op"() {a = #x.y<1,\n 2>} : () -> ()'
    )
    assert printed(module).templated == 0


def test_a_printer_remembers_names_between_ops() -> None:
    first, second = arith.ConstantOp.from_int_and_width(1, 32), test.TestOp(result_types=[i32])
    printer = ExactPrinter(stream := StringIO())
    for op in (first, second, arith.AddiOp(first, second.results[0])):
        printer.print_op(op)
        printer.print_string(";")
    names = [*re.findall(r"%\d+", stream.getvalue())]
    assert names == ["%0", "%1", "%2", "%0", "%1"]


def test_output_comes_before_an_error() -> None:
    class FailingOp(test.TestOp):
        def print(self, printer: Printer) -> None:
            printer.print_string(" started")
            raise ValueError

    printer = ExactPrinter(stream := StringIO())
    with pytest.raises(ValueError):
        printer.print_op(ModuleOp([FailingOp()]))
    assert stream.getvalue() == "builtin.module {\n  test.op started"


def test_column_is_kept() -> None:
    printer = ExactPrinter(StringIO())
    printer.print_string("ab")
    printer.print_op(test.TestOp())
    slow = PlainPrinter(StringIO())
    slow.print_string("ab")
    slow.print_op(test.TestOp())
    assert printer._current_column == slow._current_column  # pyright: ignore[reportPrivateUsage]


class Parts(StringIO):
    """A stream that counts how often it is written to."""

    count = 0

    def write(self, text: str, /) -> int:
        self.count += 1
        return super().write(text)


def test_text_is_written_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_printer, "_PIECES", 10)
    number = arith.ConstantOp.from_int_and_width(1, 32)
    sums = [arith.AddiOp(number, number) for _ in range(100)]
    for op in sums:  # no other test has kept the template of these
        op.attributes["written_on_the_way"] = UnitAttr()
    module = ModuleOp([number, test.TestOp(), *sums])
    ExactPrinter(parts := Parts()).print_op(module)
    PlainPrinter(plain := StringIO()).print_op(module)
    assert parts.getvalue() == plain.getvalue() and parts.count > 5


# Which classes


@irdl_op_definition
class DeclaredOp(IRDLOperation):
    name = "mine.declared"
    operand = operand_def(f32)
    result = result_def(f32)
    assembly_format = "$operand attr-dict"


class OverridingOp(DeclaredOp):
    def print(self, printer: Printer) -> None:
        users = sum(1 for _ in self.result.uses)
        printer.print_string(f" used {users} times")


@table_test(
    ("op_class", "generic", "expected"),
    [
        (DeclaredOp, False, True),
        (OverridingOp, False, False),
        (OverridingOp, True, True),
        (arith.CmpiOp, False, True),
        (test.TestOp, False, True),
        (ModuleOp, True, False),
    ],
)
def test_classes_with_templates(op_class: type[Operation], generic: bool, expected: bool) -> None:
    assert has_template(op_class, generic) == expected


def test_an_op_that_looks_around_is_printed_by_itself() -> None:
    source = test.TestOp(result_types=[f32])
    ops = [OverridingOp.create(operands=source.results, result_types=[f32]) for _ in range(3)]
    user = test.TestOp(ops[1].results)
    assert "used 1 times" in text_of(ModuleOp([source, *ops, user]), ExactPrinter)
    assert printed(ModuleOp([op.clone() for op in (source,)])).templated == 0


@needs_part("printing")
def test_a_subclass_that_adds_to_print_op_sees_every_op() -> None:
    class Counting(ExactPrinter):
        count = 0

        def print_op(self, op: Operation) -> None:
            self.count += 1
            super().print_op(op)

    module = ModuleOp([test.TestOp() for _ in range(3)])
    printer = Counting(StringIO(), replace(PLAIN))
    printer.print_op(module)
    assert printer.count == 4
    assert printer.templated == 2


@needs_part("printing")
@table_test("generic", [False, True])
def test_ops_that_differ_in_types_and_callees_share_a_template(generic: bool) -> None:
    types = [f"tensor<{n}xf32>" for n in range(1, 9)]
    lines = [f'%{n} = "test.op"() : () -> {type}' for n, type in enumerate(types)]
    lines += [f"%a{n} = relax.exp %{n} : ({type}) -> {type}" for n, type in enumerate(types)]
    lines += [
        f"%b{n}, %c{n} = func.call @f{n}(%{n}) : ({t}) -> ({t}, {t})" for n, t in enumerate(types)
    ]
    assert printed(read("\n".join(lines)), PrintStyle(generic=generic)).templated >= 2 * 7


@needs_part("printing")
@table_test(
    ("lines", "templated"),
    [
        (["%{r} = arith.addi %a{n}, %b{n} : i{n}"], 7),
        (["%{r} = arith.addi %a{n}, %b{n} : i{n}", "%{s} = arith.addi %b{n}, %b{n} : i{n}"], 15),
        (["%{r} = arith.extsi %a{n} : i{n} to i9"], 7),
        (["%{r} = arith.constant {n} : i32"], 7),
        (["%{r} = arith.constant {n} : i{n}"], 7),
        (["%{r} = arith.constant {n}.5 : f32"], 7),
        (["%{r} = arith.constant {{x = {n}}} 1 : i32"], 0),
        (["%{r} = arith.constant dense<{n}> : tensor<2xi32>"], 0),
        (["%{r} = arith.cmpi slt, %a{n}, %b{n} : i{n}"], 0),
    ],
)
def test_what_stands_at_the_end_is_not_part_of_a_template(lines: list[str], templated: int) -> None:
    sizes = range(1, 9)
    values = [f'%a{n}, %b{n} = "test.op"() : () -> (i{n}, i{n})' for n in sizes]
    texts = [line.format(n=n, r=f"r{n}", s=f"s{n}") for n in sizes for line in lines]
    module = read("\n".join([*values, *texts]))
    for style in STYLES:
        assert text_of(module, ExactPrinter, style) == text_of(module, PlainPrinter, style)
    assert printed(module).templated == templated


@table_test("style", STYLES)
@table_test(
    "lines",
    [
        # Operands that are one value, before and after others.
        ["%c = relax.add %a, %a : (T, T) -> T", "%d = relax.add %c, %a : (T, T) -> T"] * 2,
        ["%d = relax.add %b, %a : (T, T) -> T", "%c = relax.add %a, %a : (T, T) -> T"] * 2,
        ["func.call @f(%a) : (T) -> ()", 'func.call @"%s("(%a) : (T) -> ()'] * 2,
        ["func.call @f(%a) : (T) -> ()", "func.call @g(%a) {callee = 1 : i32} : (T) -> ()"] * 2,
        ["%c = func.call @f() : () -> (() -> T)", "%d = func.call @g() : () -> (() -> ())"] * 2,
        ["%c = func.call @f() : () -> T", "func.call @g(%a, %b) : (T, T) -> ()"] * 2,
        ['"test.op"(%a) {x = "(T) -> T"} : (T) -> ()', '"test.op"(%a) : (T) -> ()'] * 2,
        ['"test.op"() : () -> ()', '"other.op"() : () -> ()', '"other.two"() : () -> ()'] * 2,
    ],
)  # fmt: skip
def test_types_at_the_end(lines: list[str], style: PrintStyle) -> None:
    names = iter(range(100))
    lines = [re.sub("^%[cd] ", lambda _: f"%r{next(names)} ", line) for line in lines]
    lines = [re.sub("%c", "%r0", line).replace("T", "tensor<4xf32>") for line in lines]
    values = '%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xf32>)'
    module = read("\n".join([values, *lines]))
    assert text_of(module, ExactPrinter, style) == text_of(module, PlainPrinter, style)


@table_test("style", STYLES)
def test_ops_of_functions_have_templates_of_their_own(style: PrintStyle) -> None:
    values = '%a, %f = "test.op"() : () -> (i32, () -> ())'
    lines = [
        '%{} = "arith.minui"(%a, %a) : (i32, i32) -> i32',
        '%{} = "arith.minui"(%f, %f) : (() -> (), () -> ()) -> (() -> ())',
    ]
    texts = [line.format(n) for n, line in enumerate(lines * 2)]
    printed(read("\n".join([values, *texts])), style)


@needs_part("printing")
def test_templates_are_forgotten_where_lines_do_not_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_printer, "_ENTRIES", 10)
    printer = printed(read("\n".join(f"%{n} = arith.constant {n} : i32" for n in range(100))))
    assert printer.templated > 80
    assert isinstance(printer, template_printer.TemplatePrinter)
    assert len(printer._known.templates) <= 11  # pyright: ignore[reportPrivateUsage]


@table_test(
    "type",
    [
        TensorType(f32, []),
        TensorType(f32, [1, 0, DYNAMIC_INDEX]),
        TensorType(TensorType(i32, [2]), [3]),
        TensorType(f32, [4], StringAttr("encoding")),
        TensorType(f32, [-7, 1 << 70]),
        MemRefType(f32, [4, DYNAMIC_INDEX]),
        MemRefType(MemRefType(f32, []), [1]),
        MemRefType(f32, [4], memory_space=StringAttr("local")),
        MemRefType(f32, [4], StridedLayoutAttr([2], 1)),
    ],
)
def test_shapes_are_printed_as_by_xdsl(type: Attribute) -> None:
    ExactPrinter(ours := StringIO()).print_attribute(type)
    Printer(xdsl := StringIO()).print_attribute(type)
    assert ours.getvalue() == xdsl.getvalue()
