"""Machine code on floats of 4 and 8 bits, and integers of 2 and 4 bits: the numbers of numpy."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.releases import needs_xdsl

import passline
from passline.compiler.interpreters.arrays import format_of
from passline.dialects.relax.types import SmallFloat

pytestmark = needs_native

SMALL = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E8M0FNU", "f4E2M1FN")


@needs_xdsl("0.67", "floats of at most 8 bits")
@pytest.mark.parametrize("level", [0, 3])
def test_conversions_of_small_floats(level: int):
    names = {cls.name: cls for cls in SmallFloat.__args__}
    assert {*names} == {*SMALL}
    numbers = [format_of(names[name]()) for name in SMALL]
    inputs = [form.decoded for form in numbers]
    # All limits between numbers, their neighbors, and special numbers.
    limits = np.concatenate([form.middles for form in numbers])
    near = [limits, np.nextafter(limits, 0), np.nextafter(limits, np.inf)]
    special = [0.0, np.inf, np.nan, 1e-300, 1e300, 3.3e38]
    positive = np.concatenate([*near, special])
    x = np.concatenate([positive, -positive])
    parameters = ["%x: tensor<?xf64>"]
    results: list[str] = []
    lines: list[str] = []
    for i, (name, given) in enumerate(zip(SMALL, inputs, strict=True)):
        small = f"tensor<{len(given)}x{name}>"
        parameters.append(f"%p{i}: {small}")
        lines += [
            f"%a{i} = relax.astype %x {{dtype = {name}}} : (tensor<?xf64>) -> tensor<?x{name}>",
            f"%b{i} = relax.astype %p{i} {{dtype = f32}} : ({small}) -> tensor<{len(given)}xf32>",
        ]
        results += [f"tensor<?x{name}>", f"tensor<{len(given)}xf32>"]
    values = ", ".join(f"%a{i}, %b{i}" for i in range(len(SMALL)))
    types = ", ".join(results)
    text = f"""func.func @main({", ".join(parameters)}) -> ({types}) {{
      {"; ".join(lines).replace("; ", chr(10))}
      return {values} : {types}
    }}"""
    actual, wanted = passline.compile(text, level=level)(x, *inputs), passline.run(text, x, *inputs)
    for mine, other in zip(actual, wanted, strict=True):
        np.testing.assert_array_equal(mine, other, strict=True)
        numeric = ~np.isnan(other)
        np.testing.assert_array_equal(np.signbit(mine[numeric]), np.signbit(other[numeric]))


@pytest.mark.parametrize("level", [0, 3])
def test_integers_of_2_and_4_bits(level: int):
    text = """func.func @main(%x: tensor<?xi4>, %y: tensor<?xui4>, %z: tensor<?xi2>)
        -> (tensor<?xi4>, tensor<?xui4>, tensor<?xf32>, tensor<3xi4>) {
      %0 = relax.add %x, %x : (tensor<?xi4>, tensor<?xi4>) -> tensor<?xi4>
      %1 = relax.multiply %y, %y : (tensor<?xui4>, tensor<?xui4>) -> tensor<?xui4>
      %2 = relax.astype %z {dtype = f32} : (tensor<?xi2>) -> tensor<?xf32>
      %c = relax.constant dense<[-3, 7, 2]> : tensor<3xi4>
      %3 = relax.negative %c : (tensor<3xi4>) -> tensor<3xi4>
      return %0, %1, %2, %3 : tensor<?xi4>, tensor<?xui4>, tensor<?xf32>, tensor<3xi4>
    }"""
    arguments = (
        np.arange(-8, 8, dtype=np.int8),
        np.arange(16, dtype=np.uint8),
        np.arange(-2, 2, dtype=np.int8),
    )
    actual, wanted = passline.compile(text, level=level)(*arguments), passline.run(text, *arguments)
    for mine, other in zip(actual, wanted, strict=True):
        np.testing.assert_array_equal(mine, other, strict=True)
