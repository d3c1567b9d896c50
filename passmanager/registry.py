"""The registry of passes, dialects, targets and frontends, filled from entry points."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from xdsl.context import Context
from xdsl.ir import Dialect, Operation
from xdsl.passes import ModulePass, PassPipeline
from xdsl.universe import Universe
from xdsl.utils.target import Target

from .errors import ConfigError, PassNotFoundError
from .ir.walk import brief
from .names import PassName, Rounding, find_name, name_key, unknown_pass

if TYPE_CHECKING:
    from .releases.targets import Frontend

__all__ = [
    "DialectTable",
    "ExtendingUniverse",
    "Installed",
    "PassInfo",
    "check_context_level",
    "check_level",
    "check_name",
    "check_names",
    "check_passes",
    "check_spelling",
    "dialect_of",
    "find_pass",
    "installed",
    "is_registered_here",
    "make_ir_context",
]


# The registry of passes, dialects, targets and frontends, filled from the entry points
# `xdsl.universe`, and the entry points by which projects extend the tools.


PassFactory = Callable[[], type[ModulePass]]
FrontendFactory: TypeAlias = "Callable[[], type[Frontend]]"
Extension = Callable[[Dialect], Dialect]
PassSource: TypeAlias = EntryPoint | str
"""What registered a pass: an entry point, or a file or function of this process."""
_NO_SOURCES = ("xdsl", __name__.partition(".")[0])
"""The entry points whose passes are those of xDSL and Passline themselves."""


class ExtendingUniverse(Universe):
    """A universe that also extends dialects of xDSL by operations that they lack; only contexts of
    `make_ir_context` have these."""

    def __init__(
        self,
        *,
        all_dialects: dict[str, Callable[[], Dialect]],
        all_passes: dict[str, PassFactory],
        all_frontends: dict[str, FrontendFactory] | None = None,
        all_targets: dict[str, Callable[[], type[Target]]] | None = None,
        dialect_extensions: dict[str, Extension],
    ) -> None:
        super().__init__(all_dialects=all_dialects, all_passes=all_passes)
        self.all_frontends = all_frontends or {}  # of which older releases of xDSL do not know
        self.all_targets = all_targets or {}
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
    sources: dict[str, PassSource] = field(default_factory=dict[str, PassSource])
    """The name of a pass that is neither xDSL's nor Passline's -> what registered it."""
    tool_extensions: Sequence[EntryPoint] = ()
    """The entry points `passline.tools`, by which projects extend the tools: Passline's first."""

    def add_pass(self, name: str, factory: PassFactory, source: PassSource = "") -> None:
        """Register a pass under `name`, replacing another pass of that name."""
        replaced = self.names.get(name_key(name), "")
        self.passes.pop(replaced, None)
        self.sources.pop(replaced, None)
        self.passes[name] = factory
        self.names[name_key(name)] = name
        if source:
            self.sources[name] = source

    def source_of(self, name: str) -> str:
        """Return the distribution, with its version, or else the file or function that registered a
        pass; empty for a distribution that does not depend on Passline."""
        source = self.sources[name]
        if isinstance(source, str):
            return source
        text = source.name
        if (found := getattr(source, "dist", None)) is not None:
            needs = " ".join(found.requires or ()).lower()
            text = f"{found.name} {found.version}" if "passline" in needs else ""
        self.sources[name] = text
        return text


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
    plugins = sorted(points.select(group="xdsl.universe"), key=lambda p: (p.name != "xdsl", p.name))
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
                found.add_pass(name, factory, "" if plugin.name in _NO_SOURCES else plugin)
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
    """Return the class of the pass called `name`, in any spelling or as another project calls it.

    Errors: PassNotFoundError with the nearest name.
    """
    offer = installed()
    if (found := find_name(name, offer.names)) is None:
        raise PassNotFoundError(f"there is no pass '{name}'{unknown_pass(name, offer.passes)}")
    return offer.passes[found]()


def make_ir_context(allow_unregistered: bool = False) -> Context:
    """Return a new xDSL context in which all registered dialects are available; each is loaded on
    first use.
    """
    context = Context(allow_unregistered)
    for name, dialect in installed().dialects.items():
        context.register_dialect(name, dialect)
    return context


# PassInfo, the metadata of a pass, and the checks of what it is made of.


@dataclass(frozen=True)
class PassInfo:
    """The name, level and requirements of a pass.

    `opt_level` is the lowest level of a context at which a Sequential runs the pass; `required`
    names the passes whose result it needs. `name` is equal to all its spellings, also to TVM's:
    `info.name == "FuseOps"`; `key` is the `name_key` of the name. The other fields are not compared
    when two infos are: `text` is the pass with its options as a pipeline spells them; `composite`
    is true for a pass made of passes, `rounds` for one that may change how floats are rounded,
    `changes_interface` for one that may change the public functions; nothing reads `traceable`, as
    in TVM.
    TVM's order of arguments works too: `PassInfo(2, "fold-constant", [], False)`.
    """

    name: str = field(compare=False)
    opt_level: int = 0
    required: tuple[str, ...] = ()
    text: str = field(default="", compare=False)
    composite: bool = field(default=False, compare=False)
    rounds: bool | Rounding = field(default=False, compare=False)
    changes_interface: bool = field(default=False, compare=False)
    traceable: bool = field(default=False, compare=False)
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.name, int) and isinstance(self.opt_level, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            level, name = self.name, self.opt_level
            object.__setattr__(self, "name", name)
            object.__setattr__(self, "opt_level", level)
            if isinstance(self.text, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
                object.__setattr__(self, "traceable", self.text)
                object.__setattr__(self, "text", "")
        check_name(self.name)
        check_level(self.opt_level)
        object.__setattr__(self, "required", check_names("required", self.required))
        object.__setattr__(self, "text", self.text or self.name)
        object.__setattr__(self, "key", name_key(self.name))
        object.__setattr__(self, "name", PassName(self.name))


def check_name(name: object) -> None:
    """Raise TypeError if `name` is not a string, ValueError if it has only '-', '.' and '_'."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a pass is a string, not {name!r}")
    if not name_key(name):
        raise ValueError(
            f"the name of a pass needs at least one letter or digit; {name!r} has none"
        )


def check_spelling(name: str) -> None:
    """Raise ValueError if `name` has characters that a pipeline cannot spell."""
    if not re.fullmatch(r"[\w.\-]+", name, re.ASCII):
        raise ValueError(
            f"the name of a pass consists of letters, digits, '-', '.' and '_', not {name!r}"
        )


def check_level(opt_level: object) -> None:
    """Raise TypeError if `opt_level` is not an int, ValueError if it is negative."""
    if whole(opt_level, "opt_level") < 0:
        raise ValueError(f"opt_level is 0 or more, not {opt_level}")


HIGHEST_LEVEL = 4
"""The highest level of a context: passes of Passline and of TVM have levels up to 4."""


def check_context_level(
    level: object, highest: int = HIGHEST_LEVEL, setting: str = "opt_level"
) -> None:
    """Raise TypeError if the level of a context is not an int, ConfigError if it is out of
    range."""
    if not 0 <= (number := whole(level, setting)) <= highest:
        limit = "0 or more" if number < 0 else f"{highest} or less"
        raise ConfigError(f"{setting} is {limit}, not {level}: levels are 0 to {highest}")


def whole(level: object, setting: str) -> int:
    """Return an int; TypeError, which names the setting, for anything else."""
    if not isinstance(level, int) or isinstance(level, bool):
        raise TypeError(f"{setting} is a whole number, not {level!r}")
    return level


def check_names(setting: str, names: object) -> tuple[str, ...]:
    """Return the pass names in `names` as a tuple; messages name the setting that has them.

    Errors: TypeError if `names` is a single string, whose letters would be taken for names, or not
    an iterable of strings.
    """
    if isinstance(names, str):
        raise TypeError(f"{setting} is a list of names: write [{names!r}] instead of {names!r}")
    if not isinstance(names, Iterable):
        raise TypeError(f"{setting} is a list of names, not {names!r}")
    checked: list[str] = []
    for name in cast(Iterable[object], names):
        if not isinstance(name, str):
            raise TypeError(f"{setting} is a list of names, but holds {name!r}")
        checked.append(name)
    return tuple(checked)


def check_passes(passes: object, what: str = "a pipeline is") -> tuple[ModulePass, ...]:
    """Return the passes in `passes`; TypeError with advice for anything else."""
    if isinstance(passes, str | ModulePass | PassPipeline) or not isinstance(passes, Iterable):
        raise TypeError(f"{what} made of a list of passes, not of {brief(passes)}")
    checked: list[ModulePass] = []
    for pass_ in cast(Iterable[object], passes):
        if not isinstance(pass_, ModulePass):
            raise TypeError(f"{brief(pass_)} is not a pass{_instead(pass_)}")
        checked.append(pass_)
    return tuple(checked)


def _instead(given: object) -> str:
    """Return advice on how to make a pass of an object that was given as one."""
    if isinstance(given, type) and issubclass(given, ModulePass):
        return f" but the class of one: write {given.__name__}()"
    if isinstance(given, str):
        return (
            f" but a string: write passline.parse_pipeline({given!r}), or an instance of its class"
        )
    if isinstance(given, PassPipeline):
        return ": write Sequential(pipeline.passes) for a PassPipeline"
    return ""


# Tables that other projects extend, with one entry for each dialect.


T = TypeVar("T")


def dialect_of(op: type[Operation]) -> str:
    """Return the name of the dialect of an operation class."""
    return op.name.partition(".")[0]


_registered_here: set[str] = set()
"""The dialects of which a table got an entry in this process."""


def is_registered_here(dialect: str) -> bool:
    """Return whether an entry of a dialect, in any table, was set in this process: no file tells
    what it is."""
    return dialect in _registered_here


class DialectTable(Generic[T]):
    """A table of facts about the operations of dialects: dialect name -> entry.

    An entry comes from `register`, else from `builtin`, else from the entry point of `group` that
    has the name of the dialect. It is loaded when it is first asked for.
    """

    def __init__(self, group: str, builtin: Mapping[str, Callable[[], T]]) -> None:
        self._group = group
        self._factories = dict(builtin)
        self._loaded: dict[str, T | None] = {}  # None: there is no entry, or it failed to load

    def register(self, dialect: str, entry: T) -> None:
        """Set the entry of a dialect for this process."""
        self._loaded[dialect] = entry
        _registered_here.add(dialect)

    def __contains__(self, dialect: str) -> bool:
        """Return whether a dialect has an entry, without loading it."""
        return (
            dialect in self._factories
            or self._loaded.get(dialect) is not None
            or dialect in self._entry_points
        )

    def names(self) -> set[str]:
        """Return the names that have an entry."""
        loaded = {name for name, entry in self._loaded.items() if entry is not None}
        return {*self._factories, *loaded, *self._entry_points}

    def get(self, dialect: str) -> T | None:
        """Return the entry of a dialect, or None. An entry point that fails to load is ignored with
        a warning.
        """
        if dialect not in self._loaded:
            self._loaded[dialect] = self._load(dialect)
        return self._loaded[dialect]

    def _load(self, dialect: str) -> T | None:
        if dialect in self._factories:
            return self._factories[dialect]()
        if (plugin := self._entry_points.get(dialect)) is None:
            return None
        try:
            return plugin.load()
        except Exception as error:
            import logging

            logging.getLogger(__name__).warning(
                "%s '%s' cannot be loaded: %r", self._group, dialect, error
            )
            return None

    @cached_property
    def _entry_points(self) -> Mapping[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self._group)}
