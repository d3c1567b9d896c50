"""PlanMemory: functions on tensors become functions on buffers that share one arena."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from ....dialects.relax.graph import GraphOp
from ....dialects.sizes import TooComplex
from ....passmanager.actions import SILENT, Actions
from ....passmanager.base import ModulePass
from ....passmanager.context import PassContext
from ....passmanager.fast.edit import insert_before
from ....passmanager.ir.walk import ancestors, symbol_of
from ..tensor_conditions import (
    NOT_LEGALIZED,
    bufferizable,
    bufferized,
    functions_on_tensors,
    legalized,
    unplannable,
)
from .arena import PlannedMemory
from .buffer_values import ConstantGlobals
from .function_bufferizer import Function, FunctionBufferizer


def plan_memory(module: ModuleOp, actions: Actions = SILENT) -> None:
    """Replace each function on tensors in `module` by a `tir.prim_func` on buffers.

    Its parameters are the buffers of the parameters and then of the results; a tuple becomes its
    elements. Constants become globals of the module; equal constants share one. Intermediate
    results become views of one allocation, and share bytes if their live ranges do not overlap; a
    reshaped value has the bytes of its operand, and the operands of a concatenation are computed in
    their parts of its result, if that is contiguous. A returned value is computed in its result
    buffer, and only copied there if it is a parameter, a constant, or returned twice.

    A function that computes with unknown sizes becomes a `func.func`. It returns its results if one
    has an unknown size: buffers that it allocates, and that its caller frees.

    Errors: a function that cannot be planned; in this case no function is replaced, or if the size
    of the memory is the reason, none after it.
    """
    symbols = {symbol_of(op): op for op in module.ops}
    funcs = functions_on_tensors(module)
    if errors := [error for op in funcs for error in unplannable(op, symbols)]:
        for where, message in errors:
            hint = establishing(where) if message == NOT_LEGALIZED else ""
            actions.error(where, f"{message}{hint}")
        return
    constants = ConstantGlobals(module, funcs)
    for op in funcs:
        bufferizer = FunctionBufferizer(op, constants)
        try:
            new = bufferizer.run()
        except TooComplex as error:
            actions.error(op, f"needs memory of a size that cannot be computed: {error}")
            return
        Rewriter.replace_op(op, new)
        report(new, bufferizer.use_of_memory(), actions)
    if (first := module.body.block.first_op) is not None:
        insert_before(first, *constants.globals)


def establishing(op: Operation) -> str:
    """Return the end of a message about an operation that is not legalized: what to run first."""
    in_graph = any(isinstance(around, GraphOp) for around in ancestors(op))
    return f": run {'to-a-normal-form and ' if in_graph else ''}legalize-ops first"


def report(op: Function, use: PlannedMemory, actions: Actions) -> None:
    """Report the memory that the intermediate results of `op` take."""
    actions.count("buffers", use.buffers)
    actions.count("bytes-before", use.before)
    actions.count("bytes-after", use.after)
    actions.count("copies", use.copies)
    if use.buffers:
        actions.passed(
            op,
            "Planned",
            "intermediate results share one allocation",
            Buffers=use.buffers,
            BytesBefore=use.before,
            BytesAfter=use.after,
        )


@dataclass(frozen=True)
class PlanMemory(ModulePass):
    """Convert functions on tensors to functions on buffers in one allocation each; source:
    `relax.StaticPlanBlockMemory` with `relax.CallTIRRewrite`.

    Functions with parameters that are buffers are kernels, and stay. A function with a result of
    unknown size returns its results, which it allocates.

    Before:

        func.func private @g(memref<16xf32>, memref<16xf32>)
        func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
          %0 = relax.call_tir @g(%x) : (tensor<16xf32>) -> tensor<16xf32>
          %1 = relax.call_tir @g(%0) : (tensor<16xf32>) -> tensor<16xf32>
          func.return %1 : tensor<16xf32>
        }

    After:

        func.func private @g(memref<16xf32>, memref<16xf32>) -> ()
        tir.prim_func @f(%x: memref<16xf32>, %result0: memref<16xf32>)
            attributes {tir.outputs = 1 : i64} {
          %arena = memref.alloc() {alignment = 64 : i64} : memref<64xi8>
          %0 = arith.constant 0 : index
          %1 = memref.view %arena[%0][] : memref<64xi8> to memref<16xf32>
          func.call @g(%x, %1) : (memref<16xf32>, memref<16xf32>) -> ()
          func.call @g(%1, %result0) : (memref<16xf32>, memref<16xf32>) -> ()
        }
    """

    name = "plan-memory"
    requires = (legalized, bufferizable)
    ensures = (bufferized,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        plan_memory(module, ctx.actions)
