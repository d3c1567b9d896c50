"""The check that a transformation does not change what the functions of a module compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....passmanager.names import lazy_names

if TYPE_CHECKING:
    from .check import Difference as Difference
    from .check import Equivalence as Equivalence
    from .check import NotCheckedError as NotCheckedError
    from .check import SemanticsError as SemanticsError
    from .check import find_difference as find_difference
    from .instrument import SemanticsInstrument as SemanticsInstrument

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
