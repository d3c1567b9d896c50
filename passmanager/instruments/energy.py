"""The instrument that measures the energy that the machine uses while passes run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

from ..run import PassFrame, Run
from .nesting import Entry, NestingInstrument, report_header

COUNTERS = "/sys/class/powercap"
"""The folder in which Linux has the energy counters of Intel's and AMD's processors (RAPL)."""


@dataclass(eq=False, slots=True)
class EnergyUse:
    """The energy that the machine used during one run of a pass, in joules, and its duration; 0 for
    both until it ends.
    """

    name: str
    joules: float = 0.0
    seconds: float = 0.0
    failed: bool = False
    children: list[EnergyUse] = field(default_factory=list["EnergyUse"])


class EnergyMeter:
    """The sum of the energy counters of a machine: of each processor, and of its memory where that
    has a counter.
    """

    def __init__(self, folder: str | PathLike[str] = COUNTERS) -> None:
        self._lock = threading.Lock()
        self._joules = 0.0
        self._counters: dict[Path, tuple[int, int]] = {}
        """For each counter its last value and the range after which it begins at 0 again, in
        microjoules."""
        self.missing = ""
        """Why the energy is unknown; empty if it is known."""
        for zone in sorted(Path(folder).glob("intel-rapl:*")):
            file = zone / "energy_uj"
            try:
                # Others are parts of a processor, or hold it, as the platform does.
                name = (zone / "name").read_text().strip()
                if name.startswith("package") or name == "dram":
                    self._counters[file] = _read(file), _read(zone / "max_energy_range_uj")
            except PermissionError as error:
                self.missing = f"{error.filename} can be read by root alone"
            except (OSError, ValueError):
                self.missing = f"{file} cannot be read"
        if not (self._counters or self.missing):
            self.missing = f"there is no counter in {folder}"

    def joules(self) -> float:
        """Return the energy that was used since the meter was made; 0 if it is unknown."""
        with self._lock:
            for file, (before, size) in () if self.missing else self._counters.items():
                try:
                    now = _read(file)
                except (OSError, ValueError):  # a processor that is gone uses nothing more
                    continue
                self._joules += (now - before if now >= before else now - before + size) / 1e6
                self._counters[file] = now, size
            return self._joules


def _read(file: Path) -> int:
    return int(file.read_text())


Started: TypeAlias = tuple[EnergyUse, float, float]
"""A pass that runs, with the values of meter and clock at its start."""


class EnergyInstrument(NestingInstrument[Started]):
    """An instrument that measures the energy of passes, nested in their pipelines, where the
    machine has counters that the user may read; elsewhere its report says so.

    The counters are those of the whole machine, so that other processes count as well, and they
    move on about once in a millisecond: shorter passes are measured as 0 or as their neighbours.
    """

    def __init__(
        self,
        folder: str | PathLike[str] = COUNTERS,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        super().__init__()
        self.meter = EnergyMeter(folder)
        self.passes: list[EnergyUse] = []
        self._clock = clock

    def begin(self, run: Run, outer: Entry[Started] | None) -> Started:
        use = EnergyUse(run.frames[-1].info.name)
        (outer.item[0].children if outer else self.passes).append(use)
        return use, self.meter.joules(), self._clock()

    def end(self, item: Started, run: Run, frame: PassFrame, failed: bool) -> None:
        use, joules, began = item
        use.seconds = self._clock() - began
        use.joules = self.meter.joules() - joules
        use.failed = failed

    def report(self) -> str:
        """Return a line for each pass, nested ones below their pipeline: energy, time and name;
        one line in all if the energy is unknown.
        """
        if self.meter.missing:
            return f"no energy report: {self.meter.missing}\n"
        if not self.passes:
            return ""
        total = sum(use.joules for use in self.passes)
        title = [*report_header("Energy report"), f"  Total Energy: {total:.4f} joules", ""]
        columns = "  ----Energy----  ---Wall Time---  ----Name----"
        return "\n".join([*title, columns, *_rows(self.passes, 0)]) + "\n"


def _rows(uses: list[EnergyUse], depth: int) -> Iterator[str]:
    for use in uses:
        name = f"{'  ' * depth}{use.name}{' (failed)' if use.failed else ''}"
        yield f"  {use.joules:14.4f}  {use.seconds:15.4f}  {name}"
        yield from _rows(use.children, depth + 1)
