"""Passes and pipelines under TVM's name: `passline.transform.Sequential`, `FoldConstant`, ...

All names of `passline.passmanager` and `passline.passes`; those of passes are imported when they
are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .passes import *
    from .passmanager import *
else:
    from . import passes, passmanager
    from .passmanager.registration.missing_names import missing_name

    __all__ = [*passmanager.__all__, *passes.__all__]

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise missing_name(__name__, name, {"": __all__})
        return getattr(passmanager if name in passmanager.__all__ else passes, name)

    def __dir__() -> list[str]:
        return sorted(__all__)
