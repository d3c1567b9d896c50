"""The classes of frontends, which xDSL has since 0.75."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpecConvertible

__all__ = ["Frontend", "MLIRFrontend"]

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
