"""The built-in instruments, each imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING

from ..registration.missing_names import missing_name

if TYPE_CHECKING:
    from ..report.instrument import ReportInstrument
    from .debug_counter import DebugCounter
    from .ir.diff import PrintDiff
    from .ir.dump import DumpIR
    from .ir.numbering import OptBisect, PassNumbers
    from .ir.printing import IRPrinter, PassPrintingInstrument, PrintAfterAll, PrintBeforeAll
    from .ir.record import RecordInstrument
    from .ir.reproducer import CrashReproducer, Reproducer, read_reproducer
    from .ir.window import StartAfter, StartBefore, StopAfter, StopBefore
    from .log import PassLog
    from .time.memory import MemoryInstrument
    from .time.profiling import ProfileInstrument
    from .time.progress import ProgressInstrument
    from .time.statistics import StatisticsInstrument
    from .time.timing import PassTimingInstrument
    from .time.trace import TraceInstrument

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
    "CrashReproducer": "ir.reproducer",
    "DebugCounter": "debug_counter",
    "DumpIR": "ir.dump",
    "IRPrinter": "ir.printing",
    "MemoryInstrument": "time.memory",
    "OptBisect": "ir.numbering",
    "PassLog": "log",
    "PassNumbers": "ir.numbering",
    "PassPrintingInstrument": "ir.printing",
    "PassTimingInstrument": "time.timing",
    "PrintAfterAll": "ir.printing",
    "PrintBeforeAll": "ir.printing",
    "PrintDiff": "ir.diff",
    "ProfileInstrument": "time.profiling",
    "ProgressInstrument": "time.progress",
    "RecordInstrument": "ir.record",
    "ReportInstrument": ".report.instrument",
    "Reproducer": "ir.reproducer",
    "StartAfter": "ir.window",
    "StartBefore": "ir.window",
    "StatisticsInstrument": "time.statistics",
    "StopAfter": "ir.window",
    "StopBefore": "ir.window",
    "TraceInstrument": "time.trace",
    "read_reproducer": "ir.reproducer",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise missing_name(__name__, name, {"": __all__})
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
