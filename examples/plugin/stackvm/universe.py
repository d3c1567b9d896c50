"""The entry point for `xdsl-opt` and `passline-opt`: factories, which import when called."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

__all__ = ["UNIVERSE"]


def _dialect() -> Dialect:
    from .dialect import StackVM

    return StackVM


def _count() -> type[ModulePass]:
    from .count import CountInstructions

    return CountInstructions


def _fold() -> type[ModulePass]:
    from .fold import FoldPushes

    return FoldPushes


def _shorten() -> type[ModulePass]:
    from .shorten import ShortenPrograms

    return ShortenPrograms


UNIVERSE = Universe(
    all_dialects={"stackvm": _dialect},
    all_passes={
        "stackvm-count": _count,
        "stackvm-fold": _fold,
        "stackvm-shorten": _shorten,
    },
)
