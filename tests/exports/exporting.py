# pyright: basic
"""The command line that the scripts which export models have in common."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

__all__ = ["STORED", "export_all"]

STORED = "expected result"
"""The name under which the result of a model that onnxruntime refuses stands beside the inputs."""

Export = Callable[[Path], Mapping[str, np.ndarray]]
"""Writes a model to a path and returns its inputs by name, and perhaps its result."""


def export_all(exports: Mapping[str, Export]) -> None:
    """Write the models that the command names, by default all, to the folder that it names first:
    `NAME.onnx`, and `NAME.npz` with the inputs.

    Those that are there already are left alone. A failed export is reported on stderr, and the
    others go on.
    """
    folder, *names = sys.argv[1:]
    warnings.simplefilter("ignore")
    for name in names or exports:
        path = Path(folder) / f"{name}.onnx"
        if path.exists():
            continue
        try:
            with TemporaryDirectory(dir=folder) as scratch:
                made = Path(scratch) / path.name
                arrays: dict[str, Any] = dict(exports[name](made))
                np.savez(path.with_suffix(".npz"), **arrays)
                made.rename(path)
        except Exception as error:
            reason = str(error).strip().partition("\n")[0]
            print(f"{name}: {type(error).__name__}: {reason}", file=sys.stderr)
            if len(names) == 1:
                traceback.print_exc()
        else:
            print(name, flush=True)
