"""A parser of command lines as mlir-opt reads them, and the types of its values."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from ... import __version__
from ...passmanager.diagnostics import Severity, print_message
from ...passmanager.fast.acceleration import acceleration_text, is_turned_off
from ...passmanager.fast.parts import NO_ACCELERATION, OFF
from ...passmanager.names import closest_name, name_key
from ...passmanager.options import shortened
from ...passmanager.output.files import check_writable, check_writable_directory
from ...passmanager.registry import check_name
from ...passmanager.releases.release import unknown_release, xdsl_version
from ..failures import USAGE
from .foreign_options import ADVICE, advice
from .short_help import ShortHelp, filled

# The text of --version.


def version_text(program: str) -> str:
    """Return the versions of Passline and xDSL for `program`, and how they fit together."""
    lines = [f"{program}: Passline {__version__}, built on xDSL {xdsl_version()}"]
    if (unknown := unknown_release()) is not None:
        lines.append(f"{unknown}: please report what differs")
    return "\n".join([*lines, acceleration_text()])


class ArgumentParser(argparse.ArgumentParser):
    """A parser of options with mlir-opt's rules.

    Only options of xDSL can be abbreviated; an optional value follows `=`; `--pass-name` adds a
    pass. A long option may have one dash, and a switch the value 0 or 1. Options of xDSL can be
    replaced. The error for an unknown option names the nearest known one.
    """

    def __init__(self, description: str, passes: Iterable[str] = ()) -> None:
        super().__init__(
            usage="%(prog)s [options] [input_file]",
            description=description,
            formatter_class=HelpFormatter,
            allow_abbrev=False,
            conflict_handler="resolve",
            add_help=False,
        )
        self.short_help: ShortHelp | None = None
        help, shown = "show the options used most, and exit", ArgumentParser._shown_by_h
        suppressed = argparse.SUPPRESS
        self.add_argument("-h", action=Answer, dest=suppressed, nargs=0, const=shown, help=help)
        self.add_argument("--help", action="help", help="show all options, and exit")
        help = "leave all work to xDSL's own code, with the same results, slower"
        self.add_argument(NO_ACCELERATION, action=NoAcceleration, nargs=0, help=help)
        self._passes = {name_key(name): name for name in passes}
        self._abbreviated: list[str] = []

    def allow_abbreviations(self) -> None:
        """Accept abbreviations of the options so far, which are xDSL's, as its own tools do."""
        self._abbreviated = [*self._option_string_actions]

    @staticmethod
    def adopt(parser: argparse.ArgumentParser, passes: Iterable[str]) -> None:
        """Give a parser that a tool made for itself the rules of this class.

        A tool with an `__init__` of its own, like that of xDSL's class, makes a plain parser, calls
        `register_all_arguments` on it, and parses with it.
        """
        parser.__class__ = AdoptedParser
        assert isinstance(parser, AdoptedParser)
        parser.conflict_handler = "resolve"
        parser.allow_abbrev = False
        parser.short_help = None
        parser._passes = {name_key(name): name for name in passes}
        parser._abbreviated = []

    def prepare(self, args: Sequence[str]) -> list[str]:
        """Return the arguments in argparse's form: `--timing` as `--timing=tree`, `--cse` as `-p
        cse`, `-passes=cse` as `--passes=cse`, `--verify-each=0` as `--no-verify-each`."""
        self._check_pass_pipeline(args)
        return [prepared for arg in args for prepared in self._prepare(arg)]

    def _check_pass_pipeline(self, args: Sequence[str]) -> None:
        """Refuse `--pass-pipeline` beside `--cse`, as mlir-opt does: it gives all passes."""
        names = [self._with_two_dashes(arg.partition("=")[0]) for arg in args]
        if "--pass-pipeline" in names and (others := [*filter(self._names_pass, names)]):
            self.error(
                f"--pass-pipeline gives the whole pipeline, and cannot stand beside {others[0]}: "
                f"write -p for both, which may be repeated"
            )

    def _names_pass(self, name: str) -> bool:
        """Return whether an option is the name of a pass."""
        is_known = name in self._option_string_actions
        return name[:2] == "--" and not is_known and name_key(name) in self._passes

    def _prepare(self, arg: str) -> list[str]:
        name, equals, value = arg.partition("=")
        name = self._with_two_dashes(name)
        action = self._option_string_actions.get(name)
        if self._names_pass(name):
            pass_name = self._passes[name_key(name)]
            return ["-p", f"{pass_name}{{{value}}}" if equals else pass_name]
        if action is None and name[:2] == "--":
            meant = [option for option in self._abbreviated if option.startswith(name)]
            if len(meant) == 1:
                return self._prepare(f"{meant[0]}{equals}{value}")
        if isinstance(action, OptionalValue) and not equals:
            return [f"{name}={action.const}"]
        if equals and (positions := _switch_positions(action)) is not None:
            if (position := SWITCH.get(value.lower())) is None:
                self.error(f"argument {name}: expected 0, 1, true or false, got '{value}'")
            return positions[position]
        return [f"{name}{equals}{value}"]

    def _with_two_dashes(self, name: str) -> str:
        """Return the name of a long option or of a pass that is spelled with one dash, as LLVM
        allows, with two: argparse would read `-passes` as `-p asses`."""
        long = f"-{name}"
        if name[:1] != "-" or name[1:2] == "-" or len(name) < 3:
            return name
        is_ours = long in self._option_string_actions or long[2:] in self._passes.values()
        return long if is_ours or long in ADVICE else name

    def _shown_by_h(self, _: object) -> str:
        """Return the help of one screen, or all of it for a tool that has none."""
        text = self.short_help.text(self) if self.short_help else self.format_help()
        return text.removesuffix("\n")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of an option, which an OSError about a file names in a note."""
        try:
            return super()._get_value(action, arg_string)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownVariableType]
        except OSError as error:
            error.add_note(f"given by {'/'.join(action.option_strings)}")
            raise

    def error(self, message: str) -> NoReturn:
        known = [name for action in self._actions for name in action.option_strings]
        known += [f"--{name}" for name in self._passes.values()]
        unknown = message.removeprefix("unrecognized arguments: ").split(" ")[0].split("=")[0]
        if message.startswith("unrecognized") and not unknown.startswith("-"):
            many = " (--out-dir takes many)" if "--out-dir" in known else ""
            message = f"there is one input file, and '{unknown}' is another{many}"
        elif message.startswith("unrecognized") and (found := advice(unknown, known)):
            message += f" ({found})"
        elif message.startswith("unrecognized") and (closest := closest_name(unknown, known)):
            message += f" (did you mean '{closest}'?)"
        elif choices := self._choices_of(message):
            message = message.replace("expected one argument", f"expected one of {choices}")
        print_message(Severity.ERROR, f"{message}\nsee '{self.prog} --help'", self.prog)
        sys.exit(USAGE)

    def _choices_of(self, message: str) -> str:
        """Return, as text, the choices of the option that argparse says lacks its value."""
        named = message.removeprefix("argument ").removesuffix(": expected one argument")
        for action in self._actions:
            if "/".join(action.option_strings) == named and action.choices:
                return ", ".join(map(str, action.choices))
        return ""


class AdoptedParser(ArgumentParser):
    """A parser that was made as a plain one: who made it passes arguments as they were given."""

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        given = sys.argv[1:] if args is None else args
        return super().parse_known_args(self.prepare(given), namespace or argparse.Namespace())


SWITCH: Mapping[str, int] = {"0": 0, "false": 0, "1": 1, "true": 1}
"""The values of a switch, with the index of their position."""


def _switch_positions(action: argparse.Action | None) -> tuple[list[str], list[str]] | None:
    """Return the arguments that turn a switch off, and on; None for an option of another kind."""
    if isinstance(action, argparse.BooleanOptionalAction):
        return [action.option_strings[1]], [action.option_strings[0]]
    if action is not None and action.nargs == 0 and action.const is True:
        return [], [action.option_strings[0]]
    return None


class HelpFormatter(argparse.HelpFormatter):
    """A formatter that shows optional values as `--timing[=tree|list]`.

    It breaks no name at a hyphen.
    """

    def _split_lines(self, text: str, width: int) -> list[str]:
        return filled(" ".join(text.split()), width)

    def _format_usage(self, *args: Any) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        usage = " ".join(super()._format_usage(*args).split())
        return "\n".join(filled(usage, self._width, " " * 7, "")) + "\n\n"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(filled(" ".join(text.split()), width, indent))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not isinstance(action, OptionalValue):
            return super()._format_action_invocation(action)
        value = "|".join(action.choices) if action.choices else action.metavar
        return f"{action.option_strings[0]}[={value}]"


class OptionalValue(argparse.Action):
    """An option with an optional value after `=`; `const` is the value if it is left out."""

    def __call__(self, parser: object, namespace: object, values: object, *_: object) -> None:
        setattr(namespace, self.dest, values)


class Answer(argparse.Action):
    """An option that prints the text which `const` returns, and ends the process.

    `const` is called with the parser and the value of the option.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, _: object, values: object, *__: object
    ) -> None:
        print(self.const(parser, values))
        parser.exit()


class NoAcceleration(argparse.Action):
    """The option --no-acceleration, which takes effect before the modules of a tool are imported
    (`commands.py`, `failures.py`).
    """

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        if not is_turned_off():
            parser.error(f"{NO_ACCELERATION} comes too late here: set {OFF}=1")


def add_version(group: Group | argparse.ArgumentParser) -> None:
    """Add the option --version."""
    help = "show the versions of this program and of xDSL"
    shown, suppressed = _shown_by_version, argparse.SUPPRESS
    add = partial(group.add_argument, "-v", "--version", action=Answer, help=help)
    add(dest=suppressed, nargs=0, const=shown)


def _shown_by_version(parser: argparse.ArgumentParser, _: object) -> str:
    return version_text(parser.prog)


def add_completion(group: Group | argparse.ArgumentParser, script: Callable[[str], str]) -> None:
    """Add the option --print-completion, for which `script` is called with the shell."""
    help = "print a script with which a shell completes options and their values"
    choices = ("bash", "zsh", "fish")

    def shown(_: object, shell: str) -> str:
        return script(shell)

    group.add_argument("--print-completion", action=Answer, const=shown, choices=choices, help=help)


class Chosen(argparse.Action):
    """An option that takes `TAG=1-3:7`, and may be repeated for other tags."""

    def __call__(self, parser: object, namespace: object, values: object, *_: object) -> None:
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


def written_file(text: str) -> str:
    """Parse the name of a file to write; OSError if that is not possible: no work is done first."""
    if nonempty_text(text) not in ("-", "/dev/stdout"):
        check_writable(Path(text[:]))  # the text of a subclass of `str`, which Path refuses
    return text


def written_directory(text: str) -> str:
    """Parse the name of a directory to write files in; OSError if that is not possible."""
    check_writable_directory(Path(nonempty_text(text)[:]))
    return text


def limit(text: str) -> int:
    """Parse a limit: a number, or -1 for no limit."""
    return -1 if text == "-1" else _whole_number(text, "a whole number, or -1 for no limit")


def size(text: str) -> int:
    """Parse a number that is not negative."""
    return _whole_number(text, "a whole number")


def _whole_number(text: str, expected: str) -> int:
    """Parse a number that is not negative; a message calls it `expected`."""
    if len(_matching(text, r"[0-9]+", expected)) > _MAX_DIGITS:
        raise argparse.ArgumentTypeError(
            f"expected a number of at most {_MAX_DIGITS} digits, got '{shortened(text)}'"
        )
    return int(text)


def _matching(text: str, pattern: str, expected: str) -> str:
    """Return a text that matches `pattern` as a whole; a message calls it `expected`."""
    if not re.fullmatch(pattern, text):
        raise argparse.ArgumentTypeError(f"expected {expected}, got '{shortened(text)}'")
    return text


_MAX_DIGITS = 18
"""The most digits of a number on the command line: it fits into 64 bits."""


def positive(text: str) -> int:
    """Parse a number that is greater than 0."""
    if not (number := size(text)):
        raise argparse.ArgumentTypeError("expected a number greater than 0, got '0'")
    return number


class Numbers:
    """A set of integers, written as `1-3,7` or `1-3:7`; bounds are included."""

    def __init__(self, text: str) -> None:
        _matching(text, r"[0-9]+(-[0-9]+)?([,:][0-9]+(-[0-9]+)?)*", "numbers as 1-3,7")
        self._ranges = [_range(part) for part in re.split("[,:]", text)]
        self.last = max(numbers[-1] for numbers in self._ranges)

    def __contains__(self, number: object) -> bool:
        return any(number in numbers for numbers in self._ranges)


def _range(text: str) -> range:
    """Parse `3` or `1-3`."""
    first, _, last = text.partition("-")
    start = size(first)
    end = size(last or first)
    if end < start:
        raise argparse.ArgumentTypeError(f"the range {text} is empty: write {last}-{first}")
    return range(start, end + 1)


def seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    return float(_matching(text, r"(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,9})?", "a number of seconds"))


def level(text: str) -> int:
    """Parse the level of -O."""
    return int(_matching(text, "[0-3]", "0, 1, 2 or 3"))


def add_names(group: Group, flag: str, help: str, metavar: str = "NAME,...") -> None:
    """Add a repeatable option for names with commas between them, by default of passes."""
    parse_one = pass_name if metavar == "NAME,..." else nonempty_text

    def parse(text: str) -> list[str]:
        return [parse_one(name.strip()) for name in text.split(",")]

    group.add_argument(flag, action="extend", type=parse, default=[], metavar=metavar, help=help)


def add_optional(
    group: Group, flag: str, const: str, kinds: Sequence[str] | str, help: str
) -> None:
    """Add an option with an optional value: one of `kinds`, or a text that help calls `kinds`."""
    add = partial(group.add_argument, flag, action=OptionalValue, const=const, help=help)
    if isinstance(kinds, str):
        add(type=nonempty_text, metavar=kinds)
    else:
        add(choices=kinds)
