"""Execution of RUN lines in this process: 6 ms for a line that takes 400 ms as two processes."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser as CheckParser
from xdsl.xdsl_opt_main import xDSLOptMain

from passline.tools.bisect.bisect_tool import PasslineBisectMain
from passline.tools.opt import PasslineOptMain
from passline.tools.reduce.reduce_tool import PasslineReduceMain

__all__ = [
    "Result",
    "RunLineError",
    "capture",
    "interruptible",
    "mlir_opt",
    "passline_bisect",
    "passline_opt",
    "passline_reduce",
    "run_line",
    "run_lines",
]


@dataclass(frozen=True)
class Result:
    """The exit status and the output of a command."""

    status: int
    stdout: str
    stderr: str


class RunLineError(AssertionError):
    """The error for a RUN line that failed: the messages of its commands, and the line."""


def capture(function: Callable[[], object], stdin: str = "") -> Result:
    """Call `function` with `stdin` as its input; return its exit status and output."""
    out, err, old = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    status: object = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            function()
    except SystemExit as end:
        status = end.code
    finally:
        sys.stdin = old
    return Result(
        status if isinstance(status, int) else int(bool(status)), out.getvalue(), err.getvalue()
    )


def interruptible() -> None:
    """Restore the default handling of SIGINT, in a new process that a test will interrupt.

    Shells start background jobs with SIGINT ignored, and child processes inherit that.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def passline_opt(*args: str, stdin: str = "") -> Result:
    """Run passline-opt with these arguments."""
    return capture(lambda: PasslineOptMain(args=args).run(), stdin)


def passline_reduce(*args: str, stdin: str = "") -> Result:
    """Run passline-reduce with these arguments."""
    return capture(lambda: PasslineReduceMain(args=args).run(), stdin)


def passline_bisect(*args: str, stdin: str = "") -> Result:
    """Run passline-bisect with these arguments."""
    return capture(lambda: PasslineBisectMain(args=args).run(), stdin)


def filecheck(args: list[str], text: str) -> Result:
    """Match `text` against the CHECK lines of the file that `args` names."""

    def match() -> None:
        options = parse_argv_options(["filecheck", *args])
        sys.exit(Matcher(options, FInput("<stdin>", text), CheckParser.from_opts(options)).run())

    return capture(match)


def run_lines(path: Path) -> list[str]:
    """Return the RUN lines of a file; lines continued by a backslash are joined."""
    lines: list[str] = []
    continued = False
    for line in path.read_text().splitlines():
        _, found, command = line.partition("RUN:")
        if found:
            command = command.strip()
            lines.append(f"{lines.pop()} {command}" if continued else command)
            continued = lines[-1].endswith("\\")
            lines[-1] = lines[-1].removesuffix("\\")
    return lines


def run_line(line: str, path: Path) -> None:
    """Run one RUN line. Raise RunLineError with the output of its commands if it fails."""
    command = substitute(line, path)
    stages = [shlex.split(stage) for stage in command.split("|")]
    if all(is_ours(stage) for stage in stages):
        result = run_stages(stages)
    else:
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        shell = ["bash", "-o", "pipefail", "-c", command]
        done = subprocess.run(shell, capture_output=True, text=True, env=environment)
        result = Result(done.returncode, done.stdout, done.stderr)
    if result.status != 0:
        raise RunLineError(f"{result.stderr.strip()}\n{result.stdout.strip()}\nRUN: {line}".strip())


def substitute(line: str, path: Path) -> str:
    """Return the command of a RUN line after lit's substitutions and those of lit.cfg.py."""
    line = line.replace("%s", shlex.quote(str(path))).replace("%S", shlex.quote(str(path.parent)))
    line = re.sub(r"%t\b", shlex.quote(f"{scratch().name}/{path.name}.tmp"), line)
    return re.sub(r"(?<=\| )mlir-opt\b", mlir_opt() or "mlir-opt", line)


@cache
def scratch() -> TemporaryDirectory[str]:
    """Return the folder of the files that RUN lines write, which ends with the process."""
    return TemporaryDirectory()


def mlir_opt() -> str | None:
    """Return the path of MLIR's own tool, or None if it is not installed."""
    return shutil.which("mlir-opt-22") or shutil.which("mlir-opt")


REDIRECTIONS = ("2>&1", "2>/dev/null", ">/dev/null")


def is_ours(stage: list[str]) -> bool:
    """Return whether a command can run without a shell: a known tool, whose stderr alone is
    redirected, or also its stdout to `/dev/null`."""
    words = [word for word in stage if word not in REDIRECTIONS]
    command = words[words[0] == "not"]
    redirected = [word for word in stage if word in REDIRECTIONS]
    plain = not any(word.startswith((">", "2>", "<")) for word in words)
    plain &= redirected in ([], ["2>&1"], ["2>/dev/null"], ["2>&1", ">/dev/null"])
    return plain and command in ("passline-opt", "xdsl-opt", "filecheck", mlir_opt())


def run_stages(stages: list[list[str]]) -> Result:
    """Run the commands of a shell pipeline, each on the output of the one before it."""
    text, errors, failed = "", "", 0
    for stage in stages:
        result = run_stage(stage, text)
        text = "" if ">/dev/null" in stage else result.stdout
        if "2>&1" in stage:
            text = result.stderr + text
        elif "2>/dev/null" not in stage:
            errors += result.stderr
        failed = failed or result.status
    return Result(failed, text, errors)


def run_stage(stage: list[str], stdin: str) -> Result:
    inverted = stage[0] == "not"
    command, *args = [word for word in stage[inverted:] if word not in REDIRECTIONS]
    if command == "filecheck":
        result = filecheck(args, stdin)
    elif command == "passline-opt":
        result = passline_opt(*args, stdin=stdin)
    elif command == "xdsl-opt":
        result = capture(lambda: xDSLOptMain(args=args).run(), stdin)
    else:
        done = subprocess.run([command, *args], input=stdin, capture_output=True, text=True)
        result = Result(done.returncode, done.stdout, done.stderr)
    if inverted:
        return Result(int(result.status == 0), result.stdout, result.stderr)
    return result
