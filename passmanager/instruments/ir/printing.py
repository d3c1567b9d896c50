"""Instruments that print the IR before and after passes."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...ir.symbols import symbol_of
from ...ir.text.printer import PLAIN, PrintStyle
from ...registration.info import PassInfo, check_names
from ...registration.names import name_key
from ...run import Run
from .ir_text import ir_text, print_ir, print_text, title_of, top_level
from .numbering import NumberingInstrument

__all__ = ["IRPrinter", "PassPrintingInstrument", "PrintAfterAll", "PrintBeforeAll"]

Marks = Mapping[str, object]
"""A mark for each part of a module that may be printed, by the end of its title; it differs if the
part has changed.
"""


@dataclass
class _Watched:
    """The marks of a run."""

    version: int = -1
    marks: Marks = field(default_factory=dict[str, object])
    """The marks at `version`."""
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
    is to be printed.
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
    ) -> None:
        super().__init__()
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
            self._print(f"After {title_of(info)} Failed", module, trusted=False)
        self._forget()

    def _prints_after(self, info: PassInfo) -> bool:
        return _selects(self.after, info) or self._is_in(self.after_numbers)

    def _is_in(self, numbers: Container[int]) -> bool:
        return (number := self.number) is not None and number in numbers

    # Printing

    def _parts(self, module: ModuleOp) -> dict[str, Operation]:
        """Return the ops that may be printed, by the end of their title."""
        if not self.functions:
            return {"": module}
        named = ((symbol_of(op), op) for op in top_level(module))
        return {
            f" ('{op.name}' operation: @{name})": op for name, op in named if name in self.functions
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
        if self.module_scope and shown:
            print_ir(title, module, style=self.style, trusted=trusted)
            return
        for part in shown:
            op = parts.get(part)
            text = ir_text(op, self.style, trusted=trusted) if op else "// deleted"
            print_text(title + part, text)

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
        if watched.version != run.version:
            watched.version = run.version
            parts = self._parts(run.module) if self.functions else {}
            texts: Marks = {part: ir_text(op) for part, op in parts.items()}
            watched.marks = texts if self.functions else {"": run.version}
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
