"""The lock, `constraints.txt`, and what `make` says if it cannot be installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from runpy import run_path
from sysconfig import get_path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.tables import table_test

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "constraints.txt"
INSTALL = ROOT / ".ci" / "install.py"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def locked(python: str) -> dict[str, str]:
    """Return the version of each package for a release of Python on Linux."""
    environment = {"python_version": python, "python_full_version": f"{python}.8"}
    lines = [line.partition("#")[0].strip() for line in LOCK.read_text().splitlines()]
    pins = [
        pin
        for pin in map(Requirement, filter(None, lines))
        if pin.marker is None or pin.marker.evaluate(environment)
    ]
    versions = {
        str(canonicalize_name(pin.name)): str(pin.specifier).removeprefix("==") for pin in pins
    }
    assert len(versions) == len(pins), "a package has two versions"
    return versions


def requirements() -> list[Requirement]:
    """Return what our projects need, to be built too."""
    projects = [
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())
        for folder in (".", "examples/plugin", "tools/new/template")
    ]
    texts = [
        *(text for project in projects for text in project["build-system"]["requires"]),
        *(text for project in projects for text in project["project"]["dependencies"]),
        *(
            text
            for project in projects
            for extra in project["project"].get("optional-dependencies", {}).values()
            for text in extra
        ),
    ]
    return [need for need in map(Requirement, texts) if need.name != "passline"]


@table_test("python", PYTHONS)
def test_lock_is_within_the_ranges(python: str):
    versions = locked(python)
    wrong = [
        f"{need}: {versions.get(canonicalize_name(need.name))}"
        for need in requirements()
        if (version := versions.get(canonicalize_name(need.name))) is None
        or version not in need.specifier
    ]
    assert not wrong, f"run `make lock`: {wrong}"


def test_lock_names_no_registry():
    assert "://" not in LOCK.read_text()


@pytest.mark.skipif(Path(sys.prefix) != ROOT / ".venv", reason="not the environment of the lock")
def test_environment_is_that_of_the_lock():
    """The other versions are those of `make test XDSL=...` and of `LOCKED=0`, below `.venv/`."""
    versions = locked("{}.{}".format(*sys.version_info))
    found = metadata.distributions(path=[get_path("purelib")])
    installed = {canonicalize_name(d.name): d.version for d in found}
    differ = {
        name: version
        for name, version in installed.items()
        if versions.get(name, version) != version
    }
    assert not differ, "run `make .venv/installed-test`"


def install(*arguments: str, lock: Path) -> str:
    command = [sys.executable, INSTALL, "--lock", lock, "--dry-run", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    return run.stderr


@pytest.mark.parametrize("version", ["0.1", "99"])
def test_line_that_cannot_be_installed(tmp_path: Path, version: str):
    """`--no-index` finds no version at all, as where one was withdrawn."""
    lock = tmp_path / "constraints.txt"
    lock.write_text(f"# A comment.\nhypothesis==1.0\nxDSL=={version}  # via passline\n")
    message = install("--no-index", "xdsl>=0.59", lock=lock).splitlines()
    assert message[-2] == f"{lock}:3: could not be installed: xDSL=={version}"
    assert message[-1].startswith("`make lock` writes a new lock; the command with LOCKED=0")


def test_no_network(tmp_path: Path):
    """Nothing listens on port 9, as without a network; the first package builds the project."""
    lock = tmp_path / "constraints.txt"
    lock.write_text("setuptools==9999\n")
    nowhere = ["--index-url", "http://127.0.0.1:9/simple", "--retries", "0", "--no-cache-dir"]
    message = install(*nowhere, "--no-deps", str(ROOT), lock=lock).splitlines()
    assert message[-2] == f"{lock}:1: could not be installed: setuptools==9999"
    assert message[-1].startswith("pip could not reach the package index")


def test_other_python():
    explanation = run_path(str(INSTALL))["explanation"]
    output = "ERROR: No matching distribution found for numpy>=2\nERROR: Failed to build 'numpy'"
    message = explanation(output, LOCK, (3, 15)).splitlines()
    assert all(
        line.partition(": could not be installed: ")[2].startswith("numpy==")
        for line in message[:-1]
    )
    assert message[-1].startswith("This is Python 3.15, and the lock is for Python 3.11 to 3.14")


def test_failure_that_has_nothing_to_do_with_the_lock():
    explanation = run_path(str(INSTALL))["explanation"]
    message = explanation("ERROR: Could not install packages: No space left", LOCK, (3, 12))
    assert message == "pip failed, but not on a line of the lock: its message is above"


def test_python_that_is_too_old(tmp_path: Path):
    """`make` looks at Python before it makes an environment."""
    python = tmp_path / "python3.10"
    python.write_text(
        f"#!/bin/sh\nexec '{sys.executable}' -c \"import sys; sys.version_info = (3, 10)\n$2\"\n"
    )
    python.chmod(0o755)
    command = ["make", "demo", f"PYTHON={python}", f"VENV={tmp_path}/venv"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert f"Passline needs Python 3.11 or newer, and {python} is 3.10" in run.stderr
    assert not (tmp_path / "venv").exists()
