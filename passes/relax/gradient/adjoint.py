"""The insertion of functions that compute the gradient of a function."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import DiagnosticException

from ....compiler.interpreters.signature import argument_names
from ....dialects.relax.interfaces import NotDifferentiable
from ....dialects.relax.types import static_shape
from ....passmanager.diagnostics.actions import SILENT, Actions
from ....passmanager.fast.clone import clone
from ....passmanager.fast.edit import erase
from ....passmanager.ir.walk import walk
from ....passmanager.registration.names import did_you_mean
from ...generic.analysis.call_graph import CallGraph
from ...generic.dead_code.dead_code import remove_dead_operations
from ..functions.inline import replace_by_body
from .reverse_mode import ReverseMode, is_differentiable
from .tensors import Tensors

__all__ = ["add_adjoint"]


def add_adjoint(
    module: ModuleOp,
    function: str,
    require_grads: Sequence[str] = (),
    target_index: int = 0,
    graph: CallGraph | None = None,
    actions: Actions = SILENT,
) -> FuncOp | None:
    """Insert the function `<function>_adjoint` behind a function of `module`, and return it.

    It returns the results of the function, then the gradient of its result `target_index`, a
    scalar, with respect to each parameter in `require_grads`: names or numbers, by default all
    parameters of floating-point numbers. Calls of functions of the module are inlined.
    A function of that name and type is replaced.
    Errors: DiagnosticException for a function, a parameter or a result that does not exist or fit;
    an error for each operation without a gradient, and no function is inserted.
    """
    graph = graph or CallGraph(module)
    func = _function(graph, function)
    name = f"{function}_adjoint"
    indices = _parameters(func, require_grads)
    # Of a copy: the function itself stays. Calls are inlined, as their values are needed in
    # reverse.
    adjoint = _inlined(func, graph, (function,))
    end = adjoint.body.block.last_op
    assert isinstance(end, ReturnOp)
    target = end.operands[_target(func, target_index)]

    failed: list[Operation] = []

    def on_error(op: Operation, reason: str) -> None:
        failed.append(op)
        actions.error(op, f"cannot be differentiated: {reason}")

    b = Tensors(Builder(InsertPoint.before(end)))
    sources = [adjoint.body.block.args[i] for i in indices]
    mode = ReverseMode(b, sources, on_error)
    # Before the first adjoint is inserted: the adjoints are not differentiated.
    ops = [op for op in adjoint.body.block.ops if op is not end]
    mode.run(ops, [(target, b.of(target).scalar(1.0))])
    if failed:
        return None
    try:
        gradients = [mode.materialize(mode.adjoints.get(value), value.type) for value in sources]
    except NotDifferentiable as error:  # zeros of unknown shape
        raise DiagnosticException(f"function @{function}: {error}") from None
    b.builder.insert(ReturnOp(*end.operands, *gradients))
    erase(end)
    # Adjoints of parameters that are not asked for, and values that no derivative needs.
    remove_dead_operations(adjoint)
    _rename(adjoint, name, [*func.function_type.outputs, *(g.type for g in gradients)])
    if (old := graph.symbols.get(name)) is not None:
        if not isinstance(old, FuncOp) or old.function_type != adjoint.function_type:
            raise DiagnosticException(f"there is a symbol @{name} already, which is not a gradient")
        # A second run changes nothing.
        if old.is_structurally_equivalent(adjoint):
            return old
        erase(old)
    module.body.block.insert_op_after(adjoint, func)
    return adjoint


def _function(graph: CallGraph, name: str) -> FuncOp:
    """Return a function with one block; DiagnosticException if there is none of that name."""
    functions = {name: op for name, op in graph.symbols.items() if isinstance(op, FuncOp)}
    if (func := functions.get(name)) is None:
        raise DiagnosticException(f"function @{name} does not exist{did_you_mean(name, functions)}")
    if len(func.body.blocks) != 1:
        what = "has several blocks" if func.body.blocks else "has no body"
        raise DiagnosticException(f"function @{name} {what}, so it cannot be differentiated")
    return func


def _parameters(func: FuncOp, names: Sequence[str]) -> list[int]:
    """Return the indices of the parameters `names`; by default of all of floating-point numbers."""
    types = func.function_type.inputs.data
    if not names:
        return [i for i, type in enumerate(types) if is_differentiable(type)]
    known = argument_names(func)
    indices: list[int] = []
    for name in names:
        if name not in known and not (name.isdecimal() and int(name) < len(known)):
            near = did_you_mean(name, known) or f": its parameters are {', '.join(known)}"
            raise DiagnosticException(
                f"function @{func.sym_name.data} has no parameter '{name}'{near}"
            )
        index = known.index(name) if name in known else int(name)
        if not is_differentiable(types[index]):
            raise DiagnosticException(
                f"parameter '{name}' of @{func.sym_name.data} is {types[index]}, "
                "which is not a tensor of floating-point numbers"
            )
        if index in indices:
            raise DiagnosticException(f"parameter '{name}' is required twice")
        indices.append(index)
    return indices


def _target(func: FuncOp, index: int) -> int:
    """Return `index`; DiagnosticException unless that result is a floating-point scalar."""
    types, where = func.function_type.outputs.data, f"function @{func.sym_name.data}"
    if index >= len(types):
        raise DiagnosticException(f"{where} has {len(types)} results, so none with number {index}")
    if not is_differentiable(types[index]) or static_shape(types[index]) != ():
        raise DiagnosticException(
            f"result {index} of {where} is {types[index]}, expected a floating-point scalar: "
            "a sum or mean makes it one"
        )
    return index


def _inlined(func: FuncOp, graph: CallGraph, callers: tuple[str, ...]) -> FuncOp:
    """Return a copy of `func` with the calls of other functions with one block inlined."""
    copy = clone(func)
    for call in [op for op in walk(copy) if isinstance(op, CallOp)]:
        name = call.callee.string_value()
        callee = graph.symbols.get(name)
        # A recursion would be inlined without end.
        if isinstance(callee, FuncOp) and len(callee.body.blocks) == 1 and name not in callers:
            replace_by_body(call, _inlined(callee, graph, (*callers, name)).body.block)
    return copy


def _rename(func: FuncOp, name: str, results: Sequence[Attribute]) -> None:
    """Give the function a name, public visibility and the types of its results."""
    func.sym_name = StringAttr(name)
    func.properties.pop("sym_visibility", None)
    func.function_type = FunctionType.from_lists(func.function_type.inputs.data, results)
    if (attributes := func.res_attrs) is not None:
        new = [DictionaryAttr({})] * (len(results) - len(attributes.data))
        func.res_attrs = ArrayAttr([*attributes, *new])
