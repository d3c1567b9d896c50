"""Toy IR, toy passes and a recording instrument, for tests of the infrastructure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.dialects.func import Func, FuncOp
from xdsl.dialects.test import Test, TestOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.passes import ModulePass as XDSLModulePass

from passline.passmanager import (
    Diagnostic,
    FunctionPass,
    ModulePass,
    PassContext,
    PassInfo,
    PassInstrument,
    register_pass,
)
from passline.passmanager.registry import installed

__all__ = [
    "Append",
    "Fail",
    "Nothing",
    "Recorder",
    "Tag",
    "collect",
    "function_names",
    "module",
    "named",
    "register_in_test",
    "tags",
    "toy_context",
]


def toy_context() -> Context:
    """Return an xDSL context with the dialects of toy IR."""
    context = Context()
    for dialect in (Builtin, Func, Test):
        context.load_dialect(dialect)
    return context


def module(*names: str) -> ModuleOp:
    """Return a module with empty functions of these names."""
    bodies = "".join(f"func.func @{name}() {{ func.return }}\n" for name in names)
    text = f"builtin.module {{\n{bodies}}}"
    return Parser(toy_context(), text, "toy.mlir").parse_module()


def register_in_test(monkeypatch: pytest.MonkeyPatch, *passes: type[XDSLModulePass]) -> None:
    """Register passes, and forget after the test all that were registered in it."""
    offer = installed()
    monkeypatch.setattr(offer, "passes", dict(offer.passes))
    monkeypatch.setattr(offer, "names", dict(offer.names))
    monkeypatch.setattr(offer, "sources", dict(offer.sources))
    for pass_ in passes:
        register_pass(pass_)


def function_names(op: ModuleOp) -> list[str]:
    """Return the names of the functions in the module."""
    return [func.sym_name.data for func in op.ops if isinstance(func, FuncOp)]


def tags(op: Operation) -> list[str]:
    """Return the tags of the ops that Append passes have inserted below `op`, in order."""
    found = (nested.attributes.get("tag") for nested in op.walk())
    return [tag.data for tag in found if isinstance(tag, StringAttr)]


@dataclass(frozen=True)
class Append(ModulePass):
    """Append an op with a tag to the module; the tags show the order of the passes."""

    name = "toy-append"

    tag: str = "x"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        module.body.block.add_op(TestOp(attributes={"tag": StringAttr(self.tag)}))


class Nothing(ModulePass):
    """Change nothing."""

    name = "toy-nothing"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        pass


@dataclass(frozen=True)
class Fail(ModulePass):
    """Raise ValueError."""

    name = "toy-fail"

    message: str = "boom"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        raise ValueError(self.message)


class Tag(FunctionPass):
    """Set the attribute `seen` on each function."""

    name = "toy-tag"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        func.attributes["seen"] = StringAttr("yes")


def collect(found: list[str]) -> Callable[[Sequence[Diagnostic]], None]:
    """Return a renderer that appends diagnostics, as text, to `found`."""
    return lambda diagnostics: found.extend(map(str, diagnostics))


def named(
    pass_name: str,
    *,
    level: int = 0,
    requires: Iterable[str] = (),
    keeps: Iterable[str | type] = (),
    body: Callable[[ModuleOp, PassContext], None] | None = None,
    changes: bool = True,
    behind: Iterable[str] = (),
    ahead: Iterable[str] = (),
    within: str = "",
) -> ModulePass:
    """Return a module pass with this name and these properties; it is placed `behind` some passes,
    `ahead` of others, `within` a stage.

    `body` transforms the module; by default an op tagged with the name of the pass is appended,
    unless `changes` is false.
    """

    class Named(ModulePass):
        name = pass_name
        opt_level = level
        required = tuple(requires)
        preserves = tuple(keeps)
        after = tuple(behind)
        before = tuple(ahead)
        stage = within

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            if body is not None:
                body(module, ctx)
            elif changes:
                Append(pass_name).transform_module(module, ctx)

    return Named()


@dataclass
class Recorder(PassInstrument):
    """An instrument that records every event as `label hook pass`, skips the passes in `blocks`,
    and raises RuntimeError in the hooks in `fail_in`."""

    label: str = "%1"
    events: list[str] = field(default_factory=list[str])
    fail_in: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()

    def record(self, hook: str, info: PassInfo | None = None, more: str = "") -> None:
        self.events.append(" ".join(filter(None, (self.label, hook, info and info.name, more))))
        if hook in self.fail_in:
            raise RuntimeError(f"{self.label} {hook}")

    def enter_pass_ctx(self) -> None:
        self.record("enter")

    def exit_pass_ctx(self) -> None:
        self.record("exit")

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        self.record("should_run", info)
        return info.name not in self.blocks

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.record("before", info)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.record("after", info)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self.record("failed", info, type(error).__name__)

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        self.record("skipped", info, f"({reason})")

    def run_before_analysis(self, op: Operation, analysis: type) -> None:
        self.record("before_analysis", None, analysis.__name__)

    def run_after_analysis(self, op: Operation, analysis: type) -> None:
        self.record("after_analysis", None, analysis.__name__)

    def analysis_failed(self, op: Operation, analysis: type, error: BaseException) -> None:
        self.record("analysis_failed", None, f"{analysis.__name__} {type(error).__name__}")

    def analysis_invalidated(self, op: Operation, analysis: type) -> None:
        self.record("invalidated", None, analysis.__name__)
