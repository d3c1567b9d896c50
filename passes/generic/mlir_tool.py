"""The search for MLIR's own tool, mlir-opt."""

from __future__ import annotations

import os
import shutil

__all__ = ["VARIABLE", "find_mlir_opt"]

VARIABLE = "PASSLINE_MLIR_OPT"
"""The environment variable that names the executable to use."""

_NAMES = ("mlir-opt-22", "mlir-opt-21", "mlir-opt-20", "mlir-opt-19", "mlir-opt")


def find_mlir_opt() -> str | None:
    """Return the path of the mlir-opt that the environment names, or else of the newest one on the
    PATH; None if there is none."""
    named = os.environ.get(VARIABLE)
    found = (shutil.which(name) for name in ([named] if named else _NAMES))
    return next((path for path in found if path is not None), None)
