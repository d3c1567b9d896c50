"""The built-in instruments."""

from .bisect import OptBisect
from .diff import PrintDiff
from .dump import DumpIR
from .memory import MemoryInstrument
from .printing import IRPrinter, PassPrintingInstrument, PrintAfterAll, PrintBeforeAll
from .profiling import ProfileInstrument
from .progress import ProgressInstrument
from .reproducer import CrashReproducer, Reproducer, read_reproducer
from .statistics import StatisticsInstrument
from .timing import PassTimingInstrument
from .trace import TraceInstrument
from .window import StartAfter, StopAfter

__all__ = [
    "CrashReproducer",
    "DumpIR",
    "IRPrinter",
    "MemoryInstrument",
    "OptBisect",
    "PassPrintingInstrument",
    "PassTimingInstrument",
    "PrintAfterAll",
    "PrintBeforeAll",
    "PrintDiff",
    "ProfileInstrument",
    "ProgressInstrument",
    "Reproducer",
    "StartAfter",
    "StatisticsInstrument",
    "StopAfter",
    "TraceInstrument",
    "read_reproducer",
]
