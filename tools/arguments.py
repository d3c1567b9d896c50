"""The options that `passline-opt` has beside those of `xdsl-opt`, or in their place."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NoReturn

from ..passmanager.info import closest_name
from .failures import USAGE

__all__ = ["ArgumentParser", "add_arguments"]


class ArgumentParser(argparse.ArgumentParser):
    """xDSL's options can be replaced, none is abbreviated, an unknown one gets the nearest."""

    def __init__(self, description: str) -> None:
        super().__init__(description=description, allow_abbrev=False, conflict_handler="resolve")

    def error(self, message: str) -> NoReturn:
        known = [name for action in self._actions for name in action.option_strings]
        unknown = message.removeprefix("unrecognized arguments: ").split(" ")[0].split("=")[0]
        if message.startswith("unrecognized") and (closest := closest_name(unknown, known)):
            message += f" (did you mean '{closest}'?)"
        self.exit(USAGE, f"{self.prog}: error: {message}\nsee '{self.prog} --help'\n")


def add_arguments(parser: argparse.ArgumentParser, targets: Iterable[str], version: str) -> None:
    """Add the options, in groups."""
    _add_input_and_output(parser, targets)
    _add_pipeline(parser)
    _add_configuration(parser)
    _add_questions(parser, version)


def _add_input_and_output(parser: argparse.ArgumentParser, targets: Iterable[str]) -> None:
    add = parser.add_argument_group("output").add_argument
    help = f"what to write: one of {', '.join(targets)}"
    add("-t", "--target", default="mlir", help=help)
    help = "the file to write, in one step when all has succeeded"
    add("-o", "--output-file", metavar="FILE", help=help)


def _add_pipeline(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("pipeline").add_argument
    help = "passes to run, as a,b{option=1}; may be repeated; see --list-passes"
    add("-p", "--passes", action="append", default=[], metavar="PIPELINE", help=help)
    help = "0 to 3: the default pipeline of this level; with -p, the level that -p runs at"
    add("-O", type=int, choices=range(4), metavar="LEVEL", dest="opt_level", help=help)
    help = "check what passes say that they preserve"
    add("--verify-preserves", action="store_true", help=help)


def _add_configuration(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("configuration").add_argument
    help = "set an option, as fold-constant.max_elements=64; may be repeated; see --list-configs"
    add("--config", action="append", default=[], metavar="KEY=VALUE", help=help)
    help = "read options from a TOML file; --config has precedence"
    add("--config-file", metavar="FILE", help=help)


def _add_questions(parser: argparse.ArgumentParser, version: str) -> None:
    add = parser.add_argument_group("questions").add_argument
    add("--list-passes", action="store_true", help="list all passes with their options, and stop")
    add("--list-configs", action="store_true", help="list all keys of --config, and stop")
    help = "say what would run and what not and why, and stop"
    add("--explain-pipeline", action="store_true", help=help)
    help = "print the pipeline as text on stderr"
    add("--dump-pass-pipeline", action="store_true", help=help)
    add("--debug", action="store_true", help="show the traceback when something fails")
    add("-v", "--version", action="version", version=version)
