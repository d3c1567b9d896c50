"""Run pip install, held to the versions of a lock, and say which line of it could not be installed.

python .ci/install.py [--lock constraints.txt] ARGUMENTS OF pip install
"""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

PIP = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
_NAMED = re.compile(
    r"""(?:satisfies\ the\ requirement|distribution\ found\ for|depends\ on|\(constraint\)
    |Failed\ to\ build|wheels?\ for)\ '?([A-Za-z0-9][\w.-]*)""",
    re.VERBOSE,
)
"""How pip names the packages that it could not install."""

OFFLINE = "pip could not reach the package index: run the command again when there is a network"
OTHER_PYTHON = (
    "This is Python {}, and the lock is for Python 3.11 to 3.14: "
    "run `make clean`, then the command again with PYTHON=python3.13"
)
UNRELATED = "pip failed, but not on a line of the lock: its message is above"
OUTDATED = (
    "`make lock` writes a new lock; the command with LOCKED=0 goes without, and installs the "
    "newest versions in an environment of its own"
)


def install(arguments: list[str], lock: Path | None) -> int:
    """Run pip, print its warnings and its errors, and return its status."""
    with Popen(
        [*PIP, *arguments], env=environment(lock), stdout=PIPE, stderr=STDOUT, text=True
    ) as pip:
        output = "".join(_printed(pip.stdout or ()))
    if pip.returncode and lock:
        print(explanation(output, lock, sys.version_info[:2]), file=sys.stderr)
    return pip.returncode


def _printed(lines: Iterable[str]) -> Iterator[str]:
    failed = False
    for line in lines:
        failed = failed or line.lstrip().lower().startswith("error:")
        if failed or line.startswith("WARNING:"):
            print(line, end="", file=sys.stderr, flush=True)
        yield line


def environment(lock: Path | None) -> dict[str, str]:
    """Return the variables that hold pip to the lock, also for packages that build a project."""
    held = {"PIP_CONSTRAINT": str(lock), "PIP_BUILD_CONSTRAINT": str(lock)} if lock else {}
    return {**os.environ, **held, "PYTHONUNBUFFERED": "1"}


def explanation(output: str, lock: Path, python: tuple[int, int]) -> str:
    """Return the lines of the lock that a failed run of pip is about, and what to do."""
    lines = _lines_named(output, lock)
    return "\n".join([*lines, _remedy(output, python) if lines else UNRELATED])


def _lines_named(output: str, lock: Path) -> list[str]:
    named = {_normalized(name) for name in _NAMED.findall(output)}
    return [
        f"{lock}:{number}: could not be installed: {line.partition('#')[0].strip()}"
        for number, line in enumerate(lock.read_text().splitlines(), 1)
        if _normalized(line.partition("==")[0]) in named
    ]


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower().rstrip("-")


def _remedy(output: str, python: tuple[int, int]) -> str:
    if "connection" in output.lower():
        return OFFLINE
    if not (3, 11) <= python <= (3, 14):
        return OTHER_PYTHON.format(".".join(map(str, python)))
    return OUTDATED


if __name__ == "__main__":
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--lock", type=Path)
    options, rest = parser.parse_known_args()
    sys.exit(install(rest, options.lock))
