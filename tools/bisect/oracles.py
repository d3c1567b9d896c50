"""Oracles of a bisection, what they search, and the result: text, data and a lit test."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.names import name_key
from ...passmanager.output.files import replace_file
from ...passmanager.registry import installed
from ...passmanager.runner import info_of, nested_passes
from ...passmanager.sequential import Fixpoint, Repeat, Sequential, SequentialOptions
from ..reduce.reductions import smaller_lists
from ..trials.prefix import OpPlace
from ..trials.trial import Command, TrialOutcome, with_place
from ..trials.trial_tool import flat

# The result of a bisection, as text and as data.


MAX_LINES = 100
"""The maximum number of lines of IR that a report shows."""


@dataclass
class Finding:
    """The culprit, as far as it is known."""

    wrong: str = ""
    """The fault in the outcome."""
    pass_text: str = ""
    """The pass with its options."""
    pass_number: int = 0
    """Its number among the passes that ran, from 1."""
    pass_count: int = 0
    """The number of passes that ran."""
    function: str = ""
    pattern: str = ""
    """The pattern, if the culprit is a rewrite by one."""
    step: int = 0
    """The number of the step of the pass, from 1; 0 if it is not known."""
    step_count: int = 0
    """The number of the steps that the pass asks about."""
    operation: OpPlace | None = None
    """The operation that the step is about."""
    pipeline: str = ""
    """The fewest passes that are bad."""
    details: str = ""
    """The input on which results differ, and the results, of the reduced module."""
    notes: list[str] = field(default_factory=list[str])
    """The questions that stayed open, with the reason, and other remarks."""
    module: str = ""
    """The text of the reduced module."""
    test: str = ""
    """The file with the test."""

    @property
    def lines(self) -> Iterator[str]:
        """The rows of the report."""
        place = self.operation
        count = f"{self.step} of {self.step_count} steps"
        rows = [
            ("wrong", self.wrong),
            ("pass", f"{self.pass_text} ({self.pass_number} of {self.pass_count} that ran)"),
            ("function", f"@{self.function}" if self.function else ""),
            ("pattern", self.pattern),
            ("step", count if self.step else ""),
            ("operation", str(place or "")),
            ("", place.line if place else ""),
            ("pipeline", self.pipeline),
            ("test", self.test),
        ]
        for title, text in rows:
            if text:
                yield f"{title + ':' if title else '':<11}{text}"
        yield from (f"{'note:':<11}{note}" for note in self.notes)

    @property
    def text(self) -> str:
        """The report, and below it the reduced module."""
        report = "".join(f"{line}\n" for line in self.lines)
        report += f"\n{self.details}\n" if self.details else ""
        lines = self.module.strip().splitlines()
        if len(lines) > MAX_LINES:
            lines = [f"({len(lines)} lines of IR: --save-test writes them to a file)"]
        return "\n".join([report, *lines, ""]) if lines else report

    @property
    def data(self) -> dict[str, object]:
        """The finding as JSON takes it; what is not known is null."""
        place = self.operation
        return {
            "wrong": self.wrong,
            "pass": self.pass_text or None,
            "pass_number": self.pass_number or None,
            "pass_count": self.pass_count or None,
            "function": self.function or None,
            "pattern": self.pattern or None,
            "step": self.step or None,
            "step_count": self.step_count,
            "operation": place.op if place else None,
            "location": place.at or None if place else None,
            "line": place.line or None if place else None,
            "pipeline": self.pipeline or None,
            "details": self.details or None,
            "notes": self.notes,
            "module": self.module or None,
            "test": self.test or None,
        }


# The lit test that a bisection ends with: it fails until the fault is mended.


def command_line(
    args: argparse.Namespace, context: PassContext, pipeline: str, checks: Iterable[str]
) -> str:
    """Return the `passline-opt` command that runs `pipeline` on `%s` as the trials did.

    `checks` are the options on checks.
    """
    words = ["passline-opt", "%s", "-p", pipeline]
    if context.opt_level <= 3:
        words.append(f"-O{context.opt_level}")
    if context.disabled_pass:
        words.append(f"--disable-pass={','.join(context.disabled_pass)}")
    words += [f"--config={text}" for text in _settings(context)]
    words += [f"--load={os.path.abspath(file)}" for file in args.load]
    for option in ("allow_unregistered_dialect", "disable_verify", "verify_preserves"):
        if getattr(args, option):
            words.append(f"--{option.replace('_', '-')}")
    if not args.verify_each:
        words.append("--no-verify-each")
    for option in ("check_conditions", *checks):
        if value := getattr(args, option, None):
            flag = f"--{option.replace('_', '-')}"
            words.append(flag if value is True else f"{flag}={value}")
    return " ".join([words[0], "%s", *map(lit_word, words[2:])])


def lit_word(word: str) -> str:
    """Quote a word for the shell of a RUN line, in which lit replaces what begins with `%`."""
    return shlex.quote(word).replace("%", "%%")


def command_in_test(words: Sequence[str], directory: Path) -> str:
    """Return the RUN line for a command, with `%t.mlir` for `{}` and paths from `directory`."""
    return " ".join(_command_word(word, directory) for word in with_place(words))


def _command_word(word: str, directory: Path) -> str:
    if os.sep in word and not os.path.isabs(word) and os.path.exists(word):
        path = os.path.relpath(os.path.realpath(word), os.path.realpath(directory))
        return f"%S/{lit_word(path)}"
    return "%t.mlir" if word == "{}" else lit_word(word).replace("{}", "%t.mlir")


def _settings(context: PassContext) -> Iterator[str]:
    """Yield the options that belong to no pass; those of passes are in the pipeline."""
    for key, value in context.config.items():
        if name_key(key) in installed().names:
            continue
        fields = getattr(value, "__dataclass_fields__", None)
        if fields is None:
            yield f"{key}={_text(value)}"
        else:
            yield from (f"{key}.{field}={_text(getattr(value, field))}" for field in fields)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    return ",".join(map(str, items))


def free_file(directory: Path, name: str) -> Path:
    """Return a file in `directory` that does not exist: `name.mlir`, `name-2.mlir` and so on."""
    names = (f"{name}.mlir" if n == 1 else f"{name}-{n}.mlir" for n in count(1))
    return next(path for each in names if not (path := directory / each).exists())


def save_test(
    file: Path, run_lines: Iterable[str], title: str, module: str, check_lines: Iterable[str]
) -> None:
    """Write a lit test."""
    comments = [*(f"RUN: {line}" for line in run_lines), *title.splitlines(), *check_lines]
    text = "".join(f"// {line}".rstrip() + "\n" for line in comments)
    replace_file(file, [f"{text}\n{module.strip()}\n"])


# Oracles, which judge outcomes: by a failure, a command or an expression.


class Oracle(ABC):
    """A judge of outcomes. `wrong` says what is wrong with a bad one."""

    wrong = ""

    @abstractmethod
    def __call__(self, outcome: TrialOutcome) -> bool:
        """Return whether the outcome is bad."""

    @abstractmethod
    def run_lines(self, command: str, directory: Path) -> list[str]:
        """Return RUN lines for a test in `directory` that fails if `command` has a bad outcome."""

    @property
    def check_lines(self) -> list[str]:
        """The further lines that such a test needs."""
        return []


class SameFailure(Oracle):
    """The oracle for which an outcome is bad if the run fails as `outcome` does: in the same pass,
    with the same exception and a message that differs only in numbers, names and types."""

    def __init__(self, outcome: TrialOutcome) -> None:
        assert outcome.error is not None and outcome.failure is not None
        self.failure = outcome.failure
        message = next(iter(str(outcome.error).strip().splitlines()), "")
        names_pass = message.startswith(f"pass '{self.failure.pass_name}")
        self.wrong = message if names_pass else f"{self.failure}: {message}".rstrip(": ")

    def __call__(self, outcome: TrialOutcome) -> bool:
        return outcome.failure == self.failure

    def run_lines(self, command: str, directory: Path) -> list[str]:
        return [command]


class BadText(Oracle):
    """The oracle for which a line of the text or of a message that matches a regex is bad."""

    def __init__(self, pattern: re.Pattern[str], text_of: Callable[[ModuleOp], str]) -> None:
        self._pattern = pattern
        self._text_of = text_of
        self._in_messages = False
        self.wrong = f"the output matches '{pattern.pattern}'"

    def __call__(self, outcome: TrialOutcome) -> bool:
        # The result is not printed after a failure.
        text = "" if outcome.error is not None else self._text_of(outcome.module)
        if any(map(self._pattern.search, text.splitlines())):
            return True
        messages = (line for message in outcome.printed for line in message.splitlines())
        found = any(map(self._pattern.search, messages))
        self._in_messages |= found
        return found

    def run_lines(self, command: str, directory: Path) -> list[str]:
        merged = " 2>&1" if self._in_messages else ""
        return [f"{command}{merged} | filecheck %s --allow-empty --strict-whitespace"]

    @property
    def check_lines(self) -> list[str]:
        pattern = self._pattern.pattern.replace("}}", "}(?:)}")  # "}}" would end it
        return [f"CHECK-NOT: {{{{{pattern}}}}}"]


class CommandFails(Oracle):
    """The oracle for which an outcome is bad if a command that gets its text in a file exits with
    another status than 0, or takes too long. A run that fails is not judged."""

    def __init__(
        self,
        words: Sequence[str],
        file: Path,
        text_of: Callable[[ModuleOp], str],
        timeout: float | None,
    ) -> None:
        self._words = words
        self._text = shlex.join(words).replace("'{}'", "{}")
        self._command = Command(words, file, text_of, timeout)

    def __call__(self, outcome: TrialOutcome) -> bool:
        if outcome.error is not None:
            return False
        status = self._command.status(outcome.module)
        if status in (126, 127):  # of a shell
            raise PasslineError(f"the command could not be run, status {status}: {self._text}")
        if status == 0:
            return False
        self.wrong = f"the command {self._command.outcome}: {self._text}"
        return True

    def run_lines(self, command: str, directory: Path) -> list[str]:
        return [f"{command} -o %t.mlir", command_in_test(self._words, directory)]


# The passes to bisect, and the fewest of them that are bad.


def enabled_passes(pipeline: Sequential, ctx: PassContext) -> list[ModulePass]:
    """Return the passes of a pipeline that `ctx` enables, with the options that it sets."""
    return [_resolved(p, ctx) for p in flat(pipeline) if ctx.pass_enabled(info_of(p))]


def _resolved(pass_: ModulePass, ctx: PassContext) -> ModulePass:
    match pass_:
        case Sequential():
            own = pass_.options
            children = enabled_passes(pass_, ctx)
            return Sequential(children, own.opt_level, own.name, own.required)
        case Fixpoint():
            return Fixpoint(_resolved(pass_.pass_, ctx), pass_.options.max_iterations)
        case Repeat():
            return Repeat(_resolved(pass_.pass_, ctx), pass_.options.n)
        case _:
            return ctx.config.apply(pass_, pass_.name)


def highest_level(passes: Iterable[ModulePass]) -> int:
    """Return the highest level of the passes and those nested in them."""
    return max((info_of(n).opt_level for p in passes for n in nested_passes(p)), default=0)


def fewest_passes(
    passes: Sequence[ModulePass], is_bad: Callable[[Sequence[ModulePass]], bool]
) -> Iterator[list[ModulePass]]:
    """Yield ever shorter lists of passes that are bad, with smaller composites."""
    best = [*passes]
    found = True
    while found:
        found = False
        for shorter in smaller_lists(best, is_bad):
            best, found = shorter, True
            yield best
        for number, pass_ in enumerate(best):
            replacements = ([*best[:number], *new, *best[number + 1 :]] for new in _parts(pass_))
            if (smaller := next(filter(is_bad, replacements), None)) is not None:
                best, found = smaller, True
                yield best
                break


def _parts(pass_: ModulePass) -> Iterator[Sequence[ModulePass]]:
    """Yield replacements of a composite: its children, or the composite without one pass."""
    if isinstance(pass_, Sequential | Fixpoint | Repeat):
        yield pass_.children
    for smaller in _without_one(pass_):
        yield [smaller]


def _without_one(pass_: ModulePass) -> Iterator[ModulePass]:
    """Yield copies of a composite that lack one of the passes in it, at any depth."""
    match pass_:
        case Sequential():
            own, children = pass_.options, pass_.passes
            for number, child in enumerate(children):
                for new in ([], *([smaller] for smaller in _without_one(child))):
                    left = [*children[:number], *new, *children[number + 1 :]]
                    if len(left) == 1 and own == SequentialOptions():
                        yield left[0]
                    elif left:
                        yield Sequential(left, own.opt_level, own.name, own.required)
        case Fixpoint():
            limit = pass_.options.max_iterations
            yield from (Fixpoint(inner, limit) for inner in _without_one(pass_.pass_))
        case Repeat():
            yield from (Repeat(inner, pass_.options.n) for inner in _without_one(pass_.pass_))
        case _:
            pass
