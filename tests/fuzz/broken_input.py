"""Run the tools on broken input: mutated IR, pipelines, configuration, command lines, models, ...

    PYTHONPATH=tests python -m fuzz.broken_input [--seed N] [--count N] [--minutes N] [--kind KIND]

A seed determines the command and the content of its file. Each must end with status 0, 1 or 2, a
message if not 0, and no traceback, within a time and with bounded memory. The inputs run in one
process, which is started anew if it dies or hangs. Each kind of failure is printed once, with the
seed; --save DIR keeps the files. The exit status is 1 if there was one.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import resource
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from support.suites.inprocess import Result, capture

from passline.tools import report
from passline.tools.opt import PasslineOptMain
from passline.tools.run import PasslineRunMain

from .broken_kinds import FILE, KINDS, BrokenInput, broken_input, load_sources

__all__ = ["check_input", "main", "place_of", "run_input"]

SECONDS = 20
"""The time that an input may take."""
HANGS = 60
"""The time after which a process that does not react to a signal is killed."""
ADDRESS_SPACE = 6 << 30
GROWTH = 1 << 30
"""The memory that an input may take."""


class TooLong(BaseException):
    """The error for an input that takes too long."""


@dataclass(frozen=True)
class Failure:
    """A failure: a text that is the same for all failures of one cause, and the output."""

    cause: str
    output: str = ""


# One input


def check_input(item: BrokenInput, folder: Path, seconds: int = SECONDS) -> Failure | int:
    """Run an input in this process; return its exit status, or the failure."""
    before = peak_memory()
    try:
        with limited(seconds):
            result = run_input(item, folder)
    except TooLong as error:
        return Failure(f"hangs in {place_of(error)}")
    except BaseException as error:
        return Failure(f"raises {type(error).__name__} in {place_of(error)}", str(error))
    grown = peak_memory() - before
    if grown > GROWTH:
        return Failure("takes too much memory", f"{grown >> 20} MiB\n{result.stderr[:2000]}")
    if result.status in (0, 1, 2):
        return failure_of_output(result) or result.status
    return Failure(f"status {result.status}: {cause_of(item, folder, seconds)}", result.stderr)


def failure_of_output(result: Result) -> Failure | None:
    """Return what is wrong with the output of a command that ends as it should."""
    if "Traceback (most recent call last)" in result.stderr:
        return Failure("prints a traceback", result.stderr)
    if result.status and not result.stderr.strip():
        return Failure("fails without a message", result.stdout)
    if "\x1b" in result.stderr:
        return Failure("prints an escape sequence of the input", result.stderr)
    if "MemoryError" in result.stderr:
        return Failure("runs out of memory", result.stderr)
    return None


def run_input(item: BrokenInput, folder: Path, *options: str) -> Result:
    """Run the command of an input on a file with its content."""
    path = folder / f"input{item.suffix}"
    path.write_bytes(item.content)
    arguments = [str(path) if word == FILE else word for word in item.arguments]
    arguments += options

    def run() -> None:
        match item.tool:
            case "passline-opt":
                PasslineOptMain(args=arguments).run()
            case "passline-run":
                PasslineRunMain(args=arguments).run()
            case _:
                report.main(arguments)

    return capture(run)


def cause_of(item: BrokenInput, folder: Path, seconds: int) -> str:
    """Return the error of an input that ends with status 3, and the place that raises it."""
    if item.tool == "passline-report":
        return "passline-report"
    try:
        with limited(seconds):
            shown = run_input(item, folder, "--debug").stderr
    except BaseException as error:
        return type(error).__name__
    places = [line.strip() for line in shown.splitlines() if line.startswith("  File ")]
    errors = re.findall(r"^([A-Za-z_][\w.]*)(?::|$)", shown, re.MULTILINE)
    error = errors[-1] if errors else "unknown"
    return f"{error} in {short(places[-1]) if places else 'unknown'}"


def short(place: str) -> str:
    """Return a line of a traceback without folders and numbers."""
    _, path, rest = place.split('"', 2)
    return f"{'/'.join(Path(path).parts[-3:])}:{rest.partition(', in ')[2]}"


def place_of(error: BaseException) -> str:
    """Return the function that raised an error."""
    trace, place = error.__traceback__, "unknown"
    while trace is not None:
        code = trace.tb_frame.f_code
        if "site-packages" in code.co_filename or "passline" in code.co_filename:
            place = f"{'/'.join(Path(code.co_filename).parts[-3:])}:{code.co_name}"
        trace = trace.tb_next
    return place


@contextmanager
def limited(seconds: int) -> Generator[None]:
    """Raise TooLong in the body after some seconds."""

    def stop(*_: object) -> None:
        raise TooLong

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


# Many inputs


def work(connection: Connection, seeds: Sequence[int], kinds: Sequence[str]) -> None:
    """Run the inputs of seeds; send each seed before, and what came of it after."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    PasslineOptMain.prepare_process()
    gc.set_threshold(100_000, 10, 10)  # many inputs, one process
    warnings.simplefilter("ignore")
    # What C code prints is no part of the output that is looked at.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        for seed in seeds:
            connection.send(seed)
            item = broken_input(seed, kinds)
            outcome = check_input(item, Path(folder))
            connection.send((item.kind, outcome))
    connection.send(None)


@dataclass
class Campaign:
    """A run over many seeds."""

    kinds: Sequence[str]
    save: Path | None

    def __post_init__(self) -> None:
        self.statuses: Counter[tuple[str, str]] = Counter()
        self.causes: Counter[tuple[str, str]] = Counter()
        self.done = 0

    def run(self, seeds: range, until: float) -> None:
        """Run the inputs of `seeds`, until a time at most."""
        load_sources(self.kinds)  # once, not in each process
        while seeds and perf_counter() < until:
            seeds = self.run_process(seeds, until)

    def run_process(self, seeds: range, until: float) -> range:
        """Run inputs in a process until it ends or dies; return the seeds that are left."""
        mine, theirs = Pipe()
        batch = seeds[:2000]  # a new process now and then: what xDSL caches is not given back
        process = Process(target=work, args=(theirs, batch, self.kinds))
        process.start()
        theirs.close()
        seed = seeds[0]
        try:
            while perf_counter() < until:
                if not mine.poll(HANGS):
                    self.count(seed, "?", Failure("hangs, and does not react to a signal"))
                    return range(seed + 1, seeds.stop)
                message = mine.recv()
                if message is None:
                    return seeds[len(batch) :]
                if isinstance(message, int):
                    seed = message
                else:
                    self.count(seed, *message)
            return range(0)
        except EOFError:
            process.join()
            self.count(seed, "?", Failure(f"the process dies ({process.exitcode})"))
            return range(seed + 1, seeds.stop)
        finally:
            process.kill()
            process.join()

    def count(self, seed: int, kind: str, outcome: Failure | int) -> None:
        """Count what came of a seed, and report a new kind of failure."""
        self.done += 1
        if isinstance(outcome, int):
            self.statuses[kind, str(outcome)] += 1
        else:
            self.statuses[kind, "failed"] += 1
            self.causes[kind, outcome.cause] += 1
            if self.causes[kind, outcome.cause] == 1:
                self.report(seed, kind, outcome)
        if self.done % 500 == 0:
            failed = self.causes.total()
            print(f"{self.done} inputs, {failed} failed", file=sys.stderr, flush=True)

    def report(self, seed: int, kind: str, failure: Failure) -> None:
        item = broken_input(seed, self.kinds)
        print(f"seed {seed} ({kind}): {failure.cause}\n  {' '.join(item.arguments)!r}")
        for line in failure.output.splitlines()[:6]:
            print(f"  {line[:300]!r}")
        sys.stdout.flush()
        if self.save is not None:
            self.save.mkdir(parents=True, exist_ok=True)
            (self.save / f"{seed}{item.suffix}").write_bytes(item.content)

    def summary(self) -> Iterator[str]:
        """Yield a table of the outcomes by kind, and the causes of failures."""
        yield f"{self.done} inputs"
        for kind in dict.fromkeys(kind for kind, _ in self.statuses):
            numbers = (self.statuses[kind, status] for status in ("0", "1", "2", "failed"))
            yield f"{kind}: status 0 %d, 1 %d, 2 %d; failed %d" % tuple(numbers)
        for (kind, cause), count in self.causes.most_common():
            yield f"{count} x {kind}: {cause}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the seeds that the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz.broken_input", allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100_000_000, help="the number of seeds")
    parser.add_argument("--minutes", type=float, default=10, help="when to stop")
    parser.add_argument("--kind", action="append", default=[], choices=[*KINDS])
    parser.add_argument("--save", type=Path, help="the folder for inputs that fail")
    args = parser.parse_args(arguments)
    campaign = Campaign(args.kind, args.save)
    seeds = range(args.seed, args.seed + args.count)
    campaign.run(seeds, perf_counter() + 60 * args.minutes)
    print(*campaign.summary(), sep="\n")
    return campaign.causes.total() > 0


if __name__ == "__main__":
    sys.exit(main())
