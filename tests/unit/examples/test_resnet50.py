"""examples/resnet50.py, which `make demo` runs: a real model through the default pipeline."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.models import model_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "resnet50.py"


def demo(*args: str, **environment: str) -> str:
    command = [sys.executable, str(EXAMPLE), *args]
    env = {**os.environ, **environment}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


def test_it_shows_the_module_before_and_after_with_the_time_taken():
    shown = demo()
    assert "@main : (tensor<1x3x224x224xf32>) -> tensor<1x1000xf32>" in shown
    before, after = shown.split("What came out")
    assert "relax.nn.batch_norm %r0" in before and "func.call @fused_conv2d_add_relu" in after
    assert "@main now calls 32 kernels 57 times." in after
    assert "fuse-ops" in after and "Execution time report" in after
    assert "As machine code, compiled in" in after or "Not run as machine code: " in after


def test_another_model_at_level_0_without_mlir_opt(tmp_path: Path):
    file = tmp_path / "model.onnx"
    model = model_of("g (float[2,3] x) => (float[2,3] y) { t = Relu(x) y = Tanh(t) }")
    file.write_bytes(model.SerializeToString())
    shown = demo(str(file), "--level=0", PASSLINE_MLIR_OPT="no-such-tool")
    assert "@main now calls 2 kernels 2 times." in shown
    assert "Not run as machine code: there is no executable 'no-such-tool'" in shown
