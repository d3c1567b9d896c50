# pyright: reportMissingImports=false
"""Kernels in NVIDIA's cuTile, an independent writer of Tile IR: they are read, written the same,
and run beside numpy."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.dialects.cuda_tile.bytecode.tile_reader import read_tile_bytecode
from passline.dialects.cuda_tile.bytecode.tile_writer import write_tile_bytecode
from passline.dialects.cuda_tile.module_ops import EntryOp, ModuleOp

pytest.importorskip("cuda.tile", reason="cuda-tile is not installed (pip: cuda-tile)")
from cutile_kernels import KERNELS, bytecode_of

Array = NDArray[Any]
RANDOM = np.random.default_rng(0)


def normal(*shape: int, dtype: str = "f4") -> Array:
    return RANDOM.standard_normal(shape).astype(dtype)


def softmax(a: Array) -> Array:
    power = np.exp(a - a.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


def layer_norm(a: Array, weight: Array, bias: Array) -> Array:
    centered = a - a.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5) * weight + bias


def product(a: Array, b: Array) -> Array:
    return a.astype("f4") @ b.astype("f4")


def attention(q: Array, k: Array, v: Array) -> Array:
    scores = product(q, k.swapaxes(1, 2)) / 4
    mask = np.tri(*scores.shape[1:], dtype=np.bool_)
    return product(softmax(np.where(mask, scores, -np.inf)), v)


def histogram(bins: Array) -> Array:
    return np.bincount(bins, minlength=10)


CASES: dict[str, tuple[Callable[..., Array], Sequence[int], list[Array], tuple[int, ...]]] = {
    "add": (np.add, (7,), [normal(100), normal(100)], (100,)),
    "transpose": (np.transpose, (3, 4), [normal(20, 30)], (30, 20)),
    "product": (
        product,
        (3, 2),
        [normal(40, 50, dtype="f2"), normal(50, 60, dtype="f2")],
        (40, 60),
    ),
    "softmax": (softmax, (5,), [normal(5, 20)], (5, 20)),
    "layer_norm": (layer_norm, (5,), [normal(5, 20), normal(20), normal(20)], (5, 20)),
    "attention": (attention, (3, 2), [normal(2, 48, 16, dtype="f2") for _ in "qkv"], (2, 48, 16)),
    "histogram": (histogram, (4,), [RANDOM.integers(0, 10, 64, np.int32)], (10,)),
}
"""For each kernel what it computes, its grid, its operands, and the shape of its result."""


def read(name: str, version: str = "13.1") -> tuple[ModuleOp, bytes]:
    """Return a kernel as cuTile compiles it."""
    code = bytecode_of(name, version)
    module = read_tile_bytecode(code)
    module.verify()
    return module, code


@pytest.mark.parametrize("version", ["13.1", "13.3"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_written_as_it_was_read(name: str, version: str):
    module, code = read(name, version)
    major, minor = map(int, version.split("."))
    written = write_tile_bytecode(module, (major, minor))
    assert read_tile_bytecode(written).is_structurally_equivalent(module)
    assert abs(len(written) - len(code)) <= 8, "the padding of sections differs at most"


def test_nvidias_disassembler_shows_the_same(tmp_path: Path):
    tool = Path(os.environ.get("PASSLINE_TILEIRAS") or "/none").with_name("tileirdisasm")
    if not os.access(tool, os.X_OK):
        pytest.skip("needs tileirdisasm beside PASSLINE_TILEIRAS")

    def shown(code: bytes) -> str:
        (path := tmp_path / "x.tileirbc").write_bytes(code)
        return subprocess.run([tool, path], capture_output=True, text=True, check=True).stdout

    for name in KERNELS:
        module, code = read(name)
        assert shown(write_tile_bytecode(module, (13, 1))) == shown(code), name


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_computes_what_numpy_does(name: str):
    function, grid, operands, shape = CASES[name]
    expected = function(*operands)
    found = np.zeros(shape, operands[0].dtype)
    arguments = [n for a in (*operands, found) for n in (a, *a.shape, *strides(a))]
    (entry,) = (op for op in read(name)[0].walk() if isinstance(op, EntryOp))
    x, y, z = [*grid, 1, 1][:3]
    run_entry(entry, (x, y, z), arguments, order=Random(1), check=True)
    tolerance = {"f2": 4e-3, "f4": 2e-6, "i4": 0}[found.dtype.str[1:]]
    np.testing.assert_allclose(found, expected, tolerance, tolerance)


def strides(array: Array) -> list[int]:
    """Return the strides in elements."""
    return [n // array.itemsize for n in array.strides]
