"""PlanMemory: functions on tensors become functions on buffers, all of which are in one arena."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import FixedBitwidthType, FunctionType, IndexType, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from ...dialects.relax.base import RelaxOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.control import GraphOp, InvokeOp, LambdaOp, MakeClosureOp, OutputOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.tuples import MatchCastOp, TupleGetItemOp, TupleOp
from ...dialects.relax.types import is_tensor, static_shape
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.diagnostics import Where
from ...passmanager.ir.walking import walk
from .buffers import Conversion, MemoryUse, leaves_of
from .globals import Symbols

__all__ = ["PlanMemory", "plan_memory", "unplannable"]


def plan_memory(module: ModuleOp, funcs: Iterable[FuncOp]) -> dict[PrimFuncOp, MemoryUse]:
    """Put a `tir.prim_func` in the place of each function, which is to have nothing unplannable.

    Its parameters are the buffers of the parameters and then of the results; tuples are their
    elements. Constants become globals of the module, equal ones one; intermediate results become
    views of one allocation, which share bytes if they are not needed at once. Reshaped values are
    views of the same bytes. What is returned is computed where the caller wants it, and only copied
    if it is a parameter, a constant or returned twice.
    """
    funcs = [*funcs]
    symbols = Symbols(module, funcs)
    made: dict[PrimFuncOp, MemoryUse] = {}
    for op in funcs:
        conversion = Conversion(op, symbols)
        prim_func = conversion.run()
        Rewriter.replace_op(op, prim_func)
        made[prim_func] = conversion.use_of_memory()
    if (first := module.body.block.first_op) is not None:
        module.body.block.insert_ops_before(symbols.globals, first)
    return made


# What can be planned


def is_on_tensors(op: FuncOp) -> bool:
    """Whether there are tensors in the function, and no buffers among its parameters."""
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    if any(isinstance(type, MemRefType) for type in inputs):
        return False
    types = chain(inputs, outputs, *(inner.result_types for inner in walk(op)))
    return any(is_tensor(leaf) for type in types for leaf in leaves_of(type))


def unplannable(op: FuncOp) -> Iterator[tuple[Where, str]]:
    """What keeps a function from being planned: where, and what to say."""
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    for number, leaf in ((i, leaf) for i, type in enumerate(inputs) for leaf in leaves_of(type)):
        if (reason := _unstorable(leaf)) is not None:
            yield op, f"has parameter {number}, which is {leaf}: {reason}"
    for number, leaf in ((i, leaf) for i, type in enumerate(outputs) for leaf in leaves_of(type)):
        if not is_tensor(leaf):
            yield op, f"returns {leaf}: a function on buffers returns tensors only"
        elif (reason := _unstorable(leaf)) is not None:
            yield op, f"returns {leaf}: {reason}"
    if len(op.body.blocks) > 1:
        yield op, f"has {len(op.body.blocks)} blocks: plan-memory takes structured control flow"
    for inner in walk(op):
        if inner is not op and (reason := _unsupported(inner)) is not None:
            yield inner, reason


def _unstorable(type: Attribute) -> str | None:
    """Why a value of the type can be no buffer, nor be as it is."""
    if isinstance(type, FunctionType):
        return "plan-memory takes no functions as values; lambda-lift and inline make calls of them"
    if not is_tensor(type):
        return None
    if static_shape(type) is None:
        return "plan-memory needs static shapes"
    if not isinstance(type.element_type, FixedBitwidthType | IndexType):
        return f"elements of type {type.element_type} have no size"
    return None


def _unsupported(op: Operation) -> str | None:
    """Why an operation cannot be one on buffers."""
    if isinstance(op, LambdaOp | InvokeOp | MakeClosureOp):
        return _unstorable(FunctionType.from_lists([], []))
    types = [leaf for type in (*op.operand_types, *op.result_types) for leaf in leaves_of(type)]
    on_tensors = any(map(is_tensor, types))
    match op:
        case ConstantOp() | FullOp() | CallTIROp() | View() | TupleOp() | TupleGetItemOp():
            pass
        case MatchCastOp() | GraphOp() | OutputOp() | IfOp() | ReturnOp() | tensor.ExtractOp():
            pass
        case YieldOp() if isinstance(op.parent_op(), IfOp):
            pass
        case func.CallOp():
            pass
        case _ if op.regions:
            return "is control flow that plan-memory does not support yet: it takes scf.if"
        case _ if on_tensors or isinstance(op, RelaxOp):
            return "is on tensors, and not legalized: legalize-ops has to make a kernel of it first"
        case _:
            pass
    found = ((leaf, _unstorable(leaf)) for leaf in types)
    return next((f"is on {leaf}: {reason}" for leaf, reason in found if reason), None)


@dataclass(frozen=True)
class PlanMemory(ModulePass):
    """Make functions on tensors ones on buffers, which lie in one piece of memory for each; source:
    `relax.StaticPlanBlockMemory`, with `relax.CallTIRRewrite`.

    Functions with parameters that are buffers are kernels, and stay.
    """

    name = "plan-memory"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        funcs = [op for op in module.ops if isinstance(op, FuncOp) and is_on_tensors(op)]
        if errors := [error for op in funcs for error in unplannable(op)]:
            for where, message in errors:
                ctx.diagnostics.error(where, message)
            return
        for op, use in plan_memory(module, funcs).items():
            ctx.count("buffers", use.buffers)
            ctx.count("bytes-before", use.before)
            ctx.count("bytes-after", use.after)
            ctx.count("copies", use.copies)
            if use.buffers:
                ctx.remarks.passed(
                    op,
                    "Planned",
                    "intermediate results share one allocation",
                    Buffers=use.buffers,
                    BytesBefore=use.before,
                    BytesAfter=use.after,
                )
