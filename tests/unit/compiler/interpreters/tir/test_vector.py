"""vector: reductions and transfers."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import table_test

from passline.passmanager.errors import PasslineError
from tests.support.programs.computed import computed


@table_test(
    "kind, type, value",
    [
        ("minui", "i8", 2),
        ("maxui", "i8", -1),
        ("minsi", "i8", -1),
        ("add", "i8", -56 + 2 - 1),
        ("mul", "f32", -200.0),
        ("xor", "i8", 100 ^ 100 ^ 2 ^ -1),
    ],
)
def test_reduction(kind: str, type: str, value: float):
    text = f"""
      func.func @main(%a: {type}, %b: {type}, %c: {type}) -> {type} {{
        %v = vector.broadcast %a : {type} to vector<4x{type}>
        %w = vector.insert %b, %v[1] : {type} into vector<4x{type}>
        %x = vector.insert %c, %w[3] : {type} into vector<4x{type}>
        %p = vector.shuffle %x, %x [0, 0, 1, 3] : vector<4x{type}>, vector<4x{type}>
        %r = "vector.reduction"(%p) <{{kind = #vector.kind<{kind}>}}> : (vector<4x{type}>) -> {type}
        return %r : {type}
      }}"""
    first = 10 if type == "f32" else 100
    assert computed(text, first, 2, -1) == [value]


READ = """
func.func @main(%a: {source}<3x4xf32>, %i: index, %j: index, %m: vector<{mask}xi1>) -> f32 {{
  %p = arith.constant -1.0 : f32
  %v = "vector.transfer_read"(%a, %i, %j, %p, %m) <{{in_bounds = {in_bounds},
      permutation_map = affine_map<(d0, d1) -> ({map})>,
      operandSegmentSizes = array<i32: 1, 2, 1, 1>}}>
      : ({source}<3x4xf32>, index, index, f32, vector<{mask}xi1>) -> vector<{shape}xf32>
  %s = arith.constant 0.0 : f32
  %r = vector.extract %v[{element}] : f32 from vector<{shape}xf32>
  return %r : f32
}}"""
ARRAY = np.arange(12, dtype=np.float32).reshape(3, 4)


def read(
    source: str, at: tuple[int, int], element: str, *, map: str, shape: str, mask: object
) -> float:
    array = np.asarray(mask)
    in_bounds = f"[{', '.join(['false'] * len(shape.split('x')))}]"
    text = READ.format(
        source=source, map=map, shape=shape, in_bounds=in_bounds, element=element,
        mask="x".join(map_(array.shape)),
    )  # fmt: skip
    (value,) = computed(text, ARRAY, *at, array)
    return value


def map_(shape: tuple[int, ...]) -> list[str]:
    return [str(size) for size in shape]


ALL = np.ones((2, 3), np.bool_)


@pytest.mark.parametrize("source", ["memref", "tensor"])
def test_read_pads_what_is_out_of_bounds(source: str):
    def at(element: str) -> float:
        return read(source, (2, 1), element, map="d0, d1", shape="2x3", mask=ALL)

    assert [at("0, 0"), at("0, 2"), at("1, 0")] == [9, 11, -1]


def test_read_transposes_and_masks_by_the_dimensions_of_the_source():
    mask = ALL.copy()
    mask[1, 0] = False

    def at(element: str) -> float:
        return read("memref", (0, 1), element, map="d1, d0", shape="3x2", mask=mask)

    assert [at("0, 0"), at("2, 0"), at("2, 1"), at("0, 1")] == [1, 3, 7, -1]


def test_read_broadcasts():
    def at(element: str) -> float:
        return read("memref", (1, 1), element, map="0, d1", shape="2x3", mask=np.ones(3, np.bool_))

    assert [at("0, 2"), at("1, 2")] == [7, 7]


def test_a_dimension_that_is_not_transferred_is_in_bounds():
    with pytest.raises(PasslineError, match=r"index \[3, 0\] is out of the bounds"):
        read("memref", (3, 0), "0", map="d1", shape="3", mask=np.ones(3, np.bool_))


@pytest.mark.parametrize("target", ["memref", "tensor"])
def test_write(target: str):
    results = "" if target == "memref" else "%r = "
    type = f"{target}<3x4xf32>"
    text = f"""
      func.func @main(%a: {type}, %i: index, %j: index) -> {type} {{
        %v = arith.constant dense<[7.0, 8.0]> : vector<2xf32>
        {results}"vector.transfer_write"(%v, %a, %i, %j) <{{in_bounds = [false],
            permutation_map = affine_map<(d0, d1) -> (d1)>,
            operandSegmentSizes = array<i32: 1, 1, 2, 0>}}>
            : (vector<2xf32>, {type}, index, index) -> {"()" if target == "memref" else type}
        return {"%a" if target == "memref" else "%r"} : {type}
      }}"""
    assert computed(text, ARRAY, 1, 3) == [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]
    assert computed(text, ARRAY, 1, 1) == [[[0, 1, 2, 3], [4, 7, 8, 7], [8, 9, 10, 11]]]
