"""What `make lint` checks beside ruff."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(
    not (shutil.which("make") and shutil.which("git")), reason="there is no make or no git"
)


def conflicts(directory: Path) -> subprocess.CompletedProcess[str]:
    """Run the check for markers of merge conflicts in a directory."""
    command = ["make", "--no-print-directory", "-f", str(ROOT / "Makefile"), "conflicts"]
    # In a hook git names the repository in the environment.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env["GIT_CEILING_DIRECTORIES"] = str(directory.parent)
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True)


def repository(directory: Path, *lines: str) -> Path:
    """Make a repository with one tracked file that has these lines."""
    (directory / "page.md").write_text("\n".join(lines) + "\n")
    for command in (["init", "-q"], ["add", "page.md"]):
        subprocess.run(["git", *command], cwd=directory, check=True)
    return directory


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "||||||| 0123abc", ">>>>>>> branch", ">>>>>>>"])
def test_a_marker_of_a_conflict_is_found(tmp_path: Path, marker: str):
    done = conflicts(repository(tmp_path, "first", marker, "last"))
    assert done.returncode != 0 and f"page.md:2:{marker}" in done.stdout


def test_underlines_prompts_and_quoted_markers_are_none(tmp_path: Path):
    lines = ("Heading", "=======", ">>> f()", " <<<<<<< HEAD", "<<<<<<<<", "| | | |", "||||")
    done = conflicts(repository(tmp_path, *lines))
    assert done.returncode == 0 and done.stdout == ""


def test_a_check_that_cannot_run_fails(tmp_path: Path):
    assert conflicts(tmp_path).returncode != 0


def test_this_tree_has_none():
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    done = conflicts(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
