"""Random loop nests compute the same after LoopPartition, with any of its options."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.budget import some
from support.loops import GuardedLoops
from support.parsing import parsed
from support.passes.results import run
from xdsl.dialects.builtin import ModuleOp

from passline.dialects.tir.ops import LikelyOp
from passline.passes.tir.loop_partition import LoopPartition
from passline.passmanager.ir.verifier import verify

OPTIONS = [
    LoopPartition(),
    LoopPartition(partition_const_loop=True),
    LoopPartition(
        partition_const_loop=True,
        no_unroll_loop_with_extent_one=True,
        unroll_loop_with_partition_hint_no_interval=True,
    ),
]


def results(module: ModuleOp, n: int, m: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Run the function; return the buffer afterwards."""
    buffer = np.arange(16, dtype=np.int64)
    run(module, "f", (buffer, n, m))
    return buffer


@pytest.mark.parametrize("seed", some(range(16), 4))
def test_the_same_is_computed(seed: int):
    module = parsed(GuardedLoops(Random(seed), "f").text)
    sizes = ((0, 3), (5, 2), (-2, -1), (7, 9))
    expected = [results(module, n, m) for n, m in sizes]
    for options in OPTIONS:
        split = options(module)
        verify(split)
        assert not any(isinstance(op, LikelyOp) for op in split.walk())
        for (n, m), result in zip(sizes, expected, strict=True):
            np.testing.assert_array_equal(results(split, n, m), result)
