"""The error for a name that a module does not have, with what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .names import closest_name

__all__ = ["missing_name"]

_OF_TVM = {
    "_transform": "passes are in passline.transform",
    "build_config": "write PassContext(opt_level=3)",
    "relay": "passes are in passline.transform; the dialect is called relax",
    "relax": "passes are in passline.transform, operations in passline.dialects.relax",
    "sequential": "write Sequential([...])",
    "tir": "passes are in passline.transform, operations in passline.dialects.tir",
}
"""What to write in place of a name of TVM."""


def missing_name(module: str, name: str, names: Mapping[str, Iterable[str]]) -> AttributeError:
    """Return the error that `module` has no `name`.

    `names` are the names to suggest, by what comes before them: `""` for those of the module.
    """
    message = f"module {module!r} has no attribute {name!r}"
    if name in _OF_TVM:
        message += f": {_OF_TVM[name]}"
    else:
        found = ((before, closest_name(name, offered)) for before, offered in names.items())
        message += next((f", did you mean '{b}{close}'?" for b, close in found if close), "")
    # Without the module, of which Python itself would suggest a name as well.
    return AttributeError(message, name=name, obj=None)
