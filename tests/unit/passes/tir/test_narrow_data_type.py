"""tir-narrow-data-type: random expressions compute the same in fewer bits."""

from __future__ import annotations

from random import Random

import pytest
from support.parsing import parsed
from support.passes.results import compare
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, i64

from passline.passes.tir.narrow_data_type import BINARY as BINARY_OPS
from passline.passes.tir.narrow_data_type import NarrowDataType
from passline.passmanager.ir.walk import ops_of, walk

BINARY = "addi subi muli divsi floordivsi ceildivsi remsi minsi maxsi divui remui andi ori xori"


def random_text(seed: int) -> str:
    """Return a function that stores a random expression of two loop variables in each element."""
    random = Random(seed)
    lines: list[str] = []
    values = ["%a", "%b", "%k0", "%k1"]
    for number in range(random.randrange(1, 8)):
        name = random.choice(BINARY.split())
        left, right = random.choice(values), random.choice(values)
        if "div" in name or "rem" in name:
            right = random.choice(["%k0", "%k1"])
        if random.random() < 0.2:
            lines.append(
                f"%q{number} = arith.cmpi {random.choice(['slt', 'ult'])}, {left}, {right} : i64"
            )
            lines.append(f"%v{number} = arith.select %q{number}, {left}, {right} : i64")
        else:
            lines.append(f"%v{number} = arith.{name} {left}, {right} : i64")
        values.append(f"%v{number}")
    constants = [random.choice([-1, 1]) * random.choice([1, 2, 3, 50, 127]) for _ in range(2)]
    body = "\n".join(lines)
    return f"""
    tir.prim_func @f(%y: memref<5x7xi8>) attributes {{tir.outputs = 1 : i64}} {{
      %c0 = arith.constant 0 : index
      %c5 = arith.constant 5 : index
      %c7 = arith.constant 7 : index
      %k0 = arith.constant {constants[0]} : i64
      %k1 = arith.constant {constants[1]} : i64
      tir.for %i = %c0 extent %c5 {{
        %a = arith.index_cast %i : index to i64
        tir.for %j = %c0 extent %c7 {{
          %b = arith.index_cast %j : index to i64
          {body}
          %r = arith.trunci {values[-1]} : i64 to i8
          memref.store %r, %y[%i, %j] : memref<5x7xi8>
        }}
      }}
    }}
    """


def conversions(module: ModuleOp) -> int:
    return len(ops_of(module, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp))


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_random_expressions(bits: int):
    narrowed = 0
    for seed in range(60):
        module = parsed(random_text(seed))
        after = NarrowDataType(target_bits=bits)(module)
        assert compare(module, after) == 1
        ops = [*walk(after)]
        narrowed += not any(isinstance(op, BINARY_OPS) and op.result.type == i64 for op in ops)
        assert conversions(after) <= conversions(module)
    assert narrowed > 10
