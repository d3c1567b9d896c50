"""The RUN lines of a test, as lit reads and substitutes them."""

from __future__ import annotations

import re

from lit.Test import UNSUPPORTED, Result, Test
from lit.TestRunner import (
    applySubstitutions,
    getDefaultSubstitutions,
    getTempPaths,
    parseIntegratedTestScript,
)

__all__ = ["NoRunLinesError", "run_lines"]

_DEBUG = re.compile(r"%dbg\((?P<place>[^)]*)\)(?P<command>.*)", re.DOTALL)


class NoRunLinesError(Exception):
    """The error for a file that lit would not run: its configuration lacks a feature, it has no RUN
    line, or one that cannot be read."""


def run_lines(test: Test) -> list[tuple[int, str]]:
    """Return the commands of a test after all substitutions, each with its line in the file.

    As with lit, `test` knows afterwards whether it is expected to fail. Errors: NoRunLinesError.
    """
    form = test.config.test_format
    if test.config.unsupported:
        raise NoRunLinesError("unsupported here: by its configuration")
    parsed = parseIntegratedTestScript(test)
    if isinstance(parsed, Result):
        reason = "unsupported here" if parsed.code is UNSUPPORTED else "no test"
        raise NoRunLinesError(f"{reason}: {parsed.output}".strip())
    substitutions = list(getattr(form, "extra_substitutions", []))
    substitutions += getDefaultSubstitutions(test, *getTempPaths(test))
    script = applySubstitutions(
        [*getattr(form, "preamble_commands", []), *parsed],
        substitutions,
        dict.fromkeys(test.config.available_features, True),
        recursion_limit=test.config.recursiveExpansionLimit,
    )
    return [pair for command in script if (pair := _placed(command))[1]]


def _placed(command: str) -> tuple[int, str]:
    """Return the line and the text of a command, before which lit writes `%dbg(RUN: at line 1)`."""
    match = _DEBUG.fullmatch(command)
    if match is None:
        return 0, command.strip()
    line = re.search(r"\d+", match["place"])
    return int(line[0]) if line else 0, match["command"].strip()
