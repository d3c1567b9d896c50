"""Test suites of xDSL projects: FileCheck tests by lit and pytest, with tools that are imported
once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .lit_format import LitFormat as LitFormat

    __all__: list[str]
else:
    # pytest imports this package in each of its runs, which must cost nothing.
    def __getattr__(name: str) -> object:
        from ..passmanager.names import lazy_names

        hooks = lazy_names(__name__)
        globals().update(zip(("__all__", "__getattr__", "__dir__"), hooks, strict=True))
        return getattr(sys.modules[__name__], name)

    def __dir__() -> list[str]:
        return sys.modules[__name__].__all__
