"""canonicalize: its options, and remarks; see also tests/conformance."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from support.parsing import parsed
from xdsl.context import Context
from xdsl.dialects.arith import AddiOp, Arith, ConstantOp
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from passline.passes.generic.canonicalize.canonicalize import Canonicalize, canonicalize
from passline.passes.generic.identical_blocks import merge_identical_blocks
from passline.passmanager import CollectingActions, Diagnostic, PassContext, Remark
from passline.passmanager.registry import make_ir_context

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


BLOCKS = """
func.func @f(%c: i1) {
  "test.op"() : () -> ()
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  "test.op"() : () -> ()
  func.return
^bb2:
  "test.op"() : () -> ()
  func.return
^bb3:
  func.return
}
"""


@pytest.mark.parametrize(("region_simplify", "left"), [("disabled", 4), ("normal", 3)])
def test_regions_are_simplified_on_demand(
    region_simplify: Literal["disabled", "normal"], left: int
) -> None:
    module = parsed(BLOCKS)
    Canonicalize(region_simplify=region_simplify).apply(make_ir_context(), module)
    (func,) = module.ops
    assert len(func.regions[0].blocks) == left


def test_equal_blocks_are_merged_on_demand() -> None:
    module = parsed(BLOCKS)
    Canonicalize(region_simplify="aggressive").apply(make_ir_context(), module)
    (func,) = module.ops
    assert len(func.regions[0].blocks) == 1  # the one after the merged branch was merged into it


@pytest.mark.parametrize("top_down", [True, False])
def test_the_order_of_visits_does_not_change_the_result(top_down: bool) -> None:
    module = parsed(TEXT)
    Canonicalize(top_down=top_down).apply(make_ir_context(), module)
    (func,) = module.ops
    assert [op.name for op in func.walk()] == ["func.func", "func.return"]


def test_a_limit_that_is_reached_may_be_an_error() -> None:
    for limit in (Canonicalize(max_iterations=1), Canonicalize(max_num_rewrites=1)):
        limit.apply(make_ir_context(), parsed(TEXT))
        failing = replace(limit, test_convergence=True)
        with pytest.raises(PassFailedException, match="a limit ended canonicalize"):
            failing.apply(make_ir_context(), parsed(TEXT))
    Canonicalize(max_iterations=3, test_convergence=True).apply(make_ir_context(), parsed(TEXT))


def test_a_chain_of_equal_blocks_takes_one_look_each() -> None:
    """Blocks that lead to merged ones become equal, one after the other."""
    count = 300
    lines = ["func.func @f(%n: i32) {", '  "test.op"() : () -> ()', "  cf.switch %n : i32, ["]
    lines += ["    default: ^a0,", "    1: ^b0", "  ]"]
    for i in range(count):
        for side in "ab":
            end = f"cf.br ^{side}{i + 1}" if i + 1 < count else "func.return"
            lines += [f"^{side}{i}:", f'  "test.op"() {{i = {i} : i32}} : () -> ()', f"  {end}"]
    module = parsed("\n".join([*lines, "}"]))
    assert merge_identical_blocks(module)
    (func,) = module.ops
    assert len(func.regions[0].blocks) == 1 + count
