"""Every module says what it offers; importing one computes nothing and needs nothing heavy."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

PACKAGES = (
    "compiler",
    "dialects",
    "passes",
    "passmanager",
    "tools",
)


def modules() -> list[str]:
    """The names of all modules of Passline."""
    roots = ("instrument", "instruments", "transform")
    found = ["passline", *(f"passline.{name}" for name in roots)]
    for package in PACKAGES:
        root = importlib.import_module(f"passline.{package}")
        found.append(root.__name__)
        walked = pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
        found += [info.name for info in walked]
    return found


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_all_packages_are_walked() -> None:
    names = modules()
    assert len(names) > 70 and "passline.passmanager.instruments.time.timing" in names


@pytest.mark.parametrize("name", modules())
def test_module_has_a_docstring_and_offers_what_it_says(name: str) -> None:
    module = load(name)
    assert module.__doc__
    if "__all__" not in vars(module):
        assert hasattr(module, "__path__"), "only a package offers nothing itself"
        return
    offered: list[str] = module.__all__
    assert len(set(offered)) == len(offered)
    for public in offered:
        assert getattr(module, public) is not None


@pytest.mark.parametrize(
    "name",
    [
        "passline",
        "passline.passmanager",
        "passline.passes",
        "passline.tools.opt",
        "passline.tools.reduce",
    ],
)
def test_import_needs_neither_numpy_nor_rich(name: str) -> None:
    heavy = ("numpy", "onnx", "rich", "shtab", "cProfile", "tracemalloc")
    code = f"import sys, {name}; sys.exit(any(m in sys.modules for m in {heavy!r}))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
