"""The RUN lines of a test that pipe into FileCheck, and the output of what is before the pipe."""

from __future__ import annotations

import copy
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lit import ShUtil
from lit.LitConfig import LitConfig
from lit.ShCommands import Command, GlobItem, Pipeline, Seq
from lit.Test import PASS, Result, Test

from ..run_lines import NoRunLinesError, run_lines

__all__ = [
    "CheckedPipeline",
    "LeftAloneError",
    "UpdateFailedError",
    "check_again",
    "checked_pipelines",
]

_FILECHECK = re.compile(r"filecheck(?:-\d+)?(?:\.exe)?", re.IGNORECASE)
_PREFIX = re.compile(r"--?check-prefix(?:es)?(?:=(?P<names>.*))?")


class LeftAloneError(Exception):
    """The reason why CHECK lines are not written into a file."""


class UpdateFailedError(Exception):
    """The error for a test whose tool fails, or that fails with its new CHECK lines; `output` is
    what lit says of it."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


@dataclass
class CheckedPipeline:
    """A pipeline of a RUN line that ends in FileCheck with the test's own file."""

    line: int
    prefixes: tuple[str, ...]
    check: list[str]
    """The command of the last stage."""
    text: str = ""
    """The output of the stages before it, once they have run."""


class ScriptTest(Test):
    """A test that runs commands in the place of the RUN lines of another test, each at its line.

    It runs as that does: with its format, configuration, environment and folder.
    """

    def __init__(self, test: Test, commands: Sequence[tuple[int, str]], folder: Path) -> None:
        config = copy.copy(test.config)
        config.substitutions = []  # were already applied
        super().__init__(test.suite, test.path_in_suite, config)
        self._script = folder / "script"
        lines: list[str] = []
        for number, command in commands:
            lines += [""] * (number - 1 - len(lines))
            lines.append(f"RUN: {command.replace('%', '%%')}")
        self._script.write_text("\n".join([*lines, ""]))

    def getSourcePath(self) -> str:
        return str(self._script)

    def execute(self, lit_config: LitConfig) -> Result:
        """Run the commands, as far as they succeed."""
        form = self.config.test_format
        assert form is not None
        for name in ("extra_substitutions", "preamble_commands"):  # are in the commands
            if getattr(form, name, None):
                form = copy.copy(form)
                setattr(form, name, [])
        result = form.execute(self, lit_config)
        return result if isinstance(result, Result) else Result(*result)


def checked_pipelines(test: Test, lit_config: LitConfig, folder: Path) -> list[CheckedPipeline]:
    """Run the commands of a test, with files in the place of FileCheck; return the pipelines that
    end in FileCheck, with what it would have read.

    Errors: LeftAloneError for a test whose RUN lines do not say what CHECK lines to write;
    UpdateFailedError for commands that fail.
    """
    checked: list[CheckedPipeline] = []
    commands: list[tuple[int, str]] = []
    for line, command in _commands(test):
        try:
            parsed = ShUtil.ShParser(command, False, True).parse()
        except ValueError as error:
            raise LeftAloneError(f"line {line}: not a command of lit's shell: {error}") from None
        recorded = _recorded(parsed, line, Path(test.getSourcePath()), checked, folder)
        commands.append((line, recorded))
    if not checked:
        raise LeftAloneError("no RUN line pipes into FileCheck with this file")
    result = ScriptTest(test, commands, folder).execute(lit_config)
    if result.code is not PASS:
        raise UpdateFailedError("a command before FileCheck fails", result.output)
    for number, pipeline in enumerate(checked):
        read = (folder / f"output{number}").read_bytes()
        pipeline.text = read.decode(errors="replace").replace("\r\n", "\n")
    return checked


def check_again(
    test: Test,
    lit_config: LitConfig,
    pipelines: Sequence[CheckedPipeline],
    new: Path,
    folder: Path,
) -> None:
    """Run FileCheck of all pipelines with the file `new` in the place of the test's own.

    Errors: UpdateFailedError.
    """
    commands: list[tuple[int, str]] = []
    for number, pipeline in enumerate(pipelines):
        args = [str(new) if _is(arg, test) else arg for arg in pipeline.check]
        read = shlex.quote(str(folder / f"output{number}"))
        commands.append((pipeline.line, f"{shlex.join(args)} < {read}"))
    result = ScriptTest(test, commands, folder).execute(lit_config)
    if result.code is not PASS:
        output = result.output.replace(str(new), test.getSourcePath())
        raise UpdateFailedError("the test would fail with its new CHECK lines", output)


def _is(argument: str, test: Test) -> bool:
    """Return whether an argument is the path of the test file."""
    return Path(argument).absolute() == Path(test.getSourcePath()).absolute()


def _commands(test: Test) -> list[tuple[int, str]]:
    """Return the RUN lines of a test that runs here and is to pass."""
    own = Test(test.suite, test.path_in_suite, test.config)  # reading adds to its fields
    try:
        commands = run_lines(own)
    except NoRunLinesError as error:
        raise LeftAloneError(str(error)) from None
    if own.isExpectedToFail():
        raise LeftAloneError("it is expected to fail (XFAIL)")
    return commands


def _recorded(
    parsed: Seq | Pipeline, line: int, source: Path, found: list[CheckedPipeline], folder: Path
) -> str:
    """Return a command that writes to a file what FileCheck would read, for each pipeline of the
    RUN line of `line` that ends in FileCheck; these are added to `found`."""
    if isinstance(parsed, Seq):
        left = _recorded(parsed.lhs, line, source, found, folder)
        return f"{left} {parsed.op} {_recorded(parsed.rhs, line, source, found, folder)}"
    *stages, last = parsed.commands
    if any(_is_filecheck(stage) for stage in stages):
        raise LeftAloneError(f"line {line}: FileCheck is not the last command of the pipe")
    if not _is_filecheck(last):
        return " | ".join(map(_command_text, parsed.commands))
    args = [str(arg) for arg in last.args]
    if not any(Path(arg).absolute() == source.absolute() for arg in args):
        return " | ".join(map(_command_text, stages)) or ":"
    if not stages or last.redirects or args[0] in ("not", "!", "env"):
        raise LeftAloneError(f"line {line}: FileCheck does not read a pipe, or may fail")
    tee = [shutil.which("tee") or "tee", str(folder / f"output{len(found)}")]
    found.append(CheckedPipeline(line, _prefixes(args), args))
    return " | ".join([*map(_command_text, stages), shlex.join(tee)])


def _is_filecheck(command: Command) -> bool:
    args = [str(arg) for arg in command.args]
    names = args[:1] if args[0] not in ("not", "!", "env") else args
    return any(_FILECHECK.fullmatch(Path(name).name) for name in names)


def _prefixes(args: Sequence[str]) -> tuple[str, ...]:
    """Return the prefixes of the CHECK lines that FileCheck reads with these arguments."""
    found: list[str] = []
    for arg, following in zip(args, [*args[1:], ""]):
        if (match := _PREFIX.fullmatch(arg)) is not None:
            found += (following if match["names"] is None else match["names"]).split(",")
    return tuple(found) or ("CHECK",)


def _command_text(command: Command) -> str:
    """Return a command as text for lit's shell."""
    words = [arg.pattern if isinstance(arg, GlobItem) else shlex.quote(arg) for arg in command.args]
    for operator, target in command.redirects:
        descriptor = str(operator[1]) if len(operator) > 1 else ""
        name = target.pattern if isinstance(target, GlobItem) else shlex.quote(str(target))
        words.append(f"{descriptor}{operator[0]}{name}")
    return " ".join(words)
