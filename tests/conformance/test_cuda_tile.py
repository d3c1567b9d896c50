"""NVIDIA's own tests of CUDA Tile IR, where `CUDA_TILE_TESTS` names their folder (see
`cuda_tile_suite.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cuda_tile_suite import TESTS, files, judge

pytestmark = pytest.mark.skipif(
    not TESTS, reason="CUDA_TILE_TESTS does not name the folder `test` of NVIDIA/cuda-tile"
)

KNOWN = {"syntax_omit_dialect_prefix.mlir": 3, "memory_consistency_ops.mlir": 1, "ops.mlir": 5}
"""CHECK lines with -3.140625 as f16: MLIR rounds the last digit up, xDSL to even. Functions on
tensors of 16 GB, one that never ends, and `unpack` to elements of 4 bits."""


@pytest.mark.parametrize("path", [*files([])], ids=lambda path: path.stem)
def test_files(path: Path) -> None:
    outcome = judge(path)
    assert len(outcome.failures) == KNOWN.get(path.name, 0), "\n".join(outcome.failures)
