"""Compilation of functions on buffers to machine code by LLVM, called with numpy arrays."""

from __future__ import annotations

from .function import NativeFunction, cached_function, compile_module

__all__ = ["NativeFunction", "cached_function", "compile_module"]
