"""Checks of single operations against the kernels that `legalize-ops` makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from support.operations.evaluation import Array
from support.operations.evaluation import run_all as run_on_numpy
from support.passes.results import run
from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.kernels import CallTIROp
from passline.passes.relax.legalize_ops import LegalizeOps
from passline.passmanager import PassContext
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

__all__ = [
    "check_kernel",
    "function_of",
    "kernel_on_constant",
    "legalize",
    "legalized",
    "module_of",
]


def module_of(ops: Sequence[Operation]) -> ModuleOp:
    """Return a module with a function `@f0`, `@f1`, ... for each operation, which computes it
    from its parameters."""
    return ModuleOp([function_of(op, f"f{i}") for i, op in enumerate(ops)])


def function_of(op: Operation, name: str) -> FuncOp:
    """Return a function that computes `op` from its parameters."""
    func = FuncOp(name, ([v.type for v in op.operands], [v.type for v in op.results]))
    mapper: dict[SSAValue, SSAValue] = dict(zip(op.operands, func.args))
    builder = Builder(InsertPoint.at_end(func.body.block))
    copy = builder.insert(op.clone(mapper))
    builder.insert(ReturnOp(*copy.results))
    return func


def legalize(module: ModuleOp, target: str = "") -> None:
    """Run `legalize-ops` for `target` on the module, and verify the result."""
    with PassContext(verify_each=False):
        LegalizeOps(target).apply(make_ir_context(), module)
    verify(module)


def legalized(op: Operation, target: str = "") -> ModuleOp:
    """Return a module whose `@f0` computes `op` by a kernel; AssertionError if it has none."""
    module = module_of([op])
    legalize(module, target)
    kinds = {type(other) for other in walk(module)}
    assert CallTIROp in kinds and type(op) not in kinds, f"there is no kernel for\n{op}"
    return module


def kernel_on_constant(op: Operation, target: str = "") -> tuple[ModuleOp, Array]:
    """Return a module whose `@f0` computes `op`, of two constants, with the second one in it, and
    the elements of the first one."""
    data, weight = op.operands
    assert isinstance(data.owner, ConstantOp) and isinstance(weight.owner, ConstantOp)
    func = FuncOp("f0", ([data.type], [result.type for result in op.results]))
    copy = weight.owner.clone()
    new = op.clone({data: func.args[0], weight: copy.result})
    func.body.block.add_ops([copy, new, ReturnOp(*new.results)])
    module = ModuleOp([func])
    legalize(module, target)
    return module, run_on_numpy(data.owner)[0]


def check_kernel(op: Operation, rtol: float = 0, atol: float = 0, target: str = "") -> None:
    """Check that the kernel of an operation on constants, scheduled for `target`, gives the same
    results as its semantics."""
    owners = [operand.owner for operand in op.operands]
    arguments = tuple(run_on_numpy(v)[0] for v in owners if isinstance(v, Operation))
    expected = run_on_numpy(op)
    module = legalized(op, target)
    actual = run(module, "f0", arguments)
    for mine, other in zip(actual, expected, strict=True):
        check_close(np.asarray(mine), other, rtol, atol)


def check_close(actual: Array, expected: Array, rtol: float, atol: float) -> None:
    """Check that integers and bools are equal, floats close, and zeros of the same sign."""
    if expected.dtype.kind != "f":
        rtol = atol = 0
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol, strict=True)
    if expected.dtype.kind == "f":
        zero = (expected == 0) & (actual == 0)
        np.testing.assert_array_equal(np.signbit(actual)[zero], np.signbit(expected)[zero])
