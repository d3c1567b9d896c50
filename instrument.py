"""Instruments under TVM's name: `passline.instrument.PassTimingInstrument`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .passmanager.names import lazy_names

if TYPE_CHECKING:
    from .passmanager import PassInstrument as PassInstrument
    from .passmanager import pass_instrument as pass_instrument
    from .passmanager.instruments import *

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
