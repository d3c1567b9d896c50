"""Kernels of convolutions whose channels are in blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.budget import some
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import constant
from support.operations.evaluation import run_all as run_on_numpy
from support.operations.legalized import check_kernel, kernel_on_constant
from support.pairs import pairs
from support.passes.results import run
from xdsl.dialects.builtin import ModuleOp, f16, f32, i32
from xdsl.dialects.memref import AllocOp, StoreOp

from passline.compiler.kernels.tiles.cost_model import schedule_of
from passline.compiler.kernels.tiles.schedule import Schedule
from passline.compiler.kernels.tiles.schedules import Schedules
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.contraction.convolution import Conv1dOp, Conv2dOp, Conv3dOp
from passline.dialects.relax.types import Element
from passline.dialects.tir.ops import PrefetchOp
from passline.passmanager.context import PassContext
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline

TARGET = "x86-64-v2"  # with four lanes


def tensor(shape: tuple[int, ...], element: Element = f32) -> ConstantOp:
    array = np.random.default_rng(7).integers(-4, 5, shape)
    return constant(array if element == i32 else array.astype(float), element)


def convolution(
    channels: int,
    outputs: int,
    image: tuple[int, ...],
    window: tuple[int, ...],
    element: Element = f32,
    **properties: Any,
) -> Conv1dOp | Conv2dOp | Conv3dOp:
    """Return a convolution of two images, with blocks of four channels."""
    rank = len(image)
    axes = "DHW"[3 - rank :]
    properties = {"data_layout": f"NC{axes}4c", "kernel_layout": f"OI{axes}"} | properties
    data = tensor((2, channels // 4, *image, 4), element)
    weight = tensor((outputs, channels // properties.get("groups", 1), *window), element)
    return {1: Conv1dOp, 2: Conv2dOp, 3: Conv3dOp}[rank](data, weight, **properties)


CASES: Mapping[str, tuple[tuple[int, int, tuple[int, ...], tuple[int, ...]], dict[str, Any]]] = {
    "one element": ((4, 8, (2, 5), (1, 1)), {}),
    "one element, merged": ((8, 4, (3, 7), (1, 1)), {}),
    "stride without padding": ((4, 4, (5, 7), (1, 1)), {"strides": [2, 2]}),
    "padding": ((4, 8, (3, 6), (3, 3)), {"padding": [1, 1]}),
    "padding on one side": ((4, 4, (3, 5), (2, 3)), {"padding": [1, 0, 0, 2]}),
    "stride and dilation": (
        (4, 4, (7, 9), (3, 2)),
        {"strides": [2, 3], "dilation": [2, 1], "padding": [1, 2]},
    ),
    "narrow image": ((4, 8, (6, 2), (3, 3)), {"padding": [1, 1]}),
    "one column": ((4, 4, (5, 1), (3, 1)), {"padding": [1, 0]}),
    "outputs that fill no tile": ((4, 12, (4, 4), (3, 3)), {"padding": [1, 1]}),
    "two blocks of channels": ((8, 4, (4, 5), (3, 3)), {}),
    "result without blocks": ((4, 6, (3, 4), (3, 3)), {"padding": [1, 1], "out_layout": "NCHW"}),
    "windows in padding alone": ((4, 4, (2, 3), (3, 3)), {"padding": [4, 5]}),
    "five by five": ((4, 4, (3, 7), (5, 5)), {"padding": [2, 2]}),
    "more padding than tiles": ((4, 4, (2, 3), (2, 16)), {"padding": [0, 15]}),
    "stride with padding": ((4, 4, (8, 30), (3, 3)), {"strides": [2, 2], "padding": [1, 1]}),
    "many blocks of channels": ((12, 4, (3, 5), (3, 3)), {"padding": [1, 1]}),
    "few outputs": ((8, 2, (3, 4), (1, 1)), {"out_layout": "NCHW"}),
    "one dimension": ((4, 4, (7,), (3,)), {"padding": [1]}),
    "three dimensions": ((4, 4, (2, 3, 4), (2, 2, 2)), {}),
    "groups of a block": ((8, 8, (4, 5), (3, 3)), {"groups": 2, "padding": [1, 1]}),
    "groups of several blocks": ((16, 24, (5, 6), (3, 2)), {"groups": 2, "strides": [2, 2]}),
    "groups, merged": ((8, 16, (2, 5), (1, 1)), {"groups": 2}),
}


@pytest.mark.parametrize("name", some(CASES, 4))
def test_kernels_of_constant_weights(name: str):
    arguments, properties = CASES[name]
    op = convolution(*arguments, **properties)
    module, data = kernel_on_constant(op, TARGET)
    (actual,) = run(module, "f0", (data,))
    np.testing.assert_array_equal(actual, run_on_numpy(op)[0])


@pytest.mark.parametrize(
    "name", ["padding", "stride and dilation", "result without blocks", "groups of several blocks"]
)
def test_kernels_of_other_weights(name: str):
    arguments, properties = CASES[name]
    check_kernel(convolution(*arguments, **properties), target=TARGET)


@pytest.mark.parametrize("element", [f16, i32])
def test_kernels_of_other_elements(element: Element):
    check_kernel(convolution(4, 4, (3, 4), (3, 3), element, padding=[1, 1]), target=TARGET)


@pytest.mark.parametrize("outputs", [4, 8, 16])
def test_groups_of_parts_of_blocks_are_computed_in_other_layouts(outputs: int):
    check_kernel(convolution(8, outputs, (3, 4), (3, 3), groups=4, padding=[1, 1]), target=TARGET)


def test_groups_without_blocks_of_results_are_computed_in_other_layouts():
    op = convolution(8, 6, (3, 4), (3, 3), groups=2, out_layout="NCHW")
    check_kernel(op, target=TARGET)


@pairs(
    padding=[0, 1],
    target=["x86-64-v2", "x86-64-v2{vector-registers=32}"],
    columns=some([2, 1, 14, 5, 29], 2),
)
def test_tiles_of_all_widths(columns: int, target: str, padding: int):
    """A tile is a part of a row, or without padding several rows of a narrow image."""
    image = (2, columns) if padding else (4, columns + 2)
    op = convolution(4, 4, image, (3, 3), padding=[padding, padding])
    module, data = kernel_on_constant(op, target)
    (actual,) = run(module, "f0", (data,))
    np.testing.assert_array_equal(actual, run_on_numpy(op)[0])


def lowered(op: Conv1dOp | Conv2dOp | Conv3dOp, target: str) -> ModuleOp:
    module, _ = kernel_on_constant(op, target)
    with PassContext(opt_level=3):
        return parse_pipeline("tir-vectorize-loop,tir-unroll-loop,tir-simplify")(module)


def test_vectors_of_results_are_stored_as_they_are():
    """The channels of a block are next to each other: nothing is scattered or stored one by one."""
    module = lowered(convolution(4, 8, (4, 6), (3, 3), padding=[1, 1]), TARGET)
    assert not any(isinstance(op, StoreOp) for op in walk(module))


@pytest.mark.parametrize("columns", [3, 9])
def test_blocks_of_terms(columns: int, monkeypatch: pytest.MonkeyPatch):
    """The sums of a tile wait in memory between blocks of terms; the data is not copied."""

    def one_block_of_channels(self: Schedules) -> Schedule:
        best = schedule_of(self.extents, self.target)
        return replace(best, m=min(columns, 4), vectors=1, inputs=1, lhs_inside=False)

    monkeypatch.setattr(Schedules, "best", one_block_of_channels)
    op = convolution(12, 8, (2, columns), (3, 3), padding=[1, 1])
    module, data = kernel_on_constant(op, TARGET)
    buffers = [op.memref.type for op in walk(module) if isinstance(op, AllocOp)]
    assert [buffer.get_shape()[1:] for buffer in buffers] == [(1, min(columns, 4), 1, 4)]
    (actual,) = run(module, "f0", (data,))
    np.testing.assert_array_equal(actual, run_on_numpy(op)[0])


def test_weights_are_prefetched_where_the_first_cache_does_not_hold_them():
    op = convolution(8, 16, (4, 6), (3, 3))
    for l1_cache, prefetches in ((1 << 15, False), (1 << 10, True)):
        module, _ = kernel_on_constant(op, f"{TARGET}{{l1-cache={l1_cache}}}")
        assert any(isinstance(op, PrefetchOp) for op in walk(module)) is prefetches


@needs_native
def test_machine_code():
    cases = {name: convolution(*arguments, **rest) for name, (arguments, rest) in CASES.items()}
    check_machine_code(cases)
