"""Random modules: each pass keeps them valid and what they compute; `make fuzz` runs more."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz.cases import case_of_network, cases, native_cases, tile_cases
from fuzz.properties import Broken, check_case
from fuzz.saving import load
from fuzz.search import Search
from hypothesis import strategies as st
from strategies.modules import networks
from strategies.pipelines import EXCLUDED, FACTORIES, LOWERING, ON_BUFFERS, ON_TENSORS
from support.budget import THOROUGH
from support.native.needs_llvmlite import needs_native
from support.networks import random_network
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from passline.dialects.relax.elementwise.binary import (
    AddOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    SubtractOp,
)
from passline.passes import PASSES, PIPELINES, REPLACEMENTS
from passline.passmanager import FunctionPass, PassContext
from passline.passmanager.ir.walk import walk

SHARDS, CASES = 50 if THOROUGH else 2, 60


@pytest.mark.parametrize("shard", range(SHARDS))
def test_passes_keep_small_modules(shard: int, tmp_path: Path) -> None:
    search = Search([cases(small=True)], tmp_path)
    search.run(shard * CASES, CASES)
    assert not search.failures, "\n".join(search.summary())
    assert search.compared > 10 * CASES
    assert search.refusals.total() < CASES // 4


@needs_native
def test_machine_code_computes_the_same(tmp_path: Path) -> None:
    search = Search([native_cases()], tmp_path)
    search.run(0, 8)
    assert not search.failures, "\n".join(search.summary())
    assert search.compiled


def test_tile_programs_compute_the_same(tmp_path: Path) -> None:
    search = Search([tile_cases()], tmp_path)
    search.run(0, 200 if THOROUGH else 12)
    assert not search.failures, "\n".join(search.summary())
    assert search.compiled and search.passes["tir-lower-to-cuda-tile"]


def test_each_pass_is_drawn_or_excluded_for_a_reason() -> None:
    drawn = {*ON_TENSORS, *ON_BUFFERS, *LOWERING}
    assert drawn | EXCLUDED.keys() == {*PASSES, *PIPELINES, *REPLACEMENTS}
    assert not drawn & EXCLUDED.keys()


class AddForAll(FunctionPass):
    """A wrong pass: it replaces differences, products and extrema by sums."""

    name = "test-add-for-all"
    WRONG = (SubtractOp, MultiplyOp, MaximumOp, MinimumOp)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        for op in [op for op in walk(func) if isinstance(op, self.WRONG)]:
            new = AddOp(*op.operands, result_types=op.result_types)
            assert (block := op.parent) is not None
            block.insert_op_before(new, op)
            op.result.replace_all_uses_with(new.result)
            op.detach()
            op.erase()


def test_a_wrong_pass_is_found_shrunk_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FACTORIES, AddForAll.name, lambda: AddForAll)
    few = networks(parts=1, steps=3, structures=False, dynamic=False, max_elements=8)
    pipeline, never = st.just([AddForAll.name]), st.just(60)
    wrong = st.builds(case_of_network, few, pipeline, never, st.just("numpy"))
    search = Search([wrong], tmp_path)
    for seed in range(200):
        if not search.failures:
            search.run_seed(seed)
    assert [*search.failures] == [f"after {AddForAll.name}"]
    (path,) = tmp_path.glob("*.mlir")
    case = load(path)
    assert case.pipeline == [AddForAll.name]
    assert len([*walk(case.module)]) <= 6  # module, function, operand, product, return
    with pytest.raises(Broken, match="after test-add-for-all: @main"):
        check_case(case)


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_gives_one_network(seed: int) -> None:
    one, other = (random_network(Random(seed), parts=4, structures=True) for _ in range(2))
    assert str(one.module) == str(other.module)
    assert one.tolerances == other.tolerances
