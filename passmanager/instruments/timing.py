"""How long passes take."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp

from ..info import PassInfo
from ..instrument import PassInstrument

__all__ = ["PassTimingInstrument", "TimedPass"]


@dataclass
class TimedPass:
    """One run of a pass: when it began, how long it took in seconds, and the passes that ran inside
    it.
    """

    name: str
    began: float
    total: float = 0.0
    children: list[TimedPass] = field(default_factory=list["TimedPass"])

    @property
    def own(self) -> float:
        """The time that was spent in none of the children, in seconds."""
        return self.total - sum(child.total for child in self.children)


class PassTimingInstrument(PassInstrument):
    """Times every pass, nested ones inside theirs; the times stay readable when the context has
    been left.

    Source: `tvm.ir.instrument.PassTimingInstrument`.
    """

    def __init__(self) -> None:
        self.passes: list[TimedPass] = []
        self._running: list[TimedPass] = []

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        timed = TimedPass(info.name, perf_counter())
        (self._running[-1].children if self._running else self.passes).append(timed)
        self._running.append(timed)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        timed = self._running.pop()
        timed.total = perf_counter() - timed.began

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self.run_after_pass(module, info)

    def render(self) -> str:
        """A line a pass: `name: total [own] (share of all; share of the parent)`, times in whole
        microseconds.
        """
        whole = sum(timed.total for timed in self.passes)
        return "".join(_lines(self.passes, 0, whole, whole))


def _lines(passes: list[TimedPass], depth: int, whole: float, parent: float) -> list[str]:
    lines: list[str] = []
    for timed in passes:
        shares = f"({_percent(timed.total, whole)}; {_percent(timed.total, parent)})"
        times = f"{timed.total * 1e6:.0f}us [{timed.own * 1e6:.0f}us]"
        lines.append("\t" * depth + f"{timed.name}: {times} {shares}\n")
        lines += _lines(timed.children, depth + 1, whole, timed.total)
    return lines


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole else 0:.2f}%"
