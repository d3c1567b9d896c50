"""The command `python -m passline.new`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]

DONE = """\
{root}: a dialect, two passes, an instrument and their tests

  cd {root}
  pip install -e '.[test]'
  pytest

The tutorial of Passline goes on from here: docs/tutorial.md"""


def main(args: Sequence[str] | None = None) -> int:
    """Write a project as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m passline.new",
        description="Write a project of your own on Passline: a dialect, passes, an instrument, "
        "and their tests.",
    )
    parser.add_argument(
        "name", help="the name of the project, such as my-compiler, or a path that ends in it"
    )
    parent = parser.add_argument("--in", dest="parent", type=Path, default=Path(), metavar="DIR")
    parent.help = "the directory to write it into (here)"
    options = parser.parse_args(args)
    from .project import ProjectError, ProjectName, write_project

    path = Path(options.name)
    name, parent = path.name or options.name, options.parent / path.parent
    try:
        ProjectName.parse(name)
        if path.parent != Path():  # a directory that only the path names is made, as by mkdir -p
            parent.mkdir(parents=True, exist_ok=True)
        root = write_project(name, parent)
    except ProjectError as error:
        print(f"passline.new: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"passline.new: error: '{error.filename}': {error.strerror}", file=sys.stderr)
        return 1
    print(DONE.format(root=root))
    return 0


def run() -> int:
    """Run the command as a process of its own; return the exit status."""
    try:
        from ..passmanager.output.streams import complete_streams

        with complete_streams():
            return main()
    except KeyboardInterrupt:  # what takes time are the imports
        print("passline.new: error: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:
        print(f"passline.new: error: '{error.filename}': {error.strerror}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(run())
