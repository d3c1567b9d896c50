"""Kernels of padding."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import ALL_ELEMENTS, Array, constant, ui8
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import f16, f32, i1, i8, i32
from xdsl.ir import Operation

from passline.dialects.relax.reduction.nn import PadOp


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).integers(0, 9, shape)


MODES = ["constant", "reflect", "edge", "circular"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "widths",
    [(1, 2, 0, 0), (0, 0, 2, 1), (0, 0, -1, 2), (2, -1, -1, -1), (0, 9, 11, 0), (0, 0, 0, 0)],
    ids=str,
)
def test_modes(mode: str, widths: tuple[int, ...]):
    check_kernel(PadOp(constant(numbers(3, 4), f32), pad_width=widths, pad_mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_small_dimensions(mode: str):
    data = constant(numbers(1, 2, 1), i32)
    check_kernel(PadOp(data, pad_width=(2, 2, 3, 3, 0, 1), pad_mode=mode))
    check_kernel(PadOp(constant(7, i32), pad_width=(), pad_mode=mode))


@pytest.mark.parametrize("value", [0.0, 3.0, -1.0])
def test_elements(value: float):
    for element in [e for e in (*ALL_ELEMENTS, i1) if e != ui8]:
        data = constant(numbers(2, 2), element)
        check_kernel(PadOp(data, pad_width=(1, 0, 0, 1), pad_value=value))


def test_values():
    check_kernel(PadOp(constant(numbers(2), f16), pad_width=(1, 0), pad_value=-np.inf))
    check_kernel(PadOp(constant(numbers(2), i8), pad_width=(1, 0), pad_value=300.0))


def test_unsigned_constants():
    data = constant(numbers(2), ui8)
    check_kernel(PadOp(data, pad_width=(1, 0), pad_mode="edge"))
    check_kernel(PadOp(data, pad_width=(1, 0), pad_value=200.0))


@needs_native
def test_machine_code():
    cases: dict[str, Operation] = {}
    for mode in MODES:
        for widths in ((1, 2, 0, 0), (0, 0, -1, 2), (2, -1, -1, -1), (0, 9, 11, 0)):
            data = constant(numbers(3, 4), f32)
            cases[f"{mode} {widths}"] = PadOp(data, pad_width=widths, pad_mode=mode)
    for element in (f16, i1, i8):
        data = constant(numbers(2, 2), element)
        cases[f"{element}"] = PadOp(data, pad_width=(1, 0, 0, 1), pad_value=3.0)
    check_machine_code(cases)
