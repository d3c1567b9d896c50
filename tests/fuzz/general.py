"""Run random modules through random pipelines of the general passes, and compare what functions
compute before and after.

    make fuzz-general [CASES=3000] [SEED=0]

After each pass the module must be valid, and `@main` must return the same bits. The exit status is
1 if any case fails; each failure is printed with its seed, pipeline and module.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from random import Random

import numpy as np
from support.parsing import parsed
from support.programs.memory_programs import random_memory_module
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import Value, entry_function
from passline.passes import REPLACEMENTS, UNIVERSE
from passline.passmanager import PassContext
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

__all__ = ["check_general_seed"]

GENERAL = (
    *("canonicalize", "control-flow-sink", "cse", "dead-code-elimination"),
    *("fixpoint(canonicalize,cse)", "func.func(mem2reg)", "generate-runtime-verification"),
    *("inline", 'inline{default-pipeline=""}', "inline{inlining-threshold=150}"),
    *("loop-invariant-code-motion", "mem2reg", "mem2reg{region-simplify=false}"),
    *("remove-dead-values", "sccp", "sroa", "strip-debuginfo", "symbol-dce"),
    *("symbol-privatize{exclude=main}", "topological-sort"),
)
PASSES = UNIVERSE.all_passes | REPLACEMENTS
ARGUMENTS: tuple[tuple[Value, ...], ...] = (
    (np.int32(5), np.int32(-3), 2, True, False, np.float32(1.5)),
    (np.int32(-(2**31)), np.int32(2**31 - 1), 3, False, True, np.float32(-0.0)),
    (np.int32(0), np.int32(1), 0, True, True, np.float32(np.nan)),
)  # pyright: ignore[reportAssignmentType]
DTYPES = (np.int32, np.int64, np.bool_, np.float32)


def computed(module: ModuleOp) -> list[tuple[bytes, ...]]:
    """Return the bits of the results of `@main` on each of the arguments; all NaNs are alike."""
    run = interpret(module, entry_function(module, "main"))
    return [
        tuple(
            b"NaN" if (array := np.asarray(value).astype(dtype)) != array else array.tobytes()
            for value, dtype in zip(run(*arguments), DTYPES, strict=True)
        )
        for arguments in ARGUMENTS
    ]


def check_general_seed(seed: int, counts: Counter[str] | None = None) -> str:
    """Run one case; return what is wrong, or an empty text. `counts` counts the passes that changed
    something."""
    random = Random(seed)
    text = random_memory_module(seed)
    names = random.choices(GENERAL, k=random.randint(1, 6))
    try:
        module, ctx = parsed(text), make_ir_context()
        expected = computed(module)
        for name in names:
            before = str(module)
            with PassContext(opt_level=4):
                parse_pipeline(name, PASSES).apply(ctx, module)
            verify(module)
            if counts is not None and str(module) != before:
                counts[name] += 1
            if computed(module) != expected:
                raise AssertionError(f"{name} changes what @main returns")
    except Exception as error:  # whatever a pass raises is a failure of the case
        shown = f"{type(error).__name__}: {error}"
        return f"seed {seed}, -p '{','.join(names)}': {shown}\n{text}"
    return ""


def main() -> int:
    """Run the cases, and print the failures and how often each pass changed something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    failures = 0
    for seed in range(options.seed, options.seed + options.cases):
        if failure := check_general_seed(seed, counts):
            failures += 1
            print(failure, file=sys.stderr, flush=True)
    print(f"{options.cases} cases, {failures} failures")
    for name, times in sorted(counts.items()):
        print(f"{times:6} modules changed by {name}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
