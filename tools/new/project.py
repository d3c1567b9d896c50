"""The command `passline new`: a new project with a dialect, passes, an instrument and tests."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...passmanager.errors import PasslineError
from ...passmanager.registry import installed
from ..failures import run_process

# New projects: copies of the directory `template`, in which the name is replaced.


TEMPLATE = Path(__file__).parent / "template"
"""A complete project with the name `my-compiler`."""
GENERATED = ("__pycache__", ".pytest_cache", "Output", ".egg-info", ".lit_test_times.txt")
"""The suffixes of files and directories that tools leave behind and that are not copied."""


class ProjectError(PasslineError):
    """The error for a project that cannot be written."""


@dataclass(frozen=True)
class ProjectName:
    """The name of a project, `my-compiler`, and the names that are derived from it."""

    project: str

    @classmethod
    def parse(cls, text: str) -> ProjectName:
        """Return the name for `text`, in which `-` and `_` are the same and case does not matter.

        Errors: ProjectError if the package could not be imported, or if it would hide another
        module or a dialect.
        """
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*", text):
            raise ProjectError(
                f"'{text}' is not a name for a project: a name consists of words of letters and "
                "digits with '-' between them and begins with a letter, as in 'my-compiler'"
            )
        name = cls(text.lower().replace("_", "-"))
        if keyword.iskeyword(name.package) or keyword.issoftkeyword(name.package):
            raise ProjectError(f"'{name.package}' is a keyword of Python: choose another name")
        if name.package in sys.stdlib_module_names or name.package in ("passline", "tests", "xdsl"):
            raise ProjectError(f"there is a module '{name.package}' already: choose another name")
        if name.package in installed().dialects:
            raise ProjectError(f"there is a dialect '{name.package}' already: choose another name")
        return name

    @property
    def package(self) -> str:
        """The name of the package, and of the dialect: `my_compiler`."""
        return self.project.replace("-", "_")

    @property
    def class_name(self) -> str:
        """The start of the names of classes: `MyCompiler`."""
        return "".join(word.capitalize() for word in self.project.split("-"))

    def substitute(self, text: str) -> str:
        """Return `text`, from the template, with this name in place of the template's."""
        # A project's name has no `_`, and a package's no capitals: no new name contains an old one
        # that is replaced after it.
        for old, new in zip(_names(ProjectName("my-compiler")), _names(self)):
            text = text.replace(old, new)
        return text


def _names(name: ProjectName) -> tuple[str, str, str]:
    return name.project, name.package, name.class_name


def write_project(text: str, parent: Path) -> Path:
    """Write a project called `text` into a new directory in `parent`; return the directory.

    Errors: ProjectError for a name that is not valid, or if the directory exists; OSError if a
    file cannot be written.
    """
    name = ProjectName.parse(text)
    root = parent / name.project
    try:
        root.mkdir()
    except FileExistsError:
        raise ProjectError(f"'{root}' exists already") from None
    for source in template_files():
        target = root / name.substitute(source.relative_to(TEMPLATE).as_posix())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(name.substitute(source.read_text()))
    return root


def template_files() -> Iterator[Path]:
    """Yield the files of the template."""
    for path in sorted(TEMPLATE.rglob("*")):
        parts = path.relative_to(TEMPLATE).parts
        if path.is_file() and not any(part.endswith(GENERATED) for part in parts):
            yield path


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
