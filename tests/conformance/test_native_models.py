"""The nine real models compiled to machine code and to tile programs, which a simulated GPU runs,
with seeded weights, against onnxruntime; and models printed and parsed again between the stages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.models.from_text import model_of
from support.models.onnxruntime_reference import run_onnxruntime
from support.models.seeded import NAMES, light_path, random_input, seeded
from support.native.needs_llvmlite import needs_native
from support.native.needs_openmp import needs_openmp
from support.suites.inprocess import capture, passline_opt

from passline.tools.run import PasslineRunMain, save_arrays

QUICK = ("squeezenet",)
QUICK_ON_TILES = ("shufflenet", "squeezenet")
SLOW = pytest.mark.models
TOLERANCE = 1e-4  # of the standard deviation of the logits


def cases() -> list[object]:
    """Return each model with each way to compile it; only `make test-models` runs the slow ones."""
    return [
        pytest.param(name, options, marks=[*marks, *([] if name in quick else [SLOW])])
        for name in NAMES
        for options, quick, marks in (
            ("-O0 --engine=native", QUICK, [needs_native]),
            ("-O3 --engine=native", QUICK, [needs_native]),
            ("-O3 --engine=native --threads=2", QUICK, [needs_native, needs_openmp]),
            ("-O3 --engine=cuda-interpreter", QUICK_ON_TILES, []),
        )
    ]


@pytest.mark.parametrize(("name", "options"), cases())
def test_compiled_models_agree_with_onnxruntime(name: str, options: str, tmp_path: Path):
    model = seeded(name, 5)
    (file := tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    inputs = random_input(model, 5)
    save_arrays(str(tmp_path / "x.npz"), inputs)
    files = ["--inputs", str(tmp_path / "x.npz"), "--outputs", str(tmp_path / "y.npz")]
    result = capture(lambda: PasslineRunMain(args=[str(file), *options.split(), *files]).run())
    assert result.status == 0, result.stderr

    expected = run_onnxruntime(file, inputs)
    with np.load(tmp_path / "y.npz") as outputs:
        actual = [outputs[key] for key in outputs.files]
    assert len(actual) == len(expected)
    logits = expected[-1]
    assert logits.std() > 1e-3  # else nothing is compared
    error = np.abs(actual[-1] - logits).max() / logits.std()
    print(f"{name:14} {options} {error:.1e}")
    assert error < TOLERANCE


STAGES = ["fuse-ops", "legalize-ops", "plan-memory", "tir-unroll-loop", "lower-tir"]
"""The passes after which the module is printed and parsed."""
SMALL = """
g (float[1, 1, 9, 9] x) => (float[1, 3] y) <
    float[2, 1, 2, 2] w = {1, -2, 0.5, 3, -0.25, 2, 1, -1},
    float[4, 3] v = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2}
> {
    c = Conv <strides = [2, 2]> (x, w)
    r = Relu(c)
    p = MaxPool <kernel_shape = [2, 2]> (r)
    j = Concat <axis = 1> (p, p)
    m = GlobalAveragePool(j)
    f = Flatten(m)
    d = MatMul(f, v)
    y = Softmax(d)
}"""


@pytest.mark.parametrize("name", ["small", pytest.param("squeezenet", marks=pytest.mark.models)])
def test_a_module_from_any_stage_goes_on_from_there(name: str, tmp_path: Path):
    file = light_path(name)
    if name == "small":
        (file := tmp_path / "small.onnx").write_bytes(model_of(SMALL).SerializeToString())
    whole = "optimize,lower-to-tir,lower-to-mlir"
    at_once = passline_opt(str(file), "-O3", "-p", whole)
    assert at_once.status == 0, at_once.stderr

    left = plain_passes(whole)
    text = file
    for i, stage in enumerate(STAGES):
        end = next(n for n, p in enumerate(left) if p.startswith(stage)) + 1
        step, left = left[:end], left[end:]
        result = passline_opt(str(text), "-O3", "-p", ",".join(step))
        assert result.status == 0, result.stderr
        text = tmp_path / f"{i}.mlir"
        text.write_text(result.stdout)
        again = passline_opt(str(text))
        assert again.status == 0 and again.stdout == result.stdout
    assert not left
    assert text.read_text() == at_once.stdout


def plain_passes(pipeline: str) -> list[str]:
    """Return the passes of named pipelines, in order."""
    from passline.passes import PIPELINES

    return [pass_ for name in pipeline.split(",") for pass_ in PIPELINES[name]]
