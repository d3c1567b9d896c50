"""The general passes beside those of mlir-opt on random modules with memory and blocks: each leaves
no operation more, of any name at any depth.

`control-flow-sink` is not compared: mlir-opt moves operations through loops, and not into branches
of branches. `make fuzz-general` compares 3,000 modules: PASSLINE_GENERAL_CASES says how many.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter

import pytest
from support.parsing import parsed
from support.programs.memory_programs import random_memory_module
from xdsl.dialects.builtin import ModuleOp

from passline.passes.generic.mlir_opt import find_mlir_opt
from passline.passmanager.ir.text.parser import split_chunks
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

MLIR_OPT = find_mlir_opt()
SEEDS = range(int(os.environ.get("PASSLINE_GENERAL_CASES", "60")))


def by_mlir_opt(option: str) -> list[ModuleOp]:
    """Run a pass of mlir-opt on the modules, all in one process."""
    assert MLIR_OPT is not None
    text = "\n// -----\n".join(map(random_memory_module, SEEDS))
    command = [MLIR_OPT, "--split-input-file", "--mlir-print-op-generic", option]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return [parsed(chunk.decode()) for chunk, _ in split_chunks(done.stdout.encode())]


def by_depth(module: ModuleOp) -> Counter[tuple[str, int]]:
    """Count the operations by name and by the number of operations around them."""
    found: Counter[tuple[str, int]] = Counter()
    for op in walk(module):
        depth, around = 0, op.parent_op()
        while around is not None:
            depth, around = depth + 1, around.parent_op()
        found[op.name, depth] += 1
    return found


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed (Debian: mlir-22-tools)")
@pytest.mark.parametrize(
    ("option", "pipeline"),
    [
        ("--loop-invariant-code-motion", "loop-invariant-code-motion"),
        (
            "--pass-pipeline=builtin.module(func.func(mem2reg{region-simplify=false}))",
            "mem2reg{region-simplify=false}",
        ),
        ("--pass-pipeline=builtin.module(func.func(sroa))", "sroa"),
        ("--symbol-dce", "symbol-dce"),
        ("--inline=default-pipeline=", 'inline{default-pipeline=""}'),
    ],
)
def test_operations_are_where_mlir_opt_leaves_them(option: str, pipeline: str) -> None:
    theirs = by_mlir_opt(option)
    differing: dict[int, str] = {}
    for seed, expected in zip(SEEDS, theirs, strict=True):
        module = parsed(random_memory_module(seed))
        parse_pipeline(pipeline).apply(make_ir_context(), module)
        ours, peers = by_depth(module), by_depth(expected)
        if ours - peers:
            differing[seed] = f"{dict(ours - peers)} here, {dict(peers - ours)} there"
    assert differing == {}
