"""`passline-bisect`: finds the pass, the function and the rewrite that break a program."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError

from ...passmanager.diagnostics import Diagnostic
from ...passmanager.errors import PasslineError
from ...passmanager.instrument import PassInstrument
from ...passmanager.ir.text.parser import parse_module
from ...passmanager.ir.verifier import verify
from ...passmanager.pipeline import parse_pipeline
from ..command_line.argument_parser import nonempty_text, seconds, written_directory
from ..command_line.arguments import add_pipeline, add_verification, check_pipeline_source
from ..command_line.short_help import ShortHelp
from ..output import ResultFile
from ..trials.trial import Trials, check_command
from ..trials.trial_tool import TrialMain, flat
from .bisection import Bisection
from .oracles import (
    BadText,
    CommandFails,
    Oracle,
    SameFailure,
    command_line,
    enabled_passes,
    free_file,
    highest_level,
    save_test,
)


class PasslineBisectMain(TrialMain):
    """The tool `passline-bisect`; input, pipelines and exit status are those of `passline-opt`."""

    short_help = ShortHelp(
        (
            ("x.mlir -O3", "the pass that fails"),
            ("x.mlir -O3 --verify-semantics", "the pass that changes a result"),
            ("x.mlir -O3 -- grep -q relax.multiply {}", "the pass after which a command fails"),
            ("x.mlir -O3 --save-test=tests", "write a test of the fault"),
        ),
        "--passes -O --bad-if --timeout --save-test --no-reduce --json --verify-semantics "
        "--version --help",
    )

    def __init__(
        self,
        description: str = "Find the pass, the function and the rewrite that break a program, and "
        "reduce the program for a test.",
        args: Sequence[str] | None = None,
    ) -> None:
        given = [*(sys.argv[1:] if args is None else args)]
        end = given.index("--") if "--" in given else len(given)
        self.command = given[end + 1 :]
        self.has_command = end < len(given)
        super().__init__(description, given[:end])

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.usage = "%(prog)s [options] [input_file] [-- command ...]"
        group = arg_parser.add_argument_group("input and output")
        add = group.add_argument
        self.add_input(group, "the file on which the pipeline goes wrong; '-' is stdin")
        help = (
            "write the reduced module to DIR as a lit test, which fails until the fault is mended"
        )
        add("--save-test", type=written_directory, metavar="DIR", help=help)
        add("--json", action="store_true", help="print the result as JSON")
        add("--no-reduce", action="store_true", help="do not reduce the module")
        help = "print operations in generic form"
        add("--print-op-generic", action="store_true", help=help)
        self.add_common(group)
        group = arg_parser.add_argument_group("what is bad")
        group.description = (
            "A result is bad if the command after -- exits with another status than 0. The command "
            "gets a file with the result in place of {}, or as its last argument. Without a "
            "command and without --bad-if, the pipeline must fail on the input; then every run "
            "that fails in the same way is bad: in the same pass, with the same exception, and "
            "with the same message but for numbers, names and types. With --verify-semantics, a "
            "pass that changes a result fails."
        )
        add = group.add_argument
        help = "a result is bad if a line of it, or of a message of a pass, matches"
        add("--bad-if", type=expression, metavar="REGEX", help=help)
        help = "a result is bad if the passes, or the command, take longer"
        add("--timeout", type=seconds, metavar="SECONDS", help=help)
        group = add_pipeline(arg_parser, self.extensions)
        if self.processors:
            help = "the processor to make kernels for, as in passline-opt"
            group.add_argument("-t", "--target", dest="processor", metavar="TARGET", help=help)
        add_verification(group)
        for extension in self.extensions:
            extension.add_check_options(group)
        self.add_questions(group)

    def check_arguments(self) -> None:
        args = self.args
        if not (args.passes or args.opt_level is not None or args.run_reproducer):
            raise PasslineError("say what to bisect: -p PIPELINE, -O or --run-reproducer")
        check_pipeline_source(args)
        if self.has_command and args.bad_if is not None:
            raise PasslineError("say what is bad: either --bad-if or a command after --")
        if self.has_command:
            if not self.command:
                raise PasslineError("expected a command after --")
            check_command(self.command)

    def required_passes(self) -> Sequence[str]:
        """Require none: each pass can be left out, and those of --require-pass are enabled."""
        return []

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.trials.render(diagnostics)

    def run(self) -> None:
        """Read, bisect, reduce and print; an interrupted run prints what it has found."""
        self.bisection: Bisection | None = None
        self.last_checks: Sequence[PassInstrument] = ()
        """The further instruments of the last trial."""
        with TemporaryDirectory(prefix="passline-bisect-") as directory:
            self.directory = Path(directory)
            status = self.attempt(self.bisect)
            if self.bisection is not None and self.bisection.finding.pass_text:
                status = max(status, self.attempt(self.print_finding))
        if status:
            sys.exit(status)

    def bisect(self) -> None:
        """Find the culprit; `bisection` holds what is known at any time."""
        if self.args.save_test is not None:
            Path(self.args.save_test).mkdir(parents=True, exist_ok=True)
        module = self.read_module()
        verified = not self.args.disable_verify
        if verified:
            verify(module, dominance=self.args.verify_dominance)
        self.trials = Trials(self.ctx, self.pass_context, self.args.timeout, self.checks)
        passes = self.passes_to_bisect()
        oracle = self.oracle(passes, module)
        self.bisection = bisection = Bisection(passes, module, oracle, self.trials, self.say)
        bisection.find_culprit()
        self.say(f"wrong: {bisection.finding.wrong}")
        bisection.shorten_pipeline(
            lambda text: [*flat(parse_pipeline(text, self.available_passes))]
        )
        if not self.args.no_reduce:
            bisection.reduce_module(verified)
            bisection.shorten_pipeline(lambda _: bisection.passes)
        self.drop_level(bisection)
        bisection.examine_reduced()

    def passes_to_bisect(self) -> list[ModulePass]:
        """Return the passes that the options enable, at a level at which all of them run."""
        context = self.pass_context
        with context.at_level(context.opt_level, self.args.require_pass) as selecting:
            passes = enabled_passes(self.sequential, selecting)
        context.opt_level = max(context.opt_level, highest_level(passes))
        return passes

    def drop_level(self, bisection: Bisection) -> None:
        """Leave out -O, which the passes of -p do not need, unless the fault does."""
        level, self.pass_context.opt_level = self.pass_context.opt_level, sys.maxsize
        if not bisection.is_bad(bisection.passes, bisection.module):
            self.pass_context.opt_level = level

    def checks(self) -> Sequence[PassInstrument]:
        """Return the further instruments of a trial: those of extensions."""
        self.last_checks = [c for extension in self.extensions for c in extension.instruments()]
        return self.last_checks

    def oracle(self, passes: Sequence[ModulePass], module: ModuleOp) -> Oracle:
        """Return the oracle that the options ask for; PasslineError if there is nothing bad."""
        if self.args.bad_if is not None:
            return BadText(self.args.bad_if, self.text_of)
        outcome = self.trials.run(passes, module)
        if self.command:
            if outcome.error is not None:
                raise PasslineError(
                    f"the pipeline fails, so that '{self.command[0]}' cannot judge its result: "
                    f"{outcome.failure}; leave out the command to bisect the failure"
                )
            assert self.directory is not None  # of `run`
            name = Path(self.get_input_name().strip("<>")).name
            file = (self.directory / name).with_suffix(".mlir")
            return CommandFails(self.command, file, self.text_of, self.args.timeout)
        if outcome.error is None:
            what = "fails no check" if self.last_checks else "does not fail"
            reports = [text for extension in self.extensions for text in extension.reports()]
            raise PasslineError(
                f"the pipeline {what} on '{self.get_input_name()}': say what is bad by "
                f"--bad-if, or by a command after --\n{''.join(reports)}".rstrip()
            )
        return SameFailure(outcome)

    def print_finding(self) -> None:
        """Save the test, and print the finding on stdout."""
        assert (bisection := self.bisection) is not None
        finding = bisection.finding
        if finding.pipeline:
            finding.module = self.text_of(bisection.module)
            if self.args.save_test is not None:
                self.save_test(bisection)
        data = f"{json.dumps(finding.data, indent=2)}\n"
        ResultFile(None).write(data if self.args.json else finding.text)

    def save_test(self, bisection: Bisection) -> None:
        """Write the reduced module as a lit test."""
        finding, oracle = bisection.finding, bisection.oracle
        name = finding.pass_text.partition("{")[0].partition("(")[0]
        directory = Path(self.args.save_test)
        file = free_file(directory, name)
        checks = [name for extension in self.extensions for name in extension.check_options]
        command = command_line(self.args, self.pass_context, finding.pipeline, checks)
        on = f" on {finding.operation}" if finding.operation else ""
        title = f"\n{finding.wrong}\nThe culprit: {finding.pattern or finding.pass_text}{on}\n\n"
        run_lines = oracle.run_lines(command, directory)
        save_test(file, run_lines, title, finding.module, oracle.check_lines)
        finding.test = str(file)
        if not self.is_bad_when_read(file, bisection):
            finding.notes.append("the fault does not show when the module of the test is read")

    def is_bad_when_read(self, file: Path, bisection: Bisection) -> bool:
        """Return whether the passes are bad on the module in a file."""
        try:
            limit = self.pass_context.max_elements
            module = parse_module(self.ctx, file.read_text(), str(file), max_elements=limit)
        except ParseError:
            return False
        return bisection.is_bad(bisection.passes, module)


def expression(text: str) -> re.Pattern[str]:
    """Parse a regular expression."""
    try:
        return re.compile(nonempty_text(text))
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from None


main = PasslineBisectMain.main


if __name__ == "__main__":
    main()
