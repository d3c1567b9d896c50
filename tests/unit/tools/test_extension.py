"""Extensions: what a project adds to the tools, and what happens if one cannot be loaded."""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import pytest
from support.needs_numpy import needs_numpy
from support.passes.toy import Append, Fail
from support.suites.inprocess import passline_bisect, passline_opt, passline_reduce
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from passline.compiler.execution import PROCESSORS
from passline.passmanager import ChangedResultError, PassInfo, PassInstrument, register_pass
from passline.passmanager.registry import installed
from passline.passmanager.releases.targets import Frontend
from passline.tools.compiler_extension import CompilerExtension
from passline.tools.extension import Group, ToolExtension, extension_classes

MODULE = "func.func @f() {\n  func.return\n}\n"


@dataclass
class Point:
    """An entry point of the group `passline.tools`."""

    name: str
    offered: object
    value = "a.b:C"

    def load(self) -> object:
        if isinstance(self.offered, Exception):
            raise self.offered
        return self.offered


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """The toy passes and a frontend are installed, and gone after the test, as are extensions."""
    offer = installed()
    monkeypatch.setattr(offer, "passes", dict(offer.passes))
    monkeypatch.setattr(offer, "names", dict(offer.names))
    monkeypatch.setattr(offer, "frontends", {**offer.frontends, "words": lambda: Words})
    monkeypatch.setattr(offer, "tool_extensions", offer.tool_extensions)
    for pass_ in (Append, Fail):
        register_pass(pass_)
    extension_classes.cache_clear()
    yield
    extension_classes.cache_clear()


def install(*offered: object) -> None:
    """Add extensions after those that are installed."""
    points = [Point(f"toy{i}", each) for i, each in enumerate(offered)]
    vars(installed())["tool_extensions"] = [*installed().tool_extensions, *points]


def alone(*offered: object) -> None:
    """Make these extensions the only ones."""
    installed().tool_extensions = ()
    install(*offered)


@dataclass(frozen=True)
class Words(Frontend):
    """The reader of a text whose words become attributes of an empty module."""

    name = "words"

    prefix: str = ""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        given = getattr(input, "name", "") or input.read().decode()
        return ModuleOp([], {f"{self.prefix}{w}": StringAttr("") for w in given.split()})


class Counter(PassInstrument):
    """An instrument that counts passes, and fails where a pass is called like its `culprit`."""

    def __init__(self, culprit: str | None) -> None:
        self.culprit, self.count = culprit, 0

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.count += not info.composite
        if info.name == self.culprit:
            raise ChangedResultError(f"{info.name} is wrong", "f", "the details of it")


class Toy(ToolExtension):
    """An extension that uses all of its methods."""

    processors = ("toy-1", "toy-2")
    processor_help = "a toy processor"
    check_options = ("toy_check", "toy_strict")

    counter: Counter | None = None

    def add_pipeline_options(self, group: Group) -> None:
        group.add_argument("--toy-tag", metavar="TAG", help="name the module")

    def add_check_options(self, group: Group) -> None:
        group.add_argument("--toy-check", metavar="PASS", help="count passes")
        group.add_argument("--toy-strict", action="store_true", help="count them strictly")

    def default_pipeline(self) -> str:
        return "toy-append{tag=default}"

    def first_passes(self, processor: str | None) -> Sequence[ModulePass]:
        return () if processor is None else (Append(processor),)

    def instruments(self) -> Sequence[PassInstrument]:
        if self.tool.args.toy_check is None:
            return ()
        self.counter = Counter(self.tool.args.toy_check)
        return (self.counter,)

    def configure_frontend(self, frontend: Frontend) -> Frontend:
        return replace(frontend, prefix="toy.") if isinstance(frontend, Words) else frontend

    def prepare_module(self, module: ModuleOp, frontend: str) -> None:
        if self.tool.args.toy_tag is not None:
            module.attributes[self.tool.args.toy_tag] = StringAttr(frontend)
            self.tool.warn("the module has a tag")

    def reports(self) -> Iterator[str]:
        if self.counter is not None:
            yield f"{self.counter.count} passes\n"

    def instrument_classes(self) -> Sequence[type[PassInstrument]]:
        return (Counter,)


# What an extension can add


def test_options_are_in_the_groups_of_the_tools() -> None:
    install(Toy)
    shown = passline_opt("--help").stdout
    pipeline, checks = shown.index("\npipeline:"), shown.index("\nchecks:")
    assert pipeline < shown.index("--toy-tag") < checks < shown.index("--toy-check")
    assert "aarch64 or host; or, a toy processor; or, as in xdsl-opt, the output" in " ".join(
        shown.split()
    )
    assert "--toy-tag" in passline_reduce("--help").stdout
    assert "--toy-check" not in passline_reduce("--help").stdout
    assert "did you mean '--toy-tag'?" in passline_opt("--toy-tga=x").stderr
    assert "toy-1" in passline_opt("--print-completion=bash").stdout


def test_processor_is_for_the_first_pass() -> None:
    install(Toy)
    result = passline_opt("-t", "toy-1", "-p", "toy-append{tag=b}", stdin=MODULE)
    assert result.stdout.index('"toy-1"') < result.stdout.index('"b"')
    assert "tir.target" in passline_opt("-t", "aarch64", stdin=MODULE).stdout
    for tool in (passline_opt, passline_bisect):
        unknown = tool("-t", "toy-3{x=1}", "-p", "cse", stdin=MODULE)
        assert unknown.status == 2 and "there is no target 'toy-3', did you" in unknown.stderr


def test_first_default_pipeline_is_that_of_the_level() -> None:
    install(Toy)
    assert "default" not in passline_opt("-O3", stdin=MODULE).stdout
    alone(Toy)
    extension_classes.cache_clear()
    assert '"default"' in passline_opt("-O3", stdin=MODULE).stdout
    assert "default" not in passline_opt("-O3", "-p", "cse", stdin=MODULE).stdout


def test_instrument_runs_and_reports() -> None:
    install(Toy)
    result = passline_opt("-p", "cse,canonicalize", "--toy-check=none", stdin=MODULE)
    assert (result.status, result.stderr) == (0, "2 passes\n")
    assert "Counter " in passline_opt("--list-instruments").stdout


def test_frontend_and_module_get_what_the_options_say(tmp_path: Path) -> None:
    install(Toy)
    (path := tmp_path / "x.words").write_text("a b")
    result = passline_opt(str(path), "--toy-tag=tag")
    assert "{toy.a = " in result.stdout and 'tag = "words"' in result.stdout
    assert result.stderr.endswith("warning: the module has a tag\n")
    assert 'tag = "mlir"' in passline_opt("--toy-tag=tag", "--quiet", stdin=MODULE).stdout


def test_frontend_may_open_the_file_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Words, "opens_files", True, raising=False)
    (path := tmp_path / "x.words").write_text("a b")
    assert f'"{path}" = ' in passline_opt(str(path)).stdout
    assert "{c = " in passline_opt("-f", "words", stdin="c").stdout


def test_bisection_finds_the_pass_and_repeats_the_options(tmp_path: Path) -> None:
    install(Toy)
    args = ("-p", "canonicalize,cse,toy-append{tag=a}", "--toy-check=cse", "--toy-strict")
    result = passline_bisect(*args, f"--save-test={tmp_path}", stdin=MODULE)
    assert result.status == 0 and "the details of it" in result.stdout, result
    (test,) = tmp_path.iterdir()
    assert "passline-opt %s -p cse --toy-check=cse --toy-strict" in test.read_text()


def test_bisection_without_a_fault_says_what_was_checked() -> None:
    install(Toy)
    result = passline_bisect("-p", "cse", "--toy-check=none", stdin=MODULE)
    assert result.status == 1 and "fails no check" in result.stderr
    assert "1 passes" in result.stderr


# An extension that cannot be loaded


@pytest.mark.parametrize(
    ("offered", "cause"),
    [
        (ImportError("no module named 'gone'"), "ImportError(\"no module named 'gone'\")"),
        (Append, "a.b:C is not a passline.tools.extension.ToolExtension"),
        ("text", "TypeError"),
    ],
)
def test_broken_extension_costs_that_extension(
    offered: object, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    install(offered, Toy)
    for _ in range(2):
        assert 'x = "mlir"' in passline_opt("--toy-tag=x", stdin=MODULE).stdout
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    message = "extension 'toy0' of the tools cannot be loaded and is ignored: "
    assert record.message.startswith(message) and cause in record.message


def test_tool_without_extensions_runs_passes_on_any_dialect() -> None:
    alone()
    assert passline_opt("-p", "canonicalize,cse", stdin=MODULE).status == 0
    target = passline_opt("-t", "x86-64", stdin=MODULE)
    assert target.status == 2 and "there is no target 'x86-64'" in target.stderr
    level = passline_opt("-O3", stdin=MODULE)
    assert level.status == 2 and "no installed project has a pipeline for -O" in level.stderr


# That of the compiler


def test_processors_are_those_of_the_compiler() -> None:
    assert CompilerExtension.processors == PROCESSORS


@needs_numpy
def test_instruments_are_listed_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "SemanticsInstrument" in passline_opt("--list-instruments").stdout
    place = "passline.compiler.interpreters.equivalence.instrument"
    monkeypatch.setitem(sys.modules, place, None)
    shown = passline_opt("--list-instruments").stdout
    assert "PassTimingInstrument" in shown and "SemanticsInstrument" not in shown
