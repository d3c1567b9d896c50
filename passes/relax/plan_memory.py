"""PlanMemory: functions on tensors become functions on buffers, all of which are in one arena."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from xdsl.dialects.scf import IfOp
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from ...dialects.relax.base import RelaxOp
from ...dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.graph import GraphOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.tuples import MatchCastOp, TupleGetItemOp, TupleOp
from ...dialects.relax.types import is_tensor, static_shape
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.diagnostics import Where
from ...passmanager.ir.symbols import symbol_of
from ...passmanager.ir.walk import walk
from ..rewriting.bufferize import Conversion, MemoryUse, leaves_of
from ..rewriting.constant_globals import Symbols

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


def unplannable(op: FuncOp, symbols: Mapping[str, Operation]) -> Iterator[tuple[Where, str]]:
    """What keeps a function of a module with these symbols from being planned: where, and what to
    say."""
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    for number, leaf in ((i, leaf) for i, type in enumerate(inputs) for leaf in leaves_of(type)):
        if (reason := _unstorable(leaf)) is not None:
            yield op, f"has parameter {number} of type {leaf}: {reason}"
    for leaf in (leaf for type in outputs for leaf in leaves_of(type)):
        if not is_tensor(leaf):
            yield op, f"returns {leaf}: functions on buffers give tensors only"
    if len(op.body.blocks) > 1:
        yield op, f"has {len(op.body.blocks)} blocks: plan-memory takes structured control flow"
    for inner in walk(op):
        if inner is not op and (reason := _unsupported(inner, symbols)) is not None:
            yield inner, reason


def _unstorable(type: Attribute) -> str | None:
    """Why a value of the type can be no buffer, nor be as it is."""
    if isinstance(type, FunctionType):
        return FUNCTIONS
    if not is_tensor(type):
        return None
    if static_shape(type) is None:
        return "plan-memory needs static shapes"
    if not isinstance(type.element_type, FixedBitwidthType | IndexType):
        return f"elements of type {type.element_type} have no size"
    return None


FUNCTIONS = "functions are no values on buffers; lambda-lift and inline make calls of them"


def _unsupported(op: Operation, symbols: Mapping[str, Operation]) -> str | None:
    """Why an operation cannot be one on buffers."""
    match op:
        case LambdaOp() | InvokeOp() | MakeClosureOp():
            return f"cannot be planned: {FUNCTIONS}"
        case CallTIROp():
            callee = symbols.get(op.callee.root_reference.data)
            type = None if callee is None else callee.get_attr_or_prop("function_type")
            inputs = type.inputs.data if isinstance(type, FunctionType) else ()
            if special := next(filter(_is_special, inputs), None):
                return f"calls a kernel on {special}: buffers have no layout or memory space here"
        case ConstantOp() | FullOp() | View() | TupleOp() | TupleGetItemOp() | MatchCastOp():
            pass
        case GraphOp() | IfOp() | func.CallOp() | tensor.ExtractOp():
            pass
        case _ if op.has_trait(IsTerminator):
            return None  # it is what is around that is supported or not
        case _ if op.regions:
            return "is control flow that plan-memory does not support yet: it takes scf.if"
        case _ if isinstance(op, RelaxOp) or _is_on_tensors(op):
            return "is on tensors, and not legalized: legalize-ops has to make a kernel of it first"
        case _:
            pass
    found = ((leaf, _unstorable(leaf)) for type in op.result_types for leaf in leaves_of(type))
    return next((f"gives {leaf}: {reason}" for leaf, reason in found if reason), None)


def _is_special(type: Attribute) -> bool:
    return isinstance(type, MemRefType) and not (
        isinstance(type.layout, NoneAttr) and isinstance(type.memory_space, NoneAttr)
    )


def _is_on_tensors(op: Operation) -> bool:
    return any(
        is_tensor(leaf)
        for type in (*op.operand_types, *op.result_types)
        for leaf in leaves_of(type)
    )


@dataclass(frozen=True)
class PlanMemory(ModulePass):
    """Make functions on tensors ones on buffers, which lie in one piece of memory for each; source:
    `relax.StaticPlanBlockMemory`, with `relax.CallTIRRewrite`.

    Functions with parameters that are buffers are kernels, and stay.
    """

    name = "plan-memory"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        symbols = {symbol_of(op): op for op in module.ops}
        funcs = [op for op in symbols.values() if isinstance(op, FuncOp) and is_on_tensors(op)]
        if errors := [error for op in funcs for error in unplannable(op, symbols)]:
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
