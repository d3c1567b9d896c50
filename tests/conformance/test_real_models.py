"""The nine real models that come with onnx, with seeded weights, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from inprocess import capture
from ort import run_onnxruntime
from seeded import NAMES, random_input, seeded

from passline.tools.run import PasslineRunMain, save_arrays

QUICK = ("resnet50", "shufflenet", "squeezenet")
SEEDS = (0, 1, 2)
TOLERANCE = 1e-4  # of the standard deviation of the logits


def cases() -> list[object]:
    """Each model with each seed; but for the quick ones they are run by `make test-models` only."""
    return [
        pytest.param(name, seed, marks=[] if name in QUICK else pytest.mark.models)
        for name in NAMES
        for seed in SEEDS
    ]


@pytest.mark.parametrize(("name", "seed"), cases())
def test_run_agrees_with_onnxruntime(name: str, seed: int, tmp_path: Path):
    model = seeded(name, seed)
    (file := tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    inputs = random_input(model, seed)
    save_arrays(str(tmp_path / "x.npz"), inputs)
    args = [str(file), "--inputs", str(tmp_path / "x.npz"), "--outputs", str(tmp_path / "y.npz")]
    result = capture(lambda: PasslineRunMain(args=args).run())
    assert result.status == 0, result.stderr

    expected = run_onnxruntime(file, inputs)
    with np.load(tmp_path / "y.npz") as outputs:
        actual = [outputs[key] for key in outputs.files]
    assert len(actual) == len(expected)
    logits = expected[-1]
    assert logits.std() > 1e-3  # else nothing is compared
    assert np.abs(actual[-1] - logits).max() < TOLERANCE * logits.std()
