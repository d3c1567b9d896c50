"""Blame: the origin of each op of a result, and the reason why others are gone."""

from __future__ import annotations

from support.passes.records import record_of
from support.passes.toy import Append, Fail, Nothing, Tag, module, named
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp, TestTermOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from passline import load
from passline.passes import FuseOps
from passline.passes.generic.eliminate_common_subexpr import eliminate_common_subexpressions
from passline.passmanager import PassContext, PatternPass
from passline.passmanager.report.blame import blame_text, erased_text


class Renew(RewritePattern):
    """Replace a `test.op` in a function by one with an attribute."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TestOp, rewriter: PatternRewriter) -> None:
        if not op.attributes:
            rewriter.replace(op, TestOp(attributes={"new": op.location}))


class RenewAll(PatternPass):
    name = "renew"

    def patterns(self) -> list[RewritePattern]:
        return [Renew()]


def with_op() -> ModuleOp:
    """Return a module with one function, with an op that Renew matches."""
    ir = module("f")
    func = ir.body.block.first_op
    assert isinstance(func, FuncOp)
    func.body.block.insert_op_before(TestOp(), func.body.block.ops.first)  # pyright: ignore
    return ir


def origins(*passes: ModulePass, ir: ModuleOp | None = None) -> list[str]:
    """Return the lines of blame without sources."""
    lines = blame_text(record_of(*passes, ir=ir)).splitlines()
    assert lines[0] == "// -----// IR Blame //----- //" and lines[-1] == ""
    return [
        f"{line.split()[0]}: {line.partition('| ')[2]}" for line in lines[1:-1] if line[0] != " "
    ]


def erase_last(ir: ModuleOp, ctx: PassContext) -> None:
    assert (last := ir.body.block.last_op) is not None
    last.detach()


def test_op_is_from_the_input_or_from_a_pass() -> None:
    assert origins(Append(), Nothing(), Append("y"), ir=module("f")) == [
        "input: func.func @f() {",
        "input:   func.return",
        'toy-append: "test.op"() {tag = "x"} : () -> ()',
        'toy-append: "test.op"() {tag = "y"} : () -> ()',
    ]


def test_op_that_is_changed_in_place_is_still_from_the_input() -> None:
    assert origins(Tag(), ir=module("f"))[0] == 'input: func.func @f() attributes {seen = "yes"} {'


def test_pattern_is_named() -> None:
    lines = blame_text(record_of(RenewAll(), ir=with_op())).splitlines()
    (made,) = [line for line in lines if "test.op" in line]
    assert made.startswith("renew Renew  ")


def test_pattern_that_erased_is_named() -> None:
    erased = erased_text(record_of(Nothing(), RenewAll(), ir=with_op()), "test.op")
    assert erased.endswith('erased by renew Renew (2 of 2): "test.op"() : () -> ()\n')
    assert erased.count("\n") == 1


def test_source_is_shown_and_searched() -> None:
    record = record_of(named("erases", body=erase_last), ir=module("f"))
    assert "toy.mlir" not in erased_text(record, "@g")
    whole = erased_text(record, "func.")
    assert erased_text(record, "@f") == whole.splitlines(keepends=True)[0]
    assert "erased by erases (1 of 1): func.func @f() {" in whole


def test_nothing_matches() -> None:
    text = erased_text(record_of(Append()), "nowhere")
    assert text == "no erased or moved operation contains 'nowhere'\n"


def test_equal_ops_are_told_apart() -> None:
    record = record_of(Append(), named("erases", body=erase_last), Append("x"))
    (line,) = [line for line in blame_text(record).splitlines() if "test.op" in line]
    assert line.startswith("toy-append")
    assert erased_text(record, "test.op").startswith("erased by erases (2 of 3)")


OUTLINED = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}
"""


def test_outlined_op_is_moved_and_its_equals_are_merged() -> None:
    record = record_of(FuseOps(fuse_opt_level=0), ir=load(OUTLINED))
    lines = erased_text(record, "relax.exp").splitlines()
    assert [line.partition(": %")[0] for line in lines] == [
        "<text>:3:8: moved by fuse-ops (2 of 2) into @fused_exp",
        "<text>:8:8: merged by fuse-ops (2 of 2) with the equal operation in @fused_exp",
        "<text>:10:8: merged by fuse-ops (2 of 2) with the equal operation in @fused_exp",
    ]
    (blamed,) = [line for line in blame_text(record).splitlines() if " relax.exp" in line]
    assert blamed.startswith("input, moved by fuse-ops")


def test_merged_subexpression_names_where_the_other_is() -> None:
    def body(ir: ModuleOp, ctx: PassContext) -> None:
        eliminate_common_subexpressions(ir, actions=ctx.actions)

    erased = erased_text(record_of(named("cse", body=body), ir=load(OUTLINED)), "relax.")
    assert erased.startswith("<text>:10:8: merged by cse (1 of 1) with the equal operation in @g: ")
    assert erased.count("\n") == 1


def hoist(ir: ModuleOp, ctx: PassContext) -> None:
    """Move the first op in the region of a `test.op` before it."""
    holder = next(op for op in ir.walk() if isinstance(op, TestOp) and op.regions)
    inner = holder.regions[0].block.first_op
    assert inner is not None and holder.parent is not None
    inner.detach()
    holder.parent.insert_op_before(inner, holder)


def sink(ir: ModuleOp, ctx: PassContext) -> None:
    """Move the first op of the first function into the region of the one after it."""
    func = ir.body.block.first_op
    assert isinstance(func, FuncOp) and (first := func.body.block.first_op) is not None
    first.detach()
    assert (holder := func.body.block.first_op) is not None
    holder.regions[0].block.insert_ops_before([first], holder.regions[0].block.last_op)  # pyright: ignore


def with_region() -> ModuleOp:
    ir = module("f")
    func = ir.body.block.first_op
    assert isinstance(func, FuncOp)
    inner = TestOp(attributes={"inner": UnitAttr()}, regions=[Region(Block([TestTermOp()]))])
    holder = TestOp(regions=[Region(Block([inner, TestTermOp()]))])
    func.body.block.insert_op_before(holder, func.body.block.ops.first)  # pyright: ignore
    return ir


def test_op_is_moved_out_of_a_region_and_into_one() -> None:
    record = record_of(named("hoists", body=hoist), named("sinks", body=sink), ir=with_region())
    lines = erased_text(record, "test.op").splitlines()
    # What is in the op moves with it, and is not listed.
    assert [line.partition(": ")[0] for line in lines] == [
        "moved by hoists (1 of 2) into @f",
        "moved by sinks (2 of 2) into 'test.op' in @f",
    ]


def test_body_of_a_function_that_is_made_anew_is_not_moved() -> None:
    def renew(ir: ModuleOp, ctx: PassContext) -> None:
        assert isinstance(old := ir.body.block.first_op, FuncOp)
        new = FuncOp(old.sym_name.data, old.function_type, old.detach_region(old.body))
        old.detach()
        ir.body.block.add_op(new)

    record = record_of(named("renews", body=renew), ir=module("f"))
    assert erased_text(record, "return") == "no erased or moved operation contains 'return'\n"
    assert "erased by renews" in erased_text(record, "func.func")


@table_test("passes", [[Append(), Fail()], [Fail()]])
def test_blame_after_a_failure(passes: list[ModulePass]) -> None:
    assert [line.split(":")[0] for line in origins(*passes, ir=module("f"))] == [
        *("input", "input", *["toy-append"] * (len(passes) - 1)),
    ]
