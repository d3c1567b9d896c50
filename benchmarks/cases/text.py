"""Reading, verifying, printing and copying IR, beside xDSL in the same process.

Each run reads into a new context. Both sides verify, print and copy the same module, which our
parser has read, and which has one object for equal types where that parser makes it so: verifying
and printing it is faster than a module of xDSL's parser, on both sides. Our verifier checks
dominance as well, xDSL's does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import StringIO

from cases.workloads import SYNTHETIC, Workload, models, synthetic
from table.rows import QUICK_OPS, Case, Pair, Run, Scope, once, sizes, timed
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer

from passline.passmanager.fast.clone import clone
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import PrintStyle, module_text
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

__all__ = ["STEPS", "cases"]

PEER = "xDSL"
Step = tuple[Callable[[Workload], Run], Callable[[Workload], Run]]


def cases(scope: Scope) -> Iterator[Case]:
    """Yield the cases of all steps on all workloads."""
    for ops in sizes(scope):
        for workload in synthetic(SYNTHETIC, ops):
            yield from cases_on(workload)
    for workload in models(scope.max_ops):
        yield from cases_on(workload)


def cases_on(workload: Workload) -> Iterator[Case]:
    """Yield the cases of all steps on a workload, which the cases share."""
    for what, (ours, theirs) in STEPS.items():
        prepare = partial(pair_of, workload, ours, theirs)
        # Reading a module for the other steps takes longer than they do.
        quick = workload.ops in (0, QUICK_OPS) and "generic" not in what
        yield Case(what, workload.name, PEER, prepare, workload.ops, quick=quick)


def pair_of(
    workload: Workload, ours: Callable[[Workload], Run], theirs: Callable[[Workload], Run]
) -> Pair:
    """Return both sides of a step, after a run of each on a small input, which imports modules."""
    (small,) = synthetic(["loop nests"], 26)
    for side in (ours, theirs):
        side(small)()
    sides = (timed(once(side(workload))) for side in (ours, theirs))
    return Pair(*sides, ops=workload.count)


# The steps of both sides


def our_read(text: str) -> Run:
    return lambda: parse_module(make_ir_context(), text, "benchmark")


def xdsl_read(text: str) -> Run:
    return lambda: Parser(make_ir_context(), text, "benchmark").parse_module()


def our_print(module: ModuleOp, generic: bool = False) -> Run:
    ir_context, style = make_ir_context(), PrintStyle(generic=generic)
    return lambda: module_text(module, ir_context, style)


def xdsl_print(module: ModuleOp, generic: bool = False) -> Run:
    ir_context = make_ir_context()

    def run() -> str:
        printer = Printer(stream := StringIO(), print_generic_format=generic)
        printer.print_op(module)
        printer.print_metadata(ir_context.loaded_dialects)
        return stream.getvalue()

    return run


STEPS: Mapping[str, Step] = {
    "read": (lambda w: our_read(w.text), lambda w: xdsl_read(w.text)),
    "read generic": (lambda w: our_read(w.generic), lambda w: xdsl_read(w.generic)),
    "verify": (lambda w: partial(verify, w.module), lambda w: w.module.verify),
    "print": (lambda w: our_print(w.module), lambda w: xdsl_print(w.module)),
    "print generic": (
        lambda w: our_print(w.module, generic=True),
        lambda w: xdsl_print(w.module, generic=True),
    ),
    "copy": (lambda w: partial(clone, w.module), lambda w: w.module.clone),
}
"""Name -> our side and xDSL's: functions from a workload to a run."""
