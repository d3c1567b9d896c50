"""The entry point for `passline-opt` and `xdsl-opt`: factories, which import when called."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

__all__ = ["UNIVERSE"]


def _my_compiler() -> Dialect:
    from .dialect import MyCompiler

    return MyCompiler


def _expand() -> type[ModulePass]:
    from .expand import Expand

    return Expand


def _simplify() -> type[ModulePass]:
    from .simplify import Simplify

    return Simplify


UNIVERSE = Universe(
    all_dialects={"my_compiler": _my_compiler},
    all_passes={"my-compiler-expand": _expand, "my-compiler-simplify": _simplify},
)
