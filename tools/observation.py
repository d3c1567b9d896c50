"""The instruments that the options ask for, and their output at the end."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, TextIO

from xdsl.dialects.builtin import ModuleOp

from ..passmanager import instruments
from ..passmanager.diagnostics import Severity, print_message
from ..passmanager.errors import PasslineError
from ..passmanager.instrument import PassInstrument
from ..passmanager.ir.text.printer import PrintStyle
from ..passmanager.ir.walk import symbol_of
from ..passmanager.names import did_you_mean, name_key, unknown_pass
from ..passmanager.output.status import doing
from ..passmanager.registry import PassInfo, find_pass, installed
from ..passmanager.runner import info_of, nested_passes
from ..passmanager.sequential import Sequential
from .command_line.argument_parser import Numbers
from .extension import ToolExtension

if TYPE_CHECKING:
    from ..passmanager.instruments.spans import SpanInstrument


_PHASES = {"Import": "importing the model", "Verifier": "verifying"}
"""What is done in phases that may take long; reading says so itself."""

_ENDS = {
    "start_after": "StartAfter",
    "start_before": "StartBefore",
    "stop_after": "StopAfter",
    "stop_before": "StopBefore",
}
"""The options that name an end of the part of the pipeline that runs, and their instruments."""

_REPRODUCERS = {
    "crash_reproducer": {},
    "local_reproducer": {"local": True},
    "generate_reproducer": {"always": True},
}
"""The options that write reproducers, and the settings of their instrument."""

_PRINT_IR = (
    *("print_ir_before", "print_ir_before_all", "print_ir_before_pass_number"),
    *("print_ir_after", "print_ir_after_all", "print_ir_after_pass_number"),
    *("print_between_passes", "print_ir_after_change", "print_ir_after_failure"),
)
"""The options that print the IR."""

TERMINAL_ELEMENTS = 64
"""Constants of more elements are elided on a terminal."""


def print_style(args: argparse.Namespace) -> PrintStyle:
    """Return the style in which the options ask to print IR."""
    return PrintStyle(
        generic=args.print_op_generic,
        properties_as_attributes=args.print_no_properties,
        debuginfo=args.print_debuginfo,
        skip_regions=args.print_skip_regions,
        unique_ssa_ids=args.print_unique_ssa_ids,
        value_users=args.print_value_users,
        elide_elements=args.elide_elementsattrs_if_larger,
        resource_elements=args.large_elements_as_resources,
        elide_resources=args.elide_resource_strings_if_larger,
    )


def terminal_style(style: PrintStyle, stream: TextIO | None) -> PrintStyle:
    """Return the style of IR on `stream`: a terminal elides large constants by default."""
    if stream is None or not stream.isatty() or shortens_constants(style):
        return style
    return replace(style, elide_elements=TERMINAL_ELEMENTS)


def shortens_constants(style: PrintStyle) -> bool:
    """Return whether a style elides large constants, or prints them as resources."""
    return style.elide_elements is not None or style.resource_elements is not None


class Observation:
    """The instruments of one run of the tool; modules are imported only for the options given."""

    def __init__(
        self,
        args: argparse.Namespace,
        pipeline: Sequential,
        extensions: Sequence[ToolExtension],
    ) -> None:
        self._args = args
        self._pipeline = pipeline
        self._extensions = extensions
        self._unseen = {name.removeprefix("@") for name in args.filter_function}
        """The names of --filter-function that no module had."""
        self._functions = set[str]()
        """The names that modules had, as far as --filter-function is given."""
        self._reports: list[Callable[[], str]] = []
        """What instruments print at the end."""
        self._last_lines: list[Callable[[], str]] = []
        """Lines that come after the reports, without --quiet."""
        self._late_warnings: list[Callable[[], Iterable[str]]] = [self._unseen_functions]
        """Warnings that are known at the end only."""
        # Instruments run in this order. Those that measure come first: they do not measure what
        # the others do after a pass.
        self.instruments: list[PassInstrument] = [
            *self._measuring(),
            *self._control(),
            *self._printing(),
            *chain.from_iterable(extension.instruments() for extension in extensions),
        ]

    def phase(self, name: str) -> AbstractContextManager[object]:
        """Time a phase outside of passes: `Parser`, `Verifier`, `Output`, and show that it runs."""
        stack = ExitStack()
        if name in _PHASES and not self._args.quiet:
            stack.enter_context(doing(_PHASES[name]))
        for instrument in self._timed():
            stack.enter_context(instrument.phase(name))
        return stack

    def add_load(self, seconds: float) -> None:
        """Add a phase `Load` for imports that took the last `seconds`; none if that is 0."""
        for instrument in self._timed() if seconds else ():
            instrument.add_load(seconds)

    def add_phase(self, name: str, seconds: float) -> None:
        """Add a phase that took the last `seconds`, as something else measured them."""
        for instrument in self._timed():
            instrument.add_phase(name, seconds)

    @property
    def is_timed(self) -> bool:
        """Whether an instrument times phases."""
        return any(True for _ in self._timed())

    def _timed(self) -> Iterator[SpanInstrument]:
        """Yield the instruments that time phases."""
        if self._args.timing or self._args.trace or self._args.record or self._args.report:
            from ..passmanager.instruments.spans import SpanInstrument

            yield from (i for i in self.instruments if isinstance(i, SpanInstrument))

    def _measuring(self) -> Iterator[PassInstrument]:
        args = self._args
        if args.timing:
            timing = instruments.PassTimingInstrument()
            self._reports.append(lambda: timing.report(args.timing))
            yield timing
        if args.trace:
            yield instruments.TraceInstrument(args.trace)
        if args.report or args.record or args.blame or args.why_erased:
            yield self._recording()
        if args.memory:
            memory = instruments.MemoryInstrument()
            self._reports.append(memory.report)
            yield memory
        if args.profile:
            profile = instruments.ProfileInstrument(args.profile)
            self._reports.append(profile.report)
            yield profile
        if args.pass_statistics:
            statistics = instruments.StatisticsInstrument()
            self._reports.append(lambda: statistics.report(args.pass_statistics))
            yield statistics

    def _recording(self) -> PassInstrument:
        """Return the instrument that records the run, for all options that need a record."""
        args = self._args
        if args.report:
            record = instruments.ReportInstrument(args.report, args.record, title=self._title())
            self._last_lines.append(lambda: f"report: {record.written}" if record.written else "")
        else:
            keep = bool(args.blame or args.why_erased)
            record = instruments.RecordInstrument(args.record, title=self._title(), keep=keep)
        if args.blame or args.why_erased:
            self._reports.append(lambda: self._blame(record.lines))
        return record

    def _blame(self, lines: Iterable[str]) -> str:
        """Return the text that --blame and --why-erased print of a record."""
        from ..passmanager.report.blame import blame_text, erased_text
        from ..passmanager.report.record_reader import read_record

        record, args = read_record(lines), self._args
        blamed = blame_text(record) if args.blame else ""
        return blamed + (erased_text(record, args.why_erased) if args.why_erased else "")

    def _title(self) -> str:
        """Return the title of the report: the name of the input."""
        name: str | None = self._args.input_file
        return "stdin" if name in (None, "-") else os.path.basename(name)

    def _control(self) -> Iterator[PassInstrument]:
        args = self._args
        limit = args.opt_bisect_limit if args.opt_bisect is None else args.opt_bisect
        if limit is not None:
            yield instruments.OptBisect(limit)
        if args.debug_counter or args.print_debug_counter:
            counter = instruments.DebugCounter(args.debug_counter)
            self._late_warnings.append(counter.warnings)
            if args.print_debug_counter:
                self._reports.append(counter.report)
            yield counter
        for option, name in _ENDS.items():
            if given := getattr(args, option):
                yield getattr(instruments, name)(given)
        for option, settings in _REPRODUCERS.items():
            if given := getattr(args, option):
                yield instruments.CrashReproducer(given, **settings)

    def _printing(self) -> Iterator[PassInstrument]:
        args = self._args
        style = print_style(args)
        if args.debug_pass_manager:
            yield instruments.PassLog()
        if args.log_actions_to:
            yield instruments.ActionLog(args.log_actions_to, args.log_actions_filter)
        if args.print_pass_numbers:
            yield instruments.PassNumbers()
        if self._prints_ir:
            printer = instruments.IRPrinter(
                before=args.print_ir_before_all or args.print_ir_before,
                after=args.print_ir_after_all or args.print_between_passes or args.print_ir_after,
                after_change=args.print_ir_after_change,
                after_failure=args.print_ir_after_failure,
                module_scope=args.print_ir_module_scope,
                functions=args.filter_function,
                before_numbers=args.print_ir_before_pass_number or (),
                after_numbers=args.print_ir_after_pass_number or (),
                style=terminal_style(style, sys.stderr),
                tree_dir=args.print_ir_tree_dir,
                assume_verified=args.print_assume_verified,
            )
            self._reports.append(lambda: self._beyond(printer.count))
            yield printer
        if args.print_diff:
            from ..passmanager.instruments.diff import CONSTANTS_BY_NAME, PrintDiff

            color = {"color": True, "plain": False}.get(args.print_diff)
            large = CONSTANTS_BY_NAME.resource_elements
            shown = style if shortens_constants(style) else replace(style, resource_elements=large)
            yield PrintDiff(color, shown, args.filter_function)
        if args.dump_ir:
            yield instruments.DumpIR(args.dump_ir, style=style)
        if not args.quiet and sys.stderr.isatty():
            yield instruments.ProgressInstrument(len(list(nested_passes(self._pipeline))) - 1)

    @property
    def _prints_ir(self) -> bool:
        """Whether an option asks for the instrument that prints the IR."""
        return any(getattr(self._args, option) for option in _PRINT_IR)

    # Messages

    def _unseen_functions(self) -> Iterator[str]:
        if self._unseen:
            names = ", ".join(f"@{name}" for name in sorted(self._unseen))
            hint = did_you_mean(names.removeprefix("@"), self._functions)
            yield f"--filter-function: there is no function {names}{hint}"

    def check_names(self, passes: Collection[str]) -> None:
        """Raise PasslineError for a pass in an option that is neither known nor in the pipeline."""
        known = [*passes, *self._names_in_pipeline()]
        keys = set(map(name_key, known))
        for option, name in self._named_passes():
            if name_key(name) not in keys:
                raise PasslineError(
                    f"{option}: there is no pass '{name}'{unknown_pass(name, known)}"
                )

    def _named_passes(self) -> Iterator[tuple[str, str]]:
        """Yield the options that name passes, with the names."""
        options = ("disable_pass", "require_pass", "print_ir_before", "print_ir_after", "profile")
        for option in (*options, *_ENDS):
            given: Sequence[str] | str | None = getattr(self._args, option)
            names = [given] if isinstance(given, str) else given or ()
            yield from ((f"--{option.replace('_', '-')}", name) for name in names)

    def _names_in_pipeline(self) -> Iterator[str]:
        """Yield the names of the passes of the pipeline, and of those that they require."""
        infos = [info_of(pass_) for pass_ in nested_passes(self._pipeline)]
        seen = {info.key for info in infos}
        for info in infos:
            yield info.name
            for name in info.required:
                if name_key(name) not in seen and name_key(name) in installed().names:
                    seen.add(name_key(name))
                    required = find_pass(name)
                    infos.append(PassInfo(required.name, 0, getattr(required, "required", ())))

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each option without effect, as one for a pass that does not run."""
        names = set(self._names_in_pipeline())
        known = set(map(name_key, names))
        for option, name in self._named_passes():
            if name_key(name) not in known:
                hint = did_you_mean(name, names)
                yield f"{option} names '{name}', which is not in the pipeline{hint}"
        options = ["print_ir_module_scope", "print_ir_tree_dir", "print_assume_verified"]
        options = [] if self._prints_ir else options
        options += [] if self._prints_ir or self._args.print_diff else ["filter_function"]
        for option in options:
            if getattr(self._args, option):
                flag = option.replace("_", "-")
                yield f"--{flag} has no effect without an option that prints the IR"

    def see(self, module: ModuleOp) -> None:
        """Note the functions of a module before the passes run: --filter-function may name them."""
        if self._unseen:
            self._functions |= {name for op in module.ops if (name := symbol_of(op))}
            self._unseen -= self._functions

    def _beyond(self, count: int) -> str:
        """Return a warning about pass numbers greater than `count`, or an empty text."""
        if self._args.quiet:
            return ""
        options = ("print_ir_before_pass_number", "print_ir_after_pass_number")
        given: dict[str, Numbers | None] = {name: getattr(self._args, name) for name in options}
        return "\n".join(
            f"warning: --{name.replace('_', '-')}: the last pass had number {count}"
            for name, numbers in given.items()
            if numbers is not None and numbers.last > count
        )

    def finish(self) -> None:
        """Print the measurements, late warnings, and the place of the report on stderr."""
        if not self._args.quiet:
            for warning in (w for warnings in self._late_warnings for w in warnings()):
                print_message(Severity.WARNING, warning)
        reports = [report() for report in self._reports]
        reports += chain.from_iterable(extension.reports() for extension in self._extensions)
        reports += [] if self._args.quiet else [line() for line in self._last_lines]
        for text in reports:
            if text:
                print(text.rstrip("\n"), file=sys.stderr)
