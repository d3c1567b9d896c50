"""`passline-tune`: measures schedules for the kernels of a model, and keeps the fastest."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from time import monotonic

from ..compiler.tune.module_tuning import Progress, Tuning, TuningOutcome, tune_module, tuned_target
from ..compiler.tune.search import Settings
from ..dialects.target import Target, set_target
from ..passes.relax.legalize_ops import LegalizeOps
from ..passmanager.diagnostics import Severity, print_message
from ..passmanager.errors import PasslineError
from ..passmanager.ir.verifier import verify
from ..passmanager.output.status import doing
from .command_line.argument_parser import nonempty_text, positive, seconds, size, written_file
from .command_line.arguments import add_pipeline, add_verification, check_pipeline_source
from .command_line.short_help import ShortHelp
from .compiler_extension import processor_of
from .corpus.executors import cancelling, named_executor
from .output import ResultFile, is_same_file
from .trials.trial_tool import TrialMain


class PasslineTuneMain(TrialMain):
    """The tool `passline-tune`; input, pipelines and exit status are those of `passline-opt`."""

    short_help = ShortHelp(
        (
            ("model.onnx -O3 -o tuned.jsonl", "measure schedules of the kernels"),
            ("model.onnx -O3 -o tuned.jsonl --trials 64 --time-limit 600", "longer"),
        ),
        "--passes -O --database --trials --time-limit --target --jobs --executor --version --help",
    )

    def __init__(self, args: Sequence[str] | None = None) -> None:
        description = "Measure schedules for the kernels of a model, and keep the fastest in a "
        super().__init__(description + "database, which legalize-ops reads.", args)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        group = arg_parser.add_argument_group("input and output")
        add = group.add_argument
        self.add_input(group, "the model; '-' is stdin")
        help = f"the database to read and to extend, by default {DATABASE}"
        flags = ("-o", "--database", "--output-file")
        add(*flags, dest="database", type=written_file, default=DATABASE, metavar="FILE", help=help)
        self.add_common(group, "unknown dialects")
        group = arg_parser.add_argument_group("search")
        add = group.add_argument
        help = "the number of candidates to measure for each kernel, by default 32"
        add("--trials", type=positive, default=32, metavar="N", help=help)
        help = "start no new candidates after this time"
        add("--time-limit", type=seconds, metavar="SECONDS", help=help)
        help = "stop measuring a candidate after this time, by default 60"
        add("--candidate-limit", type=seconds, default=60.0, metavar="SECONDS", help=help)
        help = "tune only the kernels that together take this part of the estimated time, those "
        help += "that take the longest; by default 100, all"
        add("--share", type=percentage, default=100, metavar="PERCENT", help=help)
        help = "the seed by which candidates are chosen at random, by default 0"
        add("--seed", type=size, default=0, metavar="N", help=help)
        help = "also tune the kernels that the database has"
        add("--again", action="store_true", help=help)
        help = "where to measure: processes, the default, or dask:ADDRESS of a scheduler"
        add("--executor", type=nonempty_text, default="processes", metavar="WHERE", help=help)
        help = "the number of processes that measure at once, by default 1: more disturb each other"
        add("-j", "--jobs", type=positive, default=1, metavar="N", help=help)
        add = (group := add_pipeline(arg_parser, self.extensions)).add_argument
        help = "the processor to tune for, by default this machine, or the GPU, such as sm_90"
        add("-t", "--target", dest="processor", metavar="TARGET", help=help)
        add_verification(group)
        self.add_questions(group)

    def check_arguments(self) -> None:
        args = self.args
        check_pipeline_source(args)
        if named_executor(args.executor) is not None and args.jobs != 1:
            raise PasslineError("--jobs is for --executor=processes: a cluster has its own workers")
        if args.opt_level is None and not args.passes and not args.run_reproducer:
            args.opt_level = 3
        if is_same_file(args.database, args.input_file):
            raise PasslineError(f"the database would overwrite the input, '{args.input_file}'")

    def run(self) -> None:
        """Read, optimize and tune; what has been measured until a failure is in the database."""
        if status := self.attempt(self.tune):
            sys.exit(status)

    def tune(self) -> None:
        """Tune the kernels of the input, and print what that gained."""
        args = self.args
        target = tuned_target(processor_of(self.args))
        module = self.read_module()
        if not args.disable_verify:
            verify(module, dominance=self.args.verify_dominance)
        set_target(module, target)  # by which the pipeline chooses layouts
        with self.pass_context:
            self.sequential.apply(self.ctx, module)
            legalize = self.pass_context.config.apply(LegalizeOps(), LegalizeOps.name)
        assert isinstance(legalize, LegalizeOps)
        settings = Settings(
            args.trials,
            candidate_limit=args.candidate_limit,
            seed=args.seed,
            time_limit=args.time_limit,
            share=args.share,
            again=args.again,
            winograd=legalize.winograd,
        )
        own = cancelling(ThreadPoolExecutor(args.jobs))  # a process that measures for each thread
        chosen = named_executor(args.executor) or own
        try:
            with chosen as executor, self.progress() as progress:
                tuning = tune_module(
                    module,
                    args.database,
                    target,
                    settings,
                    executor=executor,
                    report=self.report,
                    progress=progress,
                )
        except BrokenExecutor as error:
            raise PasslineError(
                f"the workers of --executor={args.executor} are lost: {error}"
            ) from error
        for warning in (*tuning.warnings, *tuning.notes):
            print_message(Severity.WARNING, warning, self.arg_parser.prog)
        ResultFile(None).write(summary(tuning, target, args.database))

    @contextmanager
    def progress(self) -> Generator[Progress]:
        """Show the kernel, its candidate and the time left, if stderr is a terminal; return the
        function that updates them."""
        state = TuningState(self.args.trials, self.args.time_limit)
        with nullcontext() if self.args.quiet else doing(lambda: str(state)):
            yield state.update

    def report(self, outcome: TuningOutcome, number: int, total: int) -> None:
        """Print a line about a kernel."""
        kernel, record = outcome.kernel, outcome.record
        times = f" (x{kernel.calls})" if kernel.calls > 1 else ""
        said = f"{number}/{total} {kernel.operations}{times}: {described(outcome)}"
        self.say(said)
        if outcome.failures and record is not None:
            self.say(f"    {len(outcome.failures)} candidates failed: {outcome.failures[0]}")


class TuningState:
    """The state of a search, as a person reads it."""

    def __init__(self, trials: int, limit: float | None) -> None:
        self._trials, self._limit, self._began = trials, limit, monotonic()
        self._number = self._total = self._measured = 0

    def update(self, number: int, total: int, measured: int) -> None:
        """Note the number of a kernel, of all, and of its candidates that have been measured."""
        self._number, self._total, self._measured = number, total, measured

    def __str__(self) -> str:
        if not self._total:
            return "looking for kernels"
        kernel = f"kernel {self._number} of {self._total}, candidate {self._measured + 1}"
        left = self.seconds_left(monotonic() - self._began)
        return (
            kernel if left is None else f"{kernel}, about {left // 60:.0f}:{left % 60:02.0f} left"
        )

    def seconds_left(self, passed: float) -> float | None:
        """Return the time left by the pace so far and the limit; None while nothing is known."""
        done = self._number - 1 + min(self._measured / (2 * self._trials), 1)
        rest = passed * (self._total - done) / done if done > 0 else None
        limit = None if self._limit is None else max(0.0, self._limit - passed)
        return min((time for time in (rest, limit) if time is not None), default=None)


def described(outcome: TuningOutcome) -> str:
    """Return the times of a kernel as text."""
    record = outcome.record
    if record is None:
        return f"not measured: {outcome.failures[0] if outcome.failures else 'interrupted'}"
    gain = record.estimated_seconds / record.seconds
    known = "" if outcome.is_new else ", known"
    return (
        f"{record.estimated_seconds * 1e3:.3f} -> {record.seconds * 1e3:.3f} ms, {gain:.2f}x"
        f" ({record.trials} candidates{known})"
    )


def summary(tuning: Tuning, target: Target, database: str) -> str:
    """Return the result as text."""
    if not tuning.outcomes and not tuning.left:
        return NOTHING
    measured = [outcome for outcome in tuning.outcomes if outcome.record is not None]
    better = [o for o in measured if o.record and o.record.seconds < o.record.estimated_seconds]
    lines = [
        f"{kernels(len(measured))}, {len(better)} of them faster than by the cost model",
        f"all calls: {tuning.estimated_seconds * 1e3:.3f} -> {tuning.seconds * 1e3:.3f} ms",
        f"database: {database}",
    ]
    if tuning.left:
        lines.insert(1, f"{kernels(tuning.left)} left: run it again to go on")
    return "".join(f"{line}\n" for line in lines)


def kernels(number: int) -> str:
    """Return a number of kernels as text."""
    return f"{number} kernel{'' if number == 1 else 's'}"


NOTHING = """\
nothing to tune: no kernel of the module after the pipeline has several schedules, as those of
convolutions and matrix products of known sizes have
"""
"""The result for a module without kernels that make choices."""


DATABASE = "tuning.jsonl"
"""The database if none is named."""


def percentage(text: str) -> int:
    """Parse a percentage."""
    number = positive(text)
    if number > 100:
        raise argparse.ArgumentTypeError(f"expected a percentage up to 100, got '{text}'")
    return number


main = PasslineTuneMain.main


if __name__ == "__main__":
    main()
