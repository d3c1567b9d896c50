"""A check of operations compiled to machine code."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from support.operations.evaluation import run as run_on_numpy
from support.operations.evaluation import run_all
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from passline.compiler.native import compile_module
from passline.passmanager import PassContext

__all__ = ["check_machine_code", "module_of"]


def check_machine_code(cases: Mapping[str, Operation], rtol: float = 1e-5, atol: float = 1e-4):
    """Compile all operations into one function, and compare its results with the numpy
    semantics."""
    module = module_of([*cases.values()])
    with PassContext(verify_each=False):  # for speed; the results are compared
        function = compile_module(module)
    owners = [operand.owner for op in cases.values() for operand in op.operands]
    results = iter(function(*(run_on_numpy(v) for v in owners if isinstance(v, Operation))))
    for name, op in cases.items():
        for expected in run_all(op):
            actual = next(results)
            close = (rtol, atol) if expected.dtype.kind == "f" else (0, 0)
            np.testing.assert_allclose(actual, expected, *close, err_msg=name, strict=True)


def module_of(ops: list[Operation]) -> ModuleOp:
    """Return a module whose `@main` computes all operations from its parameters."""
    operands = [operand for op in ops for operand in op.operands]
    func = FuncOp("main", ([v.type for v in operands], [v.type for op in ops for v in op.results]))
    parameters, results = iter(func.args), list[SSAValue]()
    for op in ops:
        mapper = {operand: next(parameters) for operand in op.operands}
        func.body.block.add_op(copy := op.clone({**mapper}))
        results += copy.results
    func.body.block.add_op(ReturnOp(*results))
    return ModuleOp([func])
