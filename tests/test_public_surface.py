"""Every module says what it offers; importing one computes nothing and needs nothing heavy."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest
from support.modules import modules_below

PACKAGES = ("compiler", "dialects", "passes", "passmanager", "tools")


def modules() -> list[str]:
    """Return the names of all modules of Passline."""
    roots = (
        "passline",
        *(f"passline.{name}" for name in ("dpl", "instrument", "instruments", "transform")),
    )
    return [
        *roots,
        *(name for package in PACKAGES for name in modules_below(f"passline.{package}")),
    ]


def test_modules_have_docstrings_and_offer_what_they_say() -> None:
    loaded = {name: importlib.import_module(name) for name in modules()}
    assert len(loaded) > 70 and "passline.passmanager.instruments.timing" in loaded
    assert [name for name, module in loaded.items() if not module.__doc__] == []
    offered: dict[str, list[str]] = {
        name: getattr(module, "__all__", []) for name, module in loaded.items()
    }
    wrong = [
        f"{name}.{public}"
        for name, names in offered.items()
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
