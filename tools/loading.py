"""The option --load, and the passes that a file may not ask for."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target

from ..passmanager.anchors import Anchored
from ..passmanager.errors import PasslineError
from ..passmanager.names import name_key
from ..passmanager.options import pass_options
from ..passmanager.registry import Installed, installed
from ..passmanager.releases.targets import Frontend
from ..passmanager.runner import info_of, nested_passes

# The option --load: dialects, passes, targets and frontends of a Python file, which needs no entry
# point.


OPTION = "--load"
_FLAGS = (OPTION, "-load")


class LoadedFileError(PasslineError):
    """The error for a file of --load that raises, with the place of that."""

    def __init__(self, message: str, place: FileLineColLoc) -> None:
        super().__init__(message)
        self.place = place


def loaded_files(args: Sequence[str]) -> Iterator[str]:
    """Yield the values of --load in a command line before it is parsed: what a file offers may
    occur in it."""
    for i, arg in enumerate(args):
        flag, equals, value = arg.partition("=")
        if arg == "--":
            return
        if flag in _FLAGS and equals:
            yield value
        elif flag in _FLAGS and i + 1 < len(args):
            yield args[i + 1]


def load_file(name: str) -> None:
    """Register what the Python file `name` defines, in the place of what has its names already.

    Errors: OSError for a file that cannot be read; LoadedFileError for one that raises;
    PasslineError for one that defines neither a dialect nor a pass, target or frontend.
    """
    key = (os.path.realpath(name), os.stat(name).st_mtime_ns)
    if key not in _offers:
        _offers[key] = _offer_of(_run(name), name)
    offer, registry = _offers[key], installed()
    for pass_name, factory in offer.passes.items():
        registry.add_pass(pass_name, factory, os.path.basename(name))
    registry.dialects |= offer.dialects
    registry.targets |= offer.targets
    registry.frontends |= offer.frontends


_offers: dict[tuple[str, int], Installed] = {}
"""What the files offer that have been loaded, by name and time of modification."""


def _run(name: str) -> ModuleType:
    """Run a Python file as a module, whose name is that of the file if no other module has it."""
    path = Path(name).resolve()
    module_name = path.stem if path.stem not in sys.modules else str(path)
    spec = spec_from_loader(module_name, loader := SourceFileLoader(module_name, str(path)))
    assert spec is not None
    module = sys.modules[module_name] = module_from_spec(spec)
    if str(path.parent) not in sys.path:  # at the end: it may import the files beside it
        sys.path.append(str(path.parent))
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise _located(error, name, str(path)) from error
    return module


def _located(error: BaseException, name: str, path: str) -> PasslineError:
    """Return the error about a file that raised `error`, with the last line of it that ran."""
    if isinstance(error, OSError) and error.filename == path:
        raise OSError(error.errno, error.strerror, name)
    said = f"{type(error).__name__}: {error}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path and error.lineno is not None:
        line, column = error.lineno, error.offset or 1
        said = f"{type(error).__name__}: {error.msg}"
    elif frames:
        line, column = frames[-1].lineno or 1, (frames[-1].colno or 0) + 1
    else:
        return PasslineError(f"'{name}': {said}")
    return LoadedFileError(said, FileLineColLoc(StringAttr(name), IntAttr(line), IntAttr(column)))


def _offer_of(module: ModuleType, file: str) -> Installed:
    """Return what a module defines: what it imports counts only as a part of a `Universe`."""
    offer = Installed()
    values = [*vars(module).values()]
    for value in values:
        if isinstance(value, Dialect):
            offer.dialects[value.name] = _returning(value)
        elif isinstance(value, Universe):
            for name, factory in value.all_passes.items():
                offer.add_pass(name, factory)
            offer.dialects |= value.all_dialects
            offer.targets |= value.all_targets
            offer.frontends |= getattr(value, "all_frontends", {})
    for cls in _classes(values, module.__name__, ModulePass):
        offer.add_pass(cls.name, _returning(cls))
    offer.targets |= {c.name: _returning(c) for c in _classes(values, module.__name__, Target)}
    offer.frontends |= {c.name: _returning(c) for c in _classes(values, module.__name__, Frontend)}
    if not (offer.passes or offer.dialects or offer.targets or offer.frontends):
        raise PasslineError(f"'{file}' defines no dialect, pass, target or frontend")
    return offer


Kind = TypeVar("Kind")


def _classes(values: Iterable[object], module: str, kind: type[Kind]) -> Iterator[type[Kind]]:
    """Yield the named classes of a kind that a module defines, also those of its instances: a
    decorator makes an instance of a pass out of a function."""
    for value in values:
        cls = value if isinstance(value, type) else type(value)
        if issubclass(cls, kind) and cls.__module__ == module and not inspect.isabstract(cls):
            if isinstance(getattr(cls, "name", None), str):
                yield cls


def _returning(value: Kind) -> Callable[[], Kind]:
    return lambda: value


# The passes that a file may not ask for: those that reach outside of the module.


_OUTSIDE: Mapping[str, str] = {
    "mlir-opt": "runs a program",
    "alter-op-layout.hooks": "imports Python modules",
    "apply-eqsat-pdl.pdl-file": "reads another file",
    "apply-eqsat-pdl-interp.pdl-interp-file": "reads another file",
    "apply-pdl.pdl-file": "reads another file",
    "apply-pdl-interp.pdl-interp-file": "reads another file",
    "eqsat-add-costs.cost-file": "reads another file",
}
"""A pass, or an option of it that is set -> what the pass then does outside of the module."""


def check_passes_of_file(passes: Iterable[ModulePass], file: str, pipeline: str) -> None:
    """Raise PasslineError if one of `passes`, which the text of `file` names, reaches outside of
    the module: whoever sends a file must not make this process run programs."""
    for pass_ in passes:
        for nested in nested_passes(pass_):
            inner = nested.pass_ if isinstance(nested, Anchored) else nested
            if (deed := _deed_outside(inner)) is not None:
                raise PasslineError(
                    f"'{file}': pass '{info_of(inner).text}' {deed}, which a pipeline in a file "
                    f"may not do; if you trust it, give the pipeline yourself: -p '{pipeline}' in "
                    "place of --run-reproducer"
                )


def _deed_outside(pass_: ModulePass) -> str | None:
    """Return what a pass does outside of the module, or None."""
    key = name_key(info_of(pass_).name)
    given = {option.name for option in pass_options(type(pass_)) if getattr(pass_, option.field)}
    for known, deed in _OUTSIDE.items():
        name, _, option = known.partition(".")
        if name_key(name) == key and (not option or option in given):
            return deed
    return None
