"""The wheel: every nested package, the markers of types, and one name in site-packages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import passline

ROOT = Path(__file__).parent.parent
PACKAGES = (
    "compiler",
    "dialects",
    "passes",
    "passmanager",
    "testing",
    "tools",
)


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", out, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = out.glob("passline-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_metadata_names_the_project_and_the_versions_of_python_that_are_tested() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    home = "https://github.com/passline/passline"
    assert project["urls"].keys() >= {"Homepage", "Documentation", "Issues", "Changelog"}
    assert all(url.startswith(home) for url in project["urls"].values())
    for url in project["urls"].values():
        _, _, path = url.partition("/blob/main/")
        assert (ROOT / path).exists()
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    (tested,) = re.findall(r"^ +python: \[(.*)\]$", workflow, re.MULTILINE)
    classifiers: list[str] = project["classifiers"]
    prefix = "Programming Language :: Python :: 3."
    named = [c.removeprefix(prefix) for c in classifiers if c.startswith(prefix)]
    assert named == re.findall(r'"3\.(\d+)"', tested)
    assert {"compiler", "MLIR", "xDSL", "TVM", "ONNX"} <= {*project["keywords"]}


def seen_by_an_editor(folder: Path) -> list[str]:
    """Return what pyright says of a program in a folder, with the Python of this environment."""
    program = folder / "user.py"
    program.write_text("import passline\n\nreveal_type(passline.load)\nimport passline.nothing\n")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, program], cwd=folder, capture_output=True, check=False)
    return [entry["message"] for entry in json.loads(done.stdout)["generalDiagnostics"]]


def test_an_editor_knows_the_package_in_the_clone_and_elsewhere(tmp_path: Path) -> None:
    (ROOT / "build").mkdir(exist_ok=True)
    with TemporaryDirectory(dir=ROOT / "build") as folder:
        for place in (Path(folder), tmp_path):
            said = seen_by_an_editor(place)
            assert 'Import "passline.nothing" could not be resolved' in said
            assert re.search(r'Type of "passline.load" is "\(.*-> ModuleOp"', "\n".join(said))
            assert 'Import "passline" could not be resolved' not in said


def test_the_version_is_that_of_the_distribution() -> None:
    assert passline.__version__ == metadata.version("passline")


def test_the_version_is_that_of_the_citation_and_of_the_newest_changes() -> None:
    assert f"\nversion: {passline.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert passline.__version__ in headings[:2]


def test_wheel_has_every_module(wheel_files: set[str]) -> None:
    modules = {
        f"passline/{path.relative_to(ROOT).as_posix()}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    } | {f"passline/{path.name}" for path in ROOT.glob("*.py")}
    assert modules - wheel_files == {"passline/setup.py"} and len(modules) > 50


def test_wheel_has_the_markers_of_types(wheel_files: set[str]) -> None:
    assert "passline/py.typed" in wheel_files


def test_wheel_has_all_data_files(wheel_files: set[str]) -> None:
    """The page of the report and its libraries, the sample and the table of releases, ..."""
    tracked = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    data = {f"passline/{name}" for name in tracked.stdout.split() if not name.endswith(".py")}
    assert data <= wheel_files and len(data) > 25


def test_wheel_puts_one_name_into_site_packages(wheel_files: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_files}
    assert tops == {"passline", f"passline-{passline.__version__}.dist-info"}


def test_wheel_has_the_licence(wheel_files: set[str]) -> None:
    assert f"passline-{passline.__version__}.dist-info/licenses/LICENSE" in wheel_files
