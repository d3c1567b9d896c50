"""Instruments: code that watches passes from outside, and may keep one from running."""

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
    """Something that is told what a PassContext and the passes run under it do.

    Subclass it and override the hooks that you need, or decorate a plain class with
    `@pass_instrument`. Keep all state in the instrument: two of a kind in one context must not know
    of each other. Source: `tvm.instrument.PassInstrument`; `should_execute`, `pass_failed`,
    `pass_skipped` and the hooks about analyses are Passline's.
    """

    @property
    def name(self) -> str:
        """What messages call this instrument."""
        return type(self).__name__

    def enter_pass_ctx(self) -> None:
        """The context that holds this instrument is being entered."""

    def exit_pass_ctx(self) -> None:
        """The context that holds this instrument has been left."""

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        """Whether the pass may run; one instrument that says no is enough."""
        return True

    def should_execute(self, tag: str) -> bool:
        """Whether a pass may take its next step of the kind `tag`, as one rewrite; one instrument
        that says no is enough.
        """
        return True

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """The pass is about to run on `module`."""

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """The pass has run and left `module` valid."""

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        """The pass, for which `run_before_pass` ran, has failed with `error`."""

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        """The pass did not run: `disabled`, `opt_level 3 > 2`, or the instrument that kept it from
        running.
        """

    def run_before_analysis(self, op: Operation, analysis: type) -> None:
        """The pass that is running needs an analysis of `op`, which is about to be computed."""

    def run_after_analysis(self, op: Operation, analysis: type) -> None:
        """The analysis has been computed, and is kept."""

    def analysis_failed(self, op: Operation, analysis: type, error: BaseException) -> None:
        """The analysis, for which `run_before_analysis` ran, has raised `error`."""

    def analysis_invalidated(self, op: Operation, analysis: type) -> None:
        """The analysis is true no more, because of what the pass that is running changed."""


@overload
def pass_instrument(pi_cls: type[T], /) -> type[T]: ...
@overload
def pass_instrument() -> Callable[[type[T]], type[T]]: ...
def pass_instrument(pi_cls: type[T] | None = None, /) -> type[T] | Callable[[type[T]], type[T]]:
    """Make an instrument of a class that has some of the hooks; a subclass of PassInstrument stays
    as it is.

    Works as `@pass_instrument` and as `@pass_instrument()`. Source:
    `tvm.instrument.pass_instrument`.
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
