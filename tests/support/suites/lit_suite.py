"""Suites of lit tests, read as lit reads them: configurations, RUN lines, substitutions."""

from __future__ import annotations

import os
import re
import runpy
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

from .inprocess import run_lines

__all__ = ["LitTest", "installed_tools", "lit_tests"]

TOOLS = {
    "XDSL_MLIR_OPT": "mlir-opt",
    "XDSL_MLIR_TRANSLATE": "mlir-translate",
    "XDSL_LLVM_DIFF": "llvm-diff",
    "XDSL_LLI": "lli",
}
"""The variables by which xDSL's configurations find tools of LLVM."""


@dataclass(frozen=True)
class LitTest:
    """One file of a suite."""

    name: str
    """The path of the file in the suite."""
    path: Path
    lines: tuple[str, ...]
    """The RUN lines, with the substitutions of the configurations and those of lit, but for %t."""
    lacks: str | None
    """The features without which it cannot run here, or None."""


@dataclass
class _Config:
    """The attributes of lit's configuration that configurations set."""

    test_source_root: str
    name: str = ""
    suffixes: list[str] = field(default_factory=list[str])
    unsupported: bool = False
    test_format: object = None
    maxIndividualTestTime: int = 0
    environment: dict[str, str] = field(default_factory=dict[str, str])
    available_features: set[str] = field(default_factory=set[str])
    substitutions: list[tuple[str, str | None]] = field(
        default_factory=list[tuple[str, str | None]]
    )

    def run(self, path: Path) -> None:
        """Execute a configuration file, which sets attributes of this object."""
        time_limit: tuple[bool, str] = (True, "")
        lit_config = SimpleNamespace(params={}, maxIndividualTestTimeIsSupported=time_limit)
        runpy.run_path(str(path), {"config": self, "lit_config": lit_config, "__file__": str(path)})


def installed_tools() -> dict[str, str]:
    """Return the tools of LLVM that are installed, by the variables of xDSL's configurations."""
    found = {name: shutil.which(f"{t}-22") or shutil.which(t) for name, t in TOOLS.items()}
    return {name: path for name, path in found.items() if path is not None}


def lit_tests(suite: Path) -> Iterator[LitTest]:
    """Yield the tests of the suite whose `lit.cfg` is in the folder `suite`."""
    environment = installed_tools()
    before = {name: os.environ.get(name) for name in environment}
    os.environ |= environment
    try:
        root = _Config(str(suite))
        root.run(suite / "lit.cfg")
        yield from _tests_in(suite, suite, root)
    finally:
        _restore(before)


def _restore(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


def _tests_in(folder: Path, suite: Path, config: _Config) -> Iterator[LitTest]:
    if (local := folder / "lit.local.cfg").is_file():
        config = replace(
            config,
            substitutions=[*config.substitutions],
            available_features={*config.available_features},
        )
        config.run(local)
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from _tests_in(path, suite, config)
        elif path.suffix in config.suffixes and (lines := run_lines(path)):
            yield LitTest(
                path.relative_to(suite).as_posix(),
                path,
                tuple(_substitute(line, path, config) for line in lines),
                _lacks(path, config),
            )


def _substitute(line: str, path: Path, config: _Config) -> str:
    for pattern, text in config.substitutions:
        if text is None:  # the path of a tool that is not installed: the test is unsupported
            continue
        line = re.sub(pattern, text.replace("\\", "\\\\"), line)
    for name, text in {"%s": path, "%S": path.parent, "%p": path.parent}.items():
        line = line.replace(name, str(text))
    return line


def _lacks(path: Path, config: _Config) -> str | None:
    """Return why lit would not run a test, or None."""
    if config.unsupported:
        return "unsupported by its configuration"
    required = re.findall(r"REQUIRES: *(.*)", path.read_text())
    features = {name.strip() for line in required for name in line.split(",")}
    missing = sorted(features - config.available_features)
    return f"requires {', '.join(missing)}" if missing else None
