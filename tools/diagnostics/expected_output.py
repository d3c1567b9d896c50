"""xDSL's meaning of --verify-diagnostics: errors are printed to the output, for FileCheck.

In mlir-opt the option compares diagnostics with `expected-error` comments; in xdsl-opt it prints
those of invalid IR and of passes, and goes on with the next chunk. A file that has comments for
FileCheck and none of the former is written for xdsl-opt.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from ...passmanager.errors import InvalidIRError

__all__ = ["expects_output", "xdsl_report"]

_EXPECTED_DIAGNOSTIC = re.compile(rb"//.*expected-(?:error|warning|remark|note)")
_CHECK = re.compile(rb"^.*//.*\bCHECK(?:-[A-Z]+)*:", re.MULTILINE)


def expects_output(content: bytes) -> bool:
    """Return whether the comments of a file are about the output, and none about diagnostics."""
    return _EXPECTED_DIAGNOSTIC.search(content) is None and _CHECK.search(content) is not None


def xdsl_report(error: DiagnosticException, module: ModuleOp | None) -> str:
    """Return what xdsl-opt prints for an error: the message, and the IR with the error in it.

    An error of our verifier is that of xDSL's for the same module, if it has one.
    """
    if isinstance(error, InvalidIRError) and module is not None:
        try:
            module.verify()
        except DiagnosticException as found:
            error = found
    given: list[str] = getattr(error, "__notes__", [])
    notes = [*getattr(error, "ir_notes", ()), *(n for n in given if not n.startswith("in pass "))]
    return "".join(f"{text}\n" for text in (str(error), *notes))
