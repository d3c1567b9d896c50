"""Test suites of xDSL projects: FileCheck tests by lit, with tools that are imported once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..passmanager.names import lazy_names

if TYPE_CHECKING:
    from .lit_format import LitFormat as LitFormat

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
