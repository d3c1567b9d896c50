"""Passes nested under an anchor: which ops they see, and what they may not do there."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from support.tables import table_test
from xdsl import passes as xdsl_passes
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region

from passline.passmanager import (
    Diagnostic,
    DiagnosticError,
    FunctionPass,
    ModulePass,
    PassContext,
    PassContractError,
    PassInfo,
    PassInstrument,
    PasslineError,
    Sequential,
)
from passline.passmanager.anchors import Anchored, OpAnchor, nest
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import symbol_of
from passline.passmanager.registry import make_ir_context

TEXT = """
builtin.module attributes {of = "module"} {
  func.func @f() { "test.op"() : () -> () func.return }
  func.func private @declared()
  func.func @skipped() attributes {passline.skip_optimization} { func.return }
  "test.op"() ({ func.func @hidden() { func.return } "test.termop"() : () -> () }) : () -> ()
  builtin.module @inner {
    func.func @g() { func.return }
  }
  func.func @h() { func.return }
}
"""


def parse() -> ModuleOp:
    module = parse_module(make_ir_context(), TEXT, "x.mlir")
    module.verify()
    return module


@dataclass(frozen=True)
class Look(ModulePass):
    """A pass that records the ops of the module that it sees."""

    name = "toy-look"
    opt_level = 2
    required = ("cse",)
    nestable = True

    mark: str = ""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        assert module.attributes["of"] == StringAttr("module")
        names = map(name_in, module.ops)
        for op in module.ops:
            op.attributes["seen"] = StringAttr(",".join(names) + self.mark)


class Foreign(xdsl_passes.ModulePass):
    """A pass of another project that edits the module that it is given."""

    name = "foreign-edit"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        edit(op)


def edit(module: ModuleOp) -> None:
    """Replaced by each test."""


def seen(module: ModuleOp) -> dict[str, str]:
    """Return the ops that `Look` saw, with what it saw beside each."""
    found = {name_in(op): op.attributes.get("seen") for op in module.walk()}
    return {name: mark.data for name, mark in found.items() if isinstance(mark, StringAttr)}


def name_in(op: Operation) -> str:
    return symbol_of(op) or op.name


def nested(pass_: xdsl_passes.ModulePass, *anchors: str) -> Anchored:
    """Return the pass under the anchors, the innermost first."""
    for anchor in anchors:
        pass_ = nest(pass_, anchor)
    assert isinstance(pass_, Anchored)
    return pass_


def order(module: ModuleOp) -> list[str]:
    return [*map(name_in, module.ops)]


def test_each_op_of_the_anchor_is_alone_and_goes_back_to_its_place() -> None:
    module = parse()
    result = nested(Look(), "func.func")(module)
    assert seen(result) == {"f": "f", "h": "h"}, "with a body, not skipped, directly in the module"
    assert order(result) == order(module)


def test_any_visits_what_is_isolated_from_above() -> None:
    assert seen(nested(Look(), "any")(parse())) == {"f": "f", "inner": "inner", "h": "h"}


def test_anchors_in_anchors() -> None:
    inner = nested(Look(), "func.func", "builtin.module")
    assert [*map(str, inner.anchors)] == ["builtin.module", "func.func"]
    assert seen(inner(parse())) == {"g": "g"}


def test_it_is_the_nested_pass_to_everybody_else() -> None:
    pass_ = nested(Look(mark="!"), "func.func")
    assert pass_.info == PassInfo("toy-look", 2, ("cse",))
    assert str(pass_) == 'func.func(toy-look{mark="!"})'


class Names(PassInstrument):
    """An instrument that records the passes that run."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.ran.append(info.name)


def test_name_and_level_decide_whether_it_runs() -> None:
    pipeline = Sequential([nested(Look(), "func.func")])
    for context, expected in (
        (PassContext(2, instruments=[names := Names()]), ["cse", "toy-look", "sequential"]),
        (PassContext(1, instruments=[names := Names()]), ["sequential"]),
        (PassContext(disabled_pass=["toy-look"], instruments=[names := Names()]), ["sequential"]),
    ):
        names = context.instruments[0]
        assert isinstance(names, Names)
        with context:
            pipeline(parse())
        assert names.ran == expected


def test_failure_names_the_function_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(module: ModuleOp) -> None:
        raise PasslineError("no")

    monkeypatch.setitem(globals(), "edit", fail)
    module = parse()
    with pytest.raises(PasslineError) as caught:
        nested(Foreign(), "func.func").apply(make_ir_context(), module)
    notes = caught.value.__notes__
    assert notes == ["in pass 'func.func(foreign-edit)' on function @f at x.mlir:3:3"]
    assert order(module) == order(parse())


def add(module: ModuleOp) -> None:
    module.body.block.add_op(FuncOp("added", ((), ()), Region(Block())))


def delete(module: ModuleOp) -> None:
    for op in module.ops:
        op.detach()


def rename(module: ModuleOp) -> None:
    next(iter(module.ops)).properties["sym_name"] = StringAttr("renamed")


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (add, "left the op 'func.func' @added: there"),
        (delete, "left nothing in place of the op 'func.func' @f: there"),
        (rename, "renamed @f to @renamed: there"),
    ],
)
def test_pass_that_changes_the_module(
    change: object, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "edit", change)
    with pytest.raises(PassContractError) as caught:
        nested(Foreign(), "func.func").apply(make_ir_context(), parse())
    assert f"pass 'foreign-edit', nested under 'func.func', {left}" in str(caught.value)
    assert "write it outside of func.func(...)" in str(caught.value)


@table_test(
    ("anchor", "message"),
    [
        ("func.fumc", "'func.fumc(...)': there is no op 'func.fumc', did you mean 'func.func'?"),
        ("test.op", "'test.op(...)': 'test.op' is not isolated from above"),
    ],
)
def test_anchor_that_passes_cannot_run_on(anchor: str, message: str) -> None:
    with pytest.raises(PasslineError) as caught:
        nested(Foreign(), anchor)(parse())
    assert str(caught.value).startswith(message)


def test_anchor_without_ops_in_the_module() -> None:
    module = parse()
    assert order(nested(Foreign(), "gpu.module")(module)) == order(module)


def test_pass_of_xdsl_that_finds_its_patterns_in_the_module() -> None:
    from xdsl.transforms.apply_pdl import ApplyPDLPass

    with pytest.raises(ValueError, match="'apply-pdl' needs the whole module"):
        nest(ApplyPDLPass(), "func.func")


def test_walk_of_the_module_holds_each_op_once() -> None:
    module = parse()
    before: list[Operation] = [*module.walk()]
    nested(Look(), "func.func").apply(make_ir_context(), module)
    assert [*module.walk()] == before


@dataclass(frozen=True)
class Add(ModulePass):
    """A pass that adds a function to the module that it sees."""

    name = "toy-add"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        module.body.block.add_op(FuncOp.external("added", [], []))


@dataclass(frozen=True)
class Mark(FunctionPass):
    """A pass that marks the functions that it sees."""

    name = "toy-mark"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        func.attributes["marked"] = UnitAttr()


def test_modules_in_modules_are_visited_as_modules() -> None:
    module = Sequential([nest(Add(), "builtin.module"), nest(Mark(), "builtin.module")])(parse())
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    marked = [op.sym_name.data for op in functions if "marked" in op.attributes]
    added = [op for op in functions if op.sym_name.data == "added"]
    assert marked == ["g"]
    assert [op.parent_op() is not module for op in added] == [True]


# Anchors that select ops, and passes that refuse them


class CountAround(FunctionPass):
    """A pass that marks functions with the number of ops of the module that it sees around."""

    name = "toy-count-around"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        func.attributes["seen"] = StringAttr(str(len([*module.ops])))


def select(pass_: xdsl_passes.ModulePass, *args: object) -> dict[str, str]:
    """Return what a pass saw under one anchor, by the symbol of the op."""
    result = nest(pass_, OpAnchor.of(*args))  # pyright: ignore[reportArgumentType]
    assert isinstance(result, Anchored)
    return seen(result(parse()))


def test_recursive_anchor_visits_ops_at_any_depth() -> None:
    everywhere = {"f": "f", "hidden": "hidden", "g": "g", "h": "h"}
    assert select(Look(), "func.func", True) == everywhere
    assert select(Look(), "any", True).keys() == {*everywhere, "inner"}


def test_function_pass_under_a_recursive_anchor_sees_the_module_around_the_function() -> None:
    found = select(CountAround(), "func.func", True)
    assert found == {"f": "6", "hidden": "1", "g": "1", "h": "6"}


def test_named_functions_only() -> None:
    assert select(Look(), "func.func", False, "[fg]|declared") == {"f": "f"}
    assert select(CountAround(), "func.func", False, "h") == {"h": "6"}
    assert select(Look(), "func.func", True, "[fg]").keys() == {"f", "g"}


def test_name_that_no_function_has_is_warned_about() -> None:
    found: list[Diagnostic] = []
    with PassContext(renderer=found.extend):
        assert select(Look(), "func.func", False, "main") == {}
    message = "pass 'func.func{name=\"main\"}(toy-look)' visits nothing: no name matches"
    assert [d.message for d in found] == [message]


def test_function_pass_under_an_anchor_may_not_rename() -> None:
    class Rename(FunctionPass):
        name = "toy-rename-f"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            func.properties["sym_name"] = StringAttr("z")

    with pytest.raises(PassContractError, match="'toy-rename-f' renamed @f to @z"):
        select(Rename(), "func.func", False, "f")


def test_function_pass_under_an_anchor_may_not_add_functions() -> None:
    class Add(FunctionPass):
        name = "toy-add-beside"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            module.body.block.add_op(FuncOp("more", ((), ()), Region(), "private"))

    with pytest.raises(PassContractError, match="'toy-add-beside' added @more"):
        select(Add(), "func.func", False, "f")


class OnlyNamed(ModulePass):
    """A pass that runs on ops with a symbol name alone."""

    name = "toy-only-named"
    nestable = True

    def can_run_on(self, op: Operation) -> bool:
        return symbol_of(op) != ""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        module.attributes["ran"] = UnitAttr()


def test_pass_refuses_a_module(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DiagnosticError, match="'toy-only-named' cannot run on this 'builtin.modu"):
        OnlyNamed()(parse())
    named = ModuleOp([], {"sym_name": StringAttr("m")})
    assert "ran" in OnlyNamed()(named).attributes


def test_pass_refuses_an_op_of_an_anchor() -> None:
    class NotG(OnlyNamed):
        name = "toy-not-g"

        def can_run_on(self, op: Operation) -> bool:
            return symbol_of(op) not in ("", "g")

    # The module around the one op has no name, and is not what the pass is asked about.
    assert nested(NotG(), "func.func")(parse())
    with pytest.raises(DiagnosticError, match="pass 'toy-not-g' cannot run on this 'func.func'"):
        nested(NotG(), "func.func", "builtin.module")(parse())


def test_any_leaves_out_what_the_pass_refuses() -> None:
    class OnlyF(Look):
        name = "toy-only-f"

        def can_run_on(self, op: Operation) -> bool:
            return symbol_of(op) == "f"

    assert seen(nested(OnlyF(), "any")(parse())) == {"f": "f"}


def test_pass_on_a_part_may_not_run_passes_on_the_whole() -> None:
    whole = parse()
    ran: list[str] = []

    class Reach(ModulePass):
        name = "toy-reach"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            OnlyNamed().apply(ctx.ir_context, module)
            ran.append(symbol_of(module))
            OnlyNamed().apply(ctx.ir_context, whole)

    with pytest.raises(PassContractError, match="'toy-reach' runs on a part of 'builtin.module'"):
        nest(Reach(), "builtin.module").apply(make_ir_context(), whole)
    assert ran == ["inner"]
