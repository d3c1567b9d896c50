"""Conditions on functions on tensors, and the functions that plan-memory can convert to buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.scf import ForOp, IfOp, WhileOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator

from ...compiler.analysis.constant_evaluator import integer_constant
from ...compiler.analysis.memory.buffers import is_contiguous
from ...compiler.analysis.symbolic_shapes import SymbolicShapes
from ...compiler.kernels.call_sizes import CallSizes
from ...compiler.kernels.choices import NoKernel
from ...compiler.kernels.kernel import kernel_of
from ...compiler.kernels.legalizations import legalization_of
from ...dialects.relax.base import RelaxOp
from ...dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.data.concatenation import ConcatenateOp
from ...dialects.relax.dynamic.data_movement import DynamicReshapeOp
from ...dialects.relax.graph import GraphOp, MatchCastOp, TupleGetItemOp, TupleOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ...dialects.relax.types import is_ranked, is_tensor, too_large
from ...passmanager.conditions import condition
from ...passmanager.ir.walk import symbol_of, walk
from ..generic.call_graph import CallGraph, is_opaque
from .outliner import fusible_functions
from .plan_memory.buffer_values import leaf_types, leaves_of

NOT_LEGALIZED = "is on tensors and not legalized"


@condition(
    "legalized", "each operation on tensors that has a kernel is a call of it", whole_module=True
)
def legalized(module: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the operations that legalize-ops replaces by kernels."""
    for op, reason in _all_unplannable(module):
        if reason == NOT_LEGALIZED and not _is_kept(op):
            yield op, reason


@condition("bufferizable", "values and control flow have a form on buffers", whole_module=True)
def bufferizable(module: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield what plan-memory cannot convert, but for the operations of `legalized`."""
    for op, reason in _all_unplannable(module):
        if reason != NOT_LEGALIZED or _is_kept(op):
            yield op, reason


@condition("bufferized", "no function has values that are tensors")
def bufferized(op: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield a function on tensors."""
    if isinstance(op, FuncOp) and is_on_tensors(op):
        yield op, "is on tensors"


def _is_kept(op: Operation) -> bool:
    """Return whether legalize-ops leaves the function of `op` as it is."""
    around = op
    while not isinstance(around, FuncOp):
        parent = around.parent_op()
        assert parent is not None
        around = parent
    return is_opaque(around) and "relax.primitive" not in around.attributes


def _all_unplannable(module: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield what keeps functions on tensors of a module from being planned."""
    assert isinstance(module, ModuleOp)
    symbols = {symbol_of(op): op for op in module.ops}
    for op in functions_on_tensors(module):
        yield from unplannable(op, symbols)


def functions_on_tensors(module: ModuleOp) -> list[FuncOp]:
    """Return the functions on tensors directly in `module`."""
    return [op for op in module.ops if isinstance(op, FuncOp) and is_on_tensors(op)]


def is_on_tensors(op: FuncOp) -> bool:
    """Return whether `op` has values that are tensors, and is not a kernel: has no parameters that
    are buffers."""
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    if any(isinstance(type, MemRefType) for type in inputs):
        return False
    types = chain(inputs, outputs, *(inner.result_types for inner in walk(op)))
    return any(is_tensor(leaf) for type in types for leaf in leaf_types(type))


def unplannable(op: FuncOp, symbols: Mapping[str, Operation]) -> Iterator[tuple[Operation, str]]:
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


def _unplannable_signature(op: FuncOp) -> Iterator[tuple[Operation, str]]:
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
            return NOT_LEGALIZED
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


def missing_size(module: ModuleOp, function: FuncOp) -> str | None:
    """Return why a size of a result of `function` is not known before one of its calls in `module`;
    None if all are."""
    copy = module.clone()  # computing sizes inserts operations
    shapes = SymbolicShapes(copy, CallGraph(copy))
    name = function.sym_name.data
    for around in fusible_functions(copy):
        scope = CallSizes(around, shapes, {name: function})
        for op in [*walk(around)]:
            if isinstance(op, CallOp) and op.callee.string_value() == name:
                try:
                    scope.of_results(op)
                except NoKernel as error:
                    return str(error)
    return None
