"""Instruments under TVM's name: `passline.instrument.PassTimingInstrument`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .passmanager import PassInstrument as PassInstrument
from .passmanager import pass_instrument as pass_instrument

if TYPE_CHECKING:
    from .passmanager.instruments import *
else:
    from .passmanager import instruments
    from .passmanager.registration.missing_names import missing_name

    __all__ = ["PassInstrument", "pass_instrument", *instruments.__all__]

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise missing_name(__name__, name, {"": __all__})
        return getattr(instruments, name)

    def __dir__() -> list[str]:
        return sorted(__all__)
