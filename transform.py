"""Passes and pipelines under TVM's name: `passline.transform.Sequential`, `FoldConstant`, ...

All names of `passline.passmanager` and `passline.passes`, and `prim_func_pass`; those of passes are
imported when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .passmanager.names import lazy_names

if TYPE_CHECKING:
    from .passes import *
    from .passes.tir.base import PrimFuncPass as PrimFuncPass
    from .passes.tir.base import prim_func_pass as prim_func_pass
    from .passmanager import *

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
