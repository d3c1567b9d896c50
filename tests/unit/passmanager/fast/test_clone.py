"""clone: a copy is the same as the original in every field, and shares only attributes with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from support.releases import needs_part
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import (
    Builtin,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
    UnregisteredOp,
    i1,
    i32,
    i64,
)
from xdsl.dialects.func import Func
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from passline.passmanager.fast.clone import clone, clone_all
from passline.passmanager.ir.walk import walk

State: TypeAlias = tuple[object, ...]


def states(root: Operation) -> tuple[list[State], Mapping[int, int]]:
    """Return all fields of all objects in `root`, with numbers in the place of these objects, and
    their numbers by id. Objects from outside are given by their id.
    """
    nodes: list[Operation | Block | Region | SSAValue] = []
    for op in walk(root):
        nodes += [op, *op.results, *op.regions]
        for region in op.regions:
            for block in region.blocks:
                nodes += [block, *block.args]
    numbers = {id(node): number for number, node in enumerate(nodes)}

    def known(nodes: Iterator[object]) -> list[int]:
        return [numbers.get(id(node), id(node)) for node in nodes]

    found: list[State] = []
    for node in nodes:
        state: list[object] = [type(node)]
        match node:
            case Operation():
                assert node.parent is None or id(node.parent) in numbers or node is root
                parent = None if node is root else numbers[id(node.parent)]
                links = (None, None) if node is root else (node.prev_op, node.next_op)
                state += [parent, known(iter(links)), known(iter(node.operands))]
                state += [known(iter(node.results)), known(iter(node.successors))]
                state += [known(iter(node.regions)), node.location, type(node.successors)]
                state += [[*node.properties.items()], [*node.attributes.items()]]
            case Region():
                state += known(iter((node.parent, node.first_block, node.last_block)))
            case Block():
                state += known(iter((node.parent, node.next_block, node.prev_block)))
                state += [known(iter((node.first_op, node.last_op))), node.name_hint]
                state += [known(iter(node.args))]
            case _:
                state += [numbers[id(node.owner)], node.type, node.name_hint]
                state += [getattr(node, "index"), getattr(node, "location", None)]  # noqa: B009
        found.append(tuple(state))
    return found, numbers


def uses(root: Operation) -> list[list[tuple[int, int]]]:
    """Return the uses of all values and blocks in `root`, in order: the number of the op, and the
    index of the operand or successor. The links between the uses are checked.
    """
    numbers = {op: number for number, op in enumerate(walk(root))}
    found: list[list[tuple[int, int]]] = []
    for op in walk(root):
        blocks = [block for region in op.regions for block in region.blocks]
        for node in (*op.results, *blocks, *(arg for block in blocks for arg in block.args)):
            listed = [*node.uses]
            found.append([(numbers[use.operation], use.index) for use in listed])
            for use, following in pairwise([None, *listed, None]):
                assert use is None or use._next_use is following  # pyright: ignore[reportPrivateUsage]
                assert following is None or following._prev_use is use  # pyright: ignore[reportPrivateUsage]
    return found


def check(op: Operation) -> Operation:
    """Check that a copy is like the original, which does not change, and is used as xDSL's is."""
    before, used = states(op), uses(op)
    copy = clone(op)
    assert states(op) == before and uses(op) == used
    assert copy.parent is None and copy.next_op is None and copy.prev_op is None
    assert states(copy)[0] == before[0]
    assert not states(copy)[1].keys() & before[1].keys()
    for old, new in zip(walk(op), walk(copy), strict=True):
        assert new.properties is not old.properties and new.attributes is not old.attributes
        for name, attribute in (new.properties | new.attributes).items():
            assert attribute is (old.properties | old.attributes)[name]
    assert uses(copy) == uses(op.clone())
    return copy


def parsed(text: str) -> ModuleOp:
    context = Context(allow_unregistered=True)
    for dialect in (Builtin, Func, arith.Arith, test.Test):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


@needs_part("copying")
def test_module_with_all_kinds_of_things() -> None:
    check(
        parsed("""builtin.module attributes {a = 1 : i32} {
  func.func private @declared(i32)
  func.func @f(%x: i32, %c: i1) -> i32 {
    %y:2 = "test.op"(%x, %x) <{p = "q"}> {a = [1 : i32]} : (i32, i32) -> (i32, i64) loc("f":1:2)
    %z = "other.unknown"(%y#0) ({
    ^inner(%k: i64):
      "other.end"(%k, %x) : (i64, i32) -> ()
    }, {}) {op = 1 : i32} : (i32) -> i32
    "test.termop"(%c)[^one, ^two] : (i1) -> ()
  ^one:
    "test.termop"(%two_value)[^two] : (i32) -> ()
  ^two:
    %two_value = arith.addi %x, %z : i32
    "test.termop"()[^two, ^one] : () -> ()
  }
}""")
    )


def test_graph_region_with_forward_references() -> None:
    check(
        parsed("""builtin.module {
  %a = "test.op"(%b, %c) : (i32, i32) -> i32
  %b = "test.op"(%b, %a) : (i32, i32) -> i32
  "test.op"(%a, %b) ({ "test.op"(%a, %c) : (i32, i32) -> () }) : (i32, i32) -> ()
  %c = "test.op"(%b, %a) : (i32, i32) -> i32
}""")
    )


def test_values_and_blocks_from_outside_are_used() -> None:
    value = test.TestOp([], [i32]).results[0]
    outer = Block()
    inner = test.TestTermOp([value], [i64], successors=[outer])
    holder = test.TestOp([value], [], regions=[Region(Block([inner]))])
    block = Block([holder, test.TestOp()])
    copy = clone(holder)
    (copied,) = copy.regions[0].block.ops
    assert [*copy.operands] == [value] and [*copied.operands] == [value]
    assert [use.operation for use in value.uses] == [copied, copy, holder, inner]
    assert [*copied.successors] == [outer] and outer.uses.get_length() == 2
    assert copy.parent is None and len(block.ops) == 2


@needs_part("copying")
def test_locations_and_names() -> None:
    block = Block(arg_types=[i32])
    block.name_hint = "entry"
    block.args[0].location = block_place = FileLineColLoc(StringAttr("f"), IntAttr(3), IntAttr(4))
    block.args[0].name_hint = "x_1_2"  # of which xDSL keeps `x_1`, and its copy `x`
    op = test.TestOp(regions=[Region(block)])
    op.location = FileLineColLoc(StringAttr("f"), IntAttr(1), IntAttr(2))
    new = clone(op).regions[0].block
    assert new.name_hint == "entry" and new.args[0].name_hint == "x_1"
    assert new.args[0].location is block_place
    check(op)


def test_missing_default_property_stays_missing() -> None:
    x = test.TestOp([], [i32]).results[0]
    op = arith.AddiOp(x, x)
    assert op.properties.pop("overflowFlags")
    assert not clone(op).properties


def test_many_operands_results_arguments_and_regions() -> None:
    source = test.TestOp([], [i32] * 3000)
    block = Block(arg_types=[i32] * 3000)
    user = test.TestOp([*source.results, *block.args], [], regions=[Region() for _ in range(50)])
    block.add_ops([source, user])
    check(ModuleOp([test.TestOp(regions=[Region([block, Block(), Block()])])]))


@needs_part("copying")
def test_deep_nesting_needs_no_stack() -> None:
    inner: Operation = test.TestOp()
    for _ in range(5000):
        inner = test.TestOp([], [], regions=[Region(Block([inner, test.TestOp()]))])
    copy = clone(ModuleOp([inner]))
    assert sum(1 for _ in walk(copy)) == 10002


class Counted(test.TestOp):
    """An op with state outside of xDSL's fields, which its class copies."""

    count = 0

    def clone_without_regions(
        self,
        value_mapper: dict[SSAValue, SSAValue] | None = None,
        block_mapper: dict[Block, Block] | None = None,
        *,
        clone_name_hints: bool = True,
        clone_operands: bool = True,
    ) -> Counted:
        new = super().clone_without_regions(
            value_mapper,
            block_mapper,
            clone_name_hints=clone_name_hints,
            clone_operands=clone_operands,
        )
        new.count = self.count + 1
        return new


def test_class_that_overrides_how_its_ops_are_copied() -> None:
    def build() -> Iterator[Operation]:
        yield (first := test.TestOp([], [i32]))
        yield (second := Counted([first.results[0]], [i64], regions=[Region(Block())]))
        second.regions[0].block.add_op(test.TestOp([first.results[0], second.results[0]]))
        yield test.TestOp([second.results[0], first.results[0]])

    copy = check(module := ModuleOp([*build()]))
    _, second, _ = copy.regions[0].block.ops
    assert isinstance(second, Counted) and second.count == 1
    assert module.body.block.first_op is not None
    alone = clone(second)
    assert alone.count == 2 and alone.operands[0] is second.operands[0]


@table_test("name", ["create", "__post_init__"])
def test_other_overridden_methods(name: str) -> None:
    made: list[Operation] = []

    def create(cls: type[test.TestOp], **arguments: object) -> Operation:
        made.append(op := super(test.TestOp, cls).create(**arguments))  # pyright: ignore
        return op

    def post_init(self: test.TestOp) -> None:
        made.append(self)

    method: object = classmethod(create) if name == "create" else post_init
    cls: type[test.TestOp] = type("Special", (test.TestOp,), {name: method})
    op = cls([], [i32])
    made.clear()
    copy = clone(ModuleOp([op]))
    assert made == [copy.body.block.first_op]


@needs_part("copying")
def test_unregistered_op_keeps_its_name() -> None:
    cls = UnregisteredOp.with_name("other.op")
    copy = check(cls.create(attributes={"a": i32}))
    assert isinstance(copy, UnregisteredOp) and copy.op_name.data == "other.op"


@given(st.data())
def test_random_ir(data: st.DataObject) -> None:
    """Ops use values in any order, nest, and branch to blocks of their region."""
    values: list[SSAValue] = []
    ops: list[Operation] = []

    def number(greatest: int) -> int:
        return data.draw(st.integers(0, greatest))

    def region(depth: int) -> Region:
        blocks = [Block(arg_types=[i32] * number(2)) for _ in range(number(3))]
        for block in blocks:
            values.extend(block.args)
            block.add_ops(op(depth, blocks) for _ in range(number(3)))
        return Region(blocks)

    def op(depth: int, blocks: list[Block]) -> Operation:
        regions = [region(depth - 1) for _ in range(number(2) if depth else 0)]
        successors = [blocks[number(len(blocks) - 1)] for _ in range(number(2))]
        new = test.TestTermOp.create(
            result_types=[i1, i32][: number(2)], regions=regions, successors=successors
        )
        new.attributes.update({"a": i64} if number(1) else {})
        ops.append(new)
        values.extend(new.results)
        return new

    root = test.TestOp([], [], regions=[region(3)])
    for user in ops if values else ():
        user.operands = [values[number(len(values) - 1)] for _ in range(number(3))]
    check(root)


def test_copies_of_a_block_with_other_values() -> None:
    outside, old, new = (test.TestOp(result_types=[i32]) for _ in range(3))
    inner = test.TestOp(operands=[outside.res[0], old.res[0]], result_types=[i32])
    inner.res[0].name_hint = "inner"
    holder = test.TestOp(regions=[Region(Block([inner]))], result_types=[i32])
    user = test.TestOp(operands=[holder.res[0], old.res[0]])
    Block([outside, old, holder, user])
    values: dict[SSAValue, SSAValue] = {old.res[0]: new.res[0]}
    first, second = clone_all([holder, user], values, [inner.res[0]])
    copy = first.regions[0].block.first_op
    assert copy is not None
    assert (first.parent, second.parent) == (None, None)
    assert [*copy.operands] == [outside.res[0], new.res[0]]
    assert [*second.operands] == [first.results[0], new.res[0]]
    assert values[inner.res[0]] is copy.results[0]
    assert copy.results[0].name_hint == "inner"
    assert [use.operation for use in new.res[0].uses] == [second, copy]
    assert [use.operation for use in old.res[0].uses] == [user, inner]
