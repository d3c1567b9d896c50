"""Every module says what it offers; importing one computes nothing and needs nothing heavy."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

PACKAGES = ("compiler", "dialects", "passes", "passmanager", "tools")


def modules() -> list[str]:
    """Return the names of all modules of Passline."""
    roots = ("instrument", "instruments", "transform")
    found = ["passline", *(f"passline.{name}" for name in roots)]
    for package in PACKAGES:
        root = importlib.import_module(f"passline.{package}")
        found.append(root.__name__)
        walked = pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
        found += [info.name for info in walked]
    return found


def test_modules_have_docstrings_and_offer_what_they_say() -> None:
    loaded = {name: importlib.import_module(name) for name in modules()}
    assert len(loaded) > 70 and "passline.passmanager.instruments.time.timing" in loaded
    assert [name for name, module in loaded.items() if not module.__doc__] == []
    offered: dict[str, list[str] | None] = {
        name: getattr(module, "__all__", None) for name, module in loaded.items()
    }
    silent = [name for name, names in offered.items() if names is None]
    assert [name for name in silent if not hasattr(loaded[name], "__path__")] == [], (
        "only a package offers nothing itself"
    )
    wrong = [
        f"{name}.{public}"
        for name, names in offered.items()
        if names is not None
        for public in names
        if names.count(public) > 1 or getattr(loaded[name], public, None) is None
    ]
    assert wrong == []


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
