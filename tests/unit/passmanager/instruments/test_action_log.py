"""ActionLog: a line for each pass on each op, and the places that are logged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.passes.toy import Fail, Nothing, Recorder, toy_context
from support.suites.inprocess import passline_opt
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from passline.passmanager import FunctionPass, PassContext, PassInfo, PassInstrument, Sequential
from passline.passmanager.anchors import nest
from passline.passmanager.instruments import ActionLog
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import symbol_of

TEXT = """\
func.func @f() {
  func.return
}
func.func @g() { func.return }
"""


class Visit(FunctionPass):
    name = "toy-visit"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if "fails" in func.attributes:
            raise ValueError("no")


class Nested(Nothing):
    name = "toy-nested"
    nestable = True


def log(path: Path, *passes: ModulePass, places: tuple[str, ...] = (), text: str = TEXT) -> str:
    """Return the log of a run, without the numbers of threads."""
    module = parse_module(toy_context(), text, "x.mlir")
    try:
        with PassContext(instruments=[ActionLog(path, places)]):
            Sequential(passes).apply(toy_context(), module)
    finally:
        found = re.sub(r"^\[thread \d+\] ", "", path.read_text(), flags=re.MULTILINE)
    return found


BEGINS = "begins Action `pass-execution` running"
COMPLETED = "completed `pass-execution`"


def test_lines_of_passes_on_modules_and_functions(tmp_path: Path) -> None:
    passes = (Nothing(), Visit(), nest(Nested(), "func.func"))
    assert log(tmp_path / "log", *passes).splitlines() == [
        f"{BEGINS} `toy-nothing` on Operation `builtin.module` (builtin.module {{...}})",
        COMPLETED,
        f"{BEGINS} `toy-visit` on Operation `func.func` (func.func @f() {{...}})",
        COMPLETED,
        f"{BEGINS} `toy-visit` on Operation `func.func` (func.func @g() {{...}})",
        COMPLETED,
        f"{BEGINS} `toy-nested` on Operation `func.func` (func.func @f() {{...}})",
        COMPLETED,
        f"{BEGINS} `toy-nested` on Operation `func.func` (func.func @g() {{...}})",
        COMPLETED,
    ]


@table_test(
    ("places", "expected"),
    [
        (("x.mlir",), ["builtin.module", "func.func", "func.func"]),
        (("x.mlir:4",), ["func.func"]),
        (("x.mlir:1:1", "x.mlir:4:1"), ["func.func", "func.func"]),
        (("x.mlir:4:2",), []),
        (("y.mlir",), []),
    ],
)
def test_places_that_are_logged(
    tmp_path_factory: pytest.TempPathFactory, places: tuple[str, ...], expected: list[str]
) -> None:
    text = log(tmp_path_factory.mktemp("log") / "log", Nothing(), Visit(), places=places)
    assert re.findall(r"on Operation `([\w.]+)`", text) == expected


def test_failures(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with pytest.raises(ValueError):
        log(path, Fail())
    assert path.read_text().endswith("failed `pass-execution` on `builtin.module`: ValueError\n")
    failing = TEXT.replace("@g()", "@g() attributes {fails}")
    with pytest.raises(ValueError):
        log(path, Visit(), text=failing)
    lines = path.read_text().splitlines()
    assert lines[1].endswith(COMPLETED)
    assert lines[-1].endswith("failed `pass-execution` on `func.func`: ValueError")


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match="none"),
        PassContext(instruments=[ActionLog(tmp_path / "none/x")]),
    ):
        pass


def test_place_that_is_none() -> None:
    with pytest.raises(ValueError, match="expected FILE, FILE:LINE or FILE:LINE:COLUMN, got ''"):
        ActionLog("-", [""])


def test_option_of_the_tool() -> None:
    result = passline_opt("--log-actions-to=-", "-p", "cse", "-o", "/dev/null", stdin=TEXT)
    assert result.stdout.count("pass-execution") == 2
    hint = passline_opt("--log-mlir-actions-filter=x.mlir", stdin=TEXT)
    assert "write --log-actions-filter=FILE:LINE" in hint.stderr


# The hooks


class Visits(PassInstrument):
    """Note the ops that are visited."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def before_visit(self, op: Operation, info: PassInfo) -> None:
        self.seen.append(f"{info.name} {symbol_of(op)}")


def test_instrument_is_told_of_visits() -> None:
    visits, plain = Visits(), Recorder()
    module = parse_module(toy_context(), TEXT, "x.mlir")
    with PassContext(instruments=[visits, plain], workers=2):
        Sequential([Nothing(), Visit()]).apply(toy_context(), module)
    assert visits.seen == ["toy-visit f", "toy-visit g"]
