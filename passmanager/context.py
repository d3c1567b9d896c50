"""PassContext: the settings and instruments under which passes run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from copy import copy
from types import TracebackType
from typing import Literal, Self, TypeAlias

from xdsl.context import Context
from xdsl.passes import ModulePass

from .actions import PassActions, RemarkFilter
from .analysis_manager import AnalysisManager
from .config import Config, ConfigValue, config_types
from .diagnostics import DiagnosticContext, Renderer, print_diagnostics
from .instrument import AnyInstrument, PassInstrument, PassInstrumentor, check_instruments
from .limits import DEFAULT_MAX_ELEMENTS, MAX_ELEMENTS
from .names import name_key, pass_key
from .output.html import to_html
from .registry import PassInfo, check_context_level, check_names, check_passes
from .run import Run
from .scopes import Scope

ConditionMode: TypeAlias = Literal["never", "changed", "always"]
"""When conditions are checked; `changed`: where the module changed since the last check."""


def _keys(names: tuple[str, ...]) -> frozenset[str]:
    """Return the keys of the passes called `names`, in any spelling or as another project calls
    them."""
    if not names:
        return frozenset()
    return frozenset(key for name in names for key in (name_key(name), pass_key(name)))


class PassContext:
    """Settings and instruments for the passes that run while it is entered.

    - `opt_level`: a Sequential runs the passes of this level, 0 to 4, and below.
    - `required_pass`: names of passes to run whatever their level.
    - `disabled_pass`: names of passes not to run, except before a pass whose `required` names them,
      with a warning; takes precedence over `required_pass`.
    - `instruments`: called before and after each pass.
    - `config`: options; a key that names a pass sets fields of that pass.
    - `verify_each`: verify the changes of each pass.
    - `verify_dominance`: with that, verify SSA dominance, which xDSL does not.
    - `verify_preserves`: verify that each pass preserves all in its `preserves`.
    - `rollback`: after a failure of a pass, or of an instrument after it, restore the module to its
      state before the pass.
    - `extensions`: whether passes of other projects take part in staged pipelines, where they say
      that they belong: True, False, or the names of these projects.
    - `extra_passes`: passes that take part in them beside these.
    - `check_conditions`: check what each pass `requires` before, and what it `ensures` after it:
      `always`, or where the module `changed` since the condition was found to hold.
    - `renderer`: shows the diagnostics of a pass.
    - `remark_filter`: a regular expression for the passes whose remarks are wanted, or a dict with
      one for each kind (`passed`, `missed`, `failed`, `analysis`, `all`).
    - `workers`: the most processes that run function passes at the same time, as far as there are
      cores; by default that of `PASSLINE_THREADS`, else 1. The result does not depend on it.

    Contexts nest, and inherit nothing from the outer one.

    Errors: TypeError, ValueError and ConfigError for invalid settings.
    Source: `tvm.transform.PassContext`.
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Iterable[str] | None = None,
        disabled_pass: Iterable[str] | None = None,
        instruments: Iterable[AnyInstrument] | None = None,
        config: Mapping[str, ConfigValue] | None = None,
        *,
        verify_each: bool = True,
        verify_dominance: bool = True,
        verify_preserves: bool = False,
        rollback: bool = False,
        extensions: bool | Iterable[str] = True,
        extra_passes: Iterable[ModulePass] = (),
        check_conditions: ConditionMode = "never",
        renderer: Renderer = print_diagnostics,
        remark_filter: str | Mapping[str, str] | None = None,
        workers: int | None = None,
    ) -> None:
        check_context_level(opt_level)
        self.opt_level = opt_level
        self.required_pass = check_names("required_pass", required_pass or ())
        self.disabled_pass = check_names("disabled_pass", disabled_pass or ())
        self.instrumentor = PassInstrumentor(check_instruments(instruments))
        self._copies = [self]
        """This context, the one that it is a copy of, and the copies of that: all have the same
        instruments."""
        self.config = Config(config)
        self.verify_each = verify_each
        self.verify_dominance = verify_dominance
        self.verify_preserves = verify_preserves
        self.rollback = rollback
        is_switch = isinstance(extensions, bool)
        self.extensions = extensions if is_switch else check_names("extensions", extensions)
        self.extra_passes = check_passes(extra_passes, "extra_passes is") if extra_passes else ()
        self.check_conditions = check_conditions
        self.renderer = renderer
        self.remark_filter = RemarkFilter(remark_filter)
        self.workers = 1
        if workers is not None or os.environ.get("PASSLINE_THREADS"):
            from .forks import worker_count

            self.workers = worker_count(workers)
        self.names_checked = not (self.required_pass or self.disabled_pass)
        self._required = _keys(self.required_pass)
        self._disabled = _keys(self.disabled_pass)

    def __repr__(self) -> str:
        return (
            f"PassContext(opt_level={self.opt_level}, required_pass={list(self.required_pass)}, "
            f"disabled_pass={list(self.disabled_pass)}, "
            f"instruments={[i.name for i in self.instruments]}, config={self.config}"
            + ("" if self.extensions is True else f", extensions={self.extensions}")
            + (f", extra_passes={names}" if (names := [p.name for p in self.extra_passes]) else "")
            + ")"
        )

    def _repr_html_(self) -> str:
        return to_html(self)

    @property
    def check_conditions(self) -> ConditionMode:
        """When the conditions of passes are checked."""
        return self._check_conditions

    @check_conditions.setter
    def check_conditions(self, mode: ConditionMode) -> None:
        # Asked before each pass: a comparison of strings would cost more.
        self.checks_conditions = mode != "never"
        if self.checks_conditions:
            from .conditions import check_mode

            check_mode(mode)
        self._check_conditions: ConditionMode = mode

    @property
    def is_observed(self) -> bool:
        """Whether passes are observed: by instruments, by a filter of remarks, or by a check of
        what they preserve or of their conditions."""
        checked = self.verify_preserves or self.checks_conditions
        return bool(self.instruments or self.remark_filter or checked)

    @classmethod
    def create(cls) -> Self:
        """Return a new context with the default settings: `PassContext()`, as TVM's C++ writes
        it."""
        return cls()

    # The stack of contexts

    @staticmethod
    def current() -> PassContext:
        """Return the innermost context entered in this thread or task, or else the default context
        of the thread, which has level 2.
        """
        return _entered.current() or _this_thread.default

    def __enter__(self) -> Self:
        self._notify(self.instrumentor.enter)
        _entered.enter(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _entered.leave(self, lambda: self._notify(self.instrumentor.exit))

    @contextmanager
    def at_level(self, opt_level: int, required_pass: Iterable[str] = ()) -> Generator[Self]:
        """Enter a copy of this context with another level and more required passes; both have the
        same instruments, which are not entered again.

        For code that runs a pipeline of its own under the settings of its caller.
        """
        if opt_level != self.opt_level:
            check_context_level(opt_level)
        inner = copy(self)
        inner.opt_level = opt_level
        required_pass = check_names("required_pass", required_pass)
        inner.required_pass += required_pass
        inner._required |= frozenset(map(name_key, required_pass))
        self._copies.append(inner)
        _entered.enter(inner)
        try:
            yield inner
        finally:
            self._copies.remove(inner)
            self.names_checked = inner.names_checked
            _entered.leave(inner)

    def override_instruments(self, instruments: Iterable[AnyInstrument] | None) -> None:
        """Exit the instruments of this context, and enter `instruments` instead."""
        new = check_instruments(instruments)
        self._notify(self.instrumentor.exit)
        self.instruments = new
        self._notify(self.instrumentor.enter)

    def _notify(self, change: Callable[[], None]) -> None:
        """Enter or exit all instruments; if one raises, keep none."""
        try:
            change()
        except BaseException:
            self.instruments = ()
            raise

    @property
    def instruments(self) -> tuple[PassInstrument, ...]:
        """The instruments; assignment neither exits the old nor enters the new ones."""
        return self.instrumentor.instruments

    @instruments.setter
    def instruments(self, instruments: Iterable[PassInstrument]) -> None:
        instrumentor = PassInstrumentor(instruments)
        for context in self._copies:
            context.instrumentor = instrumentor

    # What a pass may ask

    @property
    def ir_context(self) -> Context:
        """The xDSL context of the current run, with the dialects whose ops can be created."""
        return Run.current().ir_context

    @property
    def diagnostics(self) -> DiagnosticContext:
        """The diagnostics of the pass that is running, to report errors, warnings and notes to."""
        return Run.current().diagnostics

    @property
    def actions(self) -> PassActions:
        """The actions of the pass that is running, for its algorithm to ask and report to."""
        run = Run.current()
        frame = run.frames[-1]
        counters, deciders = run.counters(frame.info.name), self.instrumentor.deciders
        wanted = self.remark_filter
        return PassActions(frame, counters, wanted, deciders, run.patterns, run.merged)

    @property
    def analyses(self) -> AnalysisManager:
        """The analyses of the current run."""
        return Run.current().analyses

    def count(self, name: str, n: int = 1) -> None:
        """Add `n` to the counter `name` of the pass that is running."""
        Run.current().count(name, n)

    def should_execute(self, tag: str) -> bool:
        """Return whether the pass that is running may take its next step of the kind `tag`.

        Each call numbers one step: ask just before the step, and skip it if it may not be taken.
        """
        # All are asked, so that each numbers every step.
        return all([decider.should_execute(tag) for decider in self.instrumentor.deciders])

    def get_config(self, key: str) -> ConfigValue | None:
        """Return the value of `key`, for a pass a dict of its fields, with defaults for what is not
        set; None for an unknown key.
        """
        return self.config.value(key)

    @property
    def max_elements(self) -> int:
        """The most elements of a tensor whose size is a number in the input: the option
        `passline.max_elements`."""
        limit = DEFAULT_MAX_ELEMENTS if self.config.empty else self.get_config(MAX_ELEMENTS)
        assert isinstance(limit, int)
        return limit

    @staticmethod
    def list_configs() -> dict[str, dict[str, str]]:
        """Return all keys that `config` takes, with their types as text under `type`."""
        return config_types(owners=True)

    # Which pass runs

    def skip_reason(self, info: PassInfo) -> str | None:
        """Return why a Sequential under this context skips the pass, or None if it runs it."""
        if self._disabled and info.key in self._disabled:
            return "disabled"
        if self.opt_level >= info.opt_level or info.key in self._required:
            return None
        return f"opt_level {info.opt_level} > {self.opt_level}"

    def pass_enabled(self, info: PassInfo) -> bool:
        """Return whether a Sequential under this context runs the pass: `disabled_pass` decides
        first, then `required_pass`, then the level.
        """
        return self.skip_reason(info) is None

    def is_disabled(self, info: PassInfo) -> bool:
        """Return whether the pass is in `disabled_pass`."""
        return info.key in self._disabled

    def is_required(self, info: PassInfo) -> bool:
        """Return whether the pass is in `required_pass`."""
        return info.key in self._required


class _DefaultContext(threading.local):
    """The default context of each thread, which is mutable and never left."""

    def __init__(self) -> None:
        self.default = PassContext()


_entered = Scope[PassContext]("PassContext")
_this_thread = _DefaultContext()
