"""PassContext: the settings and instruments under which passes run."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import NamedTuple, Self, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from .actions import PassActions
from .analysis_manager import AnalysisManager
from .config import Config, ConfigValue, config_types
from .diagnostics import DiagnosticContext, Renderer, print_diagnostics
from .info import PassInfo, check_level, check_names, name_key
from .instrument import PassInstrument
from .remarks import RemarkFilter, Remarks
from .run import Run

__all__ = ["PassContext"]

_log = logging.getLogger(__name__)


class PassContext:
    """Settings and instruments for the passes that run while it is entered.

    `opt_level`: a Sequential runs the passes of this level and below. `required_pass` and
    `disabled_pass` name passes to run whatever their level, and never to run; disabled wins.
    `config` holds options: a key that names a pass fills that pass's own fields. `instruments` are
    told what happens. `verify_each` verifies what each pass changed, `verify_preserves` what it
    says to preserve; `rollback` restores the module to what it was before the pass that failed;
    `renderer` shows diagnostics; `remark_filter` has a regular expression for the passes whose
    remarks are wanted, or one a kind (`passed`, `missed`, `failed`, `analysis`, `all`). Contexts
    nest and nothing is inherited from the outer one.

    Errors: TypeError, ValueError and ConfigError for settings that cannot be meant.
    Source: `tvm.transform.PassContext`.
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Iterable[str] | None = None,
        disabled_pass: Iterable[str] | None = None,
        instruments: Iterable[PassInstrument] | None = None,
        config: Mapping[str, ConfigValue] | None = None,
        *,
        verify_each: bool = True,
        verify_preserves: bool = False,
        rollback: bool = False,
        renderer: Renderer = print_diagnostics,
        remark_filter: str | Mapping[str, str] | None = None,
    ) -> None:
        check_level(opt_level)
        self.opt_level = opt_level
        self.required_pass = check_names("required_pass", required_pass or ())
        self.disabled_pass = check_names("disabled_pass", disabled_pass or ())
        self.instruments = check_instruments(instruments)
        self.config = Config(config)
        self.verify_each = verify_each
        self.verify_preserves = verify_preserves
        self.rollback = rollback
        self.renderer = renderer
        self.remark_filter = RemarkFilter(remark_filter)
        self.names_checked = False
        self._required = frozenset(map(name_key, self.required_pass))
        self._disabled = frozenset(map(name_key, self.disabled_pass))

    def __repr__(self) -> str:
        return (
            f"PassContext(opt_level={self.opt_level}, required_pass={list(self.required_pass)}, "
            f"disabled_pass={list(self.disabled_pass)}, "
            f"instruments={[i.name for i in self.instruments]}, config={self.config})"
        )

    # The stack of contexts

    @staticmethod
    def current() -> PassContext:
        """The context entered last in this thread or task, else this thread's default one (level
        2).
        """
        link = _entered.get()
        if link is None or link.thread != threading.get_ident():
            return _this_thread.default
        return link.context

    def __enter__(self) -> Self:
        self._enter_instruments()
        _entered.set(Link(self, _entered.get(), threading.get_ident()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        link = _entered.get()
        if link is None or link.context is not self:
            raise RuntimeError("a PassContext was left that is not the one entered last")
        _entered.set(link.outer)
        self._exit_instruments()

    def override_instruments(self, instruments: Iterable[PassInstrument] | None) -> None:
        """Exit the instruments of this context and enter `instruments` in their place."""
        new = check_instruments(instruments)
        self._exit_instruments()
        self.instruments = new
        self._enter_instruments()

    def _enter_instruments(self) -> None:
        """Enter all instruments; if one fails, exit those already entered, last first, and keep
        none.
        """
        entered: list[PassInstrument] = []
        try:
            for instrument in self.instruments:
                instrument.enter_pass_ctx()
                entered.append(instrument)
        except BaseException:
            self.instruments = ()
            for instrument in reversed(entered):
                _exit_quietly(instrument)
            raise

    def _exit_instruments(self) -> None:
        """Exit all instruments in order; if one fails, those after it are not exited and none is
        kept.
        """
        try:
            for instrument in self.instruments:
                instrument.exit_pass_ctx()
        except BaseException:
            self.instruments = ()
            raise

    # What a pass may ask

    @property
    def ir_context(self) -> Context:
        """The xDSL context of the present run: the dialects that can be built."""
        return Run.current().ir_context

    @property
    def diagnostics(self) -> DiagnosticContext:
        """Where the pass that is running reports errors, warnings and remarks."""
        return Run.current().diagnostics

    @property
    def remarks(self) -> Remarks:
        """Where the pass that is running says what it did and what it could not do; false if nobody
        wants to know.
        """
        if not self.remark_filter:
            return Remarks()
        frame = Run.current().frames[-1]
        return Remarks(frame, self.remark_filter.kinds(frame.info.name))

    @property
    def actions(self) -> PassActions:
        """What the pass that is running asks before each step, and reports to."""
        run = Run.current()
        frame = run.frames[-1]
        name = frame.info.name
        hook = PassInstrument.should_execute
        deciders = [i for i in self.instruments if type(i).should_execute is not hook]
        return PassActions(frame, run.counters(name), self.remark_filter.kinds(name), deciders)

    @property
    def analyses(self) -> AnalysisManager:
        """The analyses of the present run."""
        return Run.current().analyses

    def count(self, name: str, n: int = 1) -> None:
        """Add `n` to the counter `name` of the pass that is running."""
        Run.current().count(name, n)

    def should_execute(self, tag: str) -> bool:
        """Whether the pass that is running takes its next step of the kind `tag`, which is numbered
        by being asked about: ask just before the step, and skip it if not.
        """
        return (gate := self.gate(tag)) is None or gate()

    def gate(self, tag: str) -> Callable[[], bool] | None:
        """What to ask before each step of the kind `tag`; None if no instrument wants to be asked,
        which is found out once, and not for each step.
        """
        hook = PassInstrument.should_execute
        deciders = [i for i in self.instruments if type(i).should_execute is not hook]
        # All are asked, so that none loses count.
        return (lambda: all([i.should_execute(tag) for i in deciders])) if deciders else None

    def get_config(self, key: str) -> ConfigValue | None:
        """The value of `key`, for a pass a dict of its fields; what is not set has its default, and
        is None for a key that is unknown.
        """
        return self.config.get(key)

    @staticmethod
    def list_configs() -> dict[str, dict[str, str]]:
        """Every key that `config` takes, with its type as text under `type`."""
        return config_types()

    # Which pass runs

    def why_not(self, info: PassInfo) -> str | None:
        """Why a Sequential under this context leaves a pass out, or None if it runs it."""
        if info.key in self._disabled:
            return "disabled"
        if info.key in self._required or self.opt_level >= info.opt_level:
            return None
        return f"opt_level {info.opt_level} > {self.opt_level}"

    def pass_enabled(self, info: PassInfo) -> bool:
        """Whether a Sequential here runs a pass: disabled beats required beats level."""
        return self.why_not(info) is None

    def is_disabled(self, info: PassInfo) -> bool:
        """Whether the pass is in `disabled_pass`."""
        return info.key in self._disabled

    # Events, raised by the code that runs a pass

    def blocked_by(self, module: ModuleOp, info: PassInfo) -> str | None:
        """The instruments that keep the pass from running, or None; all are asked, unless it is
        required.
        """
        if info.key in self._required:
            return None
        blockers: list[str] = []
        for instrument in self.instruments:
            answer = instrument.should_run(module, info)
            if not isinstance(answer, int):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(
                    f"{instrument.name}.should_run returned {answer!r} for pass '{info.name}', "
                    "but has to return True or False"
                )
            if not answer:
                blockers.append(instrument.name)
        return ", ".join(blockers) or None

    def report_failure(
        self,
        opened: Iterable[PassInstrument],
        module: ModuleOp,
        info: PassInfo,
        error: BaseException,
    ) -> None:
        """Tell the instruments whose `run_before_pass` ran that the pass failed; theirs are noted
        on `error`.
        """
        for instrument in opened:
            try:
                instrument.pass_failed(module, info, error)
            except Exception as second:
                error.add_note(f"and {instrument.name}.pass_failed raised {second!r}")

    def report_skip(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        """Tell the instruments that a pass does not run, and why."""
        for instrument in self.instruments:
            instrument.pass_skipped(module, info, reason)


class Link(NamedTuple):
    """One entered context: immutable, so one object can be entered in two threads at once."""

    context: PassContext
    outer: Link | None
    thread: int


class _ThisThread(threading.local):
    """Each thread's own default context, which is mutable and never left."""

    def __init__(self) -> None:
        self.default = PassContext()


def check_instruments(instruments: object) -> tuple[PassInstrument, ...]:
    """The instruments in `instruments`; TypeError for anything else."""
    if instruments is None:
        return ()
    if isinstance(instruments, PassInstrument) or not isinstance(instruments, Iterable):
        raise TypeError(f"instruments is a list of instruments, not {instruments!r}")
    checked: list[PassInstrument] = []
    for instrument in cast(Iterable[object], instruments):
        if not isinstance(instrument, PassInstrument):
            raise TypeError(
                f"{instrument!r} is no instrument: derive its class from PassInstrument, "
                "or decorate it with "
                "@pass_instrument, and pass an instance"
            )
        checked.append(instrument)
    return tuple(checked)


def _exit_quietly(instrument: PassInstrument) -> None:
    """Exit an instrument while another's failure is on its way: a second failure is logged only."""
    try:
        instrument.exit_pass_ctx()
    except Exception:
        _log.exception(
            "%s.exit_pass_ctx failed while the context was being unwound", instrument.name
        )


_entered: ContextVar[Link | None] = ContextVar("passline_context", default=None)
_this_thread = _ThisThread()
