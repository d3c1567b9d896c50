"""The names of passes: spelling, comparison, places of classes, and the nearest valid name."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from linecache import getlines
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

# The names of passes: how they are spelled and compared, and the nearest valid name, with which a
# message about an unknown name ends.


# Cached: a name is compared several times for each pass that runs.
@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """Return the key that all spellings of a pass name have in common: `tir.UnrollLoop`,
    `tir-unroll-loop` and TVM's full name `tir.transform.UnrollLoop` have one key, as have
    `fold-constant` and `relay._transform.FoldConstant`.
    """
    own = rf"({'|'.join(_namespaces)})(?:\._?transform)?|" if _namespaces else "()"
    # A name follows that TVM writes with a capital.
    namespace = rf"(?:tvm\.)?(?:{own}_?transform)\.(?=[A-Z])"
    stays = re.sub(namespace, lambda found: f"{_namespaces.get(found[1] or '', '')}.", name)
    return re.sub(r"[-._]", "", stays).casefold()


_namespaces: dict[str, str] = {}


def register_namespace(namespace: str, stays: str = "") -> None:
    """Register a namespace of TVM, such as `relax` in `relax.transform.FuseOps`. Names of passes
    leave it out, or have `stays` in its place."""
    _namespaces[namespace] = stays
    name_key.cache_clear()


class PassName(str):
    """The name of a pass: a string that is equal to all spellings of the name, as `FuseOps`.

    Its hash is that of its own spelling, which alone sets and dicts find.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        if str.__eq__(self, other) or (key := name_key(str(self))) == name_key(str(other)):
            return True
        if other.islower():
            return False  # only names of other projects have capitals
        return key == pass_key(str(other))

    def __ne__(self, other: object) -> bool:
        return NotImplemented if not isinstance(other, str) else not self == other

    __hash__ = str.__hash__


def kebab_case(name: str) -> str:
    """Return TVM's spelling or a Python name in kebab-case: `FoldConstant` becomes
    `fold-constant`.
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return re.sub(r"[-._\s]+", "-", words).strip("-").lower()


# The names of another project


class ForeignNames(Protocol):
    """The names that another project has for passes and config keys: see `foreign_names.py`."""

    def same(self, name: str, bare: bool) -> str | None:
        """Return the pass that a name stands for; with `bare` also that of a class."""
        ...

    def pass_hint(self, name: str, candidates: Iterable[str], before: str) -> str:
        """Return the end of a message about an unknown pass; empty text if the name is not there,
        or its counterpart is none of the candidates, each of which `before` precedes."""
        ...

    def key_hint(self, name: str) -> str:
        """Return what a message says about an unknown config key; empty if it is not there."""
        ...


foreign_names: list[Callable[[], ForeignNames]] = []


def register_foreign_names(load: Callable[[], ForeignNames]) -> None:
    """Register a function that returns the names of another project. It is called when a name is
    not known."""
    foreign_names.append(cache(load))


def pass_key(name: str, bare: bool = False) -> str:
    """Return the key of the pass that another project calls `name`; `name_key` for others. With
    `bare` the name may be that of a class without its namespace, which may be any project's."""
    found = (load().same(name, bare) for load in foreign_names)
    return name_key(next(filter(None, found), name))


def find_name(name: str, names: Mapping[str, str]) -> str | None:
    """Return the pass called `name`, in any spelling or as another project calls it, in a table by
    `name_key`; None if it is not there."""
    own = names.get(name_key(name))
    # A full name of another project, as `relax.transform.TopologicalSort`, is not one of ours.
    if own is not None and ("." not in name or name.islower()):
        return own
    return names.get(pass_key(name, bare=True), own)


def unknown_pass(name: str, candidates: Iterable[str], before: str = "") -> str:
    """Return the end of a message about an unknown pass: as `did_you_mean`, or the counterpart of
    a pass of another project, or why there is none. `before` precedes each of the candidates."""
    candidates = [*candidates]
    hints = (load().pass_hint(name, candidates, before) for load in foreign_names)
    if hint := next(filter(None, hints), ""):
        return hint
    closest = closest_name(name, candidates)
    return f", did you mean '{before}{closest}'?" if closest else ""


def key_hint(name: str) -> str:
    """Return what a message says about a config key of another project; empty for other keys."""
    return next(filter(None, (load().key_hint(name) for load in foreign_names)), "")


# The nearest name


def closest_name(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the candidate that resembles `name` most, or None if none is as close as `cutoff`: 1
    for equal names, 0 for names without a common letter."""
    from difflib import get_close_matches

    keys = {name_key(candidate): candidate for candidate in candidates}
    found = get_close_matches(name_key(name), keys, n=1, cutoff=cutoff)
    return keys[found[0]] if found else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: `, did you mean 'x'?`, or empty text."""
    closest = closest_name(name, candidates)
    return f", did you mean '{closest}'?" if closest else ""


def nearest_file(path: Path) -> str:
    """Return the end of a message about a file that does not exist: that its directory does not,
    or the nearest name in it."""
    if not path.parent.is_dir():
        return f": there is no directory '{path.parent}'"
    try:
        return did_you_mean(path.name, os.listdir(path.parent))
    except OSError:  # a directory that cannot be read
        return ""


_OF_TVM = {
    "_transform": "passes are in passline.transform",
    "DataflowBlockPass": "write a FunctionPass: every block is a dataflow block",
    "build_config": "write PassContext(opt_level=3)",
    "dataflowblock_pass": "write @function_pass: every block is a dataflow block",
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
        found = (unknown_pass(name, offered, before) for before, offered in names.items())
        message += next(filter(None, found), "")
    # Without the module, of which Python itself would suggest a name as well.
    return AttributeError(message, name=name, obj=None)


# Rounding: how a pass may change the results of operations on floats.


Change: TypeAlias = Literal[
    "sign of zero may change",
    "infinite may become finite",
    "infinite may become NaN",
    "NaN may become infinite",
    "finite may become infinite",
    "finite may become NaN",
]
"""A change of a result beyond its last digits."""


@dataclass(frozen=True)
class Rounding:
    """The changes that a pass may make to a result of floats; `rounds` of a pass that may make any.

    An operation may be rounded in another place, by at most `units` units in the last place.
    `changes` are those of special values. The table of `docs/relax.md` says which rewrite of the
    pass makes them.
    """

    units: int = 16
    changes: tuple[Change, ...] = ("sign of zero may change", "infinite may become NaN")

    @staticmethod
    def of(rounds: bool | Rounding) -> Rounding | None:
        """Return the rounding that `rounds` of a pass stands for: the default one for True."""
        return rounds if isinstance(rounds, Rounding) else Rounding() if rounds else None

    @property
    def text(self) -> str:
        """The changes in words."""
        units = f"floats may be rounded in other places, by {self.units} units in the last place"
        return "; ".join([units, *self.changes])

    def joined(self, other: Rounding | None) -> Rounding:
        """Return what one pass after another one may do."""
        if other is None:
            return self
        changes = dict.fromkeys(self.changes + other.changes)
        return Rounding(max(self.units, other.units), (*changes,))


# Places of classes: `module:name`, imported on first use.


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


def _source(module: str) -> str:
    """Return the source of an imported module.

    pytest loads distributions that have a plugin by a loader of its own, without `get_source`.
    """
    loaded = sys.modules[module]
    return "".join(getlines(loaded.__file__ or "", vars(loaded)))


@cache
def typed_places(module: str) -> dict[str, str]:
    """Return the places of the names that `module` imports under `if TYPE_CHECKING:`.

    They are read from its source, as `lazy_loader.attach_stub` reads a stub: type checkers and the
    program have one list. `*` stands for all names of a module.
    """
    places: dict[str, str] = {}
    for home, imported in _TYPED_IMPORT.findall(_source(module)):
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
            if find_spec(f"{package}.{name}"):  # `from package import module` asks for a name first
                raise AttributeError(name)
            classes = {name_key(each).removeprefix("tir"): each for each in places}
            if (same := pass_key(name, bare=True)) != name_key(name):
                if (found := classes.get(same.removeprefix("tir"))) is not None:
                    return load(found)
            offered = {"": names}
            if also:
                offered[f"{module}.{also}."] = import_module(f".{also}", package).__all__
            raise missing_name(module, name, offered)
        found = load_place(places[name], package)
        setattr(sys.modules[module], name, found)
        return found

    return names, load, lambda: [*names]
