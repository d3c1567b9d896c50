"""`my-compiler-opt`: `passline-opt` with one more option."""

from __future__ import annotations

import argparse

from passline.passmanager import PassInstrument
from passline.tools.opt import PasslineOptMain

from .instrument import CountOps

__all__ = ["MyCompilerOptMain", "main"]


class MyCompilerOptMain(PasslineOptMain):
    """The command-line tool of this project."""

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        help = "count the operations of the dialect before and after each pass"
        arg_parser.add_argument("--count-ops", action="store_true", help=help)

    def instruments(self) -> list[PassInstrument]:
        own: list[PassInstrument] = [CountOps()] if self.args.count_ops else []
        return [*super().instruments(), *own]


def main() -> None:
    """Run the command `my-compiler-opt`."""
    MyCompilerOptMain.main()


if __name__ == "__main__":
    main()
