"""The built-in instruments, each imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registration.places import lazy_names

if TYPE_CHECKING:
    from ..report.instrument import ReportInstrument as ReportInstrument
    from .debug_counter import DebugCounter as DebugCounter
    from .ir.diff import PrintDiff as PrintDiff
    from .ir.dump import DumpIR as DumpIR
    from .ir.numbering import OptBisect as OptBisect
    from .ir.numbering import PassNumbers as PassNumbers
    from .ir.printing import IRPrinter as IRPrinter
    from .ir.printing import PassPrintingInstrument as PassPrintingInstrument
    from .ir.printing import PrintAfterAll as PrintAfterAll
    from .ir.printing import PrintBeforeAll as PrintBeforeAll
    from .ir.record import RecordInstrument as RecordInstrument
    from .ir.reproducer import CrashReproducer as CrashReproducer
    from .ir.reproducer import Reproducer as Reproducer
    from .ir.reproducer import read_reproducer as read_reproducer
    from .ir.window import StartAfter as StartAfter
    from .ir.window import StartBefore as StartBefore
    from .ir.window import StopAfter as StopAfter
    from .ir.window import StopBefore as StopBefore
    from .log import PassLog as PassLog
    from .time.memory import MemoryInstrument as MemoryInstrument
    from .time.profiling import ProfileInstrument as ProfileInstrument
    from .time.progress import ProgressInstrument as ProgressInstrument
    from .time.statistics import StatisticsInstrument as StatisticsInstrument
    from .time.timing import PassTimingInstrument as PassTimingInstrument
    from .time.trace import TraceInstrument as TraceInstrument

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
