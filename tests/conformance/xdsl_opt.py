"""xDSL's own FileCheck tests, with passline-opt in place of xdsl-opt, and with xdsl-opt itself.

    python tests/conformance/xdsl_opt.py [--tests FOLDER] [-v] [name ...]

runs the files whose path contains one of the given names (all files by default) with both tools,
prints the files that pass with one of them only, and counts; `-v` prints why. Two other tools may
take part: `--tool` and `--reference` name a class of tools as `module:Class`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from support.suites.inprocess import Result, capture, filecheck
from support.suites.lit_suite import LitTest, installed_tools, lit_tests
from support.suites.xdsl_sources import xdsl_tests
from xdsl.ir import Attribute
from xdsl.utils.diagnostic import Diagnostic
from xdsl.xdsl_opt_main import xDSLOptMain

from passline.tools.opt import PasslineOptMain

__all__ = ["Outcome", "Verdict", "all_tests", "run_test"]

COMMAND = "xdsl-opt"
"""The command whose place a tool takes."""


class Verdict(Enum):
    """The result of a test."""

    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


class Outcome(NamedTuple):
    """The verdict on a test, with the reason."""

    verdict: Verdict
    reason: str = ""


def all_tests(suite: Path | None = None) -> list[LitTest]:
    """Return the files of xDSL's tests that run xdsl-opt."""
    command = re.compile(rf"\b{COMMAND}\b")
    return [
        test
        for test in lit_tests(suite or xdsl_tests())
        if any(map(command.search, test.lines or [test.path.read_text()]))
    ]


def run_test(test: LitTest, tool: type[xDSLOptMain]) -> Outcome:
    """Run the RUN lines of a test with `tool` in place of xdsl-opt."""
    if test.lacks is not None:
        return Outcome(Verdict.UNSUPPORTED, test.lacks)
    with _environment():
        for line in test.lines:
            result = _run_line(line, tool)
            if result.status == COMMAND_NOT_FOUND:
                return Outcome(Verdict.UNSUPPORTED, result.stderr.strip())
            if result.status != 0:
                said = f"RUN: {line}\n{result.stderr.strip()}\n{result.stdout.strip()}"
                return Outcome(Verdict.FAILED, said)
    return Outcome(Verdict.PASSED)


COMMAND_NOT_FOUND = 127


def _run_line(line: str, tool: type[xDSLOptMain]) -> Result:
    """Run a pipeline of the shell, with its known commands in this process."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|&<>;")
    words.whitespace_split = True
    words.commenters = ""
    stages: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    stages = [_merged(stage) for stage in stages]
    if any(re.fullmatch("[&<>;|]+", word) for stage in stages for word in stage) or (
        stages[0][0] == "env"
    ):
        return _run_shell(line, tool)
    text, errors, failed = "", "", 0
    for stage in stages:
        result = _run_stage(stage, text, tool)
        merged = MERGE in stage
        text = result.stderr + result.stdout if merged else result.stdout
        errors += "" if merged else result.stderr
        failed = failed or result.status
    return Result(failed, text, errors)


MERGE = "2>&1"


def _merged(stage: list[str]) -> list[str]:
    """Return the words of a command in which `2>&1` is one word."""
    merge = ["2", ">&", "1"]
    for at in range(len(stage)):
        if stage[at : at + 3] == merge:
            return [*stage[:at], MERGE, *stage[at + 3 :]]
    return stage


def _run_stage(stage: list[str], stdin: str, tool: type[xDSLOptMain]) -> Result:
    inverted = stage[0] == "not"
    command, *args = [word for word in stage[inverted:] if word != MERGE]
    if command == "filecheck":
        result = _filecheck(args, stdin)
    elif command == COMMAND:
        result = _run_tool(tool, args, stdin)
    else:
        try:
            done = subprocess.run([command, *args], input=stdin, capture_output=True, text=True)
            result = Result(done.returncode, done.stdout, done.stderr)
        except FileNotFoundError:
            return Result(COMMAND_NOT_FOUND, "", f"{command} is not installed")
    if inverted:
        return Result(int(result.status == 0), result.stdout, result.stderr)
    return result


def _run_tool(tool: type[xDSLOptMain], args: Sequence[str], stdin: str) -> Result:
    def run() -> None:
        try:
            tool(args=args).run()
        except Exception:  # as the process would end
            traceback.print_exc()
            sys.exit(1)

    with _state_of_xdsl(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return capture(run, stdin)


def _filecheck(args: list[str], text: str) -> Result:
    try:
        return filecheck(args, text)
    except Exception as error:
        return Result(2, "", f"filecheck: {type(error).__name__}: {error}")


def _run_shell(line: str, tool: type[xDSLOptMain]) -> Result:
    name = f"{tool.__module__}:{tool.__qualname__}"
    command = f"{shlex.quote(sys.executable)} -m conformance.xdsl_opt --run {shlex.quote(name)}"
    line = re.sub(rf"(?<![\w/-]){COMMAND}(?![\w-])", lambda _: command, line)
    bin = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{bin}:{os.environ['PATH']}",
        "PYTHONPATH": f"{TESTS}:{os.environ.get('PYTHONPATH', '')}",
    }
    shell = ["bash", "-o", "pipefail", "-c", line]
    done = subprocess.run(shell, capture_output=True, text=True, env=environment)
    return Result(done.returncode, done.stdout, done.stderr)


TESTS = Path(__file__).parents[1]


@contextmanager
def _state_of_xdsl() -> Generator[None]:
    """Undo the changes that options of xdsl-opt make to classes of xDSL."""
    post_init, colored = Attribute.__post_init__, Diagnostic.colored
    try:
        yield
    finally:
        Attribute.__post_init__ = post_init
        Diagnostic.colored = colored


@contextmanager
def _environment() -> Generator[None]:
    before = {**os.environ}
    os.environ |= installed_tools()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before


def tool_class(name: str) -> type[xDSLOptMain]:
    """Return the class that `name`, as `module:Class`, stands for."""
    module, _, attribute = name.partition(":")
    cls: type[xDSLOptMain] = getattr(import_module(module), attribute)
    return cls


def main() -> None:
    """Run the tests that the arguments name with both tools, and print the differences."""
    if sys.argv[1:2] == ["--run"]:
        tool_class(sys.argv[2])(args=sys.argv[3:]).run()
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=Path, help="the folder of the tests, with lit.cfg")
    parser.add_argument("--tool", type=tool_class, default=PasslineOptMain)
    parser.add_argument("--reference", type=tool_class, default=xDSLOptMain)
    parser.add_argument("-v", "--verbose", action="store_true", help="print why files fail")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    counts: dict[str, Counter[Verdict]] = {"tool": Counter(), "reference": Counter()}
    for test in all_tests(args.tests):
        if args.names and not any(name in test.name for name in args.names):
            continue
        ours, theirs = run_test(test, args.tool), run_test(test, args.reference)
        counts["tool"][ours.verdict] += 1
        counts["reference"][theirs.verdict] += 1
        if ours.verdict is not theirs.verdict:
            print(f"{test.name}: {ours.verdict.value}, xdsl-opt {theirs.verdict.value}", flush=True)
            if args.verbose:
                print(ours.reason or theirs.reason, flush=True)
    for name, count in counts.items():
        print(f"{name}: " + ", ".join(f"{n} {verdict.value}" for verdict, n in count.items()))


if __name__ == "__main__":
    main()
