"""The tile program of scans computes what their semantics computes."""

from __future__ import annotations

import pytest
from support.gpu.tile_runs import check_operation, random_array

DIRECTIONS = (
    "exclusive = false",
    "exclusive = true",
    "reverse = true",
    "exclusive = true, reverse = true",
)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("element", ["f64", "f16", "i32", "ui8"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(name: str, element: str, direction: str):
    for shape in ((3, 65, 7), (2, 1, 1), (1, 4097, 1)):
        data = random_array(shape, element)
        if element == "f16":
            data = (1 + data / 64).astype(data.dtype) if name == "cumprod" else data / 64
        check_operation(name, f"axis = 1 : i64, {direction}", [data], [element], shape)


def test_scan_of_all_elements():
    check_operation("cumsum", "", [random_array((3, 5), "f32")], ["f32"], (15,))


def test_scan_of_unknown_sizes():
    data = random_array((3, 50), "f32")
    for axis in (0, 1):
        check_operation("cumsum", f"axis = {axis} : i64", [data], ["f32"], (3, 50), unknown=(0, 1))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_blocks_share_long_scans(name: str, direction: str):
    for shape in ((2, 9001, 1), (1, 700, 33)):
        data = random_array(shape, "i32")
        properties = f"axis = 1 : i64, {direction}"
        kernel = check_operation(name, properties, [data], ["i32"], shape)
        assert len(kernel.entries) == 2
