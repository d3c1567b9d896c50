"""The dialects and passes that the server knows: of the environment, of files, or of a tool."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.xdsl_opt_main import xDSLOptMain

from ...passmanager.errors import PasslineError
from ...passmanager.names import did_you_mean
from ...passmanager.registry import installed, make_ir_context
from ..loading import load_file

PassFactory = Callable[[], type[ModulePass]]


class KnownDialects:
    """The context in which files are read, and the command that runs passes on them.

    `loads` are files of --load; `tool` is the command of a project, or `module:Class` of its
    `xDSLOptMain`, whose dialects and passes are taken in the place of those of the environment.
    Errors: PasslineError for a tool that does not exist or is none of xDSL's.
    """

    def __init__(
        self, loads: Sequence[str] = (), tool: str = "", *, allow_unregistered: bool = False
    ) -> None:
        for name in loads:
            load_file(name)
        self.loads, self.tool = tuple(loads), tool
        self.allow_unregistered = allow_unregistered
        self._main = _main_of(tool) if tool else None
        if self._main is None:
            self._registered = make_ir_context(allow_unregistered=False)
            self.passes: Mapping[str, PassFactory] = installed().passes
        else:
            self._registered = self._main.ctx
            self._registered.allow_unregistered = False
            self.passes = cast("Mapping[str, PassFactory]", self._main.available_passes)

    @cached_property
    def _unregistered(self) -> Context:
        ctx = self._registered.clone()
        ctx.allow_unregistered = True
        return ctx

    def context(self, allow_unregistered: bool = False) -> Context:
        """Return the context for a file, which may allow dialects that are not registered."""
        allows = allow_unregistered or self.allow_unregistered
        return self._unregistered if allows else self._registered

    @property
    def command(self) -> list[str]:
        """The command that runs passes, and its options that the server was given."""
        if not self.tool:
            loads = [f"--load={name}" for name in self.loads]
            return [sys.executable, "-m", "passline.tools.opt", *loads]
        if ":" in self.tool:
            module, _, name = self.tool.partition(":")
            code = f"import {module} as tool; tool.{name}().run()"
            return [sys.executable, "-c", code]
        return [_beside_python(self.tool)]

    @property
    def is_passline(self) -> bool:
        """Whether the command has the options of passline-opt."""
        from ..hooks import XDSLHooks

        return self._main is None or isinstance(self._main, XDSLHooks)

    # Operations

    @cached_property
    def _classes(self) -> dict[str, type[Operation] | None]:
        return {}

    def op_class(self, name: str) -> type[Operation] | None:
        """Return the class of the operation of a name, also of one that is written without its
        dialect; None if it is not registered."""
        if name not in self._classes:
            self._classes[name] = self._look_up(name)
        return self._classes[name]

    def _look_up(self, name: str) -> type[Operation] | None:
        for full in (name,) if "." in name else (f"builtin.{name}", f"func.{name}"):
            try:
                found = self._registered.get_optional_op(full)
            except Exception:  # of the import of a dialect
                return None
            if found is not None and not issubclass(found, UnregisteredOp):
                return found
        return None

    def is_isolated(self, name: str) -> bool:
        """Return whether the regions of the operation of a name use no value from outside."""
        op = self.op_class(name)
        return op is not None and op.has_trait(IsolatedFromAbove, value_if_unregistered=False)

    def defines_symbol(self, name: str) -> bool:
        """Return whether the operation of a name defines a symbol; guessed of its name if it is not
        registered."""
        if (op := self.op_class(name)) is None:
            return name.rpartition(".")[2] in ("func", "module", "global")
        has_symbol = op.has_trait(SymbolOpInterface, value_if_unregistered=False)
        return has_symbol or name.rpartition(".")[2] == "module"

    def dialect_names(self) -> list[str]:
        """Return the names of all dialects."""
        return sorted(self._registered.registered_dialect_names)

    def operations(self, dialect: str) -> list[type[Operation]]:
        """Return the operations of a dialect; none if it is not known, or fails to load."""
        try:
            found = self._registered.get_optional_dialect(dialect)
        except Exception:
            return []
        return [] if found is None else [*found.operations]

    def types(self, dialect: str) -> list[str]:
        """Return the names of the types of a dialect, without those that are no text of a file."""
        from xdsl.ir import TypeAttribute

        try:
            found = self._registered.get_optional_dialect(dialect)
        except Exception:
            return []
        attributes = [] if found is None else [*found.attributes]
        return sorted(a.name for a in attributes if issubclass(a, TypeAttribute))


def _beside_python(tool: str) -> str:
    """Return the path of a command in the environment of this Python, or its name."""
    import shutil
    from pathlib import Path

    return shutil.which(tool, path=str(Path(sys.executable).parent)) or tool


def _main_of(tool: str) -> xDSLOptMain:
    """Return the tool, made without options."""
    module_name, colon, name = tool.partition(":")
    if not colon:
        points = entry_points(group="console_scripts")
        found = next((point for point in points if point.name == tool), None)
        if found is None:
            hint = did_you_mean(tool, [point.name for point in points])
            raise PasslineError(f"--tool: no command '{tool}' is installed here{hint}")
        module_name, _, name = found.value.partition(":")
    try:
        module = import_module(module_name)
        value = getattr(module, name.partition(".")[0].strip(), None)
        candidates = [value, *vars(module).values()]
        mains = [v for v in candidates if isinstance(v, type) and issubclass(v, xDSLOptMain)]
        # The class of the tool itself: the last one of those that derive from each other.
        mains.sort(key=lambda cls: (cls is not value, -len(cls.__mro__)))
        if mains:
            return mains[0](args=[])
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}"
        raise PasslineError(f"--tool: '{tool}' cannot be made: {said}") from error
    raise PasslineError(f"--tool: '{module_name}' has no class that derives from xDSLOptMain")
