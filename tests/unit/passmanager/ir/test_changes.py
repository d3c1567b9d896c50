"""Snapshot: the changes found after edits of a module."""

from __future__ import annotations

import random
from collections.abc import Callable

from support.budget import some
from support.tables import table_test
from xdsl.dialects import test
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from passline.passmanager.ir.changes import Changes, Snapshot
from passline.passmanager.ir.walk import walk


def op(*operands: SSAValue, regions: tuple[Region, ...] = ()) -> test.TestOp:
    return test.TestOp(operands, [i32], regions=regions)


def function(name: str, *ops: Operation) -> FuncOp:
    region = Region(Block([*ops, ReturnOp()], arg_types=[i32]))
    return FuncOp(name, ([i32], []), region)


def edit(module: ModuleOp, change: Callable[[], object]) -> Changes:
    """Return the changes that a snapshot finds after an edit."""
    snapshot = Snapshot(module)
    change()
    changes = snapshot.update()
    assert not snapshot.update()
    return changes


def test_unchanged_module_has_no_changes():
    module = ModuleOp([function("f", op()), op()])
    assert not edit(module, lambda: None)


def test_location_and_name_hint_do_not_count():
    module = ModuleOp([a := op()])

    def change() -> None:
        a.location = FileLineColLoc(StringAttr("f"), IntAttr(1), IntAttr(1))
        a.results[0].name_hint = "x"

    assert not edit(module, change)


def test_equal_attribute_in_place_of_another_is_no_change():
    module = ModuleOp([a := op()])
    a.attributes["x"] = StringAttr("y")
    assert not edit(module, lambda: a.attributes.update(x=StringAttr("y")))


def test_nested_op_with_another_attribute_differs():
    module = ModuleOp([f := function("f", a := op()), function("g")])
    changes = edit(module, lambda: a.attributes.update(x=StringAttr("y")))
    assert changes == Changes(ops=(a,), top_level=frozenset({f}))


def test_attribute_that_becomes_a_property_differs():
    module = ModuleOp([a := op()])
    a.attributes["prop1"] = StringAttr("y")
    changes = edit(module, lambda: a.properties.update(prop1=a.attributes.pop("prop1")))
    assert changes.ops == (a,)


def test_op_with_another_operand_differs():
    f = function("f", a := op(), b := op(), c := op(a.results[0]))
    assert edit(ModuleOp([f]), lambda: c.operands.__setitem__(0, b.results[0])).ops == (c,)


def test_op_with_another_successor_differs():
    first, second = Block([op()]), Block([op()])
    first.add_op(branch := test.TestTermOp(successors=[second]))
    module = ModuleOp([op(regions=(Region([first, second]),))])
    assert edit(module, lambda: branch.successors.__setitem__(0, first)).ops == (branch,)


def test_retyped_result_is_named():
    module = ModuleOp([function("f", a := test.TestOp(result_types=[i32, i32]))])
    changes = edit(module, lambda: setattr(a.results[1], "_type", i64))
    assert changes.ops == (a,)
    assert changes.retyped == (a.results[1],)


def test_retyped_block_argument_is_named_with_its_block():
    module = ModuleOp([f := function("f")])
    changes = edit(module, lambda: setattr(f.body.block.args[0], "_type", i64))
    assert changes.retyped == (f.body.block.args[0],)
    assert changes.blocks == (f.body.block,)
    assert not changes.ops


def test_new_op_is_named_with_its_block():
    module = ModuleOp([f := function("f", a := op()), function("g")])
    changes = edit(module, lambda: f.body.block.insert_op_before(op(), a))
    assert changes.ops == (a.prev_op,)
    assert changes.blocks == (f.body.block,)
    assert changes.top_level == {f}


def test_erased_op_leaves_its_block_changed():
    module = ModuleOp([f := function("f", a := op())])
    changes = edit(module, lambda: f.body.block.erase_op(a))
    assert changes == Changes(blocks=(f.body.block,), top_level=frozenset({f}))


def test_op_moved_to_another_function_differs_with_all_in_it():
    inner = op()
    moved = op(regions=(Region(Block([inner])),))
    module = ModuleOp([f := function("f", moved), g := function("g")])

    def move() -> None:
        moved.detach()
        g.body.block.insert_op_before(moved, g.body.block.first_op or moved)

    changes = edit(module, move)
    assert changes.ops == (moved, inner)
    assert changes.blocks == (f.body.block, g.body.block)
    assert changes.top_level == {f, g}


def test_swapped_ops_change_only_their_block():
    module = ModuleOp([f := function("f", a := op(), b := op())])

    def swap() -> None:
        a.detach()
        f.body.block.insert_op_after(a, b)

    assert edit(module, swap) == Changes(blocks=(f.body.block,), top_level=frozenset({f}))


def test_swapped_regions_are_seen():
    left, right = op(regions=(Region(Block([op()])),)), op(regions=(Region(Block([op()])),))
    module = ModuleOp([function("f", left, right)])

    def swap() -> None:
        first, second = left.detach_region(0), right.detach_region(0)
        left.add_region(second)
        right.add_region(first)

    changes = edit(module, swap)
    assert {left, right} < set(changes.ops)


def test_region_that_goes_to_the_next_op_is_seen():
    left, right = op(regions=(Region(Block([inner := op()])),)), op()
    module = ModuleOp([function("f", left, right)])
    changes = edit(module, lambda: right.add_region(left.detach_region(0)))
    assert changes.ops == (left, right, inner)


def test_new_block_changes_the_op_that_holds_it():
    module = ModuleOp([f := function("f")])
    changes = edit(module, lambda: f.body.add_block(Block([op()])))
    assert f in changes.ops
    assert changes.blocks == (f.body.last_block,)


def test_top_level_ops_that_come_and_go():
    module = ModuleOp([f := function("f"), g := function("g")])
    h = function("h")

    def change() -> None:
        f.detach()
        module.body.block.add_op(h)

    changes = edit(module, change)
    assert changes.removed == (f,)
    assert changes.top_level == {h}
    assert module in changes.ops
    assert g not in changes.ops
    assert changes.symbols_changed


def test_other_body_in_the_same_module():
    module = ModuleOp([f := function("f")])
    copy = module.clone()

    def replace() -> None:
        module.detach_region(0)
        module.add_region(copy.detach_region(0))

    changes = edit(module, replace)
    assert changes.removed == (f,)
    assert changes.top_level == set(module.ops)


def test_module_attribute():
    module = ModuleOp([function("f")])
    changes = edit(module, lambda: module.attributes.update(x=StringAttr("y")))
    assert changes.ops == (module,)
    assert not changes.top_level


def test_renamed_nested_symbol_changes_symbols():
    module = ModuleOp([ModuleOp([f := function("f")])])
    assert edit(module, lambda: f.properties.update(sym_name=StringAttr("g"))).symbols_changed


def test_ops_that_are_no_symbols_do_not_change_symbols():
    module = ModuleOp([f := function("f", a := op())])
    assert not edit(module, lambda: f.body.block.erase_op(a)).symbols_changed


def test_erased_symbol_changes_symbols():
    module = ModuleOp([inner := ModuleOp([f := function("f")])])
    assert edit(module, lambda: inner.body.block.erase_op(f)).symbols_changed


def test_thousands_of_levels():
    innermost = nested = op()
    for _ in range(3000):
        nested = op(regions=(Region(Block([nested])),))
    module = ModuleOp([nested])
    changes = edit(module, lambda: innermost.attributes.update(x=StringAttr("y")))
    assert changes == Changes(ops=(innermost,), top_level=frozenset({nested}))


# Random edits


def own_state(node: Operation) -> str:
    """Return the state of a node as text, equal if it is unchanged."""
    data = [sorted((k, str(v)) for k, v in d.items()) for d in (node.properties, node.attributes)]
    results = [(id(result), str(result.type)) for result in node.results]
    blocks = [[id(block) for block in region.blocks] for region in node.regions]
    references = [*map(id, (*node.operands, 0, *node.successors, 0, *node.regions))]
    return f"{data} {results} {blocks} {references} {id(node.parent_op())}"


def block_state(block: Block) -> str:
    """Return the state of a block as text, equal if it is unchanged."""
    return f"{[(id(arg), str(arg.type)) for arg in block.args]} {[id(op) for op in block.ops]}"


def states(module: ModuleOp) -> dict[Operation | Block, str]:
    """Return the state of each op and block, computed by a slow reference."""
    found: dict[Operation | Block, str] = {}
    for node in walk(module):
        found[node] = own_state(node)
        found |= {b: block_state(b) for region in node.regions for b in region.blocks}
    return found


class Editor:
    """Random edits of a module, which may make it invalid."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.module = ModuleOp([])
        self.graveyard: list[Operation] = []  # keeps ids unique
        for _ in range(30):
            self.insert()

    def blocks(self) -> list[Block]:
        return [b for node in walk(self.module) for region in node.regions for b in region.blocks]

    def ops(self) -> list[Operation]:
        return [*walk(self.module)][1:]

    def values(self) -> list[SSAValue]:
        return [
            *(result for node in self.ops() for result in node.results),
            *(arg for block in self.blocks() for arg in block.args),
        ]

    def pick_operands(self) -> list[SSAValue]:
        values = self.values()
        return self.random.choices(values, k=self.random.randrange(3)) if values else []

    def place(self, node: Operation, block: Block) -> None:
        ops = [*block.ops]
        index = self.random.randrange(len(ops) + 1)
        if index == len(ops):
            block.add_op(node)
        else:
            block.insert_op_before(node, ops[index])

    def insert(self) -> None:
        regions = [
            [
                Block(arg_types=[i32] * self.random.randrange(2))
                for _ in range(self.random.randrange(3))
            ]
            for _ in range(self.random.randrange(3))
        ]
        node = test.TestOp(self.pick_operands(), [i32] * self.random.randrange(3), regions=regions)
        if self.random.random() < 0.2:
            node = FuncOp("f", ([], []), Region(Block()))
        self.place(node, self.random.choice(self.blocks()))

    def erase(self) -> None:
        if ops := self.ops():
            node = self.random.choice(ops)
            for inner in walk(node):
                for result in inner.results:
                    result.erase(safe_erase=False)
            node.detach()
            self.graveyard.append(node)

    def move(self) -> None:
        if ops := self.ops():
            node = self.random.choice(ops)
            below = {id(inner) for inner in walk(node)}
            node.detach()
            homes = [block for block in self.blocks() if id(block.parent_op()) not in below]
            self.place(node, self.random.choice(homes))

    def change_operands(self) -> None:
        if ops := self.ops():
            self.random.choice(ops).operands = self.pick_operands()

    def change_type(self) -> None:
        if values := self.values():
            setattr(self.random.choice(values), "_type", self.random.choice([i32, i64]))

    def change_attribute(self) -> None:
        node = self.random.choice([self.module, *self.ops()])
        data = self.random.choice([node.properties, node.attributes])
        data[self.random.choice("ab")] = StringAttr(self.random.choice("xy"))

    def drop_attribute(self) -> None:
        node = self.random.choice([self.module, *self.ops()])
        self.random.choice([node.properties, node.attributes]).pop(self.random.choice("ab"), None)

    def change_successors(self) -> None:
        if ops := self.ops():
            blocks = self.random.choices(self.blocks(), k=self.random.randrange(3))
            self.random.choice(ops).successors = blocks

    def add_argument(self) -> None:
        self.random.choice(self.blocks()).insert_arg(i32, 0)

    def move_block(self) -> None:
        block = self.random.choice(self.blocks())
        region = block.parent
        assert region is not None
        if region.parent is not self.module:
            region.detach_block(block)
            region.insert_block(block, self.random.randrange(len(region.blocks) + 1))

    def move_region(self) -> None:
        nodes = [node for node in self.ops() if node.regions]
        if nodes:
            source = self.random.choice(nodes)
            region = source.detach_region(self.random.randrange(len(source.regions)))
            targets = self.ops()
            self.random.choice(targets).add_region(region)

    def edit(self) -> None:
        edits = (
            self.insert, self.erase, self.move, self.change_operands, self.change_type,
            self.change_attribute, self.drop_attribute, self.change_successors,
            self.add_argument, self.move_block, self.move_region,
        )  # fmt: skip
        self.random.choice(edits)()


@table_test("seed", some(range(40), 2))
def test_random_edits_are_seen_and_nothing_else(seed: int):
    editor = Editor(seed)
    snapshot, top_level = Snapshot(editor.module), Snapshot(editor.module)
    before = states(editor.module)
    for _ in range(60):
        for _ in range(editor.random.randrange(3)):
            editor.edit()
        after = states(editor.module)
        different = {node for node in after if after[node] != before.get(node)}
        changes = snapshot.update()
        assert bool(changes) == (before != after)
        assert different <= {*changes.ops, *changes.blocks}
        assert {*changes.ops, *changes.blocks} <= after.keys()
        less = top_level.update(details=False)
        assert (less.top_level, less.removed) == (changes.top_level, changes.removed)
        assert bool(less) == bool(changes)
        before = after
