"""Random loops compute the same when they are unrolled and vectorized."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from support.budget import some
from support.loops import VectorLoops
from support.parsing import parsed
from support.passes.results import compare
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from passline.dialects.tir.ops import ForKind, ForOp
from passline.passes.tir.unroll_loop import UnrollLoop
from passline.passes.tir.vectorize_loop import VectorizeLoop
from passline.passmanager import Pass, Sequential


def vectorized_loops(op: Operation) -> int:
    return sum(isinstance(o, ForOp) and o.for_kind is ForKind.VECTORIZED for o in op.walk())


PIPELINES: Sequence[Sequence[Pass]] = [
    [VectorizeLoop()],
    [VectorizeLoop(enable_buffer_level_predication=True)],
    [UnrollLoop(auto_max_extent=3), VectorizeLoop(enable_buffer_level_predication=True)],
    [VectorizeLoop(), UnrollLoop(auto_max_step=64)],
]


def random_module(seed: int, kind: str) -> ModuleOp:
    text = VectorLoops(Random(seed), "f", kind).text
    return parsed(text)


@pytest.mark.parametrize("seed", some(range(40), 4))
def test_vectorized(seed: int):
    module = parsed(VectorLoops(Random(seed), "f", "vectorized").text)
    assert vectorized_loops(module) == 1
    after = Sequential(PIPELINES[seed % len(PIPELINES)])(module)
    assert vectorized_loops(after) == 0
    assert compare(module, after) == 4


@pytest.mark.parametrize("seed", range(10))
def test_unrolled(seed: int):
    module = parsed(VectorLoops(Random(seed), "f", "unrolled").text)
    assert compare(module, UnrollLoop(auto_max_extent=20)(module)) == 4
