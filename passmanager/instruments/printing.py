"""Instruments that print the IR around passes, and those that run a part of a pipeline."""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import TextIO
from weakref import WeakKeyDictionary, WeakSet

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..anchors import Anchored
from ..errors import PasslineError
from ..instrument import PassInstrument
from ..ir.text.printer import PLAIN, ExactPrinter, PrintStyle
from ..ir.verifier import verify
from ..ir.walk import symbol_of
from ..names import name_key
from ..registry import PassInfo, check_name, check_names
from ..run import PassFrame, Run
from .file_tree import FileTree

# The text of IR as instruments print it, also of invalid IR, and the banners above it.


def ir_text(op: Operation, style: PrintStyle = PLAIN, *, trusted: bool = True) -> str:
    """Return the text of `op` with the resources that it refers to.

    Unless `trusted`, `op` is verified, and printed in generic form if it is invalid. An op that
    cannot be printed in either form becomes a comment that gives the error.
    """
    why = ""
    custom = not style.generic and (trusted or is_valid(op))
    for generic in (False, True) if custom else (True,):
        try:
            printer = ExactPrinter(stream := StringIO(), replace(style, generic=generic))
            printer.print_op(op)
            printer.print_metadata(run.ir_context.loaded_dialects if (run := Run.active()) else ())
            return stream.getvalue()
        except Exception as error:
            why = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"// '{op.name}' cannot be printed: {why}"


def is_valid(op: Operation) -> bool:
    """Return whether `op` verifies."""
    try:
        verify(op)
    except Exception:  # A verifier may fail in any way on IR that it does not expect.
        return False
    return True


def banner(title: str) -> str:
    """Return the line above printed IR, in the format that Compiler Explorer reads."""
    return f"// -----// {title} //----- //"


def title_of(info: PassInfo) -> str:
    """Return a pass as banners name it: its name, and its pipeline text if it has options."""
    return info.name if info.text == info.name else f"{info.name}: {info.text}"


def print_ir(
    title: str,
    op: Operation,
    stream: TextIO | None = None,
    style: PrintStyle = PLAIN,
    *,
    trusted: bool = True,
) -> None:
    """Print `op` on stderr, or `stream`, under the banner `IR Dump title`; see `ir_text`."""
    print_text(title, ir_text(op, style, trusted=trusted), stream)


def print_text(title: str, text: str, stream: TextIO | None = None) -> None:
    """Print `text` on stderr, or `stream`, under the banner `IR Dump title`."""
    # In one call, so that the output of other threads does not come between.
    (stream or sys.stderr).write(f"{banner(f'IR Dump {title}')}\n{text}\n\n")


def top_level(module: ModuleOp) -> list[Operation]:
    """Return the ops directly in `module`, which may be invalid."""
    return [op for region in module.regions for block in region.blocks for op in block.ops]


# Instruments that run only a part of a pipeline: up to a pass, or from it on.


class _Window(PassInstrument):
    """The base class, which records the runs in which the pass has run or was skipped.

    Passes that a leaf pass calls on its module are part of that pass, and run if it does. A call on
    another module is a run of its own.
    """

    def __init__(self, name: str) -> None:
        check_name(name)
        self.pass_name = name
        self.unmatched = True
        """Whether no pass of this name has run or was skipped in any run."""
        self._key = name_key(name)
        self._passed: WeakSet[Run] = WeakSet()

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if info.key == self._key:
            self.unmatched = False
            self._passed.add(Run.current())

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self.run_after_pass(module, info)

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        self.run_after_pass(module, info)


class StopAfter(_Window):
    """An instrument that blocks all passes after the first pass `name`, in each run.

    `name`, in any spelling, may name a composite. Passes in the context's `required_pass` are
    not blocked.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        return run not in self._passed or _in_leaf(run)


class StartAfter(_Window):
    """An instrument that blocks the first pass `name` and all passes before it, in each run.

    `name`, in any spelling, may name a composite. The requirements of later passes run
    nevertheless; passes in the context's `required_pass` are not blocked.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        encloses_start = info.composite and info.key != self._key
        return run in self._passed or encloses_start or _in_leaf(run)


class StopBefore(_Window):
    """An instrument that blocks the first pass `name` and all passes after it, in each run.

    `name`, in any spelling, may name a composite. The requirements of that pass run. Passes in the
    context's `required_pass` are not blocked.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        return (run not in self._passed and info.key != self._key) or _in_leaf(run)


class StartBefore(_Window):
    """An instrument that blocks all passes before the first pass `name`, in each run.

    `name`, in any spelling, may name a composite. The requirements of that pass are blocked, too;
    those of later passes run, and passes in the context's `required_pass` are not blocked.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        encloses_start = info.composite or info.key == self._key
        return run in self._passed or encloses_start or _in_leaf(run)

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.run_after_pass(module, info)


def _in_leaf(run: Run) -> bool:
    """Return whether a leaf pass is running, which called the pass in question."""
    return any(not frame.info.composite for frame in run.frames)


# The numbering of passes, which tells apart several passes of one name, and by which some of them
# run to bisect a miscompilation.


class NumberingInstrument(PassInstrument):
    """An instrument that numbers the leaf passes that are about to run, from 1.

    All instruments of this class that are in the same contexts give a pass the same number, also if
    another instrument then blocks it. Composites and the passes in the context's `required_pass`,
    about which `should_run` is not asked, have no number. The numbers go on as long as the
    instrument lives, over chunks of the input, runs and threads.
    """

    def __init__(self) -> None:
        self.count = 0
        """The number of the last pass that was numbered."""
        self._lock = threading.Lock()
        # The pass that is about to run has no frame yet, and a run has at most one such pass.
        self._next: WeakKeyDictionary[Run, int] = WeakKeyDictionary()
        self._numbers: WeakKeyDictionary[PassFrame, int] = WeakKeyDictionary()

    @property
    def number(self) -> int | None:
        """The number of the pass that is running, or None if it has none."""
        return self._numbers.get(Run.current().frames[-1])

    def should_run_number(self, number: int, module: ModuleOp, info: PassInfo) -> bool:
        """Return whether the pass with this number may run; called in the order of the numbers."""
        return True

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        if info.composite:
            return True
        with self._lock:
            self.count += 1
            self._next[Run.current()] = self.count
            return self.should_run_number(self.count, module, info)

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        self._next.pop(Run.current(), None)

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        if (number := self._next.pop(run, None)) is not None:
            self._numbers[run.frames[-1]] = number


class PassNumbers(NumberingInstrument):
    """An instrument that prints the number and the name of each pass that runs on stderr.

    Source: LLVM's `-print-pass-numbers`.
    """

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        super().run_before_pass(module, info)
        if (number := self.number) is not None:
            sys.stderr.write(f" Running pass {number} {info.name} on {module.name}\n")


class OptBisect(NumberingInstrument):
    """An instrument that numbers the leaf passes that are about to run, prints the numbers on
    stderr, and blocks the passes whose number is above `limit` or, if `limit` is a container of
    numbers, not in it.

    -1 means no limit. Composites, and passes in the context's `required_pass`, are not numbered and
    always run. The numbers go on as long as the instrument lives, so that each step of a search
    takes a new one. Errors: TypeError or ValueError for another limit.
    Source: LLVM's `-opt-bisect-limit` and `-opt-bisect`.
    """

    def __init__(self, limit: int | Container[int]) -> None:
        super().__init__()
        if isinstance(limit, (bool, str)) or not isinstance(limit, (int, Container)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"the limit of OptBisect is a whole number or a container of numbers, not {limit!r}"
            )
        if isinstance(limit, int) and limit < -1:
            raise ValueError(f"the limit of OptBisect is 0 or more, or -1 for none, not {limit}")
        self.limit = limit

    def should_run_number(self, number: int, module: ModuleOp, info: PassInfo) -> bool:
        runs = self._includes(number)
        verb = "running" if runs else "NOT running"
        sys.stderr.write(f"BISECT: {verb} pass ({number}) {info.name} on {module.name}\n")
        return runs

    def _includes(self, number: int) -> bool:
        if isinstance(self.limit, int):
            return self.limit == -1 or number <= self.limit
        return number in self.limit


# Instruments that print the IR before and after passes.


Marks = Mapping[str, object]
"""A mark for each part of a module that may be printed, by the end of its title; it differs if the
part has changed.
"""


@dataclass
class _Watched:
    """The marks of a run."""

    version: int = -1
    anchors: object = None
    marks: Marks = field(default_factory=dict[str, object])
    """The marks at `version`, for a pass under `anchors`."""
    at_start: dict[int, Marks] = field(default_factory=dict[int, Marks])
    """The marks at the start of the pass that runs at this depth."""


class IRPrinter(NumberingInstrument):
    """An instrument that prints the module on stderr before and after passes.

    `before` and `after` name the passes, in any spelling; True means all but composites, which are
    printed only if named. `before_numbers` and `after_numbers` are numbers of passes, as
    `OptBisect` prints them. A pass of `after` that fails is printed too, with `after_failure` every
    pass that fails. `after_change` prints only after passes that changed the module, of all passes
    if `after` names none, and at the start of a run. With `functions` only the functions of these
    names are printed and compared; with `module_scope` the module is printed instead if one of them
    is to be printed. Of a pass under an anchor, as `func.func(cse)`, the ops that it visits are
    printed and compared, one by one. With `tree_dir` the dumps are files in that folder, in folders
    like the ops (`FileTree`). `assume_verified` prints invalid IR in its custom form, too. Errors:
    OSError, when the context is left, for a file that cannot be written.
    """

    def __init__(
        self,
        *,
        before: bool | Collection[str] = False,
        after: bool | Collection[str] = False,
        after_change: bool = False,
        after_failure: bool = False,
        module_scope: bool = False,
        functions: Iterable[str] = (),
        before_numbers: Container[int] = (),
        after_numbers: Container[int] = (),
        style: PrintStyle = PLAIN,
        tree_dir: Path | str | None = None,
        assume_verified: bool = False,
    ) -> None:
        super().__init__()
        self.tree = FileTree(Path(tree_dir)) if tree_dir is not None else None
        self.assume_verified = assume_verified
        self.before = _selection("before", before)
        self.after = _selection("after", after) or (after_change and after_numbers == ())
        self.before_numbers = before_numbers
        self.after_numbers = after_numbers
        self.after_change = after_change
        self.after_failure = after_failure
        self.module_scope = module_scope
        self.style = style
        names = check_names("functions", functions)
        self.functions = frozenset(name.removeprefix("@") for name in names)
        self._runs: WeakKeyDictionary[Run, _Watched] = WeakKeyDictionary()

    def unknown_names(self, known: Iterable[str]) -> list[str]:
        """Return the names in `before` and `after`, as given, that are not among the passes
        `known`.
        """
        keys = {name_key(name) for name in known}
        named = [name for names in (self.before, self.after) for name in _names(names)]
        return [name for name in dict.fromkeys(named) if name_key(name) not in keys]

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        super().run_before_pass(module, info)
        if self.after_change:
            self._watch(module)
        if _selects(self.before, info) or self._is_in(self.before_numbers):
            self._print(f"Before {title_of(info)}", module)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if self._prints_after(info):
            changed = self._changed() if self.after_change else None
            self._print(f"After {title_of(info)}", module, changed)
        self._forget()

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        if self._prints_after(info) or (self.after_failure and not info.composite):
            failed = self._failed_part(module) if not self.functions else None
            self._print(f"After {title_of(info)} Failed", module, failed, trusted=False)
        self._forget()

    def _failed_part(self, module: ModuleOp) -> list[str] | None:
        """Return the part in which the running pass failed, or None if it is unknown."""
        failed = Run.current().frames[-1].function
        return [part for part, op in self._parts(module).items() if op is failed] or None

    def _prints_after(self, info: PassInfo) -> bool:
        return _selects(self.after, info) or self._is_in(self.after_numbers)

    def _is_in(self, numbers: Container[int]) -> bool:
        return (number := self.number) is not None and number in numbers

    # Printing

    def finalize_pass_ctx(self) -> None:
        if self.tree is not None and (failure := self.tree.failure) is not None:
            self.tree.failure = None
            raise failure

    def _parts(self, module: ModuleOp) -> dict[str, Operation]:
        """Return the ops that may be printed, by the end of their title."""
        frame = Run.current().frames[-1]
        if self.functions:
            ops = [op for op in top_level(module) if symbol_of(op) in self.functions]
        elif isinstance(frame.pass_, Anchored):
            try:
                ops = [*frame.pass_.visited(module)]
            except PasslineError:  # for the anchor: the pass itself reports it
                return {"": module}
        else:
            return {"": module}
        return {
            f" ('{op.name}' operation{f': @{name}' if (name := symbol_of(op)) else f' {n}'})": op
            for n, op in enumerate(ops)
        }

    def _print(
        self,
        title: str,
        module: ModuleOp,
        only: Collection[str] | None = None,
        trusted: bool = True,
    ) -> None:
        """Print the parts of the module, or the parts `only`."""
        parts = self._parts(module)
        shown = parts if only is None else only
        trusted = trusted or self.assume_verified
        if self.module_scope and self.functions and shown:
            self._write(title, module, ir_text(module, self.style, trusted=trusted))
            return
        for part in shown:
            op = module if self.module_scope else parts.get(part)
            text = ir_text(op, self.style, trusted=trusted) if op else "// deleted"
            # As in MLIR: a banner that stands above one op need not name it.
            whole = title + part if self.functions or self.module_scope else title
            self._write(whole, parts.get(part, module), text)

    def _write(self, title: str, op: Operation, text: str) -> None:
        if self.tree is None:
            print_text(title, text)
        else:
            text = f"{banner(f'IR Dump {title}')}\n{text}\n"
            self.tree.write(op, Run.current().frames[-1].info.name, text)

    # Changes

    def _watch(self, module: ModuleOp) -> None:
        """Note the marks of the module; print it at the start of a run."""
        run = Run.current()
        run.watch()
        if run not in self._runs:
            self._runs[run] = _Watched()
            self._print("At Start", module)
        watched = self._runs[run]
        watched.at_start[len(run.frames)] = self._marks(run, watched)

    def _changed(self) -> list[str]:
        """Return the parts that differ from the start of the running pass."""
        run = Run.current()
        if (watched := self._runs.get(run)) is None:
            return []
        now = self._marks(run, watched)
        old = watched.at_start.get(len(run.frames), now)
        return [part for part in {**old, **now} if old.get(part) != now.get(part)]

    def _marks(self, run: Run, watched: _Watched) -> Marks:
        # The version tells whether the module changed, but not which functions: those are compared
        # as text, once for each version.
        anchors = getattr(run.frames[-1].pass_, "anchors", ())
        if watched.version != run.version or watched.anchors != anchors:
            watched.version, watched.anchors = run.version, anchors
            parts = self._parts(run.module) if self.functions or anchors else {}
            texts: Marks = {part: ir_text(op) for part, op in parts.items()}
            watched.marks = texts if self.functions or anchors else {"": run.version}
        return watched.marks

    def _forget(self) -> None:
        """Drop the state of a run when its outermost pass ends."""
        if self.after_change and len((run := Run.current()).frames) == 1:
            self._runs.pop(run, None)


def _selection(setting: str, names: bool | Collection[str]) -> bool | tuple[str, ...]:
    return names if isinstance(names, bool) else check_names(setting, names)


def _names(selection: bool | tuple[str, ...]) -> tuple[str, ...]:
    return () if isinstance(selection, bool) else selection


def _selects(selection: bool | tuple[str, ...], info: PassInfo) -> bool:
    if isinstance(selection, bool):
        return selection and not info.composite
    return info.key in map(name_key, selection)


class PrintBeforeAll(IRPrinter):
    """An instrument that prints the module before each pass. Source:
    `tvm.ir.instrument.PrintBeforeAll`.
    """

    def __init__(self) -> None:
        super().__init__(before=True)


class PrintAfterAll(IRPrinter):
    """An instrument that prints the module after each pass. Source:
    `tvm.ir.instrument.PrintAfterAll`.
    """

    def __init__(self) -> None:
        super().__init__(after=True)


class PassPrintingInstrument(IRPrinter):
    """An instrument that prints the module before and after the passes of these names.

    Source: `tvm.ir.instrument.PassPrintingInstrument`.
    """

    def __init__(
        self, print_before_pass_names: Collection[str], print_after_pass_names: Collection[str]
    ) -> None:
        super().__init__(
            before=check_names("print_before_pass_names", print_before_pass_names),
            after=check_names("print_after_pass_names", print_after_pass_names),
        )
