"""Reverse-mode differentiation: adjoints from the last operation of a block to the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TupleType,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.region_utils import iter_used_values_defined_above
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import DiagnosticException

from ....compiler.interpreters.signature import argument_names
from ....dialects.relax.graph import GraphOp, MatchCastOp, StopFusionOp, TupleGetItemOp, TupleOp
from ....dialects.relax.interfaces import Decomposes, Differentiable, NotDifferentiable
from ....dialects.relax.kernels import CallTIROp
from ....dialects.relax.types import is_tensor, static_shape
from ....passmanager.actions import SILENT, Actions
from ....passmanager.fast.clone import clone
from ....passmanager.fast.edit import erase
from ....passmanager.ir.walk import walk
from ....passmanager.names import did_you_mean
from ...decompositions import DECOMPOSITIONS
from ...generic.call_graph import CallGraph
from ...generic.dead_code_elimination import remove_dead_operations
from ...generic.inline_call import replace_by_body
from . import contraction, data, elementwise, reduction, windows
from .tensors import Rule, Tensors, Traced

GRADIENTS: Mapping[str, Rule] = {
    **contraction.GRADIENTS,
    **data.GRADIENTS,
    **elementwise.GRADIENTS,
    **reduction.GRADIENTS,
    **windows.GRADIENTS,
}
"""Operations that are not in it are differentiated by their interface `Differentiable`, else by
their decomposition."""


Adjoint: TypeAlias = "Traced | list[Adjoint | None]"
"""The adjoint of a tensor, or of each element of a tuple; None stands for zero."""
OnError: TypeAlias = Callable[[Operation, str], object]
"""Reports an operation that has no gradient, and why."""
BodyOf: TypeAlias = Callable[[CallOp], Block]
"""Returns a copy of the function that is called; NotDifferentiable if it cannot be inlined."""

NO_GRAD = "relax.no_grad"
"""The attribute of an operation, or a function that is called, whose results are constants to the
gradient."""
CHECKPOINT = "relax.checkpoint"
"""The attribute of a call, or a function that is called, that is computed again in reverse, instead
of keeping its values."""


def is_differentiable(type: Attribute) -> bool:
    """Return whether values of `type` are floating-point numbers, at least in part."""
    if isinstance(type, TupleType):
        return any(map(is_differentiable, type.types))
    return is_tensor(type) and isinstance(type.element_type, AnyFloat)


class ReverseMode:
    """The adjoints of values with respect to a target, while its operations are visited.

    Operations are inserted by `b`. Only `active` values, which depend on a value that is
    differentiated with respect to, have adjoints.
    """

    def __init__(
        self, b: Tensors, sources: Iterable[SSAValue], on_error: OnError, body_of: BodyOf
    ) -> None:
        self.b = b
        self.active = set(sources)
        self.on_error = on_error
        self.body_of = body_of
        self.adjoints: dict[SSAValue, Adjoint] = {}

    def run(self, ops: Sequence[Operation], seeds: Iterable[tuple[SSAValue, Traced]]) -> None:
        """Compute the adjoints through `ops` of one block from those of the `seeds`, which are
        results of `ops` or defined before."""
        # Forward first: what does not depend on a source needs no adjoint, and no rule.
        for op in ops:
            if NO_GRAD in op.attributes:
                continue
            used = (operand for inner in walk(op) for operand in inner.operands)
            if any(value in self.active for value in used):
                self.active.update(r for r in op.results if is_differentiable(r.type))
        for value, adjoint in seeds:
            self.add(value, adjoint)
        # In reverse, all users of a value have added to its adjoint before its operation is
        # visited.
        for op in reversed(ops):
            found = [self.adjoints.get(result) for result in op.results]
            if any(adjoint is not None for adjoint in found):
                try:
                    self.visit(op, found)
                except NotDifferentiable as error:
                    self.on_error(op, str(error))

    def visit(self, op: Operation, adjoints: Sequence[Adjoint | None]) -> None:
        """Add what the operation contributes to the adjoints of its operands."""
        match op:
            case TupleOp():
                (fields,) = adjoints
                assert isinstance(fields, list)
                for operand, adjoint in zip(op.operands, fields, strict=True):
                    self.add(operand, adjoint)
            # The other fields get nothing from this use (None), which costs no zeros.
            case TupleGetItemOp():
                assert isinstance(type := op.tuple.type, TupleType)
                parts: list[Adjoint | None] = [None] * len(type.types)
                parts[op.index] = adjoints[0]
                self.add(op.tuple, parts)
            case CastOp() | MatchCastOp():
                self.add(op.operands[0], self.cast(adjoints[0], op.operands[0].type))
            case StopFusionOp():
                self.add(op.input, adjoints[0])
            case IfOp():
                self.visit_branches(op, adjoints)
            case CallOp() if CHECKPOINT in op.attributes:
                self.visit_checkpoint(op, adjoints)
            # A rule of the table counts more than the interface, and that more than a
            # decomposition.
            case _ if (rule := GRADIENTS.get(op.name)) is not None:
                self.add_all(op, rule(op, self.b, *self.tensors(op, adjoints)))
            case Differentiable():
                values = [adjoint.value for adjoint in self.tensors(op, adjoints)]
                found = op.gradients(self.b.builder, values)
                self.add_all(op, [None if v is None else self.b.of(v) for v in found])
            case _:
                self.visit_decomposition(op, adjoints)

    def visit_decomposition(self, op: Operation, adjoints: Sequence[Adjoint | None]) -> None:
        """Differentiate the operations that `op` decomposes into."""
        block = Block()
        builder = Builder(InsertPoint.at_end(block))
        if isinstance(op, Decomposes):
            values = op.decompose(builder)
        elif (decomposition := DECOMPOSITIONS.get(op.__class__)) is not None:
            values = decomposition(op, builder)
        else:
            raise NotDifferentiable(reason_against(op))
        if values is None:
            raise NotDifferentiable("its decomposition needs a known rank: run infer-type")
        ops = [*block.ops]
        for inner in ops:
            inner.detach()
            self.b.builder.insert(inner)
        # The decomposition is computed again beside the operation; what no derivative reads is
        # dead.
        self.run(ops, zip(values, self.tensors(op, adjoints), strict=True))

    def visit_checkpoint(self, call: CallOp, adjoints: Sequence[Adjoint | None]) -> None:
        """Compute the called function again, and differentiate that."""
        seeds = self.tensors(call, adjoints)
        body = self.body_of(call)
        end = body.last_op
        assert end is not None
        # A pass that merges equal operations must not merge these with those that were computed
        # before: their results would be kept. The arguments are equal, but not the same values.
        ops: list[Operation] = []
        for parameter, argument in zip(body.args, call.arguments, strict=True):
            ops.append(again := StopFusionOp(argument))
            parameter.replace_all_uses_with(again.result)
        results = [*end.operands]
        erase(end)
        for op in [*body.ops]:
            op.detach()
            ops.append(op)
        self.b.builder.insert(ops)
        self.run(ops, zip(results, seeds, strict=True))

    def visit_branches(self, op: IfOp, adjoints: Sequence[Adjoint | None]) -> None:
        """Insert an `scf.if` that computes the adjoints of the values that the branches use.

        Each branch computes its values again: those of the original cannot be used outside of it.
        """
        seeds = self.tensors(op, adjoints)
        used = dict.fromkeys(
            value
            for region in op.regions
            for value in iter_used_values_defined_above(region)
            if value in self.active
        )
        if tuples := [value for value in used if not is_tensor(value.type)]:
            raise NotDifferentiable(f"a branch uses a value of type {tuples[0].type} from outside")
        # Values of a branch are not visible in another `scf.if`: recomputing them costs time, where
        # returning them from the first one would cost memory, and a value for the branch that was
        # not taken.
        copy = clone(op)
        regions: list[Region] = []
        for region in [*copy.regions]:
            self.differentiate_branch(region, [*used], seeds)
            regions.append(copy.detach_region(region))
        new = IfOp(op.cond, [value.type for value in used], regions[0], regions[1])
        copy.erase()
        self.b.builder.insert(new)
        for value, adjoint in zip(used, new.results, strict=True):
            self.add(value, self.b.of(adjoint))

    def differentiate_branch(
        self, region: Region, sources: Sequence[SSAValue], seeds: Sequence[Traced]
    ) -> None:
        """Let a branch yield the adjoints of `sources` in the place of its results."""
        block = region.block
        end = block.last_op
        assert isinstance(end, YieldOp)
        ops = [op for op in block.ops if op is not end]
        b = Tensors(Builder(InsertPoint.before(end)))
        inner = ReverseMode(b, sources, self.on_error, self.body_of)
        pairs = zip(end.operands, seeds, strict=True)
        inner.run(ops, [(value, b.of(seed.value)) for value, seed in pairs])
        # Both branches yield an adjoint for each source: zeros where a branch does not use it.
        results = [inner.materialize(inner.adjoints.get(v), v.type) for v in sources]
        b.builder.insert(YieldOp(*results))
        erase(end)

    def add(self, value: SSAValue, adjoint: Adjoint | None) -> None:
        """Add to the adjoint of `value`, if it has one."""
        if adjoint is not None and value in self.active:
            self.adjoints[value] = _sum(self.adjoints.get(value), adjoint)

    def add_all(self, op: Operation, adjoints: Sequence[Traced | None]) -> None:
        """Add to the adjoints of the operands of `op`; NotDifferentiable for another type."""
        for operand, adjoint in zip(op.operands, adjoints, strict=True):
            if adjoint is not None and operand in self.active:
                if adjoint.value.type != operand.type:
                    raise NotDifferentiable(
                        f"its rule returns {adjoint.value.type} for an operand of {operand.type}"
                    )
                self.add(operand, adjoint)

    def tensors(self, op: Operation, adjoints: Sequence[Adjoint | None]) -> list[Traced]:
        """Return the adjoints of the results of `op`, with zeros for those that have none."""
        found: list[Traced] = []
        for result, adjoint in zip(op.results, adjoints, strict=True):
            if isinstance(adjoint, list) or not is_tensor(result.type):
                raise NotDifferentiable(f"has a result of type {result.type}")
            found.append(self.b.zeros(result.type) if adjoint is None else adjoint)
        return found

    def materialize(self, adjoint: Adjoint | None, type: Attribute) -> SSAValue:
        """Return an adjoint as an SSA value of `type`."""
        if isinstance(type, TupleType):
            fields = adjoint if isinstance(adjoint, list) else [None] * len(type.types)
            pairs = zip(fields, type.types, strict=True)
            return self.b.builder.insert(TupleOp(*[self.materialize(*p) for p in pairs])).result
        assert not isinstance(adjoint, list)
        return (self.b.zeros(type) if adjoint is None else adjoint).value

    def cast(self, adjoint: Adjoint | None, type: Attribute) -> Adjoint | None:
        """Cast the adjoint of a tensor to a more or less precise type."""
        if adjoint is None or isinstance(adjoint, list) or adjoint.value.type == type:
            return adjoint
        op = CastOp.create(operands=[adjoint.value], result_types=[type])
        return self.b.of(self.b.builder.insert(op).dest)


def _sum(old: Adjoint | None, new: Adjoint) -> Adjoint:
    if old is None:
        return new
    if isinstance(old, list):
        assert isinstance(new, list)
        pairs = zip(old, new, strict=True)
        return [a if b is None else _sum(a, b) for a, b in pairs]
    assert isinstance(new, Traced)
    return old + new


def reason_against(op: Operation) -> str:
    """Return why an operation without a rule has no gradient, and what to do."""
    match op:
        case CallTIROp():
            return "is a kernel: differentiate before legalize-ops"
        case GraphOp():
            return "is a graph: to-a-normal-form puts its operations in order"
        case _ if op.name.startswith("relax.dyn."):
            return "takes a shape at run time: dynamic-to-static replaces it where that is known"
        case _ if op.name == "func.call":
            return "calls a recursive function, or one without a body or with several blocks"
        case _ if op.regions:
            return "is control flow without a gradient, only scf.if has one"
        case _:
            return (
                "has no rule: an operation of your own derives from Differentiable "
                "(docs/howto/gradient.md)"
            )


# The insertion of functions that compute the gradient of a function.


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

    def body_of(call: CallOp) -> Block:
        callee = _inlinable(call, graph, (function,))
        if callee is None:
            raise NotDifferentiable(reason_against(call))
        return _inlined(callee, graph, (function, callee.sym_name.data)).body.block

    mode = ReverseMode(b, sources, on_error, body_of)
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
    """Return a copy of `func` with the calls of other functions with one block inlined, but for
    those that are not differentiated, or computed again; the calls get the marks of the functions.
    """
    copy = clone(func)
    for call in [op for op in walk(copy) if isinstance(op, CallOp)]:
        called = graph.symbols.get(call.callee.string_value())
        if called is not None:
            marks = {mark: called.attributes.get(mark) for mark in (NO_GRAD, CHECKPOINT)}
            call.attributes |= {mark: value for mark, value in marks.items() if value is not None}
        if NO_GRAD in call.attributes or CHECKPOINT in call.attributes:
            continue
        if (callee := _inlinable(call, graph, callers)) is not None:
            inner = _inlined(callee, graph, (*callers, callee.sym_name.data))
            replace_by_body(call, inner.body)
    return copy


def _inlinable(call: CallOp, graph: CallGraph, callers: Sequence[str]) -> FuncOp | None:
    """Return the function that is called if it has one block; None for another one, and for one of
    `callers`: a recursion would be inlined without end."""
    callee = graph.symbols.get(name := call.callee.string_value())
    if isinstance(callee, FuncOp) and len(callee.body.blocks) == 1 and name not in callers:
        return callee
    return None


def _rename(func: FuncOp, name: str, results: Sequence[Attribute]) -> None:
    """Give the function a name, public visibility and the types of its results."""
    func.sym_name = StringAttr(name)
    func.properties.pop("sym_visibility", None)
    func.function_type = FunctionType.from_lists(func.function_type.inputs.data, results)
    if (attributes := func.res_attrs) is not None:
        new = [DictionaryAttr({})] * (len(results) - len(attributes.data))
        func.res_attrs = ArrayAttr([*attributes, *new])
