"""DataflowUseInplaceCalls: kernels write their results into the buffers of dead operands."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, NoneAttr, StringAttr
from xdsl.dialects.memref import LoadOp, ReinterpretCastOp, StoreOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.memory.in_place import is_injective_access
from ...compiler.analysis.memory.storage_plan import dies_at
from ...dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.clone import clone
from ...passmanager.ir.walk import free_name, symbol_of, walk
from .tensor_conditions import legalized


def use_inplace_calls(module: ModuleOp, actions: Actions = SILENT) -> None:
    """Replace calls of kernels in `module` by calls of copies that overwrite an operand.

    The kernel computes `result[i] = f(operand[i], ...)` once for each i (`updates_in_place`), both
    have the same static shape, and the operand dies at the call (`dies_at`). Kernels without calls
    stay: remove-unused-functions erases them.
    """
    symbols = {symbol_of(op): op for op in module.ops}
    copies: dict[tuple[str, int], str] = {}
    for call in [op for op in walk(module) if isinstance(op, CallTIROp)]:
        name = call.callee.root_reference.data
        kernel = symbols.get(name)
        if not isinstance(kernel, PrimFuncOp) or kernel.is_declaration or len(call.res) != 1:
            continue
        if call.sizes:
            continue  # equal types may stand for different sizes
        fitting = (
            index
            for index, operand in enumerate(call.arguments)
            if operand.type == call.res[0].type
            and dies_at(call, operand)
            and updates_in_place(kernel, index)
        )
        if (index := next(fitting, None)) is None or not actions.allowed(call):
            continue
        if (copy := copies.get((name, index))) is None:
            copies[name, index] = copy = free_name(f"{name}_inplace", symbols)
            symbols[copy] = new = inplace_copy(kernel, index, copy)
            module.body.block.insert_op_after(new, kernel)
        actions.count("in-place")
        actions.passed(call, "InPlace", "overwrites an operand", Callee=name, Operand=index)
        Rewriter.replace_op(call, CallTIRInplaceOp(copy, call.arguments, call.res.types, [index]))


def updates_in_place(kernel: PrimFuncOp, index: int) -> bool:
    """Return whether `kernel`, whose last parameter is its only result, may have parameter `index`
    as its result too.

    It stores each element of the result once, in one place, and reads of the parameter only the
    element with the same indices, before it.
    """
    block = kernel.body.block
    if block.args[index].type != block.args[-1].type or block.args[index] is block.args[-1]:
        return False
    operand, result = _flat(block.args[index]), _flat(block.args[-1])
    if operand.type != result.type:
        return False
    stores, loads = ([use.operation for use in value.uses] for value in (result, operand))
    match stores:
        case [StoreOp(memref=memref) as store] if memref is result:
            pass
        case _:
            return False
    for load in loads:
        same = isinstance(load, LoadOp) and [*load.indices] == [*store.indices]
        if not same or load.parent is not store.parent or not load.is_before_in_block(store):
            return False
    statement = block.find_ancestor_op_in_block(store)
    return statement is not None and is_injective_access(
        statement, store, store.indices, store.value.type, Analyzer()
    )


def _flat(buffer: SSAValue) -> SSAValue:
    """Return the view of all elements that is the only use of `buffer`, or `buffer`."""
    match [use.operation for use in buffer.uses]:
        case [ReinterpretCastOp() as view] if isinstance(view.result.type.layout, NoneAttr):
            return view.result  # without a layout it is contiguous, from the first element on
        case _:
            return buffer


def inplace_copy(kernel: PrimFuncOp, index: int, name: str) -> PrimFuncOp:
    """Return a copy of `kernel` that writes its result into parameter `index`, without the last
    parameter."""
    copy = clone(kernel)
    copy.sym_name = StringAttr(name)
    block = copy.body.block
    result = block.args[-1]
    result.replace_all_uses_with(block.args[index])
    block.erase_arg(result)
    copy.function_type = FunctionType.from_lists(block.arg_types, ())
    if (attributes := copy.arg_attrs) is not None:
        copy.arg_attrs = ArrayAttr(attributes.data[:-1])
    return copy


@dataclass(frozen=True)
class DataflowUseInplaceCalls(ModulePass):
    """Let kernels overwrite operands that are not used later.

    Run it between `legalize-ops` and `plan-memory`. Source: `relax.DataflowUseInplaceCalls`.

    Before:

        func.func @f(%x: tensor<f32>) -> tensor<f32> {
          %0 = relax.call_tir @exp(%x) : (tensor<f32>) -> tensor<f32>
          %1 = relax.call_tir @exp(%0) : (tensor<f32>) -> tensor<f32>
          func.return %1 : tensor<f32>
        }
        tir.prim_func private @exp(%x: memref<f32>, %y: memref<f32>) {
          %0 = memref.load %x[] : memref<f32>
          %1 = math.exp %0 : f32
          memref.store %1, %y[] : memref<f32>
        }

    After:

        func.func @f(%x: tensor<f32>) -> tensor<f32> {
          %0 = relax.call_tir @exp(%x) : (tensor<f32>) -> tensor<f32>
          %1 = relax.call_tir_inplace @exp_inplace(%0) {inplace_indices = array<i64: 0>}
              : (tensor<f32>) -> tensor<f32>
          func.return %1 : tensor<f32>
        }
        tir.prim_func private @exp(%x: memref<f32>, %y: memref<f32>) {
          %0 = memref.load %x[] : memref<f32>
          %1 = math.exp %0 : f32
          memref.store %1, %y[] : memref<f32>
        }
        tir.prim_func private @exp_inplace(%x: memref<f32>) {
          %0 = memref.load %x[] : memref<f32>
          %1 = math.exp %0 : f32
          memref.store %1, %x[] : memref<f32>
        }
    """

    name = "dataflow-use-inplace-calls"
    requires = (legalized,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        use_inplace_calls(module, ctx.actions)
