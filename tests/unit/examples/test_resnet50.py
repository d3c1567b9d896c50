"""examples/resnet50.py, which `make demo` runs: a real model through all stages, on one screen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.missing import environment_without
from support.models.from_text import model_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "resnet50.py"


def demo(
    *args: str, environment: Mapping[str, str], cwd: Path | None = None, example: Path = EXAMPLE
) -> str:
    command = [sys.executable, str(example), *args]
    env = {**os.environ, **environment}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env, cwd=cwd)
    return done.stdout


def test_it_shows_the_module_before_and_after_and_what_each_stage_did(tmp_path: Path):
    (tmp_path / "examples").mkdir()
    example = tmp_path / "examples" / EXAMPLE.name
    example.write_bytes(EXAMPLE.read_bytes())
    shown = demo(environment={}, cwd=tmp_path, example=example)
    assert shown.endswith("\nbuild/light_resnet50.html\n")
    assert "light_resnet50.onnx" in (tmp_path / "build" / "light_resnet50.html").read_text()
    lines = [line for line in shown.splitlines() if "  model=" not in line]
    assert len(lines) <= 39 and max(map(len, lines)) < 80
    before, after = shown.split("What came out")
    assert "relax.nn.batch_norm %r0" in before and "func.call @fused_conv2d_add_relu" in after
    found = re.findall(r"^  ([a-z ]+?)  +([\d. ]+)$", after, re.M)
    rows = {title: numbers.split() for title, numbers in found}
    assert list(rows) == ["imported", "optimized", "fused", "lowered to loops"]
    assert rows["fused"][:3] == ["58", "57", "32"]
    assert rows["lowered to loops"][1:3] == ["57", "32"]
    megabytes = [float(row[-2]) for row in rows.values()]
    assert megabytes == sorted(megabytes, reverse=True)
    assert "  machine code, one thread" in after or "Not run as machine code: " in after
    assert re.search(r"^  onnxruntime [\d.]+, one thread +[\d.]+ ms$", after, re.M)
    assert re.search(r"^  numpy, (?:all threads|one thread) +[\d.]+ ms$", after, re.M)
    assert "One inference (random weights, the best of three)\n" in after


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_another_model_at_level_0_without_llvmlite(tmp_path: Path, columns: str):
    file = tmp_path / "model.onnx"
    model = model_of("g (float[2,3] x) => (float[2,3] y) { t = Relu(x) y = Tanh(t) }")
    file.write_bytes(model.SerializeToString())
    report = str(tmp_path / "r.html")
    environment = {**environment_without(tmp_path, "llvmlite"), "COLUMNS": columns}
    shown = demo(str(file), "--level=0", "--report", report, environment=environment)
    assert shown.endswith(f"\n{report}\n")
    shown = shown.removesuffix(f"{report}\n")
    words = " ".join(shown.split())
    assert "Not run as machine code: llvmlite is not installed" in words
    assert re.search(r"^  fused +2 +2 +2 ", shown, re.M)
    limit = min(int(columns), 80)
    for line in shown.splitlines():
        assert len(line) < limit or re.match("  (passline-|model=)", line)


@pytest.mark.skipif(not shutil.which("more"), reason="there is no more")
def test_what_it_shows_next_can_be_pasted(tmp_path: Path):
    file = tmp_path / "my model.onnx"
    model = model_of("g (float[2,3] x) => (float[2,3] y) { t = Relu(x) y = Tanh(t) }")
    file.write_bytes(model.SerializeToString())
    environment = {"PASSLINE_MLIR_OPT": "no-such-tool", "PATH": os.environ["PATH"]}
    bin = Path(sys.executable).parent
    without = [p for p in environment["PATH"].split(os.pathsep) if Path(p) != bin]
    environment["PATH"] = os.pathsep.join(without)
    report = str(tmp_path / "r.html")
    shown = demo(str(file), "--report", report, cwd=tmp_path, environment=environment)
    hints = shown.partition("To see more (paste into a shell)\n")[2].partition("\n\n")[0]
    assert "model='my model.onnx'" in hints and hints.count("passline-") == 4
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", hints],
        cwd=tmp_path,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "fuse-ops" in done.stdout and "y: float32 2x3" in done.stdout
    assert "Execution time report" in done.stderr and "// -----// IR Diff After" in done.stdout
