"""The check that a transformation does not change what the functions of a module compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....passmanager.registration.places import lazy_names

if TYPE_CHECKING:
    from .check import Equivalence as Equivalence
    from .check import find_difference as find_difference
    from .difference import Difference as Difference
    from .difference import NotCheckedError as NotCheckedError
    from .difference import SemanticsError as SemanticsError
    from .instrument import SemanticsInstrument as SemanticsInstrument

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
