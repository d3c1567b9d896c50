"""Registration of passes in this process: classes, and functions that make classes or passes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from xdsl.passes import ModulePass

from .registry import installed

__all__ = ["register_pass"]

Maker: TypeAlias = Callable[..., "type[ModulePass] | ModulePass"]
"""A function that returns a class, or a pass, from arguments that have defaults."""

_IN_PROCESS = "register_pass"
"""The source of the passes that were registered in this process."""


def register_pass(pass_: type[ModulePass] | Maker, name: str | None = None) -> None:
    """Register a pass class, or under `name` a function that returns a class or a pass, as a
    pipeline, for this process.

    The pass can then be required, named in pipelines and configured. It replaces another pass of
    its name. A function that returns passes is called for each use. Errors: TypeError for anything
    else.
    """
    if isinstance(pass_, ModulePass):
        raise TypeError(f"register_pass takes a pass class, not a pass: give type({pass_.name})")
    if isinstance(pass_, type):
        cls: type[ModulePass] = pass_
        if not issubclass(cls, ModulePass):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"register_pass takes a pass class, not the class {cls.__name__}")
        installed().add_pass(name or cls.name, lambda: cls, _IN_PROCESS)
    elif not callable(pass_):
        raise TypeError(f"register_pass takes a pass class or a factory of one, not {pass_!r}")
    elif name is None:
        raise TypeError("register_pass needs the name of the pass that a factory makes")
    else:
        installed().add_pass(name, partial(_class_made_by, pass_, name), _IN_PROCESS)


def _class_made_by(make: Maker, name: str) -> type[ModulePass]:
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
