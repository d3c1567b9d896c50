"""Terminators that are left out of text: which are read back, and which are printed."""

from __future__ import annotations

from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import module_text
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

USE = '"foo.use"() : () -> ()\n'
LOOP = "scf.for %i = %a to %a step %a {{\n{}\n}}"
IF = "scf.if %c {{\n{}\n}}"
SCOPE = "memref.alloca_scope {{\n{}\n}}"
AFFINE = "affine.for %i = 0 to 3 {{\n{}\n}}"
REGION = "scf.execute_region {{\n{}\n}}"


def parse(text: str) -> ModuleOp:
    """Read a module, and verify it."""
    module = parse_module(make_ir_context(allow_unregistered=True), text, "x.mlir")
    verify(module)
    return module


def printed(module: ModuleOp) -> str:
    return module_text(module, make_ir_context(allow_unregistered=True))


def in_function(text: str) -> ModuleOp:
    return parse(f"func.func @f(%c: i1, %a: index) {{\n{text}\nfunc.return\n}}")


@table_test(
    "text",
    [
        IF.format(f"{USE}scf.yield"),
        f"scf.if %c {{\n}} else {{\n{USE}scf.yield\n}}",
        LOOP.format(f"{USE}scf.yield"),
        LOOP.format("scf.yield {b}"),
        IF.format("scf.yield {a = 1 : i32}"),
        SCOPE.format(f"{USE}memref.alloca_scope.return"),
        AFFINE.format(f"{USE}affine.yield"),
        REGION.format("scf.yield"),
        REGION.format("cf.br ^bb1\n^bb1:\nscf.yield"),
        LOOP.format(IF.format(f"{USE}scf.yield")),
    ],
)
def test_what_is_printed_is_read_back(text: str) -> None:
    module = in_function(text)
    assert parse(printed(module)).is_structurally_equivalent(module)


@table_test("form", [IF, LOOP, SCOPE, AFFINE])
def test_a_terminator_is_added_after_an_unregistered_operation(form: str) -> None:
    """As in mlir-opt, which leaves it out."""
    ends = {IF: "scf.yield", LOOP: "scf.yield", AFFINE: "affine.yield"}
    end = ends.get(form, "memref.alloca_scope.return")
    assert printed(in_function(form.format(USE))) == printed(in_function(form.format(USE + end)))


@table_test("text", [IF.format("%0 = arith.constant 1 : i32\nscf.yield")])
def test_other_terminators_are_left_out(text: str) -> None:
    assert "scf.yield" not in printed(in_function(text))
