"""The cost of the infrastructure for a no-op pass, in a Sequential of a thousand, beside TVM.

    make bench        # installs apache-tvm

Both run in this process and take turns; the best of several rounds counts. Times are in
microseconds per pass.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PassContext, PassInfo, PassInstrument, Sequential, module_pass

PASSES, ROUNDS = 1000, 9


@module_pass(name="bench-nothing")
def nothing(module: ModuleOp, ctx: PassContext) -> None:
    """Do nothing."""


class Watcher(PassInstrument):
    """An instrument in Python that does nothing."""

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None: ...
    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None: ...


def ours(*instruments: PassInstrument, verify_each: bool = False) -> Callable[[], None]:
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


def main() -> None:
    """Time all variants in turn, and print the best of each."""
    runs = {
        "Passline": ours(),
        "Passline, with an instrument": ours(Watcher()),
        "Passline, verifying each": ours(verify_each=True),
    }
    try:
        runs |= {"TVM": tvms(False), "TVM, with an instrument": tvms(True)}
    except ImportError:
        print("apache-tvm is not installed")
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            began = perf_counter()
            run()
            best[name] = min(best[name], perf_counter() - began)
    for name, seconds in best.items():
        print(f"{name:30} {seconds / PASSES * 1e6:6.2f} us a pass")


if __name__ == "__main__":
    main()
