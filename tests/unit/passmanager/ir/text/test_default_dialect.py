"""Names without a dialect in the regions of operations that have a default dialect."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, region_def, traits_def
from xdsl.parser import Parser
from xdsl.traits import NoTerminator

from passline.passmanager.ir.text.default_dialect import DefaultDialect
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import PrintStyle, module_text


@irdl_op_definition
class BoxOp(IRDLOperation):
    """An operation whose region needs no prefix."""

    name = "short.box"

    body = region_def()

    traits = traits_def(DefaultDialect(), NoTerminator())

    assembly_format = "$body attr-dict"


@irdl_op_definition
class LeafOp(IRDLOperation):
    """An operation in it."""

    name = "short.leaf"

    assembly_format = "attr-dict"


@irdl_op_definition
class PlainOp(IRDLOperation):
    """One of another dialect."""

    name = "long.plain"

    assembly_format = "attr-dict"


TEXT = """\
builtin.module {
  short.leaf
  short.box {
    leaf
    long.plain
    box {
      leaf {a}
    }
  }
}
"""


def read(text: str) -> tuple[ModuleOp, Context]:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Dialect("short", [BoxOp, LeafOp]))
    ctx.load_dialect(Dialect("long", [PlainOp]))
    return parse_module(ctx, text, "test"), ctx


def test_names_are_printed_without_the_dialect_where_they_are_read_so() -> None:
    module, ctx = read(TEXT)
    assert module_text(module, ctx).strip() == TEXT.strip()


def test_the_generic_form_has_full_names() -> None:
    module, ctx = read(TEXT)
    generic = module_text(module, ctx, PrintStyle(generic=True))
    assert generic.count('"short.leaf"') == 3 and '"leaf"' not in generic
    assert module_text(*read(generic)).strip() == TEXT.strip()


def test_the_text_of_xdsl_is_read_as_well() -> None:
    module, ctx = read(TEXT)
    assert str(module).count("short.leaf") == 3
    again = Parser(ctx, str(module)).parse_module()
    assert module_text(again, ctx) == module_text(module, ctx)
