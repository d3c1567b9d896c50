"""A parser of command lines as mlir-opt reads them, and the types of its values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from typing import NoReturn

from ..passmanager.info import check_name, closest_name, name_key
from .failures import USAGE

__all__ = [
    "ArgumentParser",
    "Chosen",
    "Group",
    "Names",
    "Numbers",
    "OptionalValue",
    "add_names",
    "add_optional",
    "limit",
    "nonempty_text",
    "pass_name",
    "seconds",
    "size",
]


class ArgumentParser(argparse.ArgumentParser):
    """A parser of options as mlir-opt has them.

    None is abbreviated; one with an optional value has it behind `=` only; a pass may stand as an
    option. Options of xDSL can be replaced. An unknown option gets the nearest that exists.
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
        """The arguments for argparse: `--timing` is `--timing=tree`, `--cse` is `-p cse`."""
        prepared: list[str] = []
        for arg in args:
            name, equals, value = arg.partition("=")
            action = self._option_string_actions.get(name)
            if isinstance(action, OptionalValue) and not equals:
                prepared.append(f"{name}={action.const}")
            elif action is None and name[:2] == "--" and name_key(name) in self._passes:
                pass_name = self._passes[name_key(name)]
                prepared += ["-p", f"{pass_name}{{{value}}}" if equals else pass_name]
            else:
                prepared.append(arg)
        return prepared

    def error(self, message: str) -> NoReturn:
        known = [name for action in self._actions for name in action.option_strings]
        known += [f"--{name}" for name in self._passes.values()]
        unknown = message.removeprefix("unrecognized arguments: ").split(" ")[0].split("=")[0]
        if message.startswith("unrecognized") and not unknown.startswith("-"):
            message = f"there is one input file, and '{unknown}' is another"
        elif message.startswith("unrecognized") and (closest := closest_name(unknown, known)):
            message += f" (did you mean '{closest}'?)"
        self.exit(USAGE, f"{self.prog}: error: {message}\nsee '{self.prog} --help'\n")


class HelpFormatter(argparse.HelpFormatter):
    """Shows an optional value as it is spelled: `--timing[=tree|list|json]`."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not isinstance(action, OptionalValue):
            return super()._format_action_invocation(action)
        value = "|".join(action.choices) if action.choices else action.metavar
        return f"{action.option_strings[0]}[={value}]"


class OptionalValue(argparse.Action):
    """An option whose value, behind `=`, may be left out: `const` then stands for it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, values)


class Names(argparse.Action):
    """An option that takes names with commas between them, and may be repeated."""

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
    """An option that takes `TAG=1-3:7`, and may be repeated with other tags."""

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
    try:
        check_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def nonempty_text(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("expected a value that is not empty")
    return text


def limit(text: str) -> int:
    if not re.fullmatch(r"\d+|-1", text):
        raise argparse.ArgumentTypeError(
            f"expected a whole number, or -1 for no limit, got '{text}'"
        )
    return int(text)


def size(text: str) -> int:
    if not re.fullmatch(r"\d+", text):
        raise argparse.ArgumentTypeError(f"expected a whole number, got '{text}'")
    return int(text)


class Numbers:
    """The whole numbers that a text as `1-3,7` or `1-3:7` names, bounds included."""

    def __init__(self, text: str) -> None:
        if not re.fullmatch(r"\d+(-\d+)?([,:]\d+(-\d+)?)*", text):
            raise argparse.ArgumentTypeError(f"expected numbers as 1-3,7, got '{text}'")
        bounds = [[int(bound) for bound in part.split("-")] for part in re.split("[,:]", text)]
        self._ranges = [range(part[0], part[-1] + 1) for part in bounds]
        self.last = max(part[-1] for part in bounds)

    def __contains__(self, number: object) -> bool:
        return any(number in numbers for numbers in self._ranges)


def seconds(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got '{text}'")
    return float(text)


def add_names(group: Group, flag: str, help: str) -> None:
    group.add_argument(flag, action=Names, default=[], metavar="NAME,...", help=help)


def add_optional(
    group: Group, flag: str, const: str, kinds: Sequence[str] | str, help: str
) -> None:
    """An option with a value that is one of `kinds`, or of the kind that a text calls so."""
    if isinstance(kinds, str):
        group.add_argument(
            flag, action=OptionalValue, const=const, type=nonempty_text, metavar=kinds, help=help
        )
    else:
        group.add_argument(flag, action=OptionalValue, const=const, choices=kinds, help=help)
