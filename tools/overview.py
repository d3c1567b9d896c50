"""`passline`: says which commands there are; each is also a command `passline-NAME` of its own."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from ..passmanager.errors import NotInstalledError
from ..passmanager.names import did_you_mean
from .command_line.argument_parser import ArgumentParser, add_completion, add_version
from .command_line.short_help import filled, option_row, rows, terminal_width
from .commands import COMMANDS
from .failures import run_process

if TYPE_CHECKING:
    from .opt import PasslineOptMain


DESCRIPTION = "Passes over IR on xDSL, and a tensor compiler from ONNX to machine code."
SAYS = {
    "opt": "run passes over IR or an ONNX model, and write the result",
    "run": "run a function of it, on numpy or as machine code",
    "compile": "make a library with a C interface of a function",
    "tune": "measure schedules for its kernels, and keep the fastest",
    "report": "show a recorded run as a page of HTML, or as text",
    "reduce": "make IR smaller while a pass fails on it, or a command accepts it",
    "bisect": "find the pass, the function and the rewrite that break a program",
    "lsp": "serve an editor: errors while typing, hover, completion, passes to run",
}
"""The commands, and what they do."""
MORE = (
    "'passline COMMAND -h' shows the options used most of a command, with examples, and "
    "'passline COMMAND --help' all of them. 'passline-opt' is the same as 'passline opt', and so "
    "on. 'passline new NAME' starts a project with a dialect and passes of its own, and 'passline "
    "serve' keeps the commands imported, so that they start faster."
)


class OverviewParser(ArgumentParser):
    """A parser whose help is the list of the commands."""

    def format_help(self) -> str:
        width = terminal_width()
        lines = [f"usage: {self.prog} COMMAND ...", "", *filled(DESCRIPTION, width), ""]
        lines += ["commands:", *rows(SAYS.items(), width), ""]
        options = [("-h, --help", "show this list, and exit"), *map(option_row, _options(self))]
        lines += ["options:", *rows(options, width), "", *filled(MORE, width)]
        return "\n".join(lines) + "\n"


def _options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the options of the command itself, without those for help, which are the same here."""
    shown = ("--version", "--print-completion")
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if action.option_strings[-1] in shown:
            yield action


def main(args: Sequence[str] | None = None) -> None:
    """Run the command `passline` without one of its commands."""
    run_process(lambda: run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> None:
    """Print the list of the commands, or what the options ask for."""
    parser = OverviewParser(DESCRIPTION)
    add_version(parser)
    add_completion(parser, completion)
    if args and not args[0].startswith("-"):
        refuse(parser, args[0])
    prepared = parser.prepare(args)
    unknown = parser.parse_known_args(prepared)[1]
    if unknown and (command := command_with(unknown[0])) is not None:
        parser.error(f"'{unknown[0]}' is an option of a command, as in '{parser.prog} {command}'")
    parser.parse_args(prepared)
    print(parser.format_help(), end="")


def refuse(parser: ArgumentParser, name: str) -> NoReturn:
    """Report a command that does not exist, with the nearest name."""
    if name == "help":
        parser.error("there is no command 'help': write 'passline --help'")
    hint = did_you_mean(name.removeprefix("passline-"), COMMANDS)
    if not hint and os.path.exists(name):
        hint = f"; '{parser.prog} opt {name}' reads the file"
    parser.error(f"there is no command '{name}'{hint or '; choose from ' + ', '.join(SAYS)}")


def completion(shell: str) -> str:
    """Return a script with which a shell completes all commands."""
    from .command_line.completion import completion_of_all

    parsers: dict[str, argparse.ArgumentParser] = {}
    offers: dict[str, list[str]] = {}
    for name, parser, offered in parsers_of_tools():
        parsers[name], offers = parser, offered or offers
        parser.description = SAYS[name]
    return completion_of_all(parsers, shell, offers)


def command_with(option: str) -> str | None:
    """Return the first command that has an option, with the option; None if none has it."""
    for name, parser, _ in parsers_of_tools():
        flag = parser.prepare([option])[0].partition("=")[0]
        known = [flag for action in parser._actions for flag in action.option_strings]  # pyright: ignore[reportPrivateUsage]
        if flag in known or (flag[1:2] != "-" and flag[:2] in known):
            return f"{name} {option}"
    return None


def parsers_of_tools() -> Iterator[tuple[str, ArgumentParser, dict[str, list[str]]]]:
    """Yield each command that can be imported, with its parser and values for completion."""
    for name, module in COMMANDS.items():
        try:
            tool = import_module(f".{module}", __package__)
        except NotInstalledError:
            continue
        if name in ("report", "lsp"):
            yield name, tool.make_parser(), {}
        else:
            unused = tool_class(tool).unused()
            assert isinstance(parser := unused.arg_parser, ArgumentParser)
            yield name, parser, unused.offers


def tool_class(module: ModuleType) -> type[PasslineOptMain]:
    """Return the tool that a module defines."""
    from .opt import PasslineOptMain

    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, PasslineOptMain):
            if value.__module__ == module.__name__:
                return value
    raise AssertionError(f"no tool in {module.__name__}")
