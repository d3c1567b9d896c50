"""Reports about passes under anchors: rows of the anchors, and IR of each op by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest
from support.passes.toy import Nothing, toy_context
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.passes import ModulePass as XDSLModulePass

from passline.passmanager import Fixpoint, ModulePass, PassContext, PassInstrument, Sequential
from passline.passmanager.anchors import OpAnchor, nest
from passline.passmanager.instruments import IRPrinter, PassTimingInstrument, StatisticsInstrument
from passline.passmanager.ir.walk import symbol_of

TEXT = """
builtin.module @outer {
  func.func @f() { func.return }
  builtin.module @inner { func.func @g() { func.return } }
  func.func @"a/b"() { func.return }
}
"""


def parse() -> ModuleOp:
    return Parser(toy_context(), TEXT).parse_module()


class Count(ModulePass):
    """Count ops, and mark the one called `f`."""

    name = "toy-count"
    nestable = True
    statistics: ClassVar[Mapping[str, str]] = {"ops": "Ops that were seen", "never": "Nothing"}

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for op in module.ops:
            ctx.count("ops")
            if symbol_of(op) == "f":
                op.attributes["marked"] = StringAttr("")


class Refuse(ModulePass):
    """Fail on the op called `g`."""

    name = "toy-refuse"
    nestable = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for op in module.ops:
            if symbol_of(op) == "g":
                raise ValueError("no")


FUNCTIONS, MODULES = OpAnchor("func.func"), OpAnchor("builtin.module")


def run(instrument: PassInstrument, *passes: XDSLModulePass) -> None:
    with PassContext(instruments=[instrument]):
        Sequential(passes)(parse())


def test_statistics_of_each_place_in_the_pipeline() -> None:
    found = StatisticsInstrument()
    inner = nest(nest(Count(), FUNCTIONS), MODULES)
    passes = [nest(Count(), FUNCTIONS), nest(Count(), FUNCTIONS), inner, Fixpoint(Nothing(), 2)]
    with PassContext(instruments=[found]):
        Sequential(passes)(parse())
    assert found.report("pipeline").split("\n")[3:-1] == [
        "'func.func' Pipeline",
        "  toy-count: 1 run, 1 changed",
        "    (S) 0 never - Nothing",
        "    (S) 2 ops - Ops that were seen",
        "  toy-count: 1 run, 0 changed",
        "    (S) 0 never - Nothing",
        "    (S) 2 ops - Ops that were seen",
        "'builtin.module' Pipeline",
        "  'func.func' Pipeline",
        "    toy-count: 1 run, 0 changed",
        "      (S) 0 never - Nothing",
        "      (S) 1 ops - Ops that were seen",
        "fixpoint",
        "  toy-nothing: 1 run, 0 changed",
    ]
    assert found.passes["toy-count"].counters == {"ops": 5}


def test_timing_has_a_row_for_an_anchor() -> None:
    found = PassTimingInstrument()
    under = nest(Count(), FUNCTIONS)
    with PassContext(instruments=[found], verify_each=False):
        Sequential([under, under, Nothing(), nest(under, MODULES)])(parse())
    assert [line[40:] for line in found.report().split("\n")[6:-3]] == [
        "sequential",
        "  'func.func' Pipeline",
        "    toy-count",
        "    toy-count",
        "  toy-nothing",
        "  'builtin.module' Pipeline",
        "    'func.func' Pipeline",
        "      toy-count",
    ]


# Printed IR

Capture = pytest.CaptureFixture[str]


def dumps(capsys: Capture) -> list[tuple[str, str]]:
    """Return the titles of the dumps on stderr, and the symbols of the ops that are printed."""
    _, *parts = capsys.readouterr().err.split("// -----// IR Dump ")
    found = [part.split(" //----- //\n") for part in parts]
    return [(title, ",".join(re.findall(r"(?<!: )@([\w\"/]+)", text))) for title, text in found]


def test_ops_of_an_anchor_are_printed_one_by_one(capsys: Capture) -> None:
    run(IRPrinter(before=True, after=["toy-nothing"]), nest(Count(), FUNCTIONS), Nothing())
    title = "Before toy-count: func.func(toy-count)"
    assert dumps(capsys) == [
        (title, "f"),
        (title, '"a/b"'),
        ("Before toy-nothing", 'outer,f,inner,g,"a/b"'),
        ("After toy-nothing", 'outer,f,inner,g,"a/b"'),
    ]


def test_only_what_changed_is_printed(capsys: Capture) -> None:
    run(IRPrinter(after_change=True), nest(Count(), FUNCTIONS), nest(Count(), FUNCTIONS))
    assert dumps(capsys)[1:] == [("After toy-count: func.func(toy-count)", "f")]


def test_module_around_the_op(capsys: Capture) -> None:
    run(IRPrinter(before=True, module_scope=True), nest(Count(), FUNCTIONS))
    assert [title.partition("(toy-count) ")[2] for title, _ in dumps(capsys)] == [
        "('func.func' operation: @f)",
        "('func.func' operation: @a/b)",
    ]


def test_op_in_which_a_pass_failed(capsys: Capture) -> None:
    pass_ = nest(Refuse(), OpAnchor("func.func", recursive=True))
    with pytest.raises(ValueError):
        run(IRPrinter(after_failure=True), pass_)
    assert dumps(capsys) == [("After toy-refuse: **func.func(toy-refuse) Failed", "g")]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.mlir"))


def test_files_in_folders_like_the_ops(tmp_path: Path) -> None:
    under = nest(Count(), FUNCTIONS)
    run(IRPrinter(after=True, tree_dir=tmp_path), Nothing(), under, Nothing(), nest(under, MODULES))
    outer = "builtin_module_outer"
    assert files(tmp_path) == [
        f"{outer}/0_toy-nothing.mlir",
        f"{outer}/1_toy-nothing.mlir",
        f"{outer}/builtin_module_inner/func_func_g/1_0_0_toy-count.mlir",
        f"{outer}/func_func_a_b/0_0_toy-count.mlir",
        f"{outer}/func_func_f/0_0_toy-count.mlir",
    ]
    text = (tmp_path / outer / "func_func_f" / "0_0_toy-count.mlir").read_text()
    assert text.startswith("// -----// IR Dump After toy-count: func.func(toy-count) //----- //\n")


@table_test("taken", ["builtin_module_outer", "builtin_module_outer/0_toy-nothing.mlir"])
def test_file_that_cannot_be_written(tmp_path_factory: pytest.TempPathFactory, taken: str) -> None:
    folder = tmp_path_factory.mktemp("tree")
    path = folder / taken
    path.parent.mkdir(exist_ok=True)
    if path.suffix:
        path.mkdir()
    else:
        path.touch()
    ran: list[Operation] = []

    class Ran(Nothing):
        name = "toy-ran"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            ran.append(module)

    with pytest.raises(OSError, match="toy-nothing"):
        run(IRPrinter(after=["toy-nothing"], tree_dir=folder), Nothing(), Ran())
    assert ran, "a file does not stop the passes"
