"""Suites of lit tests, read by lit: configurations, RUN lines, substitutions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from passline.testing.lit_suites import LitSuites
from passline.testing.run_lines import NoRunLinesError, run_lines

from .inprocess import scratch

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
    """The RUN lines after all substitutions."""
    lacks: str | None
    """Why lit would not run it here, or None."""


def installed_tools() -> dict[str, str]:
    """Return the tools of LLVM that are installed, by the variables of xDSL's configurations."""
    found = {name: shutil.which(f"{t}-22") or shutil.which(t) for name, t in TOOLS.items()}
    return {name: path for name, path in found.items() if path is not None}


def lit_tests(suite: Path) -> Iterator[LitTest]:
    """Yield the tests of the suite whose `lit.cfg` is in the folder `suite`."""
    with patch.dict(os.environ, installed_tools()):
        suites = LitSuites(suite, [], {}, Path(scratch().name))
        for path in sorted(path for path in suite.rglob("*") if path.is_file()):
            for test in suites.tests(path, lambda _: False):
                name = path.relative_to(suite).as_posix()
                test.suite.exec_root = scratch().name
                Path(test.getExecPath()).with_name("Output").mkdir(parents=True, exist_ok=True)
                try:
                    lines, lacks = tuple(line for _, line in run_lines(test)), None
                except NoRunLinesError as error:
                    lines, lacks = (), str(error)
                yield LitTest(name, path, lines, lacks)
