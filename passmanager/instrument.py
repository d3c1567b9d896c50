"""PassInstrument: the hooks of code that observes passes, and may block them."""

from __future__ import annotations

from collections.abc import Callable
from types import new_class
from typing import TypeVar, cast, overload

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .info import PassInfo

__all__ = ["PassInstrument", "pass_instrument"]

T = TypeVar("T")


class PassInstrument:
    """A set of hooks that a PassContext and the passes run under it call.

    Derive a class from it and override hooks, or decorate a plain class with `@pass_instrument`.
    Keep all state in the instrument: two instruments of one class in a context must be independent.
    Hooks are called for composites too, around those for the passes in them; `info.composite` tells
    them apart, so that changes and times are not counted twice.
    Source: `tvm.instrument.PassInstrument`; `should_execute`, `pass_failed`, `pass_skipped` and the
    hooks about analyses are Passline's.
    """

    @property
    def name(self) -> str:
        """The name of this instrument in messages."""
        return type(self).__name__

    def enter_pass_ctx(self) -> None:
        """Handle the start of the context of this instrument."""

    def exit_pass_ctx(self) -> None:
        """Handle the end of the context of this instrument."""

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
