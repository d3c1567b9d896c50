"""Functions that make passes, as classes: what the registry has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.passes import ModulePass

__all__ = ["class_made_by"]

Maker: TypeAlias = Callable[..., "type[ModulePass] | ModulePass"]


def class_made_by(make: Maker, name: str) -> type[ModulePass]:
    """Return the class that a registered function returns; for a pass, a class whose call returns a
    new one, with the arguments of the function."""
    made = make()
    if isinstance(made, type):
        return made
    if not isinstance(made, ModulePass):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"the function of '{name}' returns a pass class or a pass, not {made!r}")

    def new(cls: type[ModulePass], *arguments: object, **options: object) -> object:
        return make(*arguments, **options)

    body: dict[str, object] = {"name": name, "__new__": new, "__doc__": f"Run {made}."}
    body |= {key: getattr(made, key) for key in ("opt_level", "required") if hasattr(made, key)}
    return type(name, (ModulePass,), {**body, "__module__": getattr(make, "__module__", __name__)})
