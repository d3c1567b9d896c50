"""The dialects of the server: those of the environment, of files, and of a project's tool."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.marked import known_dialects
from support.tables import table_test

from passline.passmanager.errors import PasslineError
from passline.tools.lsp.document import SourceText
from passline.tools.lsp.known_dialects import KnownDialects
from passline.tools.lsp.open_file import OpenFile


@table_test(
    "name, isolated, symbol",
    [
        ("func.func", True, True),
        ("builtin.module", True, True),
        ("module", True, True),
        ("scf.for", False, False),
        ("func.call", False, False),
        ("x.func", False, True),
        ("x.y", False, False),
        ("", False, False),
    ],
)
def test_operations_are_known_by_their_names(name: str, isolated: bool, symbol: bool) -> None:
    known = known_dialects()
    assert known.is_isolated(name) is isolated and known.defines_symbol(name) is symbol


def test_operations_and_types_of_a_dialect_are_listed() -> None:
    known = known_dialects()
    assert "arith.addi" in [op.name for op in known.operations("arith")]
    assert "llvm.ptr" in known.types("llvm")
    assert [*known.operations("nope")] == [*known.types("nope")] == []


TOOL = """
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.xdsl_opt_main import xDSLOptMain


@irdl_op_definition
class Own(IRDLOperation):
    '''An operation of the project.'''

    name = "mine.own"
    assembly_format = "attr-dict"


class MyMain(xDSLOptMain):
    def register_all_dialects(self):
        self.ctx.load_dialect(Builtin)
        self.ctx.load_dialect(Dialect("mine", [Own]))


class NotATool:
    pass
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write the module of a tool, and return its name."""
    (tmp_path / "mine_opt.py").write_text(TOOL)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "mine_opt", raising=False)
    return "mine_opt"


@table_test("name", ["mine_opt:MyMain", "mine_opt:main"])
def test_a_tool_has_its_own_dialects(name: str, tool: str) -> None:
    known = KnownDialects(tool=name)
    file = OpenFile("file:///x", SourceText("mine.own\n"), known)
    assert file.problems() == [] and not known.is_passline
    other = OpenFile("file:///x", SourceText('"arith.constant"() : () -> i32\n'), known)
    assert len(other.problems()) == 1


def test_a_command_of_the_environment_is_a_tool() -> None:
    known = KnownDialects(tool="xdsl-opt")
    assert "cse" in known.passes and known.op_class("arith.addi") is not None
    assert Path(known.command[0]).name == "xdsl-opt"


@table_test(
    "name, says",
    [
        ("xdsl-op", "no command 'xdsl-op' is installed here, did you mean 'xdsl-opt'"),
        ("no_such_module:Main", "cannot be made: ModuleNotFoundError"),
        ("json:loads", "no class that derives from xDSLOptMain"),
    ],
)
def test_what_is_no_tool_is_refused(name: str, says: str) -> None:
    with pytest.raises(PasslineError, match=says):
        KnownDialects(tool=name)


def test_a_file_adds_its_dialect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from passline.passmanager.registry import installed

    monkeypatch.setattr(installed(), "dialects", dict(installed().dialects))
    path = tmp_path / "loaded_dialect.py"
    path.write_text(TOOL.replace("class MyMain", "MINE = Dialect('mine', [Own])\n\nclass MyMain"))
    known = KnownDialects([str(path)])
    assert OpenFile("file:///x", SourceText("mine.own\n"), known).problems() == []
    assert f"--load={path}" in known.command and known.is_passline


def test_dialects_that_are_not_registered_may_be_allowed() -> None:
    known = KnownDialects(allow_unregistered=True)
    assert OpenFile("file:///x", SourceText('"x.y"() : () -> ()\n'), known).problems() == []
