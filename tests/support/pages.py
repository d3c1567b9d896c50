"""Pages of documentation as programs: their code blocks are run in order, in one directory.

* A block with a title is a file: `mlir title="x.mlir"`.
* `python`: runs in one namespace for the page; a `text` block after it is what it prints.
* `console`: `$ command`, then what it prints; without output shown, anything. `...` stands for any
  text. A command whose output shows `error:` fails, every other one succeeds.
* `sh`: a script to be pasted, each command of which succeeds; a `text` block after it is what it
  prints to stdout.
* `mlir` without a title: parses and verifies.
* `<!-- not run: REASON -->` before a block: it is not run.
* `<!-- needs llvmlite, cc -->` before a block: it is run where these programs are installed;
  `<!-- needs xdsl 0.66 -->`: with that release or a newer one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from support.releases import has_xdsl
from support.suites.inprocess import Result, capture, mlir_opt

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context

__all__ = ["Block", "Runner", "blocks", "matches"]

_FENCE = re.compile(
    r"""(?:^[ ]*<!--\ (?:not\ run:\ (?P<reason>.*?)|needs\ (?P<needs>[^>]*?))\ -->\n+)?
    ^(?P<indent>[ ]*)```(?P<language>\w*)(?P<settings>[^\n]*)\n
    (?P<text>.*?)
    ^(?P=indent)```[ ]*$""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)

TOOLS = {
    "bisect": "bisect.bisect_tool",
    "compile": "compile",
    "opt": "opt",
    "reduce": "reduce.reduce_tool",
    "run": "run",
}
"""The modules of our commands."""

_OURS = re.compile(
    rf"passline-(?P<name>{'|'.join(TOOLS)})\b"
    r"(?P<args>[^|&;<>$*`]*?)(?P<quiet>\s> /dev/null)?(?:\s+#.*)?"
)
"""One of our commands as a shell would run it without expansions, pipes and redirections."""

PYTHON = """\
import contextlib, io, json, sys
names = {"__name__": "__main__"}
for line in sys.stdin:
    code, file = json.loads(line)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, file, "exec"), names)
    print(json.dumps(out.getvalue()), flush=True)
"""
"""A process that runs blocks in one namespace."""


@dataclass(frozen=True)
class Block:
    """A code block: its text without indentation, and the line of the page on which it begins."""

    language: str
    text: str
    line: int
    title: str = ""
    not_run: str = ""
    """Why it is not run."""


def blocks(page: str) -> Iterator[Block]:
    """Yield the code blocks of a page."""
    for match in _FENCE.finditer(page):
        title = re.search(r'title="([^"]*)"', match["settings"])
        yield Block(
            match["language"],
            textwrap.dedent(match["text"]),
            page.count("\n", 0, match.start("text")) + 1,
            title[1] if title else "",
            match["reason"] or missing(match["needs"] or ""),
        )


def missing(programs: str) -> str:
    """Return why a block that needs these programs is not run; empty if they are there."""
    names = [name for name in programs.split(", ") if name]
    if names and (release := names[0].removeprefix("xdsl ")) != names[0]:
        return "" if has_xdsl(release) else f"not installed: {programs}"
    found = {"mlir-opt": mlir_opt(), **{name: find_spec(name) for name in ("llvmlite", "torch")}}
    if all(found[name] if name in found else shutil.which(name) for name in names):
        return ""
    return f"not installed: {programs}"


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        length = next(i for i, line in enumerate(lines, 1) if not line.endswith("\\"))
        yield "\n".join(lines[:length]), "\n".join(lines[length:]).strip("\n")


def matches(shown: str, printed: str) -> bool:
    """Return whether `printed` is the text `shown`, in which `...` stands for any text."""

    def stripped(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = ".*?".join(map(re.escape, stripped(shown).split("...")))
    return re.fullmatch(pattern, stripped(printed), re.DOTALL) is not None


@dataclass
class Runner:
    """The state of a page that is run: the directory, the environment, the Python process."""

    page: Path
    directory: Path
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    _python: subprocess.Popen[str] | None = None
    _printed: str | None = None
    """The output of the Python block or script before this one."""

    def __post_init__(self) -> None:
        self._root = self.directory
        self._bin = self._root / ".bin"
        self._bin.mkdir()
        path = [str(self._bin), str(Path(sys.executable).parent), self.environment["PATH"]]
        self.environment["PATH"] = os.pathsep.join(path)
        # pytest-asyncio, which a reader of the page need not have, warns where nobody uses it.
        self.environment["PYTEST_ADDOPTS"] = "-p no:lsp -p no:asyncio"

    def run(self) -> None:
        """Run the blocks of the page; AssertionError with the line of one that does other than it
        shows.
        """
        try:
            for block in blocks(self.page.read_text()):
                if not block.not_run:
                    self._block(block)
        finally:
            if self._python is not None:
                self._python.kill()
                self._python.communicate()

    def _block(self, block: Block) -> None:
        printed, self._printed = self._printed, None
        if block.title:
            file = self._root / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        elif block.language == "python":
            self._printed = self._run_python(block)
        elif block.language == "sh":
            self._printed = self._run_script(block)
        elif block.language == "console":
            for command, shown in commands(block.text):
                self._run_command(command, shown, block.line)
        elif block.language == "mlir":
            parse_module(make_ir_context(), block.text, f"{self.page}:{block.line}").verify()
        elif block.language == "text" and printed is not None:
            assert matches(block.text, printed), f"{self.page}:{block.line}: printed:\n{printed}"

    def _run_python(self, block: Block) -> str:
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-c", PYTHON],
                cwd=self.directory,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        process = self._python
        assert process.stdin is not None and process.stdout is not None
        code = "\n" * (block.line - 1) + block.text  # so that tracebacks have the page's lines
        process.stdin.write(json.dumps([code, str(self.page)]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, process.communicate()[1]
        return json.loads(answer)

    def _run_script(self, block: Block) -> str:
        where = f"{self.page}:{block.line}"
        if (lines := self._ours(block.text.splitlines())) is not None:
            results = [self._in_process(line) for line in lines]
            assert all(result.status == 0 for result in results), f"{where}: {results}"
            return "".join(result.stdout for result in results)
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", block.text],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{where}: {done.stdout}{done.stderr}"
        return done.stdout

    def _run_command(self, command: str, shown: str, line: int) -> None:
        words = shlex.split(command, comments=True)
        if words[0] == "cd":
            self.directory /= words[1]
            return
        if words[:3] == ["pip", "install", "-e"]:
            self._install()
            return
        if (ours := self._ours([command])) is not None:
            result = self._in_process(ours[0])
            status, output = result.status, result.stderr + result.stdout
        else:
            status, output = self._in_shell(command)
        where = f"{self.page}:{line}: {command}\nstatus {status}:\n{output}"
        assert (status != 0) == ("error:" in shown), where
        assert not shown or matches(shown, output), where

    def _ours(self, lines: Sequence[str]) -> list[re.Match[str]] | None:
        """Return the parts of commands that are all ours and need no shell; None if one is another,
        and where a project was installed."""
        found = [m for line in lines if (m := _OURS.fullmatch(line.replace("\\\n", " ")))]
        path = self.environment.get("PYTHONPATH")
        is_plain = len(found) == len(lines) and path == os.environ.get("PYTHONPATH")
        return found if is_plain else None

    def _in_process(self, command: re.Match[str]) -> Result:
        """Run a command of ours in this process, as starting one takes most of the time."""
        tool = import_module(f"passline.tools.{TOOLS[command['name']]}")
        arguments = [f"passline-{command['name']}", *shlex.split(command["args"])]
        with chdir(self.directory), patch.object(sys, "argv", arguments):
            result = capture(tool.main)
        return replace(result, stdout="") if command["quiet"] else result

    def _in_shell(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, done.stdout

    def _install(self) -> None:
        """Install the project of this directory for the page alone, as `pip install -e` does it:
        its entry points beside its package, its commands on the path. No network is needed.
        """
        setup = [sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "egg_info"]
        subprocess.run(setup, cwd=self.directory, check=True, capture_output=True)
        path = [str(self.directory), self.environment.get("PYTHONPATH", "")]
        self.environment["PYTHONPATH"] = os.pathsep.join(path)
        project = tomllib.loads((self.directory / "pyproject.toml").read_text())["project"]
        scripts: Mapping[str, str] = project["scripts"]
        for name, place in scripts.items():
            script = self._bin / name
            module = place.partition(":")[0]
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
            script.chmod(0o755)
