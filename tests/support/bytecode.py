"""Files of bytecode for the tests, made part by part."""

from __future__ import annotations

from collections.abc import Mapping

from passline.passmanager.bytecode.encoding import Section, add_section, varint
from passline.passmanager.bytecode.reader import read_bytecode
from passline.passmanager.bytecode.writer import write_bytecode
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import PrintStyle, module_text
from passline.passmanager.registry import make_ir_context

from .parsing import parsed

TEXT = """
func.func @f(%c: i1, %n: index) -> index {
  %z = arith.constant 0 : index
  %x = arith.addi %n, %n : index
  cf.cond_br %c, ^a(%x : index), ^b
^a(%p: index):
  %r = scf.for %i = %z to %n step %x iter_args(%acc = %p) -> index {
    %s = arith.addi %acc, %i : index
    scf.yield %s : index
  }
  cf.br ^b
^b:
  %y = "test.op"(%x, %n, %x) <{a = 1 : i8}> ({}, {^bb0:}) {b = "c"} : (index, index, index) -> index
  func.return %y : index
}
"""


def written(text: str, version: int = 6) -> bytes:
    """Return a module as bytecode."""
    return write_bytecode(parsed(text), make_ir_context(allow_unregistered=True), version)


def shown(given: str | bytes) -> str:
    """Return the generic form of a module, with locations, entries sorted by name, and names that
    are numbers."""
    ctx = make_ir_context(allow_unregistered=True)
    if isinstance(given, bytes):
        module = read_bytecode(ctx, given, "x.mlir")
    else:
        module = parse_module(ctx, given, "x.mlir")
    for op in module.walk():
        op.properties = dict(sorted(op.properties.items()))
        op.attributes = dict(sorted(op.attributes.items()))
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                block.name_hint = None
                for argument in block.args:
                    argument.name_hint = None
    return module_text(module, ctx, PrintStyle(generic=True, debuginfo=True))


def file_of(sections: Mapping[Section, bytes], version: int = 6) -> bytes:
    """Return a file of these sections."""
    out = bytearray(b"ML\xefR" + varint(version) + b"test\0")
    for section, content in sections.items():
        add_section(out, section, (content,))
    return bytes(out)


def numbers(*values: int) -> bytes:
    """Return integers of variable length."""
    return b"".join(map(varint, values))


def minimal(**changed: bytes | None) -> bytes:
    """Return a file with an empty module, in which sections are replaced, or left out."""
    sections: dict[str, bytes | None] = {
        "STRING": numbers(2, 7, 8) + b"builtin\0module\0",
        "DIALECT": numbers(1, 0, 1, 0, 1, 1 << 1 | 1),
        "OFFSETS": numbers(1, 0, 0, 1, 1 << 1 | 1),
        "ATTRIBUTES": numbers(15),
        "IR": numbers(1 << 1, 0) + b"\x10" + numbers(0, 1 << 1, 1, 0, 0),
        "PROPERTIES": numbers(0),
        **changed,
    }
    kept = {Section[name]: part for name, part in sections.items() if part is not None}
    return file_of(kept)
