"""`stackvm-opt`: `passline-opt` with one more option."""

from __future__ import annotations

import argparse

from passline.passmanager import PassInstrument
from passline.tools.opt import PasslineOptMain

from .instrument import ProgramSizes

__all__ = ["StackVMOptMain", "main"]


class StackVMOptMain(PasslineOptMain):
    """The command-line tool of this project."""

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        help = "print the size of programs before and after each pass that changes it"
        arg_parser.add_argument("--program-sizes", action="store_true", help=help)

    def instruments(self) -> list[PassInstrument]:
        own: list[PassInstrument] = [ProgramSizes()] if self.args.program_sizes else []
        return [*super().instruments(), *own]


def main() -> None:
    """Run the command `stackvm-opt`."""
    StackVMOptMain.main()
