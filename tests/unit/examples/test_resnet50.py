"""examples/resnet50.py, which `make demo` runs: a real model through the default pipeline."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "resnet50.py"


def demo(*args: str) -> str:
    command = [sys.executable, str(EXAMPLE), *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_it_shows_what_went_in_what_came_out_and_how_long_it_took():
    shown = demo()
    assert "@main : (tensor<1x3x224x224xf32>) -> tensor<1x1000xf32>" in shown
    before, after = shown.split("What came out")
    assert "relax.nn.batch_norm %r0" in before and "func.call @fused_conv2d_add_relu" in after
    assert "@main now calls 32 kernels 57 times." in after
    assert "fuse-ops" in after and "Execution time report" in after
    assert "As machine code, compiled in" in after or "Not run as machine code: " in after


def test_at_level_0_each_operation_is_a_kernel():
    assert "@main now calls" in demo("--level=0")
