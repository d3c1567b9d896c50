"""Passline: TVM's pass infrastructure over xDSL's IR, and a tensor compiler that is built on it.

`passline.passmanager` has passes, PassContext, Sequential and instruments; `passline.passes` the
passes on `relax` and `tir`, the dialects in `passline.dialects`; `passline.frontends.onnx` imports
models; `passline.tools` are the commands `passline-opt`, `passline-run` and `passline-reduce`.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
"""The version of this package; that of `pyproject.toml`."""
