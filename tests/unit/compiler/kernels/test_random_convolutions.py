"""Kernels of random convolutions, for targets with vectors of several widths."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from support.budget import some
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import constant
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import f16, f32, i8
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax.contraction import convolution as convs
from passline.dialects.relax.types import Element

TARGETS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
CONVS = {1: convs.Conv1dOp, 2: convs.Conv2dOp, 3: convs.Conv3dOp}
TRANSPOSED = {
    1: convs.Conv1dTransposeOp,
    2: convs.Conv2dTransposeOp,
    3: convs.Conv3dTransposeOp,
}
KINDS = ("depthwise", "grouped", "patches", "transposed")


def tensor(random: Random, shape: tuple[int, ...], element: Element):
    array = np.random.default_rng(random.randrange(1 << 30)).normal(0, 2, shape)
    return constant(array if element != i8 else np.rint(10 * array).astype(int), element)


def random_convolution(random: Random, kind: str, element: Element) -> Operation:
    """Return a convolution whose windows fit into its data, of small extents: the interpreter runs
    each lane."""
    while True:
        try:
            return try_convolution(random, kind, element)
        except VerifyException:
            continue


def try_convolution(random: Random, kind: str, element: Element) -> Operation:
    rank = random.choice([1, 2, 2, 2, 3])
    extents = [random.randint(1, 4) for _ in range(rank - 2)]
    extents += [random.randint(1, 6)] if rank > 1 else []
    extents += [random.choice([random.randint(1, 9), random.randint(10, 20)])]
    sizes = [random.randint(1, 4) for _ in range(rank)]
    groups = random.randint(1, 3)
    inputs, outputs = random.choice([(1, 1), (1, 2), (2, 3), (3, 1)])
    properties: dict[str, Any] = {
        "groups": groups,
        "strides": [random.choice([1, 1, 2, 3, 4, 5]) for _ in range(rank)],
        "dilation": [random.choice([1, 1, 1, 2, 3]) for _ in range(rank)],
        "padding": [random.choice([0, 0, 1, 2]) for _ in range(2 * rank)],
    }
    if kind == "depthwise":
        inputs, outputs = 1, random.choice([1, 1, 2])
    elif kind == "patches":
        properties["strides"] = [n + random.randrange(2) for n in sizes]
        properties |= {"dilation": [1] * rank, "padding": [0] * 2 * rank}
    data = tensor(random, (random.randint(1, 2), groups * inputs, *extents), element)
    if kind == "transposed":
        weight = tensor(random, (groups * inputs, outputs, *sizes), element)
        properties["output_padding"] = [random.randrange(n) for n in properties["strides"]]
        return TRANSPOSED[rank](data, weight, **properties)
    weight = tensor(random, (groups * outputs, inputs, *sizes), element)
    return CONVS[rank](data, weight, **properties)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_random_convolutions(kind: str, target: str):
    random = Random(f"{kind} {target}")
    for element in some((f32, f32, f16, i8), 3):
        close = 1e-2 if element == f16 else 1e-4
        conv = random_convolution(random, kind, element)
        check_kernel(conv, close, 10 * close, target=target)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("height", [12, 13])
def test_blocks_of_rows(stride: int, height: int):
    """A small first cache holds some of the rows of a depthwise convolution only."""
    random = Random(height)
    data, weight = tensor(random, (1, 2, height, 20), f32), tensor(random, (2, 1, 3, 3), f32)
    conv = convs.Conv2dOp(data, weight, groups=2, padding=[1, 1], strides=[stride, stride])
    check_kernel(conv, 1e-4, 1e-3, target="x86-64-v2{l1-cache=1024}")


@needs_native
@pytest.mark.parametrize("kind", KINDS)
def test_machine_code(kind: str):
    random = Random(kind)
    check_machine_code(
        {f"{kind} {i}": random_convolution(random, kind, f32) for i in some(range(12), 2)}
    )
