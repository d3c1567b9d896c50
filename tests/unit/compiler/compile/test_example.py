"""The example in C: a model becomes a library, and a program in C classifies images with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper
from support.models.from_text import Array, model_of
from support.models.seeded import seeded
from support.native.c_compiler import check_c, needs_cc
from support.native.needs_llvmlite import needs_native

import passline

EXAMPLE = Path(passline.__file__).parent / "examples" / "c"
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

pytestmark = [
    needs_native,
    needs_cc,
    pytest.mark.skipif(not shutil.which("make"), reason="there is no make"),
]


def small_model() -> ModelProto:
    """A model with six classes, from images of 4 x 5 pixels."""
    model = model_of(
        "g (float[1,3,4,5] image) => (float[1,6] scores) {"
        "  flat = Flatten(image)  product = MatMul(flat, w)  scores = Softmax(product) }"
    )
    weight = np.random.default_rng(0).standard_normal((60, 6), np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    return model


def classes_of(model: ModelProto, directory: Path, image: Path) -> list[str]:
    """Return what the example prints."""
    (directory / "model.onnx").write_bytes(model.SerializeToString())
    settings = {
        "MODEL": directory / "model.onnx",
        "BUILD": directory / "build",
        "IMAGE": image,
        "PASSLINE_COMPILE": f"{sys.executable} -m passline.tools.compile",
    }
    root = str(Path(passline.__file__).parent.parent)
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        ["make", "-s", "run", *(f"{name}={value}" for name, value in settings.items())],
        cwd=EXAMPLE,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def image_of(height: int, width: int, file: Path) -> Array:
    """Write an image of twice this size; return the input that the example makes of it."""
    pixels = np.random.default_rng(1).integers(0, 256, (2 * height, 2 * width, 3), np.uint8)
    file.write_bytes(f"P6\n{2 * width} {2 * height}\n255\n".encode() + pixels.tobytes())
    values = pixels[::2, ::2].astype(np.float32) / np.float32(255)
    values = (values - np.array(MEAN, np.float32)) / np.array(DEVIATION, np.float32)
    return np.ascontiguousarray(values.transpose(2, 0, 1))[None]


def check(model: ModelProto, height: int, width: int, tmp_path: Path) -> None:
    """Compare the classes that the example prints with those of the semantics."""
    x = image_of(height, width, tmp_path / "image.ppm")
    printed = classes_of(model, tmp_path, tmp_path / "image.ppm")
    (scores,) = (y.ravel() for y in passline.run(passline.load(tmp_path / "model.onnx"), x))
    best = np.argsort(-scores)[:5]
    assert [int(line.split()[1].rstrip(":")) for line in printed] == best.tolist()
    shown = [float(line.split()[2]) for line in printed]
    np.testing.assert_allclose(shown, scores[best], atol=1e-5)


def test_a_small_model_classifies_an_image(tmp_path: Path) -> None:
    check(small_model(), 4, 5, tmp_path)
    shutil.copy(EXAMPLE / "classify.c", tmp_path / "classify.c")
    check_c(tmp_path / "classify.c", tmp_path / "build", "c++11")


@pytest.mark.models
def test_squeezenet_classifies_an_image(tmp_path: Path) -> None:
    model = seeded("squeezenet", 0)
    del model.graph.output[1:]  # the logits
    check(model, 224, 224, tmp_path)
