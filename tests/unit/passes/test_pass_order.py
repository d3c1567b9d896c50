"""Passes in any order: one whose conditions hold does not fail, and what it ensures holds."""

from __future__ import annotations

from collections import Counter
from contextlib import redirect_stderr
from io import StringIO
from random import Random

import pytest
from strategies.pipelines import EXCLUDED, FACTORIES, LOWERING, ON_BUFFERS, ON_TENSORS
from support.budget import THOROUGH
from support.networks import random_network

from passline.passmanager import PassContext
from passline.passmanager.condition_checks import unmet_condition
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

SHARDS, MODULES, LENGTH = 20 if THOROUGH else 1, 40, 16

LEFT_OUT = {
    "bind-params": "needs a file",
    "bind-shapes": "its options name functions and parameters",
    "gradient": "needs a scalar result, and a rule for each operation",
    "lift-transform-params": "its options name functions",
    "lower-to-llvm": "a pipeline whose passes are drawn one by one",
    "lower-to-mlir": "as lower-to-llvm",
    "lower-to-tir": "as lower-to-llvm",
    "mlir-opt": "runs mlir-opt's passes, not ours",
    "print-ir": "prints",
    "print-op-stats": "prints",
}
"""The registered passes that are not drawn, with the reason."""

ALL = sorted({*ON_TENSORS, *ON_BUFFERS, *LOWERING, *EXCLUDED}.difference(LEFT_OUT))
TO_LLVM = [name for name in ALL if name.startswith("lower-")]
WEIGHTED = [*ALL, *LOWERING * 10, *TO_LLVM * 2]
"""The passes to draw from: those that change the level more often."""


@pytest.mark.parametrize("shard", range(SHARDS))
def test_what_the_conditions_allow_does_not_fail(shard: int) -> None:
    ran, left_out = Counter[str](), Counter[str]()
    for seed in range(shard * MODULES, (shard + 1) * MODULES):
        random = Random(seed)
        module = random_network(random, parts=1, structures=seed % 2 == 0).module
        context = make_ir_context()
        done: list[str] = []
        for _ in range(LENGTH):
            name = random.choice(WEIGHTED)
            (pass_,) = parse_pipeline(name, FACTORIES).passes
            if (unmet := unmet_condition(pass_, module)) is not None:
                left_out[str(unmet)] += 1
                continue
            done.append(name)
            try:
                with redirect_stderr(StringIO()):
                    with PassContext(opt_level=4, check_conditions="changed"):
                        pass_.apply(context, module)
                verify(module)
            except Exception as error:
                pytest.fail(f"seed {seed}, after {','.join(done)}: {type(error).__name__}: {error}")
            ran[name] += 1
    # Conditions that hold nowhere would pass as well.
    assert ran.total() > 10 * MODULES and len(ran) > 0.9 * len(ALL)
    assert {"legalized", "bufferizable", "a-normal-form", "llvm-signatures"} <= {*left_out}
