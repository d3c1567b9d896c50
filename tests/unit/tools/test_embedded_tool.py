"""Tools of projects: subclasses that override what xDSL's class lets them override."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import IO

import pytest
from support.passes.toy import Append
from support.suites.inprocess import Result, capture
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass, PassPipeline

from passline.passmanager.registry import installed
from passline.tools.opt import PasslineOptMain

MODULE = """\
func.func @f() {
  func.return
}
"""


class ProjectContext(Context):
    """A context with something of a project's."""

    accelerators: tuple[str, ...] = ("x",)


class OwnInit(PasslineOptMain):
    """A tool whose `__init__` does what xDSL's does, with a context and a parser of its own."""

    def __init__(self, description: str = "own", args: Sequence[str] | None = None) -> None:
        self.available_frontends = {}
        self.available_passes = {}
        self.available_targets = {}
        self.ctx = ProjectContext()
        self.register_all_dialects()
        self.register_all_frontends()
        self.register_all_passes()
        self.register_all_targets()
        parser = argparse.ArgumentParser(description=description)
        self.register_all_arguments(parser)
        parser.add_argument("--own", action="store_true")
        self.args = parser.parse_args(args=args)
        self.ctx.allow_unregistered = self.args.allow_unregistered_dialect
        self.setup_pipeline()

    def register_all_passes(self) -> None:
        super().register_all_passes()
        self.register_pass("append", lambda: Append)


class OwnPipeline(PasslineOptMain):
    """A tool that makes its pipeline itself."""

    called: int
    callback: Callable[[ModulePass | None, ModuleOp, ModulePass | None], None] | None = None

    def setup_pipeline(self) -> None:
        self.pipeline = PassPipeline((Append("a"), Append("b")), self.callback)


class Counting(OwnPipeline):
    """One whose pipeline has a callback."""

    def setup_pipeline(self) -> None:
        self.called = 0
        self.callback = self.count
        super().setup_pipeline()

    def count(self, before: ModulePass | None, module: ModuleOp, after: ModulePass | None) -> None:
        self.called += 1


def run(tool: type[PasslineOptMain], *args: str) -> Result:
    return capture(lambda: tool(args=args).run(), MODULE)


@table_test("args", [[], ["--own"], ["-p", "append"], ["--append"], ["--timing"]])
def test_options_of_a_tool_with_its_own_init(args: list[str]) -> None:
    result = run(OwnInit, *args)
    assert result.status == 0 and "func.func @f" in result.stdout, result
    assert ("Execution time report" in result.stderr) == ("--timing" in args)
    assert ("append" in " ".join(args)) == ("tag" in result.stdout)


def test_context_of_a_tool_with_its_own_init() -> None:
    tool = OwnInit(args=[])
    assert isinstance(tool.ctx, ProjectContext)


@table_test(
    ("args", "said"),
    [
        (["-p", "apend"], "there is no pass 'apend', did you mean 'append'?"),
        (["--timin"], "did you mean '--timing'?"),
        (["-t", "mlr"], "mlr"),
        (["--jobs=2"], "--jobs needs --out-dir"),
        (["--out-dir=x"], "this tool reads its options itself"),
    ],
)
def test_mistakes_with_a_tool_with_its_own_init(args: list[str], said: str) -> None:
    result = run(OwnInit, *args)
    assert result.status == 2 and said in result.stderr, result
    assert "Traceback" not in result.stderr


def test_questions_to_a_tool_with_its_own_init() -> None:
    assert "append" in run(OwnInit, "--list-passes").stdout
    assert "append" in run(OwnInit, "--append", "--explain-pipeline").stdout


def test_pipeline_of_a_subclass_runs_under_instruments() -> None:
    result = run(OwnPipeline, "--print-ir-after-all")
    assert result.status == 0 and result.stderr.count("IR Dump After toy-append") == 2, result
    assert result.stdout.index('"a"') < result.stdout.index('"b"')


def test_callback_of_the_pipeline_of_a_subclass_is_called(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_text(MODULE)
    tool = Counting(args=[str(tmp_path / "x.mlir")])
    result = capture(tool.run)
    by_tool, tool.called = tool.called, 0
    ctx = tool.ctx
    tool.pipeline.apply(ctx, Parser(ctx, MODULE).parse_module())  # older releases call it less
    assert result.status == 0 and by_tool == tool.called > 0, result


class Kept(StringIO):
    """A stream whose text is kept when it is closed."""

    text = ""

    def close(self) -> None:
        self.text = self.getvalue()
        super().close()


class OwnOutput(PasslineOptMain):
    """A tool that writes to a stream of its own."""

    stream: Kept

    def prepare_output(self) -> IO[str]:
        self.stream = Kept()
        return self.stream


def test_output_of_a_subclass_gets_the_result(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_text(MODULE)
    tool = OwnOutput(args=[str(tmp_path / "x.mlir")])
    result = capture(tool.run)
    assert (result.status, result.stdout) == (0, "")
    assert "func.func @f()" in tool.stream.text


def test_a_tool_that_parses_its_options_loads_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer = installed()
    monkeypatch.setattr(offer, "dialects", dict(offer.dialects))
    (path := tmp_path / "mine.py").write_text("from xdsl.ir import Dialect\nM = Dialect('mine')\n")
    args = [f"--load={path}", "--list-dialects"]
    monkeypatch.setattr(sys, "argv", ["own-opt", *args])
    assert "\nmine\n" in capture(lambda: OwnInit().run()).stdout
    monkeypatch.setattr(sys, "argv", ["own-opt"])
    assert "--load: this tool reads its options" in capture(lambda: OwnInit(args=args).run()).stderr
