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

# pyright: reportUnusedImport=false

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import dialects, dpl, instrument, instruments, passes, passmanager, tools, transform  # noqa: F401  # a submodule needs no alias to be seen
    from .compiler import analysis as analysis
    from .compiler import frontends as frontends
    from .compiler import interpreters as interpreters
    from .compiler import kernels as kernels
    from .compiler.execution import CompiledFunction as CompiledFunction
    from .compiler.execution import compile as compile
    from .compiler.execution import optimize as optimize
    from .compiler.execution import run as run
    from .compiler.memory_estimate import MemoryEstimate as MemoryEstimate
    from .compiler.memory_estimate import estimate_memory as estimate_memory
    from .compiler.source import load as load
    from .compiler.source import save as save
    from .compiler.tuning import Tuning as Tuning
    from .compiler.tuning import tune as tune
    from .dialects.relax.block_builder import BlockBuilder as BlockBuilder
    from .dialects.target import Target as Target
    from .passes.pipelines_by_name import get_pipeline as get_pipeline
    from .passes.pipelines_by_name import register_pipeline as register_pipeline
    from .passmanager import BackwardAnalysis as BackwardAnalysis
    from .passmanager import BranchTrait as BranchTrait
    from .passmanager import Condition as Condition
    from .passmanager import ConditionError as ConditionError
    from .passmanager import DenseBackwardAnalysis as DenseBackwardAnalysis
    from .passmanager import DenseForwardAnalysis as DenseForwardAnalysis
    from .passmanager import Fixpoint as Fixpoint
    from .passmanager import ForwardAnalysis as ForwardAnalysis
    from .passmanager import FunctionPass as FunctionPass
    from .passmanager import ModulePass as ModulePass
    from .passmanager import Pass as Pass
    from .passmanager import PassContext as PassContext
    from .passmanager import PassInfo as PassInfo
    from .passmanager import PassInstrument as PassInstrument
    from .passmanager import PasslineError as PasslineError
    from .passmanager import PatternPass as PatternPass
    from .passmanager import RegionBranchTrait as RegionBranchTrait
    from .passmanager import Sequential as Sequential
    from .passmanager import condition as condition
    from .passmanager import function_pass as function_pass
    from .passmanager import module_pass as module_pass
    from .passmanager import no_op_of as no_op_of
    from .passmanager import only_dialects as only_dialects
    from .passmanager import parse_pipeline as parse_pipeline
    from .passmanager import pass_instrument as pass_instrument
    from .passmanager import register_pass as register_pass
    from .passmanager import static_shapes as static_shapes
    from .passmanager.difference import Diff as Diff
    from .passmanager.difference import assert_equal as assert_equal
    from .passmanager.difference import diff as diff
    from .passmanager.notebook import load_ipython_extension as load_ipython_extension
    from .passmanager.notebook import show as show
    from .tools.corpus import corpus as corpus

    __all__: list[str]
else:
    # `import passline` alone imports no other module of it.
    def __getattr__(name: str) -> object:
        from .passmanager.names import lazy_names

        hooks = lazy_names(__name__, ["__version__"], also="passes")
        globals().update(zip(("__all__", "__getattr__", "__dir__"), hooks, strict=True))
        return getattr(sys.modules[__name__], name)

    def __dir__() -> list[str]:
        return sys.modules[__name__].__all__


__version__ = "0.1.0"
"""The version of this package; that of `pyproject.toml`."""

_MODULES = {
    "analysis.calls": "passes.generic",
    "analysis": "compiler.analysis",
    "corpus": "tools.corpus.corpus",
    "frontends": "compiler.frontends",
    "interpreters": "compiler.interpreters",
    "kernels": "compiler.kernels",
    "runtime": "compiler.compile.runtime",
    "tools.native": "compiler.native",
}
"""The modules that have another name for users than their place, with those below them."""


class _Names:
    """The finder of modules under the names of `_MODULES`: `passline.kernels.builder` is the same
    module as `passline.compiler.kernels.builder`.
    """

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.startswith(f"{__name__}.") and _place(name.removeprefix(f"{__name__}.")):
            return ModuleSpec(name, self)  # pyright: ignore[reportArgumentType]
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


class _Missing:
    """The finder that is asked after all others: if a module of Passline imports a package that is
    not installed, the error says what to install. Imports of other projects fail as ever.
    """

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> None:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        while frame.f_back and _module_of(frame).partition(".")[0] == "importlib":
            frame = frame.f_back
        if _module_of(frame).startswith(f"{__name__}."):
            from .passmanager.errors import report_missing

            report_missing(name)


def _module_of(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    return frame.f_globals.get("__name__", "")


# No subclasses of `MetaPathFinder`: `importlib.abc` takes longer to import than Python to start.
# First: the finder of files would find the files, and make second modules of them.
sys.meta_path.insert(0, _Names())
sys.meta_path.append(_Missing())
