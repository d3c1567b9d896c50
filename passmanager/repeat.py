"""Repeat, a pass that runs another pass several times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .base import Pass
from .context import PassContext
from .info import PassInfo
from .options import options_text
from .run import Run
from .runner import info_of, run_pass
from .sequential import check_passes

__all__ = ["Repeat", "RepeatOptions"]


@dataclass(frozen=True)
class RepeatOptions:
    """The options of a Repeat."""

    n: int


class Repeat(Pass):
    """A pass that runs another pass `n` times, whether it changes anything or not.

    Source: `repeat<n>(...)` of LLVM's `opt`.
    """

    name = "repeat"

    def __init__(self, pass_: ModulePass, n: int) -> None:
        (self.pass_,) = check_passes([pass_])
        if n < 1:
            raise ValueError(f"n is 1 or more, not {n}")
        self.options = RepeatOptions(n)

    @cached_property
    def info(self) -> PassInfo:
        child = info_of(self.pass_)
        text = f"{self.name}{options_text(self.options)}({child.text})"
        return PassInfo(self.name, child.opt_level, child.required, text, composite=True)

    @property
    def children(self) -> tuple[ModulePass, ...]:
        return (self.pass_,)

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        n = self.options.n
        for time in range(1, n + 1):
            place = f" (time {time} of {n})"
            run_pass(self.pass_, info_of(self.pass_), Run.current(), ctx, place)
