"""Libraries with kernels of a GPU: compiled, and called on a driver that is played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fake_cuda import FakeCuda
from support.native.c_compiler import needs_cc
from support.native.needs_llvmlite import needs_native
from support.suites.inprocess import Result, capture

import passline
from passline.compiler.compile.runtime import Library, LibraryError
from passline.compiler.gpu.build import lowering_to_tiles
from passline.dialects.target import Target, set_target
from passline.tools.compile import PasslineCompileMain

pytestmark = [needs_native, needs_cc, pytest.mark.usefixtures("assembler")]

MODELS = {
    "known sizes and weights": (
        """
func.func @main(%x: tensor<3x20xf32>, %h: tensor<5xf16>) -> (tensor<3x20xf32>, tensor<5xf16>) {
  %w = relax.constant dense<0.25> : tensor<20x20xf32>
  %0 = relax.matmul %x, %w : (tensor<3x20xf32>, tensor<20x20xf32>) -> tensor<3x20xf32>
  %1 = relax.nn.softmax %0 {axis = 1} : (tensor<3x20xf32>) -> tensor<3x20xf32>
  %2 = relax.exp %h : (tensor<5xf16>) -> tensor<5xf16>
  func.return %1, %2 : tensor<3x20xf32>, tensor<5xf16>
}""",
        [(3, 20), (5,)],
    ),
    "unknown sizes": (
        """
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = relax.nn.softmax %x {axis = 1} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = relax.add %0, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %1 : tensor<?x8xf32>
}""",
        [(7, 8)],
    ),
}
FOLDER = Path(__file__).parent
LOCAL = """
    %n = arith.addi %i, %size : index
    %local = memref.alloc(%n) : memref<?xf32>
    memref.store %0, %local[%i] : memref<?xf32>
"""
"""What no tile program has: the function stays on the host."""


@pytest.fixture(scope="module")
def cuda(tmp_path_factory: pytest.TempPathFactory) -> FakeCuda:
    return FakeCuda(tmp_path_factory.mktemp("cuda"), is_found=True)


def compiled(text: str, folder: Path, *options: str) -> Result:
    (file := folder / "model.mlir").write_text(text)
    given = [str(file), "-O3", "--target=sm_90", "-o", str(folder / "model.so"), *options]
    return capture(lambda: PasslineCompileMain(given).run(), "")


def library(cuda: FakeCuda, text: str, folder: Path) -> Any:
    """Compile a module, let the driver run its kernels, and return its function."""
    result = compiled(text, folder)
    assert (result.status, result.stdout) == (0, ""), result.stderr
    module = passline.load(folder / "model.mlir")
    set_target(module, Target("sm_90"))
    cuda.run(lowering_to_tiles("main", Target("sm_90"))(passline.optimize(module)))
    return Library(folder / "model.so")["main"]


def arguments(text: str, shapes: list[tuple[int, ...]]) -> list[np.ndarray[Any, Any]]:
    dtypes = ["f4", "f2"]
    return [
        np.random.default_rng(i).standard_normal(shape).astype(dtypes[i])
        for i, shape in enumerate(shapes)
    ]


@pytest.mark.parametrize("name", [*MODELS])
def test_a_library_computes_what_numpy_does(cuda: FakeCuda, tmp_path: Path, name: str):
    text, shapes = MODELS[name]
    function = library(cuda, text, tmp_path)
    given = arguments(text, shapes)
    expected = passline.run(text, *given)
    cuda.log()
    for _ in range(2):
        for found, right in zip(function(*given), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=2e-3)
    log = cuda.log()
    assert sum(line.startswith("load") for line in log) == 1
    allocated, freed = (
        sorted(line.split()[1] for line in log if line.startswith(word))
        for word in ("alloc", "free")
    )
    uploaded = [line.split()[1] for line in log if line.startswith("upload")]
    assert allocated == sorted([*freed, *uploaded])  # weights stay


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"memory": 100}, "said by the driver"),
        ({"fault": 700}, "said by the driver"),
        ({"launch": 701}, "said by the driver"),
    ],
)
def test_a_call_that_fails_frees_its_memory(
    cuda: FakeCuda, tmp_path: Path, settings: dict[str, int], text: str
):
    model, shapes = MODELS["unknown sizes"]
    function, given = library(cuda, model, tmp_path), arguments(model, shapes)
    cuda.set(**settings)
    cuda.log()
    with pytest.raises(LibraryError, match=text):
        function(*given)
    log = cuda.log()
    words = [line.split()[0] for line in log]
    assert words.count("alloc") == words.count("free")
    cuda.set(memory=1 << 20, fault=0, launch=0)
    np.testing.assert_allclose(function(*given)[0], passline.run(model, *given)[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ({"devices": 0}, "said by the driver"),
        ({"image": 209}, "does not run kernels for sm_90: expected driver 580 or newer"),
    ],
)
def test_a_library_that_cannot_start(
    cuda: FakeCuda, tmp_path: Path, setting: dict[str, int], text: str
):
    model, shapes = MODELS["unknown sizes"]
    function = library(cuda, model, tmp_path)
    cuda.set(**setting)
    try:
        for _ in range(2):
            with pytest.raises(LibraryError, match=text):
                function(*arguments(model, shapes))
    finally:
        cuda.set(devices=1, image=0)


def test_control_flow_on_values_in_device_memory(cuda: FakeCuda, tmp_path: Path):
    function = library(cuda, with_kernels("loop.mlir"), tmp_path)
    x = np.arange(5, dtype=np.float32)
    for times in (3, 0):
        np.testing.assert_array_equal(function(x, np.array(times, np.int32))[0], (times + 1) * x)


def test_a_function_on_the_host(cuda: FakeCuda, tmp_path: Path):
    before = "    %1 = arith.negf"
    text = with_kernels("negate.mlir").replace(before, LOCAL + before)
    function = library(cuda, text, tmp_path)
    x = np.arange(5, dtype=np.float32)
    cuda.log()
    np.testing.assert_array_equal(function(x)[0], -2 * x)
    assert [line for line in cuda.log() if line.startswith("launch")] == ["launch add"]


def with_kernels(name: str) -> str:
    """Return the text of a file, with the kernels of `add.mlir`."""
    text = (FOLDER / "add.mlir").read_text()
    return (FOLDER / name).read_text() + text[text.index("tir.prim_func") :]
