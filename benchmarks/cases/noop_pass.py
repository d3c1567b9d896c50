"""The cost of the infrastructure for a no-op pass, in a Sequential of a thousand, beside TVM.

make bench FILTER=no-op
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from table.rows import Case, Pair, Scope, Unavailable, once, timed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PassContext, PassInfo, PassInstrument, Sequential, module_pass

__all__ = ["cases"]

PASSES = 1000


@module_pass(name="bench-nothing")
def nothing(module: ModuleOp, ctx: PassContext) -> None:
    """Do nothing."""


class Watcher(PassInstrument):
    """An instrument in Python that does nothing."""

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None: ...
    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None: ...


def ours(*instruments: PassInstrument, verify_each: bool) -> Callable[[], None]:
    """Return a function that runs our Sequential."""
    pipeline, module, ir_context = Sequential([nothing] * PASSES), ModuleOp([]), Context()
    ctx = PassContext(instruments=instruments, verify_each=verify_each)

    def run() -> None:
        with ctx:
            pipeline.apply(ir_context, module)

    return run


def tvms(with_instrument: bool) -> Callable[[], None]:
    """Return a function that runs TVM's Sequential; ImportError if TVM is not installed."""
    import tvm
    from tvm.ir import instrument, transform

    module = tvm.IRModule()
    nop = transform.module_pass(lambda m, c: m, opt_level=0, name="nop")
    watcher = instrument.pass_instrument(
        type("Watcher", (), {"run_before_pass": lambda *_: None, "run_after_pass": lambda *_: None})
    )
    pipeline = transform.Sequential([nop] * PASSES)

    def run() -> None:
        with transform.PassContext(instruments=[watcher()] if with_instrument else []):
            pipeline(module)

    return run


def pair_of(with_instrument: bool = False, verify_each: bool = False) -> Pair:
    """Return our Sequential and TVM's."""
    try:
        peer = tvms(with_instrument)
    except ImportError:
        raise Unavailable("apache-tvm is not installed") from None
    mine = ours(*([Watcher()] if with_instrument else []), verify_each=verify_each)
    for run in (mine, peer):
        run()  # imports
    return Pair(timed(once(mine)), timed(once(peer)))


def cases(scope: Scope) -> Iterator[Case]:
    """Yield the cases: with and without an instrument, and with verification, which TVM has not."""
    yield Case("pass", "1000 no-op passes", "TVM", pair_of, rounds=5)
    instrumented = partial(pair_of, with_instrument=True)
    yield Case("pass", "1000 no-op passes, one instrument", "TVM", instrumented, rounds=5)
    verified = partial(pair_of, verify_each=True)
    yield Case("pass", "1000 no-op passes, verify_each", "TVM", verified, rounds=5)
