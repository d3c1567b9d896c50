"""The operations of MLIR's dialects that have semantics of our own."""

from __future__ import annotations

from support.tables import table_test
from xdsl.dialects import affine, arith, cf, func, math, memref, printf, scf, tensor, vector
from xdsl.ir import Dialect

from passline.compiler.interpreters.interpret import own_semantics
from passline.compiler.interpreters.xdsl_interpreter import functions_of

WITHOUT = {
    "func.func",  # callable
    "memref.global",  # read by memref.get_global
    "memref.extract_aligned_pointer_as_index",  # an address
}
DIALECTS = [
    affine.Affine,
    arith.Arith,
    cf.Cf,
    func.Func,
    math.Math,
    memref.MemRef,
    printf.Printf,
    scf.Scf,
    tensor.Tensor,
    vector.Vector,
]


@table_test("dialect", DIALECTS)
def test_no_operation_is_left_to_xdsl(dialect: Dialect):
    own = {cls for functions in own_semantics() for cls, _ in functions_of(functions).of_ops}
    assert {op.name for op in dialect.operations if op not in own} <= WITHOUT
