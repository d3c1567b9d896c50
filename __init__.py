"""Passline: a pass infrastructure for compilers on xDSL, and a compiler from ONNX to machine code.

    >>> import passline
    >>> module = passline.load("model.onnx")  # or "x.mlir", or the text of IR
    >>> faster = passline.optimize(module, level=3)
    >>> (result,) = passline.run(faster, array)  # on numpy
    >>> function = passline.compile(module)  # machine code
    >>> (result,) = function(array)

Passes are in `passline.passes` (`FoldConstant`, ...), instruments in `passline.instruments`; in
TVM's spelling both are in `passline.transform` and `passline.instrument`. Every name is imported
when it is first used. `docs/python.md` shows them at work; `passline.passmanager` has the rest of
the infrastructure, and `passline.tools` the commands.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        dialects,
        instrument,
        instruments,
        passes,
        passmanager,
        tools,
        transform,
    )
    from .compiler import (
        analysis,
        frontends,
        interpreters,
        kernels,
    )
    from .compiler.execution import CompiledFunction, compile, optimize, run
    from .compiler.source import load, save
    from .compiler.tuning import Tuning, tune
    from .passmanager import (
        Fixpoint,
        FunctionPass,
        ModulePass,
        Pass,
        PassContext,
        PassInfo,
        PassInstrument,
        PasslineError,
        PatternPass,
        Sequential,
        function_pass,
        module_pass,
        parse_pipeline,
        pass_instrument,
        register_pass,
    )
    from .passmanager.difference import Diff, diff
    from .passmanager.notebook.display import load_ipython_extension, show
    from .tools.corpus import corpus

__all__ = [
    "CompiledFunction",
    "Diff",
    "Fixpoint",
    "FunctionPass",
    "ModulePass",
    "Pass",
    "PassContext",
    "PassInfo",
    "PassInstrument",
    "PasslineError",
    "PatternPass",
    "Sequential",
    "Tuning",
    "__version__",
    "analysis",
    "compile",
    "corpus",
    "dialects",
    "diff",
    "frontends",
    "function_pass",
    "instrument",
    "instruments",
    "interpreters",
    "kernels",
    "load",
    "load_ipython_extension",
    "module_pass",
    "optimize",
    "parse_pipeline",
    "pass_instrument",
    "passes",
    "passmanager",
    "register_pass",
    "run",
    "save",
    "show",
    "tools",
    "transform",
    "tune",
]

__version__ = "0.1.0"
"""The version of this package; that of `pyproject.toml`."""

_HOMES = {
    "CompiledFunction": "compiler.execution",
    "Diff": "passmanager.difference",
    "Tuning": "compiler.tuning",
    "compile": "compiler.execution",
    "diff": "passmanager.difference",
    "load": "compiler.source",
    "load_ipython_extension": "passmanager.notebook.display",
    "optimize": "compiler.execution",
    "run": "compiler.execution",
    "save": "compiler.source",
    "show": "passmanager.notebook.display",
    "tune": "compiler.tuning",
}
"""The modules of functions; other names are in `passmanager`, or modules."""
_MODULES = {
    "analysis.calls.call_graph": "passes.generic.analysis.call_graph",
    "analysis.calls.purity": "passes.generic.analysis.purity",
    "analysis": "compiler.analysis",
    "corpus": "tools.corpus.corpus",
    "frontends": "compiler.frontends",
    "interpreters": "compiler.interpreters",
    "kernels": "compiler.kernels",
    "runtime": "compiler.compile.runtime",
    "tools.native": "compiler.native",
}
"""The modules that have another name for users than their place, with those below them."""


class _Names(MetaPathFinder, Loader):
    """The finder of modules under the names of `_MODULES`: `passline.kernels.builder` is the same
    module as `passline.compiler.kernels.builder`.
    """

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.startswith(f"{__name__}.") and _place(name.removeprefix(f"{__name__}.")):
            return ModuleSpec(name, self)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        place = _place(spec.name.removeprefix(f"{__name__}."))
        module = import_module(f"{__name__}.{place}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # its own, which the import has replaced


def _place(name: str) -> str:
    """Return the place of a module that has another name; empty text for other modules."""
    for known, place in _MODULES.items():
        if name == known or name.startswith(f"{known}."):
            return place + name.removeprefix(known)
    return ""


class _Missing(MetaPathFinder):
    """The finder that is asked after all others: if a module of Passline imports a package that is
    not installed, the error says what to install. Imports of other projects fail as ever.
    """

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> None:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        while frame.f_back and _module_of(frame).partition(".")[0] == "importlib":
            frame = frame.f_back
        if _module_of(frame).startswith(f"{__name__}."):
            from .passmanager.registration.installation import report_missing

            report_missing(name)


def _module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    return frame.f_globals.get("__name__", "")


# First: the finder of files would find the files, and make second modules of them.
sys.meta_path.insert(0, _Names())
sys.meta_path.append(_Missing())

if not TYPE_CHECKING:  # a type checker would take any name for one that exists

    def __getattr__(name: str) -> object:
        if name not in __all__:
            from .passes import __all__ as of_passes
            from .passmanager.registration.missing_names import missing_name

            raise missing_name(__name__, name, {"": __all__, "passline.passes.": of_passes})
        home = import_module(f".{_HOMES.get(name, 'passmanager')}", __name__)
        if name not in _HOMES and name not in home.__all__:
            return import_module(f".{name}", __name__)
        found = globals()[name] = getattr(home, name)
        return found

    def __dir__() -> list[str]:
        return sorted(__all__)
