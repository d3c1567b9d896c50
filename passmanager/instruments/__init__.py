"""The built-in instruments, each imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..names import lazy_names

if TYPE_CHECKING:
    from ..report.page import ReportInstrument as ReportInstrument
    from .action_log import ActionLog as ActionLog
    from .debug_counter import DebugCounter as DebugCounter
    from .diff import PrintDiff as PrintDiff
    from .dump import DumpIR as DumpIR
    from .energy import EnergyInstrument as EnergyInstrument
    from .log import PassLog as PassLog
    from .memory import MemoryInstrument as MemoryInstrument
    from .printing import IRPrinter as IRPrinter
    from .printing import OptBisect as OptBisect
    from .printing import PassNumbers as PassNumbers
    from .printing import PassPrintingInstrument as PassPrintingInstrument
    from .printing import PrintAfterAll as PrintAfterAll
    from .printing import PrintBeforeAll as PrintBeforeAll
    from .printing import StartAfter as StartAfter
    from .printing import StartBefore as StartBefore
    from .printing import StopAfter as StopAfter
    from .printing import StopBefore as StopBefore
    from .progress import ProgressInstrument as ProgressInstrument
    from .record_writer import RecordInstrument as RecordInstrument
    from .reproducer import CrashReproducer as CrashReproducer
    from .reproducer import Reproducer as Reproducer
    from .reproducer import read_reproducer as read_reproducer
    from .spans import TraceInstrument as TraceInstrument
    from .statistics import StatisticsInstrument as StatisticsInstrument
    from .timing import PassTimingInstrument as PassTimingInstrument
    from .timing import ProfileInstrument as ProfileInstrument

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
