"""tir-instrument-bound-checkers: checks fail in the interpreter and in machine code."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, f32, i1
from xdsl.dialects.cf import AssertOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Operation

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import compile_module
from passline.dialects.tir.ops import PrimFuncOp
from passline.passes.tir.instrument_bound_checkers import InstrumentBoundCheckers, check_bounds
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.walk import ops_of

GATHER = """
tir.prim_func @main(%x: memref<SIZExf32>, %i: memref<4xi64>, %y: memref<4xf32>)
    attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for KIND %k = %c0 extent %c4 {
    %n = memref.load %i[%k] : memref<4xi64>
    %at = arith.index_cast %n : i64 to index
    %v = memref.load %x[%at] : memref<SIZExf32>
    memref.store %v, %y[%k] : memref<4xf32>
  }
}
"""


def checked(size: str, kind: str) -> ModuleOp:
    module = parsed(GATHER.replace("SIZE", size).replace("KIND", kind))
    after = InstrumentBoundCheckers()(module)
    assert len(ops_of(after, AssertOp)) == 1
    return after


def message(size: str) -> str:
    return rf"x\.mlir:9:10: load from %x, a memref<{size}xf32>: index 0 \(%at\) is out of bounds"


@table_test("size", ["6", "?"])
def test_the_interpreter(size: str):
    module = checked(size, "")
    main = interpret(module, entry_function(module, "main"))
    x = np.arange(6, dtype=np.float32)
    (found,) = main(x, np.array([5, 0, 1, 5]))
    assert np.asarray(found).tolist() == [5, 0, 1, 5]
    for wrong in (6, -1, 2**62):
        with pytest.raises(PasslineError, match=message(size.replace("?", r"\?"))):
            main(x, np.array([0, wrong, 1, 1]))


@needs_native
@pytest.mark.parametrize("kind", ["", "parallel", "unrolled", "vectorized"])
@pytest.mark.parametrize("size", ["6", "?"])
def test_machine_code(size: str, kind: str):
    main = compile_module(checked(size, kind))
    x = np.arange(6, dtype=np.float32)
    (found,) = main(x, np.array([5, 0, 1, 5]))
    assert np.asarray(found).tolist() == [5, 0, 1, 5]
    for wrong in (6, -1, 2**62):
        with pytest.raises(PasslineError, match=message(size.replace("?", r"\?"))):
            main(x, np.array([0, wrong, 1, 1]))


def test_a_deep_nest():
    """Regions are visited without recursion."""
    buffer = MemRefType(f32, [4])
    func = PrimFuncOp("f", [buffer, i1, IndexType(), f32])
    x, condition, index, value = func.body.block.args
    inner: list[Operation] = [memref.StoreOp.get(value, x, [index])]
    for _ in range(10_000):
        inner = [IfOp(condition, [], [*inner, YieldOp()])]
    func.body.block.add_ops(inner)
    check_bounds(func)
    assert len(ops_of(func, AssertOp)) == 1
