# pyright: reportPrivateUsage=false
"""Each operation of relax is part of the dialect, has a semantics, and a kernel if it can."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter

from passline.compiler.interpreters import semantics_of
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax import Relax

WITHOUT_KERNEL = {
    "relax.call_tir": "calls a kernel",
    "relax.call_tir_inplace": "calls a kernel",
    "relax.constant": "is data",
    "relax.device_copy": "moves data between devices",
    "relax.dyn.compress": "becomes a nonzero and a take",
    "relax.full": "is data",
    "relax.graph": "has a body of operations",
    "relax.invoke": "calls a function value",
    "relax.lambda": "is a function value",
    "relax.make_closure": "is a function value",
    "relax.match_cast": "changes a type alone",
    "relax.nonzero": "has two kernels, of which the first computes the size of the result",
    "relax.on_device": "is an annotation",
    "relax.output": "ends a body",
    "relax.stop_fusion": "is an annotation",
    "relax.tuple": "is about tuples",
    "relax.tuple_get_item": "is about tuples",
    "relax.vision.non_max_suppression": "is a kernel and a slice of what it computes",
    "relax.yield": "ends a body",
}
"""Operations that are not in the table of legalizations, with the reason."""


def test_each_operation_has_a_semantics():
    functions = {cls.name: semantics_of(cls) for cls in Relax.operations}
    interpreter = Interpreter(ModuleOp([]))
    for table in {*functions.values()}:
        if table is not None:
            interpreter.register_implementations(table())
    known = interpreter._impls._impl_dict
    without = {cls.name for cls in Relax.operations if cls not in known}
    assert without == {"relax.output"}  # the semantics of relax.graph reads it


def test_each_operation_has_a_kernel_or_a_reason_for_none():
    assert {cls.name for cls in Relax.operations if cls not in RELAX} == {*WITHOUT_KERNEL}
