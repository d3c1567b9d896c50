"""NVIDIA's own tests of CUDA Tile IR, where `CUDA_TILE_TESTS` names their folder (see
`cuda_tile_suite.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cuda_tile_suite import TESTS, files, judge

pytestmark = pytest.mark.skipif(
    not TESTS, reason="CUDA_TILE_TESTS does not name the folder `test` of NVIDIA/cuda-tile"
)

KNOWN = {"memory_consistency_ops.mlir": 1, "ops.mlir": 4}
"""Functions on tensors of 16 GB, and one that never ends."""


@pytest.mark.parametrize("path", [*files([])], ids=lambda path: path.stem)
def test_files(path: Path) -> None:
    outcome = judge(path)
    assert len(outcome.failures) == KNOWN.get(path.name, 0), "\n".join(outcome.failures)
