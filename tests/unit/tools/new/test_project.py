"""New projects: their names, their files, and that they install and pass their own tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.suites.inprocess import Result, capture
from support.tables import table_test

from passline.tools.failures import run_process
from passline.tools.new.project import ProjectError, ProjectName, run, template_files, write_project

ROOT = Path(__file__).parents[4]


def new(*args: str) -> Result:
    return capture(lambda: run_process(lambda: run(args)))


@table_test("text", ["toy", "Toy", "my-compiler", "my_compiler", "x86-64-tools"])
def test_names_are_derived(text: str) -> None:
    name = ProjectName.parse(text)
    assert name.package.isidentifier() and name.class_name.isidentifier()
    assert name.project == text.lower().replace("_", "-")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a name for a project"),
        ("3d", "'3d' is not a name"),
        ("a b", "'a b' is not a name"),
        ("../x", "'../x' is not a name"),
        ("größe", "'größe' is not a name"),
        ("a-", "'a-' is not a name"),
        ("Class", "'class' is a keyword of Python"),
        ("match", "'match' is a keyword of Python"),
        ("json", "there is a module 'json' already"),
        ("passline", "there is a module 'passline' already"),
        ("arith", "there is a dialect 'arith' already"),
        ("relax", "there is a dialect 'relax' already"),
    ],
)
def test_other_names_are_errors(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=message):
        write_project(text, tmp_path)
    assert not [*tmp_path.iterdir()]


def test_an_existing_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    result = new("toy", "--in", str(tmp_path))
    assert result.status == 2 and not [*(tmp_path / "toy").iterdir()]
    assert result.stderr.endswith(f": error: '{tmp_path / 'toy'}' exists already\n")


def test_a_missing_parent_is_an_error_of_one_line(tmp_path: Path) -> None:
    result = new("toy", "--in", str(tmp_path / "none"))
    assert result.status == 1 and result.stderr.count("\n") == 1
    assert "No such file or directory" in result.stderr


def test_a_path_ends_in_the_name(tmp_path: Path) -> None:
    result = new("path/to/toy", "--in", str(tmp_path))
    assert result.status == 0
    assert (tmp_path / "path" / "to" / "toy" / "toy" / "dialect.py").exists()
    result = new("other/to/9", "--in", str(tmp_path))
    assert result.status == 2 and "'9' is not a name for a project" in result.stderr
    assert not (tmp_path / "other").exists()


def test_the_name_is_replaced_everywhere(tmp_path: Path) -> None:
    result = new("Image_Tools", "--in", str(tmp_path))
    root = tmp_path / "image-tools"
    assert result.status == 0 and str(root) in result.stdout
    written = [path for path in root.rglob("*") if path.is_file()]
    assert len(written) == len([*template_files()]) > 12
    assert (root / "image_tools" / "dialect.py").exists()
    for path in written:
        text = f"{path.relative_to(root)}\n{path.read_text()}".casefold()
        assert "my-compiler" not in text and "my_compiler" not in text and "mycompiler" not in text
    assert "class ImageToolsOptMain" in (root / "image_tools" / "opt.py").read_text()


def test_a_new_project_passes_its_tests(tmp_path: Path) -> None:
    root = write_project("toy", tmp_path)
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    # What `pip install -e .` leaves, without a network: the entry points beside the package.
    setup = [sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "egg_info"]
    subprocess.run(setup, cwd=root, check=True, capture_output=True)
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]
    tests += ["-p", "no:lsp", "-p", "no:asyncio"]  # which a project need not have, and which warn
    done = subprocess.run(tests, cwd=root, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
