"""The command `passline new`: a new project with a dialect, passes, an instrument and tests."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..diagnostics.failures import run_process
from .project import ProjectError, ProjectName, write_project

__all__ = ["main", "run"]

DONE = """\
{root}: a dialect, two passes, an instrument and their tests

  cd {root}
  pip install -e '.[test]'
  pytest

The tutorial of Passline goes on from here: docs/tutorial.md"""


def main() -> None:
    """Run the command in its process."""
    run_process(run)


def run(args: Sequence[str] | None = None) -> None:
    """Write a project as the command line says."""
    parser = argparse.ArgumentParser(
        description="Write a project of your own on Passline: a dialect, passes, an instrument, "
        "and their tests.",
    )
    parser.add_argument(
        "name", help="the name of the project, such as my-compiler, or a path that ends in it"
    )
    parent = parser.add_argument("--in", dest="parent", type=Path, default=Path(), metavar="DIR")
    parent.help = "the directory to write it into (here)"
    options = parser.parse_args(args)
    path = Path(options.name)
    name, parent = path.name or options.name, options.parent / path.parent
    try:
        ProjectName.parse(name)
        if path.parent != Path():  # a directory that only the path names is made, as by mkdir -p
            parent.mkdir(parents=True, exist_ok=True)
        root = write_project(name, parent)
    except ProjectError as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    print(DONE.format(root=root))
