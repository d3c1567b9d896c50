"""A real model through all of Passline: ResNet-50, as shipped with the package onnx.

python examples/resnet50.py [MODEL.onnx] [--level 3]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import onnx
from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from passline.frontends.onnx import import_model
from passline.interpreters.arguments import random_arguments
from passline.interpreters.interpret import interpret
from passline.interpreters.signature import entry_function
from passline.passes import OPTIMIZE
from passline.passes.generic.print_op_stats import count_ops
from passline.passmanager import PassContext, PasslineError
from passline.passmanager.instruments import PassTimingInstrument
from passline.passmanager.ir.printer import PrintStyle, module_text
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context
from passline.tools.native import compile_module

RESNET = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"


def main_function(module: ModuleOp) -> FuncOp:
    """Return the function of the model."""
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def head(module: ModuleOp, lines: int) -> str:
    """Return the first lines of the model as text, without constants, cut off on the right."""
    text = module_text(module, make_ir_context(), PrintStyle(elide_elements=8))
    shown = text[text.index("  func.func @main") :].splitlines()
    shown = [x for x in shown if "= relax.full " not in x and "= relax.constant " not in x]
    return "\n".join(x if len(x) < 120 else f"{x[:117]}..." for x in shown[:lines]) + "\n    ..."


def count_calls(module: ModuleOp) -> tuple[int, int]:
    """Return the number of calls in the model, and the number of kernels that they call."""
    calls = [op for op in main_function(module).body.block.ops if isinstance(op, CallOp)]
    return len(calls), len({op.callee for op in calls})


def counts_table(before: Counter[str], after: Counter[str]) -> Table:
    """Return a table of the numbers of ops by name, before and after."""
    table = Table("op", title="Operations", title_justify="left")
    table.add_column("imported", justify="right")
    table.add_column("optimized", justify="right")
    for name in sorted(before | after, key=lambda n: (-max(before[n], after[n]), n)):
        table.add_row(name, *(str(counts[name] or "") for counts in (before, after)))
    table.add_section()
    table.add_row("all", str(before.total()), str(after.total()))
    return table


def seconds_of(function: Callable[[], object]) -> float:
    """Return the best time of three runs."""
    times: list[float] = []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def run(module: ModuleOp) -> str:
    """Run the optimized model as machine code and on numpy; return the times as text."""
    function = entry_function(module, "main")
    arguments = random_arguments(function, seed=0)
    try:
        native = compile_module(module)
    except PasslineError as error:
        return f"Not run as machine code: {error}"
    on_numpy = interpret(module, function)
    compiling, machine = native.compile_seconds, seconds_of(lambda: native(*arguments))
    return (
        f"As machine code, compiled in {compiling:.1f} s, it runs in {1000 * machine:.0f} ms, "
        f"on numpy in {1000 * seconds_of(lambda: on_numpy(*arguments)):.0f} ms."
    )


def show(file: Path, level: int) -> None:
    """Import the model, optimize it, and print the IR before and after and the time taken."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]{file.name}[/], {file.stat().st_size / 1000:.0f} kB")
    start = time.perf_counter()
    module = import_model(file)
    seconds = time.perf_counter() - start
    before, function = count_ops(module), main_function(module)
    console.print(f"@main : {function.function_type}\n", markup=False)
    console.print(f"[bold]What went in[/], imported in {seconds * 1000:.0f} ms\n")
    console.print(head(module, 12), markup=False)

    timing = PassTimingInstrument()
    with PassContext(opt_level=level, instruments=[timing]):
        module = parse_pipeline(",".join(OPTIMIZE))(module)

    console.print(f"\n[bold]What came out[/] of -O{level}\n")
    console.print(head(module, 12), markup=False)
    calls, functions = count_calls(module)
    console.print(f"\n@main now calls {functions} kernels {calls} times.\n")
    console.print(counts_table(before, count_ops(module)))
    console.print(timing.report(), markup=False)
    console.print(run(module), markup=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path, default=RESNET)
    parser.add_argument("--level", type=int, default=3, choices=range(4))
    args = parser.parse_args()
    show(args.model, args.level)
