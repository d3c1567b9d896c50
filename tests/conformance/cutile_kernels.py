# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false
"""Kernels in NVIDIA's cuTile, which `cuda-tile` compiles to bytecode without a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from math import log2
from typing import Any

import cuda.tile as ct
from cuda.tile import compilation as cc

__all__ = ["KERNELS", "bytecode_of"]

ConstInt = ct.Constant[int]


@ct.kernel
def add(a, b, out, size: ConstInt):
    i = ct.bid(0)
    total = ct.load(a, index=(i,), shape=(size,)) + ct.load(b, index=(i,), shape=(size,))
    ct.store(out, index=(i,), tile=total)


@ct.kernel
def transpose(a, out, size: ConstInt):
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(a, index=(i, j), shape=(size, size))
    ct.store(out, index=(j, i), tile=ct.transpose(tile))


@ct.kernel
def product(a, b, out, m: ConstInt, n: ConstInt, k: ConstInt):
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((m, n), 0, dtype=ct.float32)
    zero = ct.PaddingMode.ZERO
    for step in range(ct.num_tiles(a, axis=1, shape=(m, k))):
        lhs = ct.load(a, index=(i, step), shape=(m, k), padding_mode=zero)
        rhs = ct.load(b, index=(step, j), shape=(k, n), padding_mode=zero)
        sums = ct.mma(lhs, rhs, sums)
    ct.store(out, index=(i, j), tile=ct.astype(sums, out.dtype))


@ct.kernel
def softmax(a, out, columns: ConstInt):
    i = ct.bid(0)
    at = ct.arange(columns, dtype=ct.int32)
    row = ct.gather(a, (i, at), padding_value=-float("inf"))  # pyright: ignore[reportArgumentType]
    power = ct.exp(row - ct.max(row, axis=0, keepdims=True))
    ct.scatter(out, (i, at), power / ct.sum(power, axis=0, keepdims=True))


@ct.kernel
def layer_norm(a, weight, bias, out, epsilon: ct.Constant[float], columns: ConstInt):
    i = ct.bid(0)
    zero = ct.PaddingMode.ZERO
    row = ct.load(a, index=(i, 0), shape=(1, columns), padding_mode=zero)
    mean = ct.sum(row, axis=1, keepdims=True) / a.shape[1]
    inside = ct.arange(columns, dtype=ct.int32)[None, :] < a.shape[1]
    centered = ct.where(inside, row - mean, 0.0)
    variance = ct.sum(centered * centered, axis=1, keepdims=True) / a.shape[1]
    scale = ct.load(weight, index=(0,), shape=(columns,), padding_mode=zero)
    shift = ct.load(bias, index=(0,), shape=(columns,), padding_mode=zero)
    ct.store(out, index=(i, 0), tile=centered * ct.rsqrt(variance + epsilon) * scale + shift)


@ct.kernel
def attention(q, k, v, out, scale: ct.Constant[float], rows: ConstInt, keys: ConstInt, d: ConstInt):
    i, head = ct.bid(0), ct.bid(1)
    query = ct.load(q, index=(head, i, 0), shape=(1, rows, d)).reshape((rows, d))
    most = ct.full((rows, 1), -float("inf"), dtype=ct.float32)
    total = ct.full((rows, 1), 0.0, dtype=ct.float32)
    sums = ct.full((rows, d), 0.0, dtype=ct.float32)
    at = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    for step in range(ct.cdiv((i + 1) * rows, keys)):  # pyright: ignore[reportArgumentType]
        key = ct.load(k, index=(head, step, 0), shape=(1, keys, d)).reshape((keys, d))
        scores = ct.mma(query, ct.transpose(key), ct.full((rows, keys), 0.0, dtype=ct.float32))
        before = step * keys + ct.arange(keys, dtype=ct.int32)[None, :]
        scores = ct.where(at >= before, scores * scale, -float("inf"))
        next = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
        power = ct.exp2(scores - next)
        factor = ct.exp2(most - next)
        total = total * factor + ct.sum(power, axis=1, keepdims=True)
        value = ct.load(v, index=(head, step, 0), shape=(1, keys, d)).reshape((keys, d))
        sums = ct.mma(ct.astype(power, v.dtype), value, sums * factor)
        most = next
    result = ct.astype(sums / total, out.dtype)
    ct.store(out, index=(head, i, 0), tile=result.reshape((1, rows, d)))


@ct.kernel
def histogram(a, out, size: ConstInt):
    i = ct.bid(0)
    bins = ct.load(a, index=(i,), shape=(size,))
    ct.atomic_add(out, bins, 1)


def array(dtype, rank: int):
    """Return what is known of an array: its elements are in row-major order."""
    return cc.ArrayConstraint(
        dtype,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[None] * (rank - 1) + [1],
    )


F16, F32, I32 = ct.float16, ct.float32, ct.int32
KERNELS: Mapping[str, tuple[Any, Sequence[Any], Sequence[float]]] = {
    "add": (add, [array(F32, 1)] * 3, [16]),
    "transpose": (transpose, [array(F32, 2)] * 2, [8]),
    "product": (product, [array(F16, 2)] * 3, [16, 32, 16]),
    "softmax": (softmax, [array(F32, 2)] * 2, [32]),
    "layer_norm": (
        layer_norm,
        [array(F32, 2), array(F32, 1), array(F32, 1), array(F32, 2)],
        [1e-5, 32],
    ),
    "attention": (attention, [array(F16, 3)] * 4, [log2(2.718281828459045) / 4, 16, 8, 16]),
    "histogram": (histogram, [array(I32, 1)] * 2, [16]),
}
"""The kernels, their arrays, and their constants."""


def bytecode_of(name: str, version: str) -> bytes:
    """Return the bytecode of a kernel as cuTile compiles it, for an entry of that name."""
    kernel, arrays, constants = KERNELS[name]
    convention = cc.CallingConvention.cutile_python_v1()
    signature = cc.KernelSignature([*arrays, *constants], convention, name)
    file = BytesIO()
    cc.export_kernel(
        kernel,
        [signature],
        file,
        gpu_code="sm_90",
        output_format="tileir_bytecode",
        bytecode_version=version,
    )
    return file.getvalue()
