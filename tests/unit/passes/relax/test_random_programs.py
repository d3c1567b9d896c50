"""The laws of passes on random programs with control flow: see tests/support/passes/laws.py."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.budget import some
from support.parsing import parsed
from support.passes.results import check_equal, run
from support.programs.relax_programs import random_program
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from passline.dialects.relax.types import is_ranked, refine
from passline.passmanager import PassContext
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

PASSES = (
    "infer-type",
    "fold-constant",
    "eliminate-common-subexpr",
    "dead-code-elimination",
    "canonicalize",
    "lambda-lift",
    "plan-devices",
    "to-a-normal-form",
    "fold-symbolic-shapes",
    "fuse-ops",
    "inline",
    "simplify-expr",
)
TENSORS = [np.arange(n, dtype=np.float32) - 1.5 for n in (1, 4, 4)]


class FitsTypes(Interpreter.Listener):
    """Checks that each computed tensor has the shape of its type in the IR."""

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        for result, value in zip(op.results, results, strict=True):
            if is_ranked(result.type):
                assert refine(result.type, TensorType(f32, np.shape(value))) is not None


@cache
def program(seed: int) -> ModuleOp:
    return parsed(random_program(seed))


@cache
def expected(seed: int, condition: bool) -> tuple[object, ...]:
    """Compute the results of a program before any pass."""
    return run(program(seed), "main", (*TENSORS, condition))


@pytest.mark.parametrize("seed", some(range(25), 4))
@pytest.mark.parametrize("name", PASSES)
def test_passes_keep_programs_valid_and_what_they_compute(name: str, seed: int):
    ctx, module = make_ir_context(), program(seed).clone()
    with PassContext(opt_level=4):
        pipeline = parse_pipeline(name)
        pipeline.apply(ctx, module)
        verify(module)
        snapshot = Snapshot(module)
        pipeline.apply(ctx, module)
        assert not snapshot.update()
    for condition in (True, False):
        actual = run(module, "main", (*TENSORS, condition), FitsTypes())
        check_equal(actual, expected(seed, condition))
