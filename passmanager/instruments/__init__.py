"""The built-in instruments, each imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bisect import OptBisect
    from .debug_counter import DebugCounter
    from .diff import PrintDiff
    from .dump import DumpIR
    from .log import PassLog
    from .memory import MemoryInstrument
    from .numbering import PassNumbers
    from .printing import IRPrinter, PassPrintingInstrument, PrintAfterAll, PrintBeforeAll
    from .profiling import ProfileInstrument
    from .progress import ProgressInstrument
    from .record import RecordInstrument
    from .report import ReportInstrument
    from .reproducer import CrashReproducer, Reproducer, read_reproducer
    from .statistics import StatisticsInstrument
    from .timing import PassTimingInstrument
    from .trace import TraceInstrument
    from .window import StartAfter, StartBefore, StopAfter, StopBefore

__all__ = [
    "CrashReproducer",
    "DebugCounter",
    "DumpIR",
    "IRPrinter",
    "MemoryInstrument",
    "OptBisect",
    "PassLog",
    "PassNumbers",
    "PassPrintingInstrument",
    "PassTimingInstrument",
    "PrintAfterAll",
    "PrintBeforeAll",
    "PrintDiff",
    "ProfileInstrument",
    "ProgressInstrument",
    "RecordInstrument",
    "ReportInstrument",
    "Reproducer",
    "StartAfter",
    "StartBefore",
    "StatisticsInstrument",
    "StopAfter",
    "StopBefore",
    "TraceInstrument",
    "read_reproducer",
]

_MODULES = {
    "CrashReproducer": "reproducer",
    "DebugCounter": "debug_counter",
    "DumpIR": "dump",
    "IRPrinter": "printing",
    "MemoryInstrument": "memory",
    "OptBisect": "bisect",
    "PassLog": "log",
    "PassNumbers": "numbering",
    "PassPrintingInstrument": "printing",
    "PassTimingInstrument": "timing",
    "PrintAfterAll": "printing",
    "PrintBeforeAll": "printing",
    "PrintDiff": "diff",
    "ProfileInstrument": "profiling",
    "ProgressInstrument": "progress",
    "RecordInstrument": "record",
    "ReportInstrument": "report",
    "Reproducer": "reproducer",
    "StartAfter": "window",
    "StartBefore": "window",
    "StatisticsInstrument": "statistics",
    "StopAfter": "window",
    "StopBefore": "window",
    "TraceInstrument": "trace",
    "read_reproducer": "reproducer",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
