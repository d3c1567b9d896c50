"""The built-in instruments, each imported when it is used, and the base class of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .passmanager.names import lazy_names

if TYPE_CHECKING:
    # `passmanager`, where the others are, knows no semantics.
    from .compiler.interpreters.equivalence import SemanticsInstrument as SemanticsInstrument
    from .passmanager import PassInstrument as PassInstrument
    from .passmanager import pass_instrument as pass_instrument
    from .passmanager.instruments import *

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
