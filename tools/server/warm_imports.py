"""What a server imports before it forks: the modules that a tool names, and those that runs of it
have imported since.
"""

from __future__ import annotations

import ast
import gc
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, SourceFileLoader
from importlib.util import find_spec
from itertools import islice
from types import ModuleType

from .caller import AT_START
from .dependencies import pure_dependencies
from .entry_points import KnownEntryPoints


class NotWarmError(Exception):
    """A tool that a fork cannot run as a new process would; the message says why."""


REHEARSAL = "rehearse_for_forks"
"""The name of a function that a module of a tool may have: called once, after the module was
imported. It fills tables that any run would fill in the same way, whatever its variables are, other
than those of the server's key. It prints nothing and reads no file of a user.
"""


class RefusedImport(BaseException):
    """An import that must wait for the run. No `except Exception` around an import stops it."""


class WarmImports:
    """The imports of a server, for all of its tools.

    An import belongs in the server if it would do the same in any run. Thus messages, threads of
    Python, and modules of other projects than those that the tools import or require, and their
    plugins, are left to the runs. Names of variables that imports read are noted: a run in which
    one has another value is not warm.
    """

    def __init__(self) -> None:
        self._variables: set[str] = set()
        self._tools: dict[tuple[str, str], NotWarmError | None] = {}
        self._projects: set[str] = set()
        self._tried: set[str] = set()
        self._error: NotWarmError | None = None
        """Why no run is warm any more."""
        self._entry_points = KnownEntryPoints()
        self._encode: Callable[[str], bytes] = vars(os.environ)["encodekey"]

    def prepare(self, script: str, module: str) -> None:
        """Import what a script or module names at its top, once.

        Raises NotWarmError if the imports print something or start a thread, or there is no source.
        """
        tool = script, module
        if tool not in self._tools:
            old = set(sys.modules)
            try:
                with self._watched():
                    for statement in _imports_of(script, module):
                        _run_import(statement, module)
                    self._entry_points.read()
                self._tools[tool] = None
            except NotWarmError as error:
                self._tools[tool] = error
            self._add_projects({name.partition(".")[0] for name in set(sys.modules) - old})
            self._add_projects(self._entry_points.plugins_of(self._projects))
        if (error := self._error or self._tools[tool]) is not None:
            raise error

    def _add_projects(self, projects: set[str]) -> None:
        """Let the server import modules of projects, and of what they require."""
        for project in projects - self._projects - sys.stdlib_module_names:
            self._projects |= {project, *pure_dependencies(project)}

    def learn(self, names: Iterable[str]) -> None:
        """Import modules that a run has imported beyond those of the server."""
        new = [name for name in names if name not in sys.modules and name not in self._tried]
        self._tried.update(new)
        if not new:
            return
        sys.meta_path.insert(0, finder := _Refusing(self._projects))
        try:
            with self._watched():
                for name in new:
                    try:
                        import_module(name)
                    except (Exception, RefusedImport):  # then runs import it, and report the error
                        continue
                for name in new:
                    self._rehearse(name)
        except NotWarmError as error:
            self._error = error
        finally:
            sys.meta_path.remove(finder)

    def _rehearse(self, name: str) -> None:
        """Call the rehearsal of a module, if it has one; if it fails, runs fill the tables."""
        module = sys.modules.get(name)
        if module is None or (function := vars(module).get(REHEARSAL)) is None:
            return
        setattr(os.environ, "encodekey", self._encode)
        try:
            function()
        except (Exception, RefusedImport):
            return
        finally:
            setattr(os.environ, "encodekey", self._note)

    @contextmanager
    def _watched(self) -> Generator[None]:
        """Note the variables that imports read.

        Raises NotWarmError if they print something, or start a thread.
        """
        written = os.memfd_create("imports")  # `tempfile` would keep the folder of this run
        saved = [os.dup(1), os.dup(2)]
        setattr(os.environ, "encodekey", self._note)
        gc.disable()  # nothing that is imported is garbage
        try:
            for number in (1, 2):
                os.dup2(written, number)
            yield
            sys.stdout.flush()
            sys.stderr.flush()
            if os.fstat(written).st_size:
                raise NotWarmError("its imports print something")
        finally:
            gc.enable()
            gc.freeze()
            setattr(os.environ, "encodekey", self._encode)
            for number, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, number)
            for number in (written, *saved):
                os.close(number)
        if threading.active_count() > 1:
            raise NotWarmError("its imports start a thread")

    def _note(self, name: str) -> bytes:
        encoded = self._encode(name)
        if not encoded.startswith(AT_START):  # those are part of the key of the server
            self._variables.add(name)
        return encoded

    def other_variable(self, environment: dict[bytes, bytes]) -> str | None:
        """Return the name of a variable that imports have read, and that has another value in
        `environment`; None if there is none.
        """
        for name in self._variables:
            if os.environ.get(name) != _decoded(environment.get(os.fsencode(name))):
                return name
        return None

    def shadowed(self, folder: str) -> str | None:
        """Return the name of a module that was imported from elsewhere, but that a new process
        would find in `folder`, where it looks first; None if there is none.
        """
        if folder == os.path.dirname(sys.executable):
            return None
        try:
            entries = os.listdir(folder or ".")
        except OSError:
            return None
        for entry in entries:
            name = entry.partition(".")[0]
            if (module := sys.modules.get(name)) is not None and name != "__main__":
                place = os.path.join(folder, entry)
                found = getattr(module, "__file__", None) or ""
                if found != place and not found.startswith(place + os.sep):
                    if os.path.isdir(place) or entry.endswith(".py"):
                        return name
        return None


def _decoded(value: bytes | None) -> str | None:
    return None if value is None else os.fsdecode(value)


class _Refusing:
    """A finder, asked first, that refuses modules that are not pure Python of the standard library
    or of the tools' own projects. Extension modules start threads and keep state that forks share.
    """

    def __init__(self, projects: set[str]) -> None:
        self._allowed = projects
        self._asking = False

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if self._asking:
            return None
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:
            return None
        self._asking = True
        try:
            spec = find_spec(name)
        finally:
            self._asking = False
        if spec is not None and (
            top not in self._allowed or (spec.origin or "").endswith(tuple(EXTENSION_SUFFIXES))
        ):
            raise RefusedImport(name)
        return None


def _imports_of(script: str, module: str) -> Iterator[ast.stmt]:
    """Yield the imports at the top of a tool."""
    if not script:
        spec = find_spec(module)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{module}.__main__")
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            raise NotWarmError("it has no source")
        script = spec.loader.path
    try:
        with open(script, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError) as error:
        raise NotWarmError("it cannot be read as Python") from error
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement


def _run_import(statement: ast.stmt, module: str) -> None:
    """Run an import alone; if it fails, the run will do so, too."""
    code = compile(ast.Module([statement], []), "<imports>", "exec", dont_inherit=True)
    package = module.rpartition(".")[0]
    try:
        exec(code, {"__name__": module or "script", "__package__": package})
    except Exception:
        return


def imported_since(count: int) -> list[str]:
    """Return the names of modules imported since there were `count`, if a server can import
    them: found by name, in a file of Python.

    It looks at the newest alone: what a fork looks at, it has to copy.
    """
    newest = islice(reversed(sys.modules), len(sys.modules) - count)
    return [name for name in newest if _is_importable(name)][::-1]


def _is_importable(name: str) -> bool:
    spec: ModuleSpec | None = getattr(sys.modules[name], "__spec__", None)
    return (
        spec is not None
        and spec.name == name
        and spec.has_location
        and (spec.origin or "").endswith(".py")
    )
