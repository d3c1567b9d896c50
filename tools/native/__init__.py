"""Machine code: functions on buffers as functions of numpy arrays, by mlir-opt and LLVM."""

from __future__ import annotations

from .function import NativeFunction, compile_module

__all__ = ["NativeFunction", "compile_module"]
