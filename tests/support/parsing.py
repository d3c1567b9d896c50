"""Modules from text."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context

__all__ = ["parsed"]


def parsed(text: str, name: str = "x.mlir") -> ModuleOp:
    """Parse a module; it may have operations that are not registered."""
    return parse_module(make_ir_context(allow_unregistered=True), text, name)
