"""A parser of command lines as mlir-opt reads them, and the types of its values."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from ..passmanager.diagnostics import Severity, print_message
from ..passmanager.info import check_name, closest_name, name_key
from .failures import USAGE
from .habits import ADVICE, advice

__all__ = [
    "ArgumentParser",
    "Chosen",
    "Group",
    "Names",
    "Numbers",
    "OptionalValue",
    "add_names",
    "add_optional",
    "add_version",
    "limit",
    "nonempty_text",
    "pass_name",
    "positive",
    "seconds",
    "size",
]


class ArgumentParser(argparse.ArgumentParser):
    """A parser of options with mlir-opt's rules.

    Options cannot be abbreviated; an optional value follows `=`; `--pass-name` adds a pass. A long
    option may have one dash, and a switch the value 0 or 1. Options of xDSL can be replaced. The
    error for an unknown option names the nearest known one.
    """

    def __init__(self, description: str, passes: Iterable[str] = ()) -> None:
        super().__init__(
            usage="%(prog)s [options] [input_file]",
            description=description,
            formatter_class=HelpFormatter,
            allow_abbrev=False,
            conflict_handler="resolve",
        )
        self._passes = {name_key(name): name for name in passes}

    def prepare(self, args: Sequence[str]) -> list[str]:
        """Return the arguments in argparse's form: `--timing` as `--timing=tree`, `--cse` as `-p
        cse`, `-passes=cse` as `--passes=cse`, `--verify-each=0` as `--no-verify-each`."""
        return [prepared for arg in args for prepared in self._prepare(arg)]

    def _prepare(self, arg: str) -> list[str]:
        name, equals, value = arg.partition("=")
        name = self._with_two_dashes(name)
        action = self._option_string_actions.get(name)
        if action is None and name[:2] == "--" and name_key(name) in self._passes:
            pass_name = self._passes[name_key(name)]
            return ["-p", f"{pass_name}{{{value}}}" if equals else pass_name]
        if isinstance(action, OptionalValue) and not equals:
            return [f"{name}={action.const}"]
        if equals and (switched := _switched(action, value)) is not None:
            return switched
        return [f"{name}{equals}{value}"]

    def _with_two_dashes(self, name: str) -> str:
        """Return the name of a long option or of a pass that is spelled with one dash, as LLVM
        allows, with two: argparse would read `-passes` as `-p asses`."""
        long = f"-{name}"
        if name[:1] != "-" or name[1:2] == "-" or len(name) < 3:
            return name
        is_ours = long in self._option_string_actions or long[2:] in self._passes.values()
        return long if is_ours or long in ADVICE else name

    def error(self, message: str) -> NoReturn:
        known = [name for action in self._actions for name in action.option_strings]
        known += [f"--{name}" for name in self._passes.values()]
        unknown = message.removeprefix("unrecognized arguments: ").split(" ")[0].split("=")[0]
        if message.startswith("unrecognized") and not unknown.startswith("-"):
            message = f"there is one input file, and '{unknown}' is another (--out-dir takes many)"
        elif message.startswith("unrecognized") and (found := advice(unknown, known)):
            message += f" ({found})"
        elif message.startswith("unrecognized") and (closest := closest_name(unknown, known)):
            message += f" (did you mean '{closest}'?)"
        print_message(Severity.ERROR, f"{message}\nsee '{self.prog} --help'", self.prog)
        sys.exit(USAGE)


def _switched(action: argparse.Action | None, value: str) -> list[str] | None:
    """Return the arguments for a switch with the value 0 or 1; None for another value or option."""
    on = {"0": False, "false": False, "1": True, "true": True}.get(value.lower())
    if action is None or on is None:
        return None
    if isinstance(action, argparse.BooleanOptionalAction):
        return [action.option_strings[0 if on else 1]]
    if action.nargs == 0 and action.const is True:
        return [action.option_strings[0]] if on else []
    return None


class HelpFormatter(argparse.HelpFormatter):
    """A formatter that shows an optional value as it is written: `--timing[=tree|list|json]`."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not isinstance(action, OptionalValue):
            return super()._format_action_invocation(action)
        value = "|".join(action.choices) if action.choices else action.metavar
        return f"{action.option_strings[0]}[={value}]"


class OptionalValue(argparse.Action):
    """An option with an optional value after `=`; `const` is the value if it is left out."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, values)


class Version(argparse.Action):
    """An option that prints the text that `const` returns, and ends the process."""

    def __init__(
        self, option_strings: Sequence[str], dest: str, const: Callable[[], str], help: str
    ) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, const=const, help=help)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        print(self.const())
        parser.exit()


def add_version(group: Group | argparse.ArgumentParser, text: Callable[[], str]) -> None:
    """Add the option --version, for which `text` is called."""
    help = "show the versions of this program and of xDSL"
    group.add_argument("-v", "--version", action=Version, const=text, help=help)


class Names(argparse.Action):
    """An option that takes names separated by commas, and may be repeated."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        before: list[str] = getattr(namespace, self.dest) or []
        try:
            names = [pass_name(name.strip()) for name in str(values).split(",")]
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        setattr(namespace, self.dest, [*before, *names])


class Chosen(argparse.Action):
    """An option that takes `TAG=1-3:7`, and may be repeated for other tags."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        tag, equals, text = (part.strip() for part in str(values).partition("="))
        before: dict[str, Numbers] = getattr(namespace, self.dest)
        if not tag or not equals:
            raise argparse.ArgumentError(self, f"expected TAG=NUMBERS, got '{values}'")
        if name_key(tag) in map(name_key, before):
            raise argparse.ArgumentError(self, f"'{tag}' is given twice")
        try:
            setattr(namespace, self.dest, {**before, tag: Numbers(text)})
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, f"{tag}: {error}") from None


Group = argparse._ArgumentGroup  # pyright: ignore[reportPrivateUsage]


def pass_name(text: str) -> str:
    """Parse the name of a pass."""
    try:
        check_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def nonempty_text(text: str) -> str:
    """Parse a text that is not empty."""
    if not text:
        raise argparse.ArgumentTypeError("expected a value that is not empty")
    return text


def limit(text: str) -> int:
    """Parse a limit: a number, or -1 for no limit."""
    if not re.fullmatch(r"\d+|-1", text):
        raise argparse.ArgumentTypeError(
            f"expected a whole number, or -1 for no limit, got '{text}'"
        )
    return int(text)


def size(text: str) -> int:
    """Parse a number that is not negative."""
    if not re.fullmatch(r"\d+", text):
        raise argparse.ArgumentTypeError(f"expected a whole number, got '{text}'")
    return int(text)


def positive(text: str) -> int:
    """Parse a number that is greater than 0."""
    if not (number := size(text)):
        raise argparse.ArgumentTypeError("expected a number greater than 0, got '0'")
    return number


class Numbers:
    """A set of integers, written as `1-3,7` or `1-3:7`; bounds are included."""

    def __init__(self, text: str) -> None:
        if not re.fullmatch(r"\d+(-\d+)?([,:]\d+(-\d+)?)*", text):
            raise argparse.ArgumentTypeError(f"expected numbers as 1-3,7, got '{text}'")
        bounds = [[int(bound) for bound in part.split("-")] for part in re.split("[,:]", text)]
        self._ranges = [range(part[0], part[-1] + 1) for part in bounds]
        self.last = max(part[-1] for part in bounds)

    def __contains__(self, number: object) -> bool:
        return any(number in numbers for numbers in self._ranges)


def seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    if not re.fullmatch(r"\d+(\.\d+)?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got '{text}'")
    return float(text)


def add_names(group: Group, flag: str, help: str) -> None:
    """Add an option that takes names separated by commas."""
    group.add_argument(flag, action=Names, default=[], metavar="NAME,...", help=help)


def add_optional(
    group: Group, flag: str, const: str, kinds: Sequence[str] | str, help: str
) -> None:
    """Add an option with an optional value: one of `kinds`, or a text that help calls `kinds`."""
    if isinstance(kinds, str):
        group.add_argument(
            flag, action=OptionalValue, const=const, type=nonempty_text, metavar=kinds, help=help
        )
    else:
        group.add_argument(flag, action=OptionalValue, const=const, choices=kinds, help=help)
