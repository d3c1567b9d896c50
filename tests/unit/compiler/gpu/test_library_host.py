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
from passline.compiler.compile.runtime import Library
from passline.compiler.gpu.assemble import TILEIRAS
from passline.compiler.gpu.build import lowering_to_tiles
from passline.dialects.target import Target, set_target
from passline.tools.compile import PasslineCompileMain

pytestmark = [needs_native, needs_cc]

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
    "a function on the host": (
        """
func.func @main(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = relax.sort %x {axis = 0} : (tensor<6xf32>) -> tensor<6xf32>
  %1 = relax.cumsum %0 {axis = 0} : (tensor<6xf32>) -> tensor<6xf32>
  %2 = relax.exp %1 : (tensor<6xf32>) -> tensor<6xf32>
  func.return %0, %2 : tensor<6xf32>, tensor<6xf32>
}""",
        [(6,)],
    ),
}


@pytest.fixture(scope="module")
def cuda(tmp_path_factory: pytest.TempPathFactory) -> FakeCuda:
    return FakeCuda(tmp_path_factory.mktemp("cuda"), is_found=True)


@pytest.fixture(autouse=True)
def _assembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set an assembler that is played, and no cache."""
    (tool := tmp_path / "tileiras").write_text('#!/bin/sh\nshift $(($# - 1)); echo cubin > "$1"\n')
    tool.chmod(0o755)
    monkeypatch.setenv(TILEIRAS, str(tool))
    monkeypatch.setenv("PASSLINE_CACHE_SIZE", "0")


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
    assert log.count("load cubin") == 1
    allocated, freed = (
        sorted(line.split()[1] for line in log if line.startswith(word))
        for word in ("alloc", "free")
    )
    uploaded = [line.split()[1] for line in log if line.startswith("upload")]
    assert allocated == sorted([*freed, *uploaded])  # weights stay
