"""Models out of packages on PyPI, as shipped and with their dimensions bound, on numpy, as machine
code, and as tile programs on a simulated GPU, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.models.onnxruntime_reference import run_onnxruntime
from support.models.seeded import Array
from support.models.zoo import MODELS, ZooModel
from support.native.needs_llvmlite import needs_native
from support.suites.inprocess import Result, capture

from passline.tools.run import PasslineRunMain, save_arrays

pytestmark = pytest.mark.zoo

EACH = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
LEVELS = pytest.mark.parametrize("level", ["-O0", "-O3"])


@EACH
@LEVELS
def test_as_shipped(model: ZooModel, level: str, tmp_path: Path) -> None:
    check(model, [level], tmp_path)


@EACH
@LEVELS
def test_with_bound_dimensions(model: ZooModel, level: str, tmp_path: Path) -> None:
    check(model, [level, *model.shape_options()], tmp_path, model.refusals.get("bound", ""))


@EACH
@pytest.mark.parametrize(
    ("engine", "level"),
    [
        pytest.param("native", "-O0", marks=needs_native),
        pytest.param("native", "-O3", marks=needs_native),
        ("cuda-interpreter", "-O3"),
    ],
)
def test_compiled(model: ZooModel, engine: str, level: str, tmp_path: Path) -> None:
    options = [level, f"--engine={engine}", *model.shape_options()]
    refusal = model.refusals.get(level) or model.refusals.get("bound", "")
    check(model, options, tmp_path, refusal)


def check(model: ZooModel, options: list[str], folder: Path, refusal: str = "") -> None:
    """Run a model on arguments of seed 0, and compare the results with onnxruntime's; with a
    `refusal`, check that it is refused with that message."""
    arguments = model.arguments(0)
    result = passline_run(model, options, arguments, folder)
    if refusal:
        assert result.status == 1 and refusal in result.stderr, result.stderr
        return
    assert result.status == 0, result.stderr
    with np.load(folder / "y.npz") as outputs:
        actual = [outputs[key] for key in outputs.files]
    expected = run_onnxruntime(model.path, arguments)
    assert len(actual) == len(expected)
    for mine, other in zip(actual, expected, strict=True):
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
        if other.dtype.kind == "f":
            assert np.isfinite(other).all()
            difference, range = (np.abs(a).max(initial=0) for a in (mine - other, other))
            print(f"{model.name:40} {options[0]} {difference:.1e} of {range:.1e}")
            # A sigmoid is 1e-4 here and there, with the rounding of numbers next to 1.
            assert difference <= 1e-4 * range + 1e-6
        else:
            np.testing.assert_array_equal(mine, other)


def passline_run(
    model: ZooModel, options: list[str], arguments: dict[str, Array], folder: Path
) -> Result:
    """Run a model with passline-run; its results are in y.npz."""
    save_arrays(str(folder / "x.npz"), arguments)
    files = ["--inputs", str(folder / "x.npz"), "--outputs", str(folder / "y.npz")]
    return capture(lambda: PasslineRunMain(args=[str(model.path), *options, *files]).run())
