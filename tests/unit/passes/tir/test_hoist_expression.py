"""tir-hoist-expression: random loops compute the same, and the number of copies is bounded."""

from __future__ import annotations

from random import Random

import pytest
from support.budget import some
from support.loops import VectorLoops
from support.parsing import parsed
from support.passes.results import compare

from passline.dialects.tir.ops import ForOp
from passline.passes.tir.hoist_expression import HoistExpression
from passline.passmanager.ir.walk import ops_of


@pytest.mark.parametrize("seed", some(range(40), 6))
def test_random_loops(seed: int):
    module = parsed(VectorLoops(Random(seed), "f", "serial").text)
    assert compare(module, HoistExpression()(module)) == 4


def selects(conditions: int) -> str:
    parameters = "".join(f", %k{i}: i1, %y{i}: f32" for i in range(conditions))
    body = "%v0 = memref.load %a[%i] : memref<8xf32>\n" + "\n".join(
        f"%v{i + 1} = arith.select %k{i}, %v{i}, %y{i} : f32" for i in range(conditions)
    )
    return f"""
    tir.prim_func @f(%a: memref<8xf32>, %b: memref<8xf32>{parameters}) {{
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      tir.for %i = %c0 extent %c8 {{
        {body}
        memref.store %v{conditions}, %b[%i] : memref<8xf32>
      }}
    }}
    """


@pytest.mark.parametrize(("conditions", "loops"), [(1, 2), (3, 8), (4, 1)])
def test_copies_of_a_loop(conditions: int, loops: int):
    module = parsed(selects(conditions))
    after = HoistExpression()(module)
    assert len(ops_of(after, ForOp)) == loops
    assert compare(module, after) == 1
