"""Random functions on buffers compute the same after passes that analyze memory effects."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.loops import Accesses
from support.parsing import parsed
from support.passes.results import check_equal, run
from xdsl.dialects.builtin import ModuleOp

from passline.passes.tir.common_subexpr_elim import CommonSubexprElim
from passline.passes.tir.remove_no_op import RemoveNoOp
from passline.passmanager.base import Pass
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context


def random_module(seed: int) -> ModuleOp:
    text = Accesses(Random(seed), "main").text
    return parsed(text)


PASSES = [RemoveNoOp(), CommonSubexprElim(), CommonSubexprElim(identify_equiv_terms=True)]


@pytest.mark.parametrize("pass_", PASSES, ids=lambda pass_: pass_.info.text)
def test_random_functions_compute_the_same(pass_: Pass):
    changed = 0
    for seed in range(60):
        before = random_module(seed)
        after = pass_(before)
        verify(after)
        snapshot = Snapshot(after)
        pass_.apply(make_ir_context(), after)
        assert not snapshot.update(), f"{seed}: a second run changes the result"
        changed += len([*walk(after)]) < len([*walk(before)])
        rng = np.random.default_rng(seed)
        for n, c, d in ((1, True, False), (3, False, False), (2, True, True)):
            a, b = (rng.integers(-4, 4, 4).astype(np.float32) for _ in "ab")
            arguments = (a, b, np.float32(3), n, np.array(c), np.array(d))
            expected = run(before, "main", arguments)
            check_equal(run(after, "main", arguments), expected)
    assert changed > 20
