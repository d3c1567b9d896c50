"""Passes for MLIR's own tests of pass managers, under the names that these tests use.

A file of --load: `passline-opt x.mlir --load=mlir_test_passes.py -p test-stats-pass`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.test import Test
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_attr_def
from xdsl.utils.exceptions import PassFailedException

from passline.passmanager import FunctionPass, ModulePass, PassContext, parse_pipeline
from passline.passmanager.diagnostics import Severity
from passline.passmanager.ir.walk import symbol_of, walk
from passline.passmanager.run import Run
from passline.passmanager.sequential import Sequential


@irdl_op_definition
class SymbolOp(IRDLOperation):
    """An op with a symbol name."""

    name = "test.symbol"
    sym_name = opt_attr_def(StringAttr)


DIALECT = Dialect("test", [*Test.operations, SymbolOp], [*Test.attributes])


def subject(module: ModuleOp) -> Operation:
    """Return the op that the running pass was scheduled on: that of its anchor, or the module."""
    return Run.current().frames[-1].function or module


class TestModulePass(ModulePass):
    """Do nothing to a module."""

    name = "test-module-pass"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        pass


class TestFunctionPass(FunctionPass):
    """Count functions."""

    name = "test-function-pass"
    statistics: ClassVar[Mapping[str, str]] = {"counter": "Number of invocations"}

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("counter")


class TestInterfacePass(ModulePass):
    """Make a remark about each function, and refuse other ops."""

    name = "test-interface-pass"
    nestable = True

    def can_run_on(self, op: Operation) -> bool:
        return isinstance(op, FuncOp)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        message = "Executing interface pass on operation"
        ctx.diagnostics.emit(Severity.REMARK, subject(module), message)


class TestPrintLiveness(ModulePass):
    """Refuse what has no symbol name."""

    name = "test-print-liveness"
    nestable = True

    def can_run_on(self, op: Operation) -> bool:
        return symbol_of(op) != ""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        pass


@dataclass(frozen=True)
class PrintOpStats(ModulePass):
    """Print the number of ops."""

    name = "print-op-stats"
    nestable = True

    json: bool = False

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        print(len([*walk(subject(module))]), file=sys.stderr)


# Options


@dataclass(frozen=True)
class TestOptions:
    """Options of several types."""

    list: tuple[int, ...] = ()
    string_list: tuple[str, ...] = ()
    string: str = ""
    enum: Literal["zero", "one", "two"] = "zero"


@dataclass(frozen=True)
class TestOptionsPass(FunctionPass):
    """Take options of several types."""

    name = "test-options-pass"

    list: tuple[int, ...] = ()
    string_list: tuple[str, ...] = ()
    string: str = ""
    enum: Literal["zero", "one", "two"] = "zero"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        pass


@dataclass(frozen=True)
class TestOptionsPipeline(TestOptionsPass):
    """Do what `test-options-pass` does."""

    name = "test-options-pass-pipeline"


@dataclass(frozen=True)
class TestOptionsSuperPass(FunctionPass):
    """Take a list of options."""

    name = "test-options-super-pass"

    list: tuple[TestOptions, ...] = ()

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        pass


@dataclass(frozen=True)
class TestOptionsSuperPipeline(FunctionPass):
    """Do what `test-options-super-pass` does."""

    name = "test-options-super-pass-pipeline"

    super_list: tuple[TestOptions, ...] = ()

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        pass


@dataclass(frozen=True)
class TestOptionsSetPipeline(FunctionPass):
    """Take the options of two passes."""

    name = "test-options-super-set-ab-pipeline"

    foo: bool = False
    bar: bool = False

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        pass


# Failures


class TestCrashPass(ModulePass):
    """End the process."""

    name = "test-pass-crash"
    nestable = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        os.abort()


@dataclass(frozen=True)
class TestFailurePass(ModulePass):
    """Fail, with or without a diagnostic."""

    name = "test-pass-failure"
    nestable = True

    gen_diagnostics: bool = False

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        if not self.gen_diagnostics:
            raise PassFailedException
        ctx.diagnostics.error(subject(module), "illegal operation")


@dataclass(frozen=True)
class TestInvalidIRPass(FunctionPass):
    """Put a terminator at the start of a function, which is invalid."""

    name = "test-pass-create-invalid-ir"

    emit_invalid_ir: bool = True
    signal_pass_failure: bool = False

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if self.emit_invalid_ir:
            block = func.body.blocks[0]
            block.insert_ops_before([ReturnOp()], block.ops.first or ReturnOp())
        if self.signal_pass_failure:
            raise PassFailedException


class TestInvalidParentPass(FunctionPass):
    """Call a function that does not exist."""

    name = "test-pass-invalid-parent"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        block = func.body.blocks[0]
        call = CallOp("some_unknown_func", [], [])
        block.insert_ops_before([call], block.ops.first or call)


# What passes report


class TestStatisticPass(ModulePass):
    """Count ops, twice."""

    name = "test-stats-pass"
    nestable = True
    statistics: ClassVar[Mapping[str, str]] = {
        "num-ops2": "Number of operations counted one more time",
        "num-ops": "Number of operations counted",
    }

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        count = len([*walk(subject(module))])
        ctx.count("num-ops", count)
        ctx.count("num-ops2", count)


class TestRemarkPass(ModulePass):
    """Make remarks of each kind about each op that is no module."""

    name = "test-remark"
    nestable = True
    remark_categories = ("category-1-passed", "category-2-failed", "category-link")

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        name, actions = "test-remark", ctx.actions
        more: dict[str, Any] = {
            "Reason": "because we are testing the remark pipeline",
            "Suggestion": "try using the remark pipeline feature",
        }
        for op in walk(subject(module)):
            if isinstance(op, ModuleOp):
                continue
            said = "This is a test missed remark"
            actions.missed(op, name, said, category="a-category-1-missed", **more)
            said = "This is a test passed remark"
            for text in (f"{said} (should be dropped)", said):
                actions.passed(op, name, text, category="category-1-passed", **more)
            said = "This is a test failed remark"
            actions.failed(op, name, said, category="category-2-failed", **more)
            said = "This is a test analysis remark"
            actions.analysis(op, name, said, category="category-2-analysis")
            said = "Analysis that enables optimization"
            found = actions.analysis(op, name, said, category="category-link")
            said = "Optimization enabled by analysis"
            actions.passed(op, name, said, category="category-link", related=found)


# Pipelines


class TestNestedPipeline(Sequential):
    """Run passes on modules and functions."""

    name = "test-pm-nested-pipeline"

    def __init__(self) -> None:
        text = "builtin.module(builtin.module(test-module-pass,func.func(test-function-pass)),"
        super().__init__(
            parse_pipeline(f"{text}func.func(test-function-pass))").passes, name=self.name
        )


class TestTextualPipeline(Sequential):
    """Run `test-pm-nested-pipeline`."""

    name = "test-textual-pm-nested-pipeline"

    def __init__(self) -> None:
        super().__init__(TestNestedPipeline().passes, name=self.name)


@dataclass(frozen=True)
class TestDynamicPipeline(ModulePass):
    """Run a pipeline on the modules of given names."""

    name = "test-dynamic-pipeline"
    nestable = True

    run_on_nested_operations: bool = False
    run_on_parent: bool = False
    dynamic_pipeline: str = ""
    op_name: tuple[str, ...] = ()

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        op = subject(module)
        print(f"Dynamic execute '{self.dynamic_pipeline}' on {op.name}", file=sys.stderr)
        if self.op_name and symbol_of(op) not in self.op_name:
            print(f"dynamic-pipeline skip op name: {symbol_of(op)}", file=sys.stderr)
            return
        assert isinstance(op, ModuleOp)
        parent = op.parent_op()
        if self.run_on_parent:
            assert isinstance(parent, ModuleOp)
            parse_pipeline("cse").apply(ctx.ir_context, parent)
            return
        inner = [each for each in op.ops if isinstance(each, ModuleOp)]
        for each in inner if self.run_on_nested_operations else [op]:
            parse_pipeline(self.dynamic_pipeline).apply(ctx.ir_context, each)
