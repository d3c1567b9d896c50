"""Compare passes on one core with passes in workers, on random modules and pipelines.

    make fuzz-workers [CASES=3000] [SEED=0]

All is compared: the module with its locations, names and the order of uses, diagnostics, remarks,
counters, and the error of a pass that fails. The exit status is 1 if any case differs.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from io import StringIO
from random import Random
from unittest.mock import patch

from support.programs.relax_programs import random_program
from support.programs.scalar_programs import random_scalar_module
from xdsl.dialects.builtin import ModuleOp

from passline.passes import REPLACEMENTS
from passline.passmanager import PassContext, Sequential, parallel_run, workers
from passline.passmanager.base import ModulePass
from passline.passmanager.fast.clone import clone
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import ExactPrinter, PrintStyle
from passline.passmanager.ir.walk import walk
from passline.passmanager.parallel_run import ParallelRun
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context
from passline.passmanager.run import Run

__all__ = ["check_seed", "workers_always"]

SCALAR = ("canonicalize", "cse", "func.func(canonicalize)", "func.func(cse)", "func.func(dce)")
TENSORS = (
    "adjust-matmul-order",
    "alter-op-layout",
    "cancel-transposes",
    "canonicalize-ops",
    "combine-parallel-conv2d",
    "combine-parallel-matmul",
    "convert-layout",
    "dead-code-elimination",
    "eliminate-common-subexpr",
    "flatten-concatenate",
    "fold-constant",
    "fold-explicit-padding",
    "fold-scale-axis",
    "fuse-ops",
    "infer-type",
    "recognize-ops",
    "simplify-expr",
    "simplify-inference",
    "to-a-normal-form",
    "to-mixed-precision",
)


class Noting(ModulePass):
    """Note the state of the run at the end of a pipeline."""

    name = "noting-state"

    def __init__(self) -> None:
        self.state: list[object] = []

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        versions = [run.changed_in.get(op) for op in module.ops]
        self.state += [dict(run.counts), run.version, sorted(run.valid), versions]


@contextmanager
def workers_always(found: list[bool]) -> Generator[None]:
    """Let two workers run whatever they can, and note in `found` whether each attempt succeeded."""
    succeeds = ParallelRun.succeeds

    def noted(self: ParallelRun) -> bool:
        found.append(succeeds(self))
        return found[-1]

    def worth(*_: object) -> bool:
        return True

    with ExitStack() as stack:
        for holder, name, value in (
            (ParallelRun, "succeeds", noted),
            (ParallelRun, "_is_worth_it", worth),
            (workers, "available_cores", lambda: 2),
            (workers, "can_fork", lambda: True),
            (workers, "MIN_OPS", 0),
            (parallel_run, "MIN_OPS", 0),
        ):
            stack.enter_context(patch.object(holder, name, value))
        yield


def module_of(random: Random, kind: str) -> ModuleOp:
    """Return a module with the functions of several random programs."""
    texts: list[str] = []
    for number in range(random.randrange(1, 4)):
        seed = random.randrange(1 << 20)
        text = random_program(seed) if kind == "tensors" else random_scalar_module(seed)
        text = re.sub(r"@(\w+)", rf"@\1_{number}", text)
        texts.append(text)
    context = make_ir_context()
    first, *others = [parse_module(context, text, f"{n}.mlir") for n, text in enumerate(texts)]
    for other in others:
        for op in other.ops:
            op.detach()
            first.body.block.add_op(op)
    return first


def pipeline_of(random: Random, kind: str) -> Sequential:
    """Return a random pipeline, with a pass at its end that notes the state of the run."""
    names = TENSORS if kind == "tensors" else SCALAR
    chosen = random.choices(names, k=random.randrange(1, 6))
    passes = [
        REPLACEMENTS[name]()() if name in REPLACEMENTS else parse_pipeline(name).passes[0]
        for name in chosen
    ]
    return Sequential(passes)


def result(
    pipeline: Sequential, module: ModuleOp, number: int, remarks: str | None
) -> tuple[object, ...]:
    """Return all that a pipeline makes and says with a number of workers."""
    shown: list[str] = []
    noting = Noting()
    copy = clone(module)
    with PassContext(
        opt_level=4,
        workers=number,
        remark_filter=remarks,
        renderer=lambda found: shown.extend(map(str, found)),
    ):
        try:
            Sequential([pipeline, noting]).apply(make_ir_context(), copy)
        except Exception as error:
            notes: list[str] = getattr(error, "__notes__", [])
            return _without_reasons(shown), type(error), str(error), notes
    return text_of(copy), _without_reasons(shown), noting.state


def _without_reasons(shown: list[str]) -> list[str]:
    """Return diagnostics without those that say why passes run on one core."""
    return [line for line in shown if "on one core" not in line]


def text_of(module: ModuleOp) -> str:
    """Return a module with locations, names of values, and the order of uses."""
    printer = ExactPrinter(stream := StringIO(), PrintStyle(generic=True, debuginfo=True))
    printer.print_op(module)
    ops = [*walk(module)]
    numbers = {op: number for number, op in enumerate(ops)}
    values = [value for op in ops for value in op.results]
    values += [a for op in ops for r in op.regions for block in r.blocks for a in block.args]
    uses = [[(numbers[use.operation], use.index) for use in value.uses] for value in values]
    return f"{stream.getvalue()}{[value.name_hint for value in values]}{uses}"


def check_seed(seed: int) -> str | None:
    """Return the pipeline of a seed if two workers differ from one core, else None."""
    random = Random(seed)
    kind = random.choice(("tensors", "scalars"))
    module, pipeline = module_of(random, kind), pipeline_of(random, kind)
    remarks = ".*" if random.random() < 0.3 else None
    expected = result(pipeline, module, 1, remarks)
    return None if result(pipeline, module, 2, remarks) == expected else str(pipeline)


def main() -> int:
    """Check the seeds that the command line names; return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz.workers")
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    found: list[bool] = []
    different: dict[int, str] = {}
    with workers_always(found):
        for seed in range(args.seed, args.seed + args.cases):
            if (pipeline := check_seed(seed)) is not None:
                different[seed] = pipeline
                print(f"seed {seed} differs: -p '{pipeline}'", flush=True)
    print(f"{args.cases} modules, {len(different)} differ; runs of passes: {Counter(found)}")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
