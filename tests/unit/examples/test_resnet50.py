"""examples/resnet50.py, which `make demo` runs: a real model through all stages, on one screen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.models import model_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "resnet50.py"


def demo(*args: str, **environment: str) -> str:
    command = [sys.executable, str(EXAMPLE), *args]
    env = {**os.environ, **environment}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


def test_it_shows_the_module_before_and_after_and_what_each_stage_did(tmp_path: Path):
    shown = demo(TMPDIR=str(tmp_path))
    report = Path(shown.splitlines()[-1])
    assert report.parent == tmp_path and "light_resnet50.onnx" in report.read_text()
    shown = shown.replace(str(report), "")
    assert len(shown.splitlines()) <= 39 and max(map(len, shown.splitlines())) < 80
    before, after = shown.split("What came out")
    assert "relax.nn.batch_norm %r0" in before and "func.call @fused_conv2d_add_relu" in after
    found = re.findall(r"^  ([a-z ]+?)  +([\d. ]+)$", after, re.M)
    rows = {title: numbers.split() for title, numbers in found}
    assert list(rows) == ["imported", "optimized", "fused", "lowered to loops"]
    assert rows["fused"][:3] == ["58", "57", "32"]
    assert rows["lowered to loops"][1:3] == ["57", "32"]
    megabytes = [float(row[-2]) for row in rows.values()]
    assert megabytes == sorted(megabytes, reverse=True)
    assert "  machine code, compiled in" in after or "Not run as machine code: " in after
    assert re.search(r"^  numpy, on all threads +[\d.]+ ms$", after, re.M)


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_another_model_at_level_0_without_mlir_opt(tmp_path: Path, columns: str):
    file = tmp_path / "model.onnx"
    model = model_of("g (float[2,3] x) => (float[2,3] y) { t = Relu(x) y = Tanh(t) }")
    file.write_bytes(model.SerializeToString())
    report = str(tmp_path / "r.html")
    environment = {"PASSLINE_MLIR_OPT": "no-such-tool", "COLUMNS": columns}
    shown = demo(str(file), "--level=0", "--report", report, **environment)
    assert shown.endswith(f"\n{report}\n")
    shown = shown.removesuffix(f"{report}\n")
    words = " ".join(shown.split())
    assert "Not run as machine code: there is no executable 'no-such-tool'" in words
    assert re.search(r"^  fused +2 +2 +2 ", shown, re.M)
    limit = min(int(columns), 80)
    assert all(len(line) < limit or "passline-" in line for line in shown.splitlines())
