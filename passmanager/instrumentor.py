"""The dispatch of events to the instruments of a PassContext."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .instrument import PassInstrument, check_hooks
from .registration.info import PassInfo

__all__ = ["PassInstrumentor", "check_instruments"]


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
