"""The types of instruments: PassInstrument, and classes that `@pass_instrument` decorates.

The decorator derives a class from both, which the type system has no word for. So a decorated class
is taken by the hooks that it has: it is enough to have one, with the right parameters.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .instrument import PassInstrument
from .registration.info import PassInfo

__all__ = ["AnyInstrument"]


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
"""What a PassContext takes as an instrument; it raises TypeError for an undecorated class."""
