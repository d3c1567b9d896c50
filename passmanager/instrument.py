"""PassInstrument, the hooks of code that observes passes and may block them; and PassInstrumentor,
which calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from types import new_class
from typing import ClassVar, Protocol, TypeAlias, TypeVar, cast, overload

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .registry import PassInfo

T = TypeVar("T")


class PassInstrument:
    """A set of hooks that a PassContext and the passes run under it call.

    Derive a class from it and override hooks, or decorate a plain class with `@pass_instrument`.
    Keep all state in the instrument: two instruments of one class in a context must be independent.
    Hooks are called for composites too, around those for the passes in them; `info.composite` tells
    them apart, so that changes and times are not counted twice.
    Source: `tvm.instrument.PassInstrument`; `finalize_pass_ctx`, `should_execute`, `pass_failed`,
    `pass_skipped` and the hooks about visits and analyses are Passline's.
    """

    observes_ir: ClassVar[bool] = True
    """Whether a hook looks at the IR or depends on the order in which functions are transformed:
    passes then run on one core. If not, its hooks are called in order, but may be called after
    workers have run several passes."""

    @property
    def name(self) -> str:
        """The name of this instrument in messages."""
        return type(self).__name__

    def enter_pass_ctx(self) -> None:
        """Handle the start of the context of this instrument."""

    def exit_pass_ctx(self) -> None:
        """Handle the end of the context of this instrument.

        It is not called if that of an instrument before this one raised: what must happen in any
        case belongs in `finalize_pass_ctx`.
        """

    def finalize_pass_ctx(self) -> None:
        """Release resources, and write output, after all instruments were exited.

        It is called once for each `enter_pass_ctx` that returned, also if a pass or a hook of any
        instrument raised.
        """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        """Return whether the pass may run; it is blocked if one instrument returns False."""
        return True

    def should_execute(self, tag: str) -> bool:
        """Return whether a pass may take its next step of the kind `tag`, such as one rewrite; the
        step is not taken if one instrument returns False.
        """
        return True

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """Handle the start of the pass on `module`."""

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """Handle the end of the pass, after its changes of `module` were verified."""

    def before_visit(self, op: Operation, info: PassInfo) -> None:
        """Handle the start of a function pass, or of a pass under an anchor, on one op; it is
        inside of `run_before_pass` and `run_after_pass`. Passes then run on one core."""

    def after_visit(self, op: Operation, info: PassInfo) -> None:
        """Handle the end of the pass on one op, or on the op that took its place; it is not called
        after a failure."""

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        """Handle the failure of the pass: `error` is the exception of its body or of verification.

        It is not called if `run_before_pass` or `run_after_pass` of an instrument raised for this
        pass.
        """

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        """Handle the skip of a pass.

        `reason` is `disabled`, `opt_level 3 > 2`, or `should_run of` and the instruments that
        blocked it.
        """

    def run_before_analysis(self, op: Operation, analysis: type) -> None:
        """Handle the start of the computation of an analysis of `op`, which the running pass
        needs."""

    def run_after_analysis(self, op: Operation, analysis: type) -> None:
        """Handle the end of the computation of an analysis, which is cached now."""

    def analysis_failed(self, op: Operation, analysis: type, error: BaseException) -> None:
        """Handle the failure of the analysis: `error` is the exception of its computation."""

    def analysis_invalidated(self, op: Operation, analysis: type) -> None:
        """Handle the removal of an analysis from the cache, as the IR may have changed."""


@cache
def check_hooks(cls: type[PassInstrument]) -> None:
    """Raise TypeError if an instrument class has a public method whose name is one or two letters
    off that of a hook: nobody would call it.
    """
    hooks = {
        _letters(name): name
        for name, member in vars(PassInstrument).items()
        if callable(member) and not name.startswith("_")
    }
    for base in cls.__mro__:
        if issubclass(PassInstrument, base):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") or name in hooks.values() or not callable(member):
                continue
            for letters, hook in hooks.items():
                if _distance(_letters(name), letters) <= 2:
                    raise TypeError(
                        f"{base.__name__}.{name} is not a hook of an instrument, "
                        f"did you mean '{hook}'?"
                    )


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _distance(a: str, b: str) -> int:
    """Return the least number of letters to insert, delete or replace that makes `b` of `a`; if it
    is more than 2, any number greater than 2.
    """
    if abs(len(a) - len(b)) > 2:
        return 3
    row = [*range(len(b) + 1)]
    for i, letter in enumerate(a, 1):
        before, row = row, [i]
        for j, other in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != other)))
    return row[-1]


@overload
def pass_instrument(pi_cls: type[T], /) -> type[T]: ...
@overload
def pass_instrument() -> Callable[[type[T]], type[T]]: ...
def pass_instrument(pi_cls: type[T] | None = None, /) -> type[T] | Callable[[type[T]], type[T]]:
    """Make an instrument class of a class that defines some of the hooks.

    Works as `@pass_instrument` and as `@pass_instrument()`. A subclass of PassInstrument is
    returned unchanged. Source: `tvm.instrument.pass_instrument`.
    """
    if pi_cls is None:
        return pass_instrument
    if not isinstance(pi_cls, type):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"pass_instrument decorates a class, not {pi_cls!r}")
    if issubclass(pi_cls, PassInstrument):
        return pi_cls
    like = {k: getattr(pi_cls, k) for k in ("__module__", "__qualname__", "__doc__")}
    bases: tuple[type, ...] = (pi_cls, PassInstrument)
    return cast(
        type[T], new_class(pi_cls.__name__, bases, exec_body=lambda body: body.update(like))
    )


# `@pass_instrument` derives a class from the decorated one and from PassInstrument, which the type
# system has no word for. So a decorated class is taken by the hooks that it has: it is enough to
# have one, with the right parameters.


class _Enters(Protocol):
    def enter_pass_ctx(self, /) -> object: ...


class _Exits(Protocol):
    def exit_pass_ctx(self, /) -> object: ...


class _Finalizes(Protocol):
    def finalize_pass_ctx(self, /) -> object: ...


class _Blocks(Protocol):
    def should_run(self, module: ModuleOp, info: PassInfo, /) -> bool: ...


class _Limits(Protocol):
    def should_execute(self, tag: str, /) -> bool: ...


class _RunsBefore(Protocol):
    def run_before_pass(self, module: ModuleOp, info: PassInfo, /) -> object: ...


class _RunsAfter(Protocol):
    def run_after_pass(self, module: ModuleOp, info: PassInfo, /) -> object: ...


class _RunsBeforeVisits(Protocol):
    def before_visit(self, op: Operation, info: PassInfo, /) -> object: ...


class _RunsAfterVisits(Protocol):
    def after_visit(self, op: Operation, info: PassInfo, /) -> object: ...


class _SeesFailures(Protocol):
    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException, /) -> object: ...


class _SeesSkips(Protocol):
    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str, /) -> object: ...


class _RunsBeforeAnalyses(Protocol):
    def run_before_analysis(self, op: Operation, analysis: type, /) -> object: ...


class _RunsAfterAnalyses(Protocol):
    def run_after_analysis(self, op: Operation, analysis: type, /) -> object: ...


class _SeesFailedAnalyses(Protocol):
    def analysis_failed(self, op: Operation, analysis: type, error: BaseException, /) -> object: ...


class _SeesInvalidated(Protocol):
    def analysis_invalidated(self, op: Operation, analysis: type, /) -> object: ...


AnyInstrument: TypeAlias = (
    PassInstrument
    | _Enters
    | _Exits
    | _Finalizes
    | _Blocks
    | _Limits
    | _RunsBefore
    | _RunsAfter
    | _RunsBeforeVisits
    | _RunsAfterVisits
    | _SeesFailures
    | _SeesSkips
    | _RunsBeforeAnalyses
    | _RunsAfterAnalyses
    | _SeesFailedAnalyses
    | _SeesInvalidated
)
"""An instrument to type checkers; a PassContext raises TypeError for an undecorated class."""


# The dispatch of events


class PassInstrumentor:
    """The caller of the hooks of some instruments, which it holds in a fixed order.

    An exception of `run_before_pass`, `run_after_pass` or a hook about analyses gains a note that
    names the instrument, and propagates: the hooks after it are not called. An exception of a hook
    that runs because of a failure becomes a note on that failure instead, and all hooks are called.
    Source: MLIR's `PassInstrumentor`.
    """

    def __init__(self, instruments: Iterable[PassInstrument] = ()) -> None:
        self.instruments = tuple(instruments)

    # Contexts

    def enter(self) -> None:
        """Enter all instruments in order; if one fails, exit and finalize those already entered,
        last first.
        """
        entered: list[PassInstrument] = []
        try:
            for instrument in self.instruments:
                instrument.enter_pass_ctx()
                entered.append(instrument)
        except BaseException as error:
            unwound = PassInstrumentor(reversed(entered))
            try:
                unwound._call_and_note("exit_pass_ctx", error)
            finally:
                unwound._finalize(error)

    def exit(self) -> None:
        """Exit the instruments in order, up to the first that fails; then finalize all of them."""
        failure: BaseException | None = None
        try:
            for instrument in self.instruments:
                instrument.exit_pass_ctx()
        except BaseException as error:
            failure = error
        self._finalize(failure)

    def _finalize(self, failure: BaseException | None) -> None:
        """Finalize all instruments, then raise `failure`, or else the first exception of theirs,
        with notes on the others.
        """
        for instrument in self.instruments:
            try:
                instrument.finalize_pass_ctx()
            except BaseException as error:
                if failure is None:
                    failure = error
                else:
                    failure.add_note(f"and {instrument.name}.finalize_pass_ctx raised {error!r}")
        if failure is not None:
            raise failure

    # Passes

    def find_blockers(self, module: ModuleOp, info: PassInfo) -> str | None:
        """Return the names of the instruments whose `should_run` refuses the pass, or None.

        All instruments are asked. Errors: TypeError for an answer that is not a bool.
        """
        blockers: list[str] = []
        for instrument in self.askers:
            answer = instrument.should_run(module, info)
            if not isinstance(answer, int):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(
                    f"{instrument.name}.should_run returned {answer!r} for pass '{info.name}', "
                    "but has to return True or False"
                )
            if not answer:
                blockers.append(instrument.name)
        return ", ".join(blockers) or None

    def before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """Call `run_before_pass` of each instrument."""
        for instrument in self.instruments:
            try:
                instrument.run_before_pass(module, info)
            except BaseException as error:
                error.add_note(f"in {instrument.name}.run_before_pass, for pass '{_brief(info)}'")
                raise

    def after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """Call `run_after_pass` of each instrument."""
        for instrument in self.instruments:
            try:
                instrument.run_after_pass(module, info)
            except BaseException as error:
                error.add_note(f"in {instrument.name}.run_after_pass, for pass '{_brief(info)}'")
                raise

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        """Call `pass_failed` of each instrument; exceptions from it become notes on `error`."""
        self._call_and_note("pass_failed", error, module, info, error)

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        """Call `pass_skipped` of each instrument."""
        for instrument in self.instruments:
            instrument.pass_skipped(module, info, reason)

    @cached_property
    def askers(self) -> tuple[PassInstrument, ...]:
        """The instruments that override `should_run`, in their class or as an attribute."""
        default = PassInstrument.should_run
        hooks = ((i, getattr(i.should_run, "__func__", None)) for i in self.instruments)
        return tuple(i for i, hook in hooks if hook is not default)

    @cached_property
    def deciders(self) -> tuple[PassInstrument, ...]:
        """The instruments that override `should_execute`."""
        default = PassInstrument.should_execute
        return tuple(i for i in self.instruments if type(i).should_execute is not default)

    @cached_property
    def visitors(self) -> tuple[PassInstrument, ...]:
        """The instruments that are told of each op that a pass visits."""
        hooks = ("before_visit", "after_visit")
        defaults = [getattr(PassInstrument, hook) for hook in hooks]
        return tuple(
            i for i in self.instruments if [getattr(type(i), hook) for hook in hooks] != defaults
        )

    def visit(
        self, op: Operation, info: PassInfo, visit: Callable[[Operation], Operation]
    ) -> Operation:
        """Call `visit` with an op, and the hooks before and after it."""
        for instrument in self.visitors:
            instrument.before_visit(op, info)
        result = visit(op)
        for instrument in self.visitors:
            instrument.after_visit(result, info)
        return result

    # Analyses

    def before_analysis(self, op: Operation, analysis: type) -> None:
        """Call `run_before_analysis` of each instrument."""
        self._call("run_before_analysis", op, analysis)

    def after_analysis(self, op: Operation, analysis: type) -> None:
        """Call `run_after_analysis` of each instrument."""
        self._call("run_after_analysis", op, analysis)

    def analysis_failed(self, op: Operation, analysis: type, error: BaseException) -> None:
        """Call `analysis_failed` of each instrument; exceptions from it become notes on `error`."""
        self._call_and_note("analysis_failed", error, op, analysis, error)

    def analysis_invalidated(
        self, op: Operation, analysis: type, error: BaseException | None = None
    ) -> None:
        """Call `analysis_invalidated` of each instrument; `error` is the exception that caused it,
        if one did.
        """
        if error is None:
            self._call("analysis_invalidated", op, analysis)
        else:
            self._call_and_note("analysis_invalidated", error, op, analysis)

    def _call(self, hook: str, op: Operation, analysis: type) -> None:
        """Call a hook about an analysis."""
        for instrument in self.instruments:
            call: Callable[[Operation, type], None] = getattr(instrument, hook)
            try:
                call(op, analysis)
            except BaseException as error:
                error.add_note(f"in {instrument.name}.{hook}, for analysis {analysis.__name__}")
                raise

    def _call_and_note(self, hook: str, error: BaseException, *arguments: object) -> None:
        """Call a hook while `error` propagates: exceptions from it become notes on `error`."""
        for instrument in self.instruments:
            call: Callable[..., None] = getattr(instrument, hook)
            try:
                call(*arguments)
            except Exception as second:
                error.add_note(f"and {instrument.name}.{hook} raised {second!r}")


def _brief(info: PassInfo) -> str:
    """Return the text of a pass, for a pipeline its name: the text has all passes in it."""
    return info.name if info.composite else info.text


def check_instruments(instruments: object) -> tuple[PassInstrument, ...]:
    """Return the instruments in `instruments`, none if it is None.

    Errors: TypeError for anything else, and for an instrument with a misspelled hook; ValueError
    for an instrument that is there twice.
    """
    if instruments is None:
        return ()
    if isinstance(instruments, PassInstrument) or not isinstance(instruments, Iterable):
        raise TypeError(f"instruments is a list of instruments, not {instruments!r}")
    checked: list[PassInstrument] = []
    for instrument in cast(Iterable[object], instruments):
        if not isinstance(instrument, PassInstrument):
            raise TypeError(
                f"{instrument!r} is not an instrument: derive its class from PassInstrument, "
                "or decorate it with "
                "@pass_instrument, and pass an instance"
            )
        if any(instrument is other for other in checked):
            raise ValueError(
                f"the instrument {instrument.name} is in the list twice: leave one out, or make "
                "two objects"
            )
        check_hooks(type(instrument))
        checked.append(instrument)
    return tuple(checked)
