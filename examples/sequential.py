"""TVM's "Python Sequential Example": a small program, a pipeline, and a context to run it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    ModuleOp,
    TensorType,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.rewriter import InsertPoint

from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.elementwise.binary import AddOp, MultiplyOp
from passline.dialects.target import Target
from passline.passes import AlterOpLayout, EliminateCommonSubexpr, FoldConstant, InferType, PrintIR
from passline.passmanager import PassContext, Sequential


def constant(shape: Sequence[int]) -> ConstantOp:
    """Return a constant with the sizes of `shape` as elements, repeated."""
    data = np.resize(np.array(shape, np.float32), tuple(shape))
    return ConstantOp(DenseIntOrFPElementsAttr(TensorType(f32, shape), BytesAttr(data.tobytes())))


def program() -> ModuleOp:
    """Build y = (c + c) * 2; y = x + y; z = y + c; z1 = y + c; return z + z1."""
    type_ = TensorType(f32, [1, 2, 3])
    func = FuncOp("main", ([type_], [type_]))
    build = Builder(InsertPoint.at_end(func.body.block))
    (x,) = func.args
    c = build.insert(constant((1, 2, 3))).result
    two = build.insert(FullOp(FloatAttr(2.0, f32), TensorType(f32, []))).result
    y = build.insert(AddOp(c, c)).result
    y = build.insert(MultiplyOp(y, two)).result
    y = build.insert(AddOp(x, y)).result
    z = build.insert(AddOp(y, c)).result
    z1 = build.insert(AddOp(y, c)).result
    z2 = build.insert(AddOp(z, z1)).result
    build.insert(ReturnOp(z2))
    return ModuleOp([func])


pipeline = Sequential(
    [InferType(), FoldConstant(), PrintIR(), EliminateCommonSubexpr(), AlterOpLayout()]
)


def main() -> ModuleOp:
    """Return the optimized program; `disabled_pass=["EliminateCommonSubexpr"]` would skip a
    pass."""
    with PassContext(opt_level=3), Target("x86-64-v3"):
        return pipeline(program())


if __name__ == "__main__":
    print(main())
