"""Reproducers: files with the IR and the pipeline that repeat a run or its failure."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import StringLiteral

from ..context import PassContext
from ..errors import PasslineError
from ..fast.clone import clone
from ..instrument import PassInstrument
from ..output.files import replace_file
from ..registry import PassInfo
from ..releases.targets import MLIRTarget
from ..run import PassFrame, Run

if TYPE_CHECKING:
    from .crash_signals import CrashSignals


@dataclass(frozen=True)
class Reproducer:
    """The settings in a reproducer, besides IR."""

    pipeline: str
    verify_each: bool = True


# Writing


@dataclass
class _Record:
    """The state of one run: the module at its start and before the current leaf pass, and the leaf
    passes that ran, as text.
    """

    start: ModuleOp | None
    before: ModuleOp | None
    leaves: list[str] = field(default_factory=list[str])
    leaf_failed: bool = False
    joined: list[tuple[ModuleOp | None, list[str]]] = field(
        default_factory=list["tuple[ModuleOp | None, list[str]]"]
    )
    """The IR and the leaf passes before each run on a part of the module, which is not over."""
    number: int | None = None
    """The number of the file of the run, if it gets one in any case."""


class CrashReproducer(PassInstrument):
    """An instrument that writes a reproducer when a run fails, or, if `always`, for any run.

    The file has the IR before the run, and as pipeline the leaf passes that ran, with their
    options, the failing one last: the settings that disable, require or repeat passes no longer
    matter. If `local`, it has the IR before the failing leaf pass, and that pass alone. The second
    file that an instrument writes to `crash.mlir` is `crash.1.mlir`; if `always`, the files are
    numbered in the order in which the runs start. The module is cloned once a run, if `local` once
    a leaf pass. A pass that ends the process, as compiled code may do, leaves a file, too. What a
    leaf pass runs on a part of its module is a part of it; if `local`, the pass that failed there.

    A note says where the file is: of the exception, or, after a run without failure, on stderr.

    Errors: PasslineError after a run without failure, if the file cannot be written. Source:
    `mlir-pass-pipeline-crash-reproducer` and `mlir-generate-reproducer`.
    """

    def __init__(
        self, path: str | PathLike[str], *, local: bool = False, always: bool = False
    ) -> None:
        self.path = Path(path)
        self.local = local
        self.always = always
        self._records: WeakKeyDictionary[Run, _Record] = WeakKeyDictionary()
        self._numbers = count()
        self._signals: CrashSignals | None = None
        self._contexts = 0

    def enter_pass_ctx(self) -> None:
        self._contexts += 1
        if self._signals is None:
            from .crash_signals import CrashSignals

            self._signals = CrashSignals(self._report_signal)
            self._signals.start()

    def finalize_pass_ctx(self) -> None:
        self._contexts -= 1
        if self._contexts == 0 and self._signals is not None:
            self._signals.stop()
            self._signals = None

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        outermost = len(run.frames) == 1
        if outermost and run.around is not None:
            self._join(run, run.around)
        elif outermost:
            start = _clone(module)
            self._records[run] = record = _Record(start, start)
            record.number = next(self._numbers) if self.always else None
        record = self._records.get(run)
        if record is None or not _at_leaf(run) or (run.around is not None and not self.local):
            return
        text = info.text
        if self.local:
            whole, depth = _around(module)
            record.leaves.clear()
            at_start = outermost and run.around is None
            record.before = record.start if at_start else _clone(whole)
            levels = depth + 1 if depth else 0
            text = f"{ModuleOp.name}(" * levels + text + ")" * levels
        record.leaves.append(text)
        record.leaf_failed = False

    def _join(self, run: Run, around: PassFrame) -> None:
        """Let a run, on a part of the module of the pass `around`, have the record of its run."""
        for outer, record in [*self._records.items()]:
            if around in outer.frames:
                self._records[run] = record
                record.joined.append((record.before, [*record.leaves]))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        if len(run.frames) > 1 or (record := self._records.pop(run, None)) is None:
            return
        if run.around is not None:
            record.before, record.leaves = record.joined.pop()
        elif self.always:
            self._write(record, record.before, ",".join(record.leaves), run.ir_context)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        run = Run.current()
        if (record := self._records.get(run)) is None:
            return
        record.leaf_failed |= _at_leaf(run)
        if len(run.frames) > 1:
            return
        del self._records[run]
        if run.around is not None:
            record.joined.pop()
        elif record.leaf_failed:
            self._write(record, record.before, ",".join(record.leaves), run.ir_context, error)
        else:  # a composite itself failed, as with a wrong requirement
            self._write(record, record.start, info.text, run.ir_context, error)

    def _report_signal(self, name: str) -> None:
        """Write the reproducer of the running pass, by which the process ends."""
        run = Run.active()
        if run is not None and (record := self._records.get(run)) is not None:
            error = RuntimeError(f"the process is ended by {name}")
            self._write(record, record.before, ",".join(record.leaves), run.ir_context, error)
            message = f"error: {error}, in pass '{run.frames[-1].info.text}'"
            notes = (f"note: {note}" for note in error.__notes__)
            print("\n".join([message, *notes]), file=sys.stderr, flush=True)

    def _write(
        self,
        record: _Record,
        module: ModuleOp | None,
        passes: str,
        ctx: Context,
        error: BaseException | None = None,
    ) -> None:
        path = self.path
        number = next(self._numbers) if record.number is None else record.number
        try:
            if number:
                path = path.with_name(f"{path.stem}.{number}{path.suffix}")
            if module is None:
                raise RecursionError("the IR is nested too deeply")
            verify_each = PassContext.current().verify_each
            # One around an anchor `builtin.module(...)` would make it one of nested modules.
            is_anchored = f"{ModuleOp.name}(" in passes
            pipeline = passes if is_anchored else f"{ModuleOp.name}({passes})"
            reproducer = Reproducer(pipeline, verify_each)
            header = f"// passline-opt --run-reproducer {shlex.quote(str(path))}\n"
            header += f"// {_first_line(error)}\n" if error is not None else ""
            replace_file(path, [f"{header}{_ir_text(module, ctx)}\n\n{_resource(reproducer)}"])
        except Exception as failure:
            reason = getattr(failure, "strerror", None) or _first_line(failure)
            message = f"reproducer not written to '{path}': {reason}"
            if error is None:
                raise PasslineError(message) from failure
        else:
            message = f"reproducer written to '{path}'"
        if error is None:
            print(f"note: {message}", file=sys.stderr)
        else:
            error.add_note(message)


def _at_leaf(run: Run) -> bool:
    """Return whether the innermost running pass is a leaf that no other leaf called."""
    *outer, last = run.frames
    return not last.info.composite and all(frame.info.composite for frame in outer)


def _around(module: ModuleOp) -> tuple[ModuleOp, int]:
    """Return the outermost module around a module, and the number of those around it."""
    depth = 0
    while isinstance(parent := module.parent_op(), ModuleOp):
        module, depth = parent, depth + 1
    return module, depth


def _clone(module: ModuleOp) -> ModuleOp | None:
    """Return a copy, or None if an op class copies its ops by recursion and they nest too deeply:
    passes may work all the same.
    """
    try:
        return clone(module)
    except RecursionError:
        return None


def _first_line(error: BaseException) -> str:
    return "".join(f"{type(error).__name__}: {error}".splitlines()[:1])


def _ir_text(module: ModuleOp, ctx: Context) -> str:
    """Return the module with its resources as text, in generic form if the custom form fails."""
    ctx.get_optional_dialect("builtin")  # loads the dialect, which has the resources
    try:
        return _printed(module, ctx, MLIRTarget())
    except Exception:
        return _printed(module, ctx, MLIRTarget(print_generic_format=True))


def _printed(module: ModuleOp, ctx: Context, target: MLIRTarget) -> str:
    stream = StringIO()
    target.emit(ctx, module, stream)
    return stream.getvalue().rstrip()


def _resource(reproducer: Reproducer) -> str:
    return f"""\
{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "{_escaped(reproducer.pipeline)}",
      disable_threading: true,
      verify_each: {str(reproducer.verify_each).lower()}
    }}
  }}
#-}}
"""


def _escaped(text: str) -> str:
    """Return the contents of an MLIR string literal."""
    plain = text.replace("\\", "\\\\")
    return re.sub(r'["\x00-\x1f\x7f]', lambda match: f"\\{ord(match[0]):02X}", plain)


# Reading

# The quantifiers are possessive: a resource may be megabytes, which a failed match must not scan
# again.
_STRING = r'"(?:[^"\\]++|\\.)*+"'
_COMMENT = r"//[^\n]*+"
_FLAT = rf'(?:[^{{}}"#/]++|{_STRING}|{_COMMENT}|/)*+'
_EXTERNAL = rf"external_resources\s*:\s*\{{{_FLAT}(?:\{{{_FLAT}\}}{_FLAT})*+\}}"
_SECTION = re.compile(
    rf'{_STRING}|//[^\n]*+|(?P<section>\{{-#(?:[^"#]++|{_STRING}|#(?!-\}}))*+#-\}})', re.DOTALL
)
_ENTRY = re.compile(rf"{_STRING}|(?P<entry>,\s*{_EXTERNAL}|\b{_EXTERNAL}\s*,?)", re.DOTALL)
_FIELDS = re.compile(rf"{_STRING}|\bmlir_reproducer\s*:\s*\{{(?P<fields>{_FLAT})\}}", re.DOTALL)
_FIELD = re.compile(rf"{_COMMENT}|(\w+)\s*:\s*({_STRING}|\w+)", re.DOTALL)


def read_reproducer(text: str) -> tuple[str, Reproducer | None]:
    """Return the IR in a file, and its reproducer, if it has one that mlir-opt or this module
    wrote.

    The external resources, which xDSL cannot read, are replaced by blanks, so that lines and
    columns stay the same. Errors: ParseError for a pipeline that is not a valid string.
    """
    if "external_resources" not in text:
        return text, None
    found: list[Reproducer] = []

    def blank_entry(match: re.Match[str]) -> str:
        if match["entry"] is None:
            return match[0]
        found.extend(_reproducers(match["entry"]))
        return re.sub(r"[^\n]", " ", match["entry"])

    def blank_in_section(match: re.Match[str]) -> str:
        return match[0] if match["section"] is None else _ENTRY.sub(blank_entry, match["section"])

    ir_text = _SECTION.sub(blank_in_section, text)
    return ir_text, found[0] if found else None


def _reproducers(resources: str) -> Iterator[Reproducer]:
    """Yield the reproducers in the text of external resources."""
    for match in _FIELDS.finditer(resources):
        if match["fields"] is not None:
            fields: dict[str, str] = dict(_FIELD.findall(match["fields"]))
            pipeline = fields.get("pipeline", '""')
            literal = StringLiteral(0, len(pipeline), Input(pipeline, "<mlir_reproducer>"))
            yield Reproducer(literal.string_contents, fields.get("verify_each") != "false")
