"""`stackvm-opt`: `passline-opt` with an option of its own."""

from __future__ import annotations

import argparse

from passline.passmanager import PassInstrument
from passline.tools.opt import PasslineOptMain

from .instrument import ProgramSizes

__all__ = ["StackVMOptMain", "main"]


class StackVMOptMain(PasslineOptMain):
    """The tool of this project."""

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        help = "say how large programs are where a pass changed it"
        arg_parser.add_argument("--program-sizes", action="store_true", help=help)

    def instruments(self) -> list[PassInstrument]:
        own: list[PassInstrument] = [ProgramSizes()] if self.args.program_sizes else []
        return [*super().instruments(), *own]


def main() -> None:
    """The command `stackvm-opt`."""
    StackVMOptMain.main()
