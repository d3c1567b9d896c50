"""Reading and writing bytecode of MLIR, beside text by our own reader and printer.

The bytecode has the location of each operation in the file that it was made from. The text with
the same locations has a `loc(...)` at each operation; plain text has none, and gives each operation
its place in itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cases.text import our_print, our_read
from cases.workloads import SYNTHETIC, Workload, synthetic
from table.rows import QUICK_OPS, Case, Pair, Run, Scope, once, sizes, timed

from passline.passmanager.bytecode.reader import read_bytecode
from passline.passmanager.bytecode.writer import write_bytecode
from passline.passmanager.ir.text.printer import PrintStyle, module_text
from passline.passmanager.registry import make_ir_context

__all__ = ["cases"]

LOCATED_OPS = 1_000
"""The most operations of a text with locations, of which the parser reads each by itself."""


def cases(scope: Scope) -> Iterator[Case]:
    """Yield the cases of reading and writing on all synthetic workloads."""
    for ops in sizes(scope):
        for workload in synthetic(SYNTHETIC, ops):
            quick = ops == QUICK_OPS
            name, number = workload.name, workload.ops
            yield Case(
                "read bytecode", name, "text", partial(reading, workload), number, quick=quick
            )
            if ops <= LOCATED_OPS:
                prepare = partial(reading, workload, located=True)
                yield Case("read bytecode", name, "text with locations", prepare, number)
            yield Case(
                "write bytecode", name, "text", partial(writing, workload), number, quick=quick
            )


def reading(workload: Workload, located: bool = False) -> Pair:
    """Return the reading of bytecode, and of text."""
    content = write_bytecode(workload.module, make_ir_context())
    style = PrintStyle(debuginfo=True)
    text = module_text(workload.module, make_ir_context(), style) if located else workload.text

    def read() -> object:
        return read_bytecode(make_ir_context(), content, "benchmark")

    return pair(read, our_read(text), workload)


def writing(workload: Workload) -> Pair:
    """Return the writing of bytecode, and of text."""
    module = workload.module
    return pair(lambda: write_bytecode(module, make_ir_context()), our_print(module), workload)


def pair(ours: Run, peer: Run, workload: Workload) -> Pair:
    """Return both sides after a run of each, which imports modules."""
    ours()
    peer()
    return Pair(timed(once(ours)), timed(once(peer)), ops=workload.count)
