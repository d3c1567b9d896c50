"""PlanMemory: functions on tensors become functions on buffers that share one arena."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import (
    FixedBitwidthType,
    FunctionType,
    IndexType,
    MemRefType,
    ModuleOp,
    NoneAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import ForOp, IfOp, WhileOp
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from ....compiler.analysis.constant_evaluator import integer_constant
from ....compiler.analysis.memory.buffers import is_contiguous
from ....compiler.kernels.choices import NoKernel
from ....compiler.kernels.kernel import kernel_of
from ....compiler.kernels.legalizations import legalization_of
from ....dialects.relax.base import RelaxOp
from ....dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.data.concatenation import ConcatenateOp
from ....dialects.relax.dynamic.manipulation import DynamicReshapeOp
from ....dialects.relax.graph import GraphOp, MatchCastOp, TupleGetItemOp, TupleOp
from ....dialects.relax.interfaces import View
from ....dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ....dialects.relax.types import is_ranked, is_tensor, too_large
from ....dialects.sizes import TooComplex
from ....passmanager.actions import SILENT, Actions
from ....passmanager.base import ModulePass
from ....passmanager.context import PassContext
from ....passmanager.diagnostics import Where
from ....passmanager.fast.edit import insert_before
from ....passmanager.ir.walk import symbol_of, walk
from ..legalize_ops import missing_size
from .arena import PlannedMemory
from .buffer_values import ConstantGlobals, leaf_types, leaves_of
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
    funcs = [op for op in symbols.values() if isinstance(op, FuncOp) and is_on_tensors(op)]
    if errors := [error for op in funcs for error in unplannable(op, symbols)]:
        for where, message in errors:
            actions.error(where, message)
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


# Functions that can be planned


def is_on_tensors(op: FuncOp) -> bool:
    """Return whether `op` has values that are tensors, and is not a kernel: has no parameters that
    are buffers."""
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    if any(isinstance(type, MemRefType) for type in inputs):
        return False
    types = chain(inputs, outputs, *(inner.result_types for inner in walk(op)))
    return any(is_tensor(leaf) for type in types for leaf in leaf_types(type))


def unplannable(op: FuncOp, symbols: Mapping[str, Operation]) -> Iterator[tuple[Where, str]]:
    """Yield an error for each operation that keeps `op` from being planned; `symbols` are the
    symbols of its module."""
    problems = [
        (inner, reason)
        for inner in walk(op)
        if inner is not op and (reason := _unsupported(inner, symbols)) is not None
    ]
    # The signature of a primitive function is that of its operations.
    if not problems or "relax.primitive" not in op.attributes:
        yield from _unplannable_signature(op)
    yield from problems


def _unplannable_signature(op: FuncOp) -> Iterator[tuple[Where, str]]:
    """Yield the errors about the parameters, the results and the blocks of `op`."""
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    for number, leaf in ((i, leaf) for i, type in enumerate(inputs) for leaf in leaf_types(type)):
        if (reason := _unstorable(leaf)) is not None:
            yield op, f"has parameter {number} of type {leaf}: {reason}"
    for leaf in leaves_of(outputs):
        if not is_tensor(leaf):
            yield op, f"returns {leaf}: a function on buffers returns tensors only"
    if len(op.body.blocks) > 1:
        yield op, f"has {len(op.body.blocks)} blocks: plan-memory needs structured control flow"


def _unstorable(type: Attribute) -> str | None:
    """Return why a value of `type` cannot be stored in a buffer, or None if it can."""
    if isinstance(type, FunctionType):
        return FUNCTIONS
    if not is_tensor(type):
        return None
    if not is_ranked(type):
        return "plan-memory needs tensors of known rank"
    if not isinstance(type.element_type, FixedBitwidthType | IndexType):
        return f"elements of type {type.element_type} have no size"
    return too_large(type)


FUNCTIONS = "buffers cannot hold functions; lambda-lift and inline turn them into calls"


def _unsupported(op: Operation, symbols: Mapping[str, Operation]) -> str | None:
    """Return why `op` cannot be converted to buffers, or None if it can."""
    match op:
        case LambdaOp() | InvokeOp() | MakeClosureOp():
            return f"cannot be planned: {FUNCTIONS}"
        case CallTIROp() | CallTIRInplaceOp():
            callee = symbols.get(op.callee.root_reference.data)
            type = None if callee is None else callee.get_attr_or_prop("function_type")
            inputs = type.inputs.data if isinstance(type, FunctionType) else ()
            if special := next(filter(_is_special, inputs), None):
                return f"calls a kernel on {special}: layouts and memory spaces are not supported"
        case ConcatenateOp() if is_contiguous(op):
            pass
        case ConstantOp() | FullOp() | View() | TupleOp() | TupleGetItemOp() | MatchCastOp():
            pass
        case GraphOp() | IfOp() | WhileOp() | ForOp():
            pass
        case func.CallOp() | tensor.CastOp() | tensor.ExtractOp():
            pass
        case tensor.DimOp() if integer_constant(op.index) is None:
            return "reads a dimension that is not a constant"
        case tensor.DimOp() | tensor.FromElementsOp() | tensor.ReshapeOp():
            pass
        case DynamicReshapeOp() if op.allowzero:  # all sizes are given, and none is -1
            pass
        case _ if op.has_trait(IsTerminator, value_if_unregistered=False):
            return None  # the operation around it is checked
        case _ if op.regions:
            return "is control flow that plan-memory does not support, unlike scf.if, for and while"
        case _ if isinstance(op, RelaxOp) or _is_on_tensors(op):
            if (reason := _missing_kernel(op)) is not None:
                return f"has no kernel: {reason}"
            return "is on tensors and not legalized: run legalize-ops first"
        case _:
            pass
    found = ((leaf, _unstorable(leaf)) for leaf in leaves_of(op.result_types))
    return next((f"gives {leaf}: {reason}" for leaf, reason in found if reason), None)


def _missing_kernel(op: Operation) -> str | None:
    """Return why no kernel computes `op`, or the primitive function that it is in; None if one
    does."""
    if legalization_of(op) is None:
        return "it has no legalization"
    match op.parent_op():
        case FuncOp() as function if "relax.primitive" in function.attributes:
            module = function.parent_op()
        case _:
            function, module = function_of(op), None
    try:
        kernel_of(function)
    except NoKernel as error:
        return str(error)
    return missing_size(module, function) if isinstance(module, ModuleOp) else None


def function_of(op: Operation) -> FuncOp:
    """Return a function that computes `op`."""
    function = FuncOp(op.name, (op.operand_types, op.result_types))
    copy = op.clone(dict(zip(op.operands, function.args, strict=True)))
    function.body.block.add_ops([copy, func.ReturnOp(*copy.results)])
    return function


def _is_special(type: Attribute) -> bool:
    return isinstance(type, MemRefType) and not (
        isinstance(type.layout, NoneAttr) and isinstance(type.memory_space, NoneAttr)
    )


def _is_on_tensors(op: Operation) -> bool:
    return any(map(is_tensor, leaves_of((*op.operand_types, *op.result_types))))


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

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        plan_memory(module, ctx.actions)
