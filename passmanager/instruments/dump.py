"""The instrument that writes the IR after each pass to numbered files."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp

from ..instrument import PassInstrument
from ..ir.text.printer import PLAIN, PrintStyle
from ..output.files import replace_file
from ..registry import PassInfo
from ..run import PassFrame, Run
from .printing import ir_text

_log = logging.getLogger(__name__)


@dataclass
class _Dump:
    """The state of the dump of one run: its folder, and the version of the module in the last
    file.
    """

    folder: Path
    version: int
    opened: list[tuple[PassFrame, Path]] = field(default_factory=list[tuple[PassFrame, Path]])
    """The running pipelines inside the outermost one that have a folder."""


class DumpIR(PassInstrument):
    """An instrument that writes the module to a file at the start of a run and after each pass that
    changed it or failed.

    The first line of a file names the pass. Passes in a nested pipeline are in a folder. Numbers go
    on from run to run; a run that starts while another is active, in another thread or on another
    module, has a folder. `refresh` first deletes `dump_dir`, unless it contains other files, which
    is logged as a warning. A file that cannot be written does not stop the passes; the first such
    failure is raised as an OSError when the context is left. Source: `tvm.instrument.DumpIR`.
    """

    def __init__(
        self, dump_dir: Path | str, refresh: bool = False, style: PrintStyle = PLAIN
    ) -> None:
        self.dump_dir = Path(dump_dir)
        self.style = style
        self._numbers = count()
        self._runs: WeakKeyDictionary[Run, _Dump] = WeakKeyDictionary()
        self._lock = Lock()
        self._failure: OSError | None = None
        if refresh and self.dump_dir.exists():
            _delete(self.dump_dir)

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        run.watch()
        if run not in self._runs:
            folder = self._start(run, info)
            self._write(folder, "initial", f"// before '{info.text}'", ir_text(module, self.style))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        dump = self._runs.get(run)
        if dump is not None and not info.composite and run.version != dump.version:
            comment = f"// after '{info.text}'{run.frames[-1].place}"
            self._write(self._folder(run, dump), info.name, comment, ir_text(module, self.style))
            dump.version = run.version
        self._end(run)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        run = Run.current()
        dump = self._runs.get(run)
        if dump is not None and not info.composite:
            why = f"{type(error).__name__}: {error}".partition("\n")[0]
            comment = f"// after '{info.text}'{run.frames[-1].place}, which failed: {why}"
            text = ir_text(module, self.style, trusted=False)
            self._write(self._folder(run, dump), info.name, comment, text, "_FAILED")
            dump.version = run.version
        self._end(run)

    def finalize_pass_ctx(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    # Folders and files

    def _start(self, run: Run, info: PassInfo) -> Path:
        with self._lock:
            alone = not any(other.frames for other in self._runs)
            folder = self.dump_dir if alone else self.dump_dir / self._numbered(info.name)
            self._runs[run] = _Dump(folder, run.version)
        return folder

    def _end(self, run: Run) -> None:
        if len(run.frames) == 1:
            with self._lock:
                self._runs.pop(run, None)

    def _folder(self, run: Run, dump: _Dump) -> Path:
        """Return the folder for the running pass; a nested pipeline gets its number with its first
        file.
        """
        folder, opened = dump.folder, dump.opened
        for depth, frame in enumerate(run.frames[1:-1]):
            if depth == len(opened) or opened[depth][0] is not frame:
                opened[depth:] = [(frame, folder / self._numbered(frame.info.name))]
            folder = opened[depth][1]
        return folder

    def _numbered(self, name: str) -> str:
        # Five digits, so that 100,000 files sort; cut off, as file systems allow 255 characters.
        return f"{next(self._numbers):05}_{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)[:100]}"

    def _write(self, folder: Path, name: str, comment: str, text: str, ending: str = "") -> None:
        path = folder / f"{self._numbered(name)}{ending}.mlir"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(path, [f"{comment}\n{text}\n".encode(errors="backslashreplace")])
        except OSError as error:
            said = error.strerror or str(error)
            self._failure = self._failure or OSError(error.errno, said, str(path))


# Deletion of earlier dumps


def _delete(folder: Path) -> None:
    try:
        if (foreign := next(_foreign_in(folder), None)) is None:
            shutil.rmtree(folder)
        else:
            _log.warning("'%s' is kept: '%s' is not from DumpIR", folder, foreign)
    except OSError as error:
        _log.warning("'%s' is kept: %s", folder, error)


def _foreign_in(folder: Path) -> Iterator[Path]:
    """Yield the files and folders in `folder`, at any depth, that no DumpIR wrote."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not re.match(r"\d{5,}_", path.name):
            yield path
        elif path.is_dir():
            yield from _foreign_in(path)
        elif not _is_dump(path):
            yield path


def _is_dump(path: Path) -> bool:
    """Return whether a file begins like a dump, or is empty, as on a full disk. The name is not
    enough: a test file may have the same.
    """
    if path.suffix != ".mlir" or not path.is_file():
        return False
    with path.open("rb") as file:
        return re.match(rb"// (before|after) '|\Z", file.read(16)) is not None
