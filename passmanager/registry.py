"""The registry of passes, dialects, targets and frontends, filled from the entry points
`xdsl.universe`, and the entry points by which projects extend the tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target

from .errors import PassNotFoundError
from .registration.names import did_you_mean, name_key

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .releases.frontends import Frontend

__all__ = [
    "ExtendingUniverse",
    "Installed",
    "find_pass",
    "installed",
    "make_ir_context",
    "register_pass",
]

PassFactory = Callable[[], type[ModulePass]]
FrontendFactory: TypeAlias = "Callable[[], type[Frontend]]"
Extension = Callable[[Dialect], Dialect]


class ExtendingUniverse(Universe):
    """A universe that also extends dialects of xDSL by operations that they lack; only contexts of
    `make_ir_context` have these."""

    def __init__(
        self,
        *,
        all_dialects: dict[str, Callable[[], Dialect]],
        all_passes: dict[str, PassFactory],
        all_frontends: dict[str, FrontendFactory] | None = None,
        dialect_extensions: dict[str, Extension],
    ) -> None:
        super().__init__(all_dialects=all_dialects, all_passes=all_passes)
        self.all_frontends = all_frontends or {}  # of which older releases of xDSL do not know
        self.dialect_extensions = dialect_extensions


@dataclass
class Installed:
    """The registered passes, dialects, targets and frontends, as factories that are called on first
    use."""

    passes: dict[str, PassFactory] = field(default_factory=dict[str, PassFactory])
    dialects: dict[str, Callable[[], Dialect]] = field(
        default_factory=dict[str, Callable[[], Dialect]]
    )
    targets: dict[str, Callable[[], type[Target]]] = field(
        default_factory=dict[str, Callable[[], type[Target]]]
    )
    frontends: dict[str, FrontendFactory] = field(default_factory=dict[str, FrontendFactory])
    names: dict[str, str] = field(default_factory=dict[str, str])
    """The key of a pass name -> the name."""
    tool_extensions: Sequence[EntryPoint] = ()
    """The entry points `passline.tools`, by which projects extend the tools: Passline's first."""

    def add_pass(self, name: str, factory: PassFactory) -> None:
        """Register a pass under `name`, replacing another pass of that name."""
        self.passes.pop(self.names.get(name_key(name), ""), None)
        self.passes[name] = factory
        self.names[name_key(name)] = name


@cache
def installed() -> Installed:
    """Return the registry, filled on the first call from all `xdsl.universe` entry points.

    If several plugins offer a pass, dialect, target or frontend of one name, xDSL's own is kept, or
    else that of the first plugin by name, and a warning is logged; xDSL's
    `Universe.get_multiverse` raises.
    """
    from importlib.metadata import entry_points

    points = entry_points()  # once for all groups: it reads the files of all distributions
    # Sorted, as the order of entry points depends on the installation.
    extensions = points.select(group="passline.tools")
    found = Installed(
        tool_extensions=sorted(extensions, key=lambda p: (p.name != "passline", p.name))
    )
    universes = points.select(group="xdsl.universe")
    plugins = sorted(universes, key=lambda p: (p.name != "xdsl", p.name))
    for plugin in plugins:
        try:
            universe = plugin.load()
        except Exception as error:
            _warn("plugin '%s' cannot be loaded and is ignored: %r", plugin.name, error)
            continue
        if not isinstance(universe, Universe):
            _warn("plugin '%s' is not an xdsl.universe.Universe and is ignored", plugin.name)
            continue
        for name, factory in universe.all_passes.items():
            if _is_free(f"pass '{name}'", name_key(name) in found.names, plugin.name):
                found.add_pass(name, factory)
        for name, dialect in universe.all_dialects.items():
            if _is_free(f"dialect '{name}'", name in found.dialects, plugin.name):
                found.dialects[name] = partial(_load_dialect, name, plugin.name, dialect)
        for name, target in universe.all_targets.items():
            if _is_free(f"target '{name}'", name in found.targets, plugin.name):
                found.targets[name] = target
        frontends: dict[str, FrontendFactory] = getattr(universe, "all_frontends", {})
        for name, frontend in frontends.items():
            if _is_free(f"frontend '{name}'", name in found.frontends, plugin.name):
                found.frontends[name] = frontend
        if isinstance(universe, ExtendingUniverse):
            for name, extend in universe.dialect_extensions.items():
                found.dialects[name] = partial(_extended, found.dialects[name], extend)
    return found


def _extended(dialect: Callable[[], Dialect], extend: Extension) -> Dialect:
    """Return the dialect that a factory makes, extended."""
    return extend(dialect())


def _load_dialect(name: str, plugin: str, factory: Callable[[], Dialect]) -> Dialect:
    """Return the dialect that a factory makes; if it fails, warn, and return one without ops."""
    try:
        return factory()
    except Exception as error:
        message = "dialect '%s' of plugin '%s' cannot be loaded and is ignored: %r"
        _warn(message, name, plugin, error)
        return Dialect(name)


def _is_free(entry: str, taken: bool, plugin: str) -> bool:
    """Return whether a name is not `taken`; warn otherwise."""
    if taken:
        _warn("%s of plugin '%s' is ignored: another plugin has it", entry, plugin)
    return not taken


def _warn(message: str, *args: object) -> None:
    """Log a warning."""
    import logging

    logging.getLogger(__name__).warning(message, *args)


def find_pass(name: str) -> type[ModulePass]:
    """Return the class of the pass called `name`, in any spelling.

    Errors: PassNotFoundError with the nearest name.
    """
    offer = installed()
    if (found := offer.names.get(name_key(name))) is None:
        raise PassNotFoundError(f"there is no pass '{name}'{did_you_mean(name, offer.passes)}")
    return offer.passes[found]()


def register_pass(pass_: type[ModulePass] | PassFactory, name: str | None = None) -> None:
    """Register a pass class, or a factory of one under `name`, for this process.

    The pass can then be required, named in pipelines and configured. It replaces another pass of
    its name. Errors: TypeError for anything else.
    """
    if isinstance(pass_, ModulePass):
        raise TypeError(f"register_pass takes a pass class, not a pass: give type({pass_.name})")
    if isinstance(pass_, type):
        cls: type[ModulePass] = pass_
        if not issubclass(cls, ModulePass):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"register_pass takes a pass class, not the class {cls.__name__}")
        installed().add_pass(name or cls.name, lambda: cls)
    elif not callable(pass_):
        raise TypeError(f"register_pass takes a pass class or a factory of one, not {pass_!r}")
    elif name is None:
        raise TypeError("register_pass needs the name of the pass that a factory makes")
    else:
        installed().add_pass(name, pass_)


def make_ir_context(allow_unregistered: bool = False) -> Context:
    """Return a new xDSL context in which all registered dialects are available; each is loaded on
    first use.
    """
    context = Context(allow_unregistered)
    for name, dialect in installed().dialects.items():
        context.register_dialect(name, dialect)
    return context
