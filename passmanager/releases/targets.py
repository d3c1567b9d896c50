"""Targets and frontends of the tools, in the releases of xDSL that lack them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.arg_spec import ArgSpecConvertible

__all__ = ["TARGETS_ARE_FUNCTIONS", "Frontend", "MLIRFrontend", "MLIRTarget"]


# The target `mlir` of xDSL's tools, as a class.


TARGETS_ARE_FUNCTIONS = XDSL_UNIVERSE.all_targets.get("mlir") is None
"""Whether the tool of this xDSL registers functions as targets, in place of its universe."""

if TYPE_CHECKING:
    from xdsl.targets.mlir import MLIRTarget
else:
    try:
        from xdsl.targets.mlir import MLIRTarget
    except ImportError:  # until xDSL 0.59 the tool has a function
        from xdsl.utils.target import Target

        @dataclass(frozen=True)
        class MLIRTarget(Target):
            """The text of a module, in the forms that the fields choose."""

            name = "mlir"

            print_generic_format: bool = False
            print_properties_as_attributes: bool = False
            print_debuginfo: bool = False
            syntax_highlight: bool = False

            def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
                from xdsl.printer import Printer

                printer = Printer(
                    stream=output,
                    print_generic_format=self.print_generic_format,
                    print_properties_as_attributes=self.print_properties_as_attributes,
                    print_debuginfo=self.print_debuginfo,
                )
                printer.print_op(module)
                printer.print_metadata(ctx.loaded_dialects)
                print("\n", file=output)


# The classes of frontends, which xDSL has since 0.75.


if TYPE_CHECKING:
    from xdsl.frontend.mlir import MLIRFrontend
    from xdsl.utils.frontend import Frontend
else:
    try:
        from xdsl.frontend.mlir import MLIRFrontend
        from xdsl.utils.frontend import Frontend
    except ImportError:

        @dataclass(frozen=True)
        class Frontend(ArgSpecConvertible):
            """A reader of one kind of input; its fields are options, as `name{option=value}`."""

            name: ClassVar[str]

            @abstractmethod
            def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp: ...

        @dataclass(frozen=True)
        class MLIRFrontend(Frontend):
            """The reader of MLIR text."""

            name = "mlir"

            no_implicit_module: bool = False

            def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
                from xdsl.parser import Parser

                parser = Parser(ctx, input.read(), input_name)
                return parser.parse_module(not self.no_implicit_module)
