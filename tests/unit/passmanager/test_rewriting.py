"""The greedy pattern driver, one behaviour a test."""

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from support.releases import needs_part
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, scf, test
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnitAttr, i32
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    RewritePattern,
    TypeConversionPattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import BlockInsertPoint, InsertPoint

from passline.passmanager import PassContext
from passline.passmanager.fast.pattern_driver import PatternIndex, RemoveDead, matched_class
from passline.passmanager.instruments import StatisticsInstrument
from passline.passmanager.rewriting import NonConvergenceError, PatternPass, apply_patterns


def make_context() -> Context:
    ctx = Context()
    for dialect in (arith.Arith, builtin.Builtin, func.Func, scf.Scf, test.Test):
        ctx.load_dialect(dialect)
    return ctx


def parse(text: str) -> ModuleOp:
    return Parser(make_context(), text).parse_module()


def same(module: ModuleOp, text: str) -> bool:
    return str(module) == str(parse(text))


def names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk()][1:]


def constant(value: int) -> arith.ConstantOp:
    return arith.ConstantOp.from_int_and_width(value, i32)


def at(line: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("a.mlir"), IntAttr(line), IntAttr(1))


def is_constant(value: SSAValue, expected: int) -> bool:
    op = value.owner
    return isinstance(op, arith.ConstantOp) and op.value == constant(expected).value


class AddZero(RewritePattern):
    """x + 0 -> x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /):
        if is_constant(op.rhs, 0):
            rewriter.replace(op, (), (op.lhs,))


class FoldAdd(RewritePattern):
    """constant + constant -> constant"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /):
        lhs, rhs = op.lhs.owner, op.rhs.owner
        if isinstance(lhs, arith.ConstantOp) and isinstance(rhs, arith.ConstantOp):
            assert isinstance(lhs.value, builtin.IntegerAttr)
            assert isinstance(rhs.value, builtin.IntegerAttr)
            rewriter.replace(op, constant(lhs.value.value.data + rhs.value.value.data))


class SubToAdd(RewritePattern):
    """x - x -> x + 0, which makes work for AddZero"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter, /):
        zero = constant(0)
        rewriter.replace(op, [zero, arith.AddiOp(op.lhs, zero)])


class Seen(RewritePattern):
    """A pattern that notes the ops on which it is tried."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /):
        self.ops.append(op)

    @property
    def names(self) -> list[str]:
        return [op.name for op in self.ops]


class SeenBinary(Seen):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp | arith.SubiOp, rewriter: PatternRewriter, /):
        self.ops.append(op)


class SeenIntegerBinary(Seen):
    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: arith.SignlessIntegerBinaryOperation, rewriter: PatternRewriter, /
    ):
        self.ops.append(op)


class SeenFolding(Seen):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: HasFolderInterface, rewriter: PatternRewriter, /):
        self.ops.append(op)


ARITHMETIC = """
%0 = arith.constant 0 : i32
%x = "test.op"() : () -> i32
%1 = arith.subi %x, %0 : i32
%2 = arith.addi %1, %0 : i32
%3 = arith.muli %2, %1 : i32
"test.op"(%3) : (i32) -> ()
"""


# Which pattern is asked about which op


@table_test(
    ("pattern", "expected"),
    [
        (SeenBinary(), ["arith.subi", "arith.addi"]),
        (SeenIntegerBinary(), ["arith.subi", "arith.addi", "arith.muli"]),
        (SeenFolding(), ["arith.constant", "arith.subi", "arith.addi", "arith.muli"]),
        (Seen(), names(parse(ARITHMETIC))),
    ],
)
def test_a_pattern_is_asked_about_its_classes_in_order(pattern: Seen, expected: list[str]):
    module = parse(ARITHMETIC)
    assert not apply_patterns(module, [pattern])
    assert pattern.names == expected
    assert same(module, ARITHMETIC)


@needs_part("rewriting")
def test_the_class_is_read_off_the_decorator():
    assert matched_class(AddZero()) is arith.AddiOp
    assert matched_class(SeenBinary()) == arith.AddiOp | arith.SubiOp
    assert matched_class(Seen()) is Operation


def test_an_override_without_the_decorator_is_asked_about_every_op():
    class Wider(AddZero):
        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /):
            super().match_and_rewrite(op, rewriter)

    assert matched_class(Wider()) is Operation
    module = parse(ARITHMETIC)
    assert apply_patterns(module, [Wider()]) == {"Wider": 1}


@needs_part("rewriting")
def test_an_applier_is_taken_apart():
    inner = GreedyRewritePatternApplier([AddZero(), FoldAdd()], dce_enabled=True)
    outer = GreedyRewritePatternApplier([SubToAdd(), inner], dce_enabled=False)
    index = PatternIndex(outer)
    assert [type(pattern) for pattern, _ in index[arith.AddiOp]] == [RemoveDead, AddZero, FoldAdd]
    assert [type(pattern) for pattern, _ in index[arith.SubiOp]] == [SubToAdd, RemoveDead]
    assert index[func.ReturnOp] == ()


def test_a_subclass_of_the_applier_is_not_taken_apart():
    class Applier(GreedyRewritePatternApplier):
        pass

    applier = Applier([AddZero()])
    assert PatternIndex(applier)[arith.AddiOp] == ((applier, applier.match_and_rewrite),)


def test_the_first_pattern_that_acts_wins():
    module = parse(
        '%0 = arith.constant 0 : i32  %1 = arith.addi %0, %0 : i32 "test.op"(%1):(i32)->()'
    )
    assert apply_patterns(module, [FoldAdd(), AddZero()]) == {"FoldAdd": 1}


# What is visited, and when again

Labelled = dict[str, Operation]


class Act(RewritePattern):
    """A pattern that acts once, on the op labelled `go`, and notes the ops visited after that."""

    def __init__(self, action: Callable[[Labelled, PatternRewriter], object]) -> None:
        self.action = action
        self.visited: list[str] | None = None

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /):
        if self.visited is not None:
            self.visited += [label for label in op.attributes if len(label) == 1]
        elif "go" in op.attributes and (module := op.parent_op()) is not None:
            self.visited = []
            ops = {label: op for op in module.walk() for label in op.attributes}
            self.action(ops, rewriter)


def visited_after(action: Callable[[Labelled, PatternRewriter], object], text: str) -> list[str]:
    """Return the labels of the ops visited after `action`, which is run after a first visit of
    all.
    """
    act = Act(action)
    apply_patterns(parse(text + '"test.op"() {go} : () -> ()'), [act])
    assert act.visited is not None
    return act.visited


VALUES = """
%a = "test.op"() {a} : () -> i32
%b = "test.op"(%a) {b} : (i32) -> i32
"test.op"(%b) {c} : (i32) -> ()
"test.op"() {d} : () -> ()
"""

REGIONS = """
%x = "test.op"() {x} : () -> i32
%a = "test.op"(%x) ({
^bb0(%b : i32):
  "test.op"(%b) {b} : (i32) -> ()
  "test.op"() ({
    "test.op"(%b) {d} : (i32) -> ()
  }) {c} : () -> ()
}) {a} : (i32) -> i32
"test.op"(%a) {e} : (i32) -> ()
"test.op"() {f} : () -> ()
"""


def test_a_modified_op_is_visited_next_and_its_neighbours_at_the_end():
    visited = visited_after(lambda ops, rewriter: rewriter.notify_op_modified(ops["b"]), VALUES)
    assert visited[0] == "b"
    assert set(visited) == {"a", "b", "c"}


def test_the_parent_of_a_modified_op_is_visited_again():
    visited = visited_after(lambda ops, rewriter: rewriter.notify_op_modified(ops["d"]), REGIONS)
    assert set(visited) == {"c", "d"}


def test_the_parent_of_an_erased_op_is_visited_again():
    visited = visited_after(lambda ops, rewriter: rewriter.erase(ops["d"]), REGIONS)
    assert "c" in visited and "d" not in visited


def test_the_definition_of_an_operand_of_an_erased_op_is_visited_next():
    visited = visited_after(lambda ops, rewriter: rewriter.erase(ops["c"]), VALUES)
    assert visited[0] == "b"


def test_what_an_op_in_an_erased_op_used_is_visited_again():
    def erase(ops: Labelled, rewriter: PatternRewriter) -> None:
        rewriter.erase(ops["b"])

    text = """
    %a = "test.op"() {a} : () -> i32
    "test.op"() ({
      "test.op"(%a, %a) {c} : (i32, i32) -> ()
    }) {b} : () -> ()
    """
    assert set(visited_after(erase, text)) == {"a"}


def test_the_users_of_a_replaced_op_are_visited_next():
    def replace(ops: Labelled, rewriter: PatternRewriter) -> None:
        rewriter.replace(ops["b"], test.TestPureOp(result_types=[i32]))

    assert visited_after(replace, VALUES)[:2] == ["a", "c"]


def test_what_has_lost_its_users_is_visited_again():
    def replace_all(ops: Labelled, rewriter: PatternRewriter) -> None:
        rewriter.replace_all_uses_with(ops["b"].results[0], ops["a"].results[0])

    def replace_some(ops: Labelled, rewriter: PatternRewriter) -> None:
        rewriter.replace_uses_with_if(ops["b"].results[0], ops["a"].results[0], lambda use: True)

    for action in (replace_all, replace_some):
        assert set(visited_after(action, VALUES)) == {"a", "b", "c"}


def test_what_sees_the_new_type_of_a_value_is_visited_again():
    def retype_result(ops: Labelled, rewriter: PatternRewriter) -> None:
        rewriter.replace_value_with_new_type(ops["a"].results[0], builtin.i64)

    def retype_argument(ops: Labelled, rewriter: PatternRewriter) -> None:
        rewriter.replace_value_with_new_type(ops["a"].regions[0].block.args[0], builtin.i64)

    assert set(visited_after(retype_result, REGIONS)) == {"x", "a", "b", "c", "d", "e"}
    assert {"b", "d"} <= set(visited_after(retype_argument, REGIONS))


def test_the_ops_of_a_block_that_moved_are_visited_again():
    def inline_block(ops: Labelled, rewriter: PatternRewriter) -> None:
        block = ops["a"].regions[0].block
        rewriter.inline_block(block, InsertPoint.before(ops["a"]), ops["a"].operands)

    def inline_region(ops: Labelled, rewriter: PatternRewriter) -> None:
        region = ops["f"].parent_region()
        assert region is not None
        rewriter.inline_region(ops["a"].regions[0], BlockInsertPoint.at_end(region))

    assert {"b", "c", "d"} <= set(visited_after(inline_block, REGIONS))
    assert {"b", "c"} <= set(visited_after(inline_region, REGIONS))


def test_an_operand_that_a_pattern_dropped_in_place_is_visited_again():
    class DropOperands(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: test.TestOp, rewriter: PatternRewriter, /):
            if op.operands:
                op.operands = ()
                rewriter.notify_op_modified(op)

    module = parse('%0 = arith.constant 0 : i32  "test.op"(%0) : (i32) -> ()')
    fired = apply_patterns(module, [DropOperands()], remove_dead=True)
    assert fired == {"DropOperands": 1, "RemoveDead": 1}


def test_handling_a_modification_is_notifying_of_it():
    class Mark(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: test.TestOp, rewriter: PatternRewriter, /):
            if not op.attributes:
                op.attributes["marked"] = UnitAttr()
                rewriter.handle_operation_modification(op)

    assert apply_patterns(parse('"test.op"() : () -> ()'), [Mark()]) == {"Mark": 1}


def test_a_chain_of_rewrites_takes_one_call():
    module = parse("""
        %c = arith.constant 1 : i32
        %1 = arith.addi %c, %c : i32
        %2 = arith.addi %1, %c : i32
        %3 = arith.addi %2, %c : i32
        "test.op"(%3) : (i32) -> ()
    """)
    assert apply_patterns(module, [FoldAdd()], remove_dead=True) == {"FoldAdd": 3, "RemoveDead": 3}
    assert same(module, '%0 = arith.constant 4 : i32  "test.op"(%0) : (i32) -> ()')


def test_inserted_ops_are_visited():
    module = parse(ARITHMETIC)
    fired = apply_patterns(module, [AddZero(), SubToAdd()])
    assert fired == {"SubToAdd": 1, "AddZero": 2}


def test_ops_nested_in_an_inserted_op_are_visited():
    class Wrap(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter, /):
            zero, one = constant(0), constant(1)
            body = Region(Block([zero, one, arith.AddiOp(one, zero)]))
            rewriter.replace(op, test.TestOp(result_types=[i32], regions=[body]))

    module = parse(ARITHMETIC)
    assert apply_patterns(module, [AddZero(), Wrap()]) == {"AddZero": 2, "Wrap": 1}


def test_an_erased_op_is_not_visited():
    seen = Seen()

    class EraseFollowing(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter, /):
            while (following := op.next_op) is not None:
                rewriter.erase(following)

    module = parse("""
        %0 = arith.constant 0 : i32
        "test.op"() ({
          "test.termop"() : () -> ()
        }) : () -> ()
        "test.op"() : () -> ()
    """)
    apply_patterns(module, [EraseFollowing(), seen])
    assert set(seen.names) == {"arith.constant"}
    assert names(module) == ["arith.constant"]


def test_an_op_erased_without_the_rewriter_is_not_visited():
    seen = Seen()

    class EraseNext(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter, /):
            if (following := op.next_op) is not None:
                following.detach()
                following.erase()

    module = parse('%0 = arith.constant 0 : i32  "test.op"() : () -> ()')
    assert not apply_patterns(module, [EraseNext(), seen])
    assert seen.names == ["arith.constant"]


def test_a_pattern_without_types_converts_types():
    class IndexToI32(TypeConversionPattern):
        def convert_type(self, typ: Attribute, /) -> Attribute | None:
            return i32 if typ == builtin.IndexType() else None

    module = parse("""
        "test.op"() ({
        ^bb0(%x : index):
          %0 = "test.op"(%x) : (index) -> index
        }) : () -> ()
    """)
    assert apply_patterns(module, [IndexToI32()])
    assert "index" not in str(module)


def test_only_ops_nested_in_the_op_given_are_visited():
    module = parse("""
        %0 = arith.constant 0 : i32
        %s = arith.subi %0, %0 : i32
        "test.op"() ({
          %1 = arith.addi %s, %0 : i32
          "test.op"(%1) : (i32) -> ()
        }) : () -> ()
    """)
    seen = Seen()
    *_, holder = module.ops
    assert apply_patterns(holder, [seen, AddZero()]) == {"AddZero": 1}
    assert set(seen.names) == {"arith.addi", "test.op"}
    assert holder not in seen.ops


def test_nesting_may_be_deep():
    module = ModuleOp([])
    block = module.body.block
    for _ in range(3000):
        block.add_op(test.TestOp(regions=[Region(inner := Block())]))
        block = inner
    x = test.TestOp(result_types=[i32])
    block.add_ops([x, add := arith.AddiOp(x, x), test.TestOp(operands=[add])])

    class Double(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /):
            rewriter.replace(op, arith.MuliOp(op.lhs, op.rhs))

    assert apply_patterns(module, [Double()]) == {"Double": 1}


# Folding and dead ops


def test_a_chain_of_folds_takes_one_call():
    module = parse("""
        %c = arith.constant 1 : i32
        %1 = arith.addi %c, %c : i32
        %2 = arith.addi %1, %c : i32
        %3 = arith.muli %2, %2 : i32
        "test.op"(%3) : (i32) -> ()
    """)
    fired = apply_patterns(module, [], ctx=make_context(), fold=True, remove_dead=True)
    assert fired == {"Fold": 3, "RemoveDead": 3}
    assert same(module, '%0 = arith.constant 9 : i32  "test.op"(%0) : (i32) -> ()')


def test_neither_folds_nor_removes_unless_asked():
    text = "%c = arith.constant 1 : i32  %1 = arith.addi %c, %c : i32"
    module = parse(text)
    assert not apply_patterns(module, [])
    assert same(module, text)


def test_folding_needs_a_context():
    with pytest.raises(ValueError, match="folding needs ctx"):
        apply_patterns(parse(ARITHMETIC), [], fold=True)


def test_dead_ops_go_with_what_only_they_use():
    module = parse("""
        %0 = "test.pureop"() : () -> i32
        %b = "test.op"() : () -> i1
        %1 = scf.if %b -> (i32) {
          %2 = arith.addi %0, %0 : i32
          scf.yield %2 : i32
        } else {
          scf.yield %0 : i32
        }
    """)
    assert apply_patterns(module, [], remove_dead=True) == {"RemoveDead": 2}
    assert names(module) == ["test.op"]


# What the caller learns


def test_nothing_matched_is_false():
    fired = apply_patterns(parse(ARITHMETIC), [])
    assert not fired
    assert isinstance(fired, Counter)


def test_a_listener_is_told():
    events: list[str] = []

    def replaced(op: Operation, results: Sequence[SSAValue | None]) -> None:
        events.append(f"replace {op.name}")

    listener = PatternRewriterListener(
        operation_insertion_handler=[lambda op: events.append(f"insert {op.name}")],
        operation_removal_handler=[lambda op: events.append(f"remove {op.name}")],
        operation_modification_handler=[lambda op: events.append(f"modify {op.name}")],
        operation_replacement_handler=[replaced],
    )
    module = parse(
        '%c = arith.constant 1 : i32 %1 = arith.addi %c, %c : i32 "test.op"(%1):(i32)->()'
    )
    apply_patterns(module, [FoldAdd()], listener=listener)
    assert events == [
        "insert arith.constant",
        "replace arith.addi",
        "modify test.op",
        "remove arith.addi",
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_deprecated_methods_of_the_rewriter_work():
    class Old(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /):
            assert rewriter.current_operation is op  # pyright: ignore[reportDeprecated]
            new = arith.MuliOp(op.lhs, op.rhs)
            rewriter.replace_matched_op(new)  # pyright: ignore[reportDeprecated]
            rewriter.erase_op(constants[0])  # pyright: ignore[reportDeprecated]

    constants = [constant(7)]
    module = parse(ARITHMETIC)
    module.body.block.add_op(constants[0])
    assert apply_patterns(module, [Old()]) == {"Old": 1}


def test_ops_are_inserted_before_the_matched_op():
    class Mark(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter, /):
            if not isinstance(op.prev_op, test.TestPureOp):
                rewriter.insert(test.TestPureOp())

    module = parse(ARITHMETIC)
    apply_patterns(module, [Mark()])
    assert names(module)[-3:] == ["test.pureop", "arith.muli", "test.op"]


def test_a_name_hint_does_not_outlive_the_visit():
    class Hint(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter, /):
            rewriter.name_hint = "hint"

    module = parse(ARITHMETIC.replace("%0", "%zero"))
    apply_patterns(module, [Hint(), SubToAdd()])
    assert "%hint" not in str(module)


# Locations


def test_an_inserted_op_has_the_location_of_the_matched_one():
    class InsertOnce(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter, /):
            if not isinstance(op.prev_op, test.TestPureOp):
                known = constant(2)
                known.location = at(9)
                inner = Region(Block([constant(1), known]))
                rewriter.insert(new := test.TestPureOp(regions=[inner]))
                located.extend(inserted.location for inserted in new.walk())

    located: list[Attribute] = []
    module = parse(ARITHMETIC)
    for line, op in enumerate(module.ops, 1):
        op.location = at(line)
    apply_patterns(module, [InsertOnce()])
    assert located == [at(5), at(5), at(9)]


def test_what_replaces_an_op_has_its_location():
    module = parse(ARITHMETIC)
    for line, op in enumerate(module.ops, 1):
        op.location = at(line)
    apply_patterns(module, [SubToAdd()])
    assert [op.location for op in module.ops] == [at(line) for line in (1, 2, 3, 3, 4, 5, 6)]


def test_what_replaces_another_op_than_the_matched_one_has_the_location_of_that():
    class ReplaceOperand(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /):
            if isinstance(op.lhs.owner, arith.SubiOp):
                rewriter.insert(known := constant(1))
                known.location = at(9)
                rewriter.replace(op.lhs.owner, constant(2))

    module = parse(ARITHMETIC)
    for line, op in enumerate(module.ops, 1):
        op.location = at(line)
    apply_patterns(module, [ReplaceOperand()])
    assert [op.location for op in module.ops] == [at(line) for line in (1, 2, 3, 9, 4, 5, 6)]


# Failure


class Flip(RewritePattern):
    """A pattern that swaps the operands of a multiplication, without end."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter, /):
        rewriter.replace(op, arith.MuliOp(op.rhs, op.lhs))


def test_patterns_that_do_not_converge_are_named():
    module = parse(ARITHMETIC)
    for op in module.ops:
        op.location = at(3)
    with pytest.raises(NonConvergenceError) as info:
        apply_patterns(module, [AddZero(), Flip()])
    assert info.value.patterns == ("Flip",)
    assert info.value.op.name == "arith.muli"
    assert str(info.value) == (
        "'arith.muli' at a.mlir:3:1 and its origins were rewritten more than 1006 times, "
        "most recently by Flip"
    )


def test_a_pattern_that_grows_the_ir_for_ever_is_stopped():
    class Grow(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: test.TestPureOp, rewriter: PatternRewriter, /):
            rewriter.replace(op, [test.TestPureOp(), test.TestPureOp()], [])

    with pytest.raises(NonConvergenceError, match="more than 10 times, most recently by Grow"):
        apply_patterns(parse('"test.pureop"() : () -> ()'), [Grow()], max_rewrites_per_op=10)


def test_ops_that_modify_each_other_for_ever_are_stopped():
    class ModifyOthers(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: test.TestOp, rewriter: PatternRewriter, /):
            for use in op.results[0].uses:
                rewriter.notify_op_modified(use.operation)

    module = parse("""
        %0 = "test.op"(%1) : (i32) -> i32
        %1 = "test.op"(%0) : (i32) -> i32
    """)
    with pytest.raises(NonConvergenceError, match="ModifyOthers"):
        apply_patterns(module, [ModifyOthers()], max_rewrites_per_op=10)


def test_many_rewrites_of_many_ops_are_not_too_many():
    class Three(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: test.TestPureOp, rewriter: PatternRewriter, /):
            if (count := len(op.attributes)) < 3:
                op.attributes[f"n{count}"] = UnitAttr()
                rewriter.notify_op_modified(op)

    module = ModuleOp([test.TestPureOp() for _ in range(50)])
    assert apply_patterns(module, [Three()], max_rewrites_per_op=3) == {"Three": 150}


@table_test(("limit", "done"), [(0, 0), (1, 1), (4, 4), (5, 5), (6, 5), (-1, 5)])
def test_rewriting_ends_after_so_many_rewrites(limit: int, done: int):
    class Mark(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: test.TestPureOp, rewriter: PatternRewriter, /):
            if "seen" not in op.attributes:
                op.attributes["seen"] = UnitAttr()
                rewriter.notify_op_modified(op)

    module = ModuleOp([test.TestPureOp() for _ in range(5)])
    assert apply_patterns(module, [Mark()], max_num_rewrites=limit).total() == done
    assert ["seen" in op.attributes for op in module.ops] == [True] * done + [False] * (5 - done)


def test_an_exception_keeps_its_type_and_says_which_pattern_and_where():
    class Broken(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /):
            raise KeyError("nothing here")

    module = parse(ARITHMETIC)
    for op in module.ops:
        op.location = at(5)
    with pytest.raises(KeyError, match="nothing here") as info:
        apply_patterns(module, [Broken()])
    assert info.value.__notes__ == ["while pattern Broken was rewriting 'arith.addi' at a.mlir:5:1"]


# PatternPass


class Simplify(PatternPass):
    name = "test-simplify"

    def patterns(self) -> Sequence[RewritePattern]:
        return [AddZero(), SubToAdd()]


class FoldAll(PatternPass):
    name = "test-fold-all"
    fold = True
    remove_dead = True

    def patterns(self) -> Sequence[RewritePattern]:
        return []


FUNCTION = """
func.func @f(%x : i32) -> i32 {
  %0 = arith.subi %x, %x : i32
  func.return %0 : i32
}
"""


def test_a_pattern_pass_applies_its_patterns_to_each_function():
    result = Simplify()(parse(FUNCTION))
    assert names(result) == ["func.func", "arith.constant", "func.return"]


def test_a_pattern_pass_counts_what_fired():
    with PassContext(instruments=[statistics := StatisticsInstrument()]):
        Simplify()(parse(FUNCTION))
    assert statistics.passes["test-simplify"].counters == {"SubToAdd": 1, "AddZero": 1}


def test_a_pattern_pass_folds_if_asked():
    module = parse(
        "func.func @f() -> i32 { %c = arith.constant 1 : i32 "
        "%0 = arith.addi %c, %c : i32 func.return %0 : i32 }"
    )
    result = FoldAll()(module)
    assert names(result) == ["func.func", "arith.constant", "func.return"]
