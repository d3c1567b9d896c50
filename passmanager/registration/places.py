"""Places of classes: `module:name`, imported on first use."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module
from importlib.abc import InspectLoader
from typing import Any, cast

from .names import missing_name

__all__ = ["factory_of", "lazy_names", "load_place", "typed_places"]

_TYPED_IMPORT = re.compile(r"^    from \.([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def load_place(place: str, package: str) -> Any:
    """Import the class or function `place`, given as `module:name`, the module relative to
    `package`; a name may be that of a module, too."""
    module, _, name = place.partition(":")
    found = import_module(f".{module}", package) if module else None
    return getattr(found, name, None) or import_module(
        f".{module}.{name}".replace("..", "."), package
    )


def factory_of(place: str, package: str) -> Callable[[], Any]:
    """Return a function that imports the class `place`."""
    return partial(load_place, place, package)


@cache
def typed_places(module: str) -> dict[str, str]:
    """Return the places of the names that `module` imports under `if TYPE_CHECKING:`.

    They are read from its source, as `lazy_loader.attach_stub` reads a stub: type checkers and the
    program have one list. `*` stands for all names of a module.
    """
    source = cast(InspectLoader, sys.modules[module].__loader__).get_source(module)
    places: dict[str, str] = {}
    for home, imported in _TYPED_IMPORT.findall(source or ""):
        names = re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", imported))
        if imported == "*":
            names = import_module(f".{home}", sys.modules[module].__package__).__all__
        places |= {name: f"{home}:{name}" for name in names}
    return places


def lazy_names(
    module: str, others: Iterable[str] = (), also: str = ""
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a module whose names are imported when they
    are first used: those of `typed_places`, and `others`, which it defines itself.

    The error for an unknown name suggests the nearest of these, and of those of the module `also`.
    """
    places = typed_places(module)
    package = sys.modules[module].__package__ or module
    names = sorted({*others, *places})

    def load(name: str) -> object:
        if name not in places:
            offered = {"": names}
            if also:
                offered[f"{module}.{also}."] = import_module(f".{also}", package).__all__
            raise missing_name(module, name, offered)
        found = load_place(places[name], package)
        setattr(sys.modules[module], name, found)
        return found

    return names, load, lambda: [*names]
