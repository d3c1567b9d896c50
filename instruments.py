"""The built-in instruments, each imported when it is used, and the base class of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .passmanager import PassInstrument as PassInstrument
from .passmanager import pass_instrument as pass_instrument

if TYPE_CHECKING:
    from .compiler.interpreters.equivalence import SemanticsInstrument as SemanticsInstrument
    from .passmanager.instruments import *
else:
    from .passmanager import instruments

    __all__ = ["PassInstrument", "SemanticsInstrument", "pass_instrument", *instruments.__all__]

    def __getattr__(name: str) -> object:
        if name == "SemanticsInstrument":  # passmanager, where the others are, knows no semantics
            from .compiler.interpreters.equivalence import SemanticsInstrument

            return SemanticsInstrument
        return getattr(instruments, name)

    def __dir__() -> list[str]:
        return sorted(__all__)
