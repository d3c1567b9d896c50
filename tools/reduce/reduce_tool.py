"""`passline-reduce`: reduces IR while it stays interesting."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...passmanager.errors import PasslineError
from ...passmanager.ir.verifier import verify
from ...passmanager.pipeline import pipeline_text
from ...passmanager.sequential import Sequential
from ..command_line.argument_parser import nonempty_text, seconds, written_file
from ..command_line.arguments import add_pipeline, add_verification, check_pipeline_source
from ..command_line.short_help import ShortHelp
from ..output import ResultFile
from ..trials.trial import Command, Trials, command_words
from ..trials.trial_tool import TrialMain, flat
from .reductions import op_count, smaller_lists, smaller_modules


class PasslineReduceMain(TrialMain):
    """The tool `passline-reduce`; input, pipelines and exit status are those of `passline-opt`."""

    short_help = ShortHelp(
        (
            ("x.mlir -p some-pass -o small.mlir", "keep what makes the pass fail"),
            ("x.mlir --test ./interesting.sh", "keep what a script accepts"),
        ),
        "--passes -O --test --timeout --output-file --run-reproducer --version --help",
    )

    def __init__(
        self,
        description: str = "Make IR smaller while it stays interesting: while a command exits "
        "with 0 (--test), or while a pipeline fails on it in the same way (-p).",
        args: Sequence[str] | None = None,
    ) -> None:
        super().__init__(description, args)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        group = arg_parser.add_argument_group("input and output")
        add = group.add_argument
        self.add_input(group, "the file to reduce; '-' is stdin")
        help = "the output file, written at the end or when interrupted; '-' is stdout"
        add("-o", "--output-file", type=written_file, metavar="FILE", help=help)
        help = "print operations in generic form"
        add("--print-op-generic", action="store_true", help=help)
        self.add_common(group)
        group = arg_parser.add_argument_group("interestingness")
        add = group.add_argument
        help = "a command that takes a file name and exits with 0 if the file is interesting"
        add("--test", type=nonempty_text, metavar="COMMAND", help=help)
        help = "treat a file as not interesting if the command takes longer"
        add("--timeout", type=seconds, metavar="SECONDS", help=help)
        group = add_pipeline(arg_parser, self.extensions)
        group.description = (
            "Without --test, a module is interesting if it fails as the input does: in the same "
            "pass, with the same exception and a message that differs only in numbers, names and "
            "types."
        )
        add_verification(group)
        self.add_questions(group)

    def check_arguments(self) -> None:
        args = self.args
        asks_pipeline = args.passes or args.opt_level is not None or args.run_reproducer
        if bool(args.test) == bool(asks_pipeline):
            raise PasslineError("say what is interesting: either --test COMMAND or -p PIPELINE")
        check_pipeline_source(args)
        if args.timeout is not None and not args.test:
            raise PasslineError("--timeout is for --test")
        source, target = args.input_file or "-", args.output_file or "-"
        self.command = command_words(args.test) if args.test else []
        if "-" not in (source, target) and os.path.realpath(source) == os.path.realpath(target):
            raise PasslineError(f"-o would overwrite the input '{source}'")

    def run(self) -> None:
        """Read, reduce and write; an interrupted run writes the smallest module so far."""
        self.best: ModuleOp | None = None
        """The smallest module known to be interesting."""
        status = max(self.attempt(self.reduce), self.attempt(self.write_best))
        if status:
            sys.exit(status)

    def write_best(self) -> None:
        """Write the smallest module, if there is an interesting one."""
        if self.best is not None:
            result = ResultFile(self.args.output_file)
            result.write(self.text_of(self.best))
            result.commit()

    def reduce(self) -> None:
        """Reduce the input; `best` is the smallest module so far."""
        module = self.read_module()
        verified = self.is_to_be_verified(module)
        if self.args.test:
            with TemporaryDirectory(prefix="passline-reduce-") as directory:
                self.reduce_by_command(module, Path(directory), verified)
        else:
            self.reduce_by_pipeline(module, verified)

    def is_to_be_verified(self, module: ModuleOp) -> bool:
        """Return whether reduced modules must verify: only if `module` does."""
        if self.args.disable_verify:
            return False
        try:
            verify(module, dominance=self.args.verify_dominance)
        except PasslineError as error:
            if not self.args.test:
                raise
            self.say(f"the input is not valid, and so need not be what comes of it: {error}")
            return False
        return True

    def reduce_by_command(self, module: ModuleOp, directory: Path, verified: bool) -> None:
        """Reduce a module that a command finds interesting."""
        name = self.get_input_name().strip("<>")
        file = (directory / Path(name).name).with_suffix(".mlir")
        command = Command(self.command, file, self.text_of, self.args.timeout)
        if not command(module):
            raise PasslineError(
                f"'{self.get_input_name()}' is not interesting: "
                f"'{self.command[0]}' {command.outcome}"
            )
        self.reduce_module(module, command, verified)

    def reduce_by_pipeline(self, module: ModuleOp, verified: bool) -> None:
        """Reduce a module on which the pipeline fails, and the pipeline."""
        trials = Trials(self.ctx, self.pass_context)
        passes = [*flat(self.sequential)]
        if (wanted := trials.run(passes, module).failure) is None:
            raise PasslineError(
                f"'{self.get_input_name()}' is not interesting: the pipeline does not fail"
            )
        self.say(f"to be kept: {wanted}")
        self.best = module

        def fail_on_best(passes: Sequence[ModulePass]) -> bool:
            assert self.best is not None
            return trials.run(passes, self.best).failure == wanted

        def fails(module: ModuleOp) -> bool:
            return trials.run(passes, module).failure == wanted

        try:
            for _ in range(2):  # first, as fewer take less time; again, as less IR may need fewer
                for shorter in smaller_lists(passes, fail_on_best):
                    passes = shorter  # `fails` runs these from here on
                    self.say(f"{len(passes)} passes left")
                self.reduce_module(self.best, fails, verified)
        finally:
            self.say(f"pipeline: {pipeline_text(Sequential(passes))}")

    def reduce_module(
        self, module: ModuleOp, interesting: Callable[[ModuleOp], bool], verified: bool
    ) -> None:
        """Reduce an interesting module and set `best` to each smaller one."""
        self.best = module
        for step in smaller_modules(module, interesting, verified=verified):
            self.best = step.module
            self.say(f"{op_count(step.module)} ops left, without some {step.what}")


main = PasslineReduceMain.main


if __name__ == "__main__":
    main()
