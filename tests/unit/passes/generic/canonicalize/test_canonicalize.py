"""canonicalize: the limit of rewrites, and remarks; see also tests/conformance."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import AddiOp, Arith, ConstantOp
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.parser import Parser

from passline.passes.generic.canonicalize.canonicalize import Canonicalize, canonicalize
from passline.passmanager import CollectingActions, Diagnostic, PassContext, Remark

TEXT = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %a, %0 : i32
  %2 = arith.addi %1, %0 : i32
  func.return %2 : i32
^bb1:
  func.return %a : i32
}
"""


@pytest.mark.parametrize(
    ("limit", "left"), [(0, "caa"), (1, "ca"), (2, "c"), (3, ""), (4, ""), (-1, "")]
)
def test_the_number_of_rewrites_is_limited(limit: int, left: str) -> None:
    ctx = Context()
    for dialect in (Arith, Builtin, Func):
        ctx.load_dialect(dialect)
    module = Parser(ctx, TEXT).parse_module()
    canonicalize(module, ctx, limit, recorder := CollectingActions())
    letters = {AddiOp.name: "a", ConstantOp.name: "c"}
    assert "".join(letters.get(op.name, "") for op in module.walk()) == left
    assert recorder.counts.total() == 3 - len(left)


def test_each_rewrite_is_a_remark_in_its_function() -> None:
    found: list[Diagnostic] = []
    ctx = Context()
    for dialect in (Arith, Builtin, Func):
        ctx.load_dialect(dialect)
    with PassContext(remark_filter={"passed": "canon"}, renderer=found.extend):
        Canonicalize().apply(ctx, Parser(ctx, TEXT).parse_module())
    said = [(d.name, d.function, d.arguments["Op"]) for d in found if isinstance(d, Remark)]
    assert sorted(said) == [
        ("FoldScalar", "f", "arith.addi"),
        ("FoldScalar", "f", "arith.addi"),
        ("RemoveDead", "f", "arith.constant"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "%0 = arith.addi %1, %1 : i32 %1 = arith.addi %0, %0 : i32",
        '"other.op"() ({ %0 = arith.addi %1, %1 : i32 %1 = arith.addi %0, %0 : i32 }) : () -> ()',
        "builtin.module { %0 = arith.addi %1, %1 : i32 %1 = arith.addi %0, %0 : i32 }",
        "%c = arith.constant true "
        "scf.if %c { %0 = arith.addi %1, %1 : i32 } else { } %1 = arith.constant 1 : i32",
    ],
)
def test_dead_cycles_of_graph_regions_are_removed(text: str) -> None:
    ctx = Context(allow_unregistered=True)
    for dialect in (Arith, Builtin, Func, Scf):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    canonicalize(module, ctx)
    assert not any(isinstance(op, AddiOp) for op in module.walk())
