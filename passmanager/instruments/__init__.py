"""The built-in instruments."""

from .printing import PrintAfterAll, PrintBeforeAll
from .timing import PassTimingInstrument

__all__ = ["PassTimingInstrument", "PrintAfterAll", "PrintBeforeAll"]
