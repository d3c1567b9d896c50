"""PrintIR, PrintOpStats: print the module, or how often each operation occurs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.instruments.printing import banner, ir_text
from ...passmanager.ir.walk import name_of, walk

# PrintIR: print the module in the middle of a pipeline.


@dataclass(frozen=True)
class PrintIR(ModulePass):
    """Print the module on stderr after the line `PrintIR(header):`, or after MLIR's.

    Sources: `tvm.transform.PrintIR`, which logs it, and MLIR's pass of this name.
    """

    name = "print-ir"

    header: str = ""
    """The text in the parentheses, to tell several prints apart."""

    label: str | None = None
    """Print the line `// -----// IR Dump label //----- //`, as MLIR does, before the module."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        if self.label is None:
            print(f"PrintIR({self.header}):", file=sys.stderr)
        else:
            print(banner(f"IR Dump {self.label}".rstrip()), file=sys.stderr)
        print(ir_text(module), file=sys.stderr)


# PrintOpStats: print the number of operations by name, in the middle of a pipeline.


def count_ops(module: ModuleOp) -> Counter[str]:
    """Count the ops in `module`, itself included, by name."""
    return Counter(map(name_of, walk(module)))


@dataclass(frozen=True)
class PrintOpStats(ModulePass):
    """Print the number of operations by name on stderr, in the format of mlir-opt's pass."""

    name = "print-op-stats"

    json: bool = False
    """Print one JSON object."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        lines = _json_lines if self.json else _text_lines
        print(*lines(count_ops(module)), sep="\n", file=sys.stderr)


def _text_lines(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield the lines of a table that is aligned at the dots of the names."""
    rows = [(*_split(name), count) for name, count in sorted(counts.items())]
    left = max(len(dialect) for dialect, _, _ in rows)
    right = max(len(rest) for _, rest, _ in rows)
    yield "Operations encountered:"
    yield "-----------------------"
    for dialect, rest, count in rows:
        # mlir-opt aligns at the dot, and has a blank for names without one.
        dot = "." if dialect else " "
        yield f"  {dialect:>{left}}{dot}{rest:<{right}} , {count}"


def _split(name: str) -> tuple[str, str]:
    """Split the name of an op into its dialect, empty for a name without one, and the rest."""
    dialect, dot, rest = name.partition(".")
    return (dialect, rest) if dot else ("", name)


def _json_lines(counts: Mapping[str, int]) -> Iterator[str]:
    entries = [f'  "{name}" : {count}' for name, count in sorted(counts.items())]
    yield "{"
    yield ",\n".join(entries)
    yield "}"
