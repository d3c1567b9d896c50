"""PassInstrument: the hooks of code that observes passes, and may block them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import new_class
from typing import Protocol, TypeAlias, TypeVar, cast, overload

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .registration.info import PassInfo

__all__ = ["AnyInstrument", "PassInstrument", "check_hooks", "pass_instrument"]

T = TypeVar("T")


class PassInstrument:
    """A set of hooks that a PassContext and the passes run under it call.

    Derive a class from it and override hooks, or decorate a plain class with `@pass_instrument`.
    Keep all state in the instrument: two instruments of one class in a context must be independent.
    Hooks are called for composites too, around those for the passes in them; `info.composite` tells
    them apart, so that changes and times are not counted twice.
    Source: `tvm.instrument.PassInstrument`; `finalize_pass_ctx`, `should_execute`, `pass_failed`,
    `pass_skipped` and the hooks about analyses are Passline's.
    """

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
    | _SeesFailures
    | _SeesSkips
    | _RunsBeforeAnalyses
    | _RunsAfterAnalyses
    | _SeesFailedAnalyses
    | _SeesInvalidated
)
"""An instrument to type checkers; a PassContext raises TypeError for an undecorated class."""
