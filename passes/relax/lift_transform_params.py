"""LiftTransformParams: computations on weights become a function of their own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ...dialects.relax.types import is_tensor
from ...dialects.signature import TRANSFORM_PARAMS
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.effects import is_kept, own_effects
from ...passmanager.ir.walk import PRIVATE
from ...passmanager.names import did_you_mean
from ...passmanager.releases.floats import key_of
from ..generic.call_graph import CallGraph, is_opaque

# Weight lifting: computations that depend on weights alone move to a function of their own, which
# runs once.


SUFFIX = "transform_params"
"""The end of the names of the functions that are made."""

Number = Callable[[Hashable], int]
"""Gives equal computations on the weights one number, in all functions."""


def lift_transform_params(
    module: ModuleOp,
    functions: Mapping[FuncOp, int],
    *,
    shared: bool = False,
    graph: CallGraph | None = None,
    actions: Actions = SILENT,
) -> None:
    """Move the computations of `functions` that depend on weights alone into new functions.

    The value of a function is the number of its parameters before the weights. With `shared`, one
    function `@transform_params` computes what all functions compute; else each gets a function
    `@<name>_transform_params`. Such a function takes the weights, and returns what the function
    takes instead of them: the weights that are still used, then computed values. A function that is
    referenced in the module, or computes nothing of weights alone, stays as it is.
    Errors: PassFailedException for `shared` functions whose weights differ in number or type.
    """
    graph = graph or CallGraph(module)
    for func in functions:
        if graph.callers(func):
            actions.missed(func, "Referenced", "is referenced in the module: its type is fixed")
    free = {func: inputs for func, inputs in functions.items() if not graph.callers(func)}
    if shared:
        check_weights(free)
    used = set(graph.symbols)
    # A numbering for each group: in it, equal numbers are equal computations, whatever the
    # function.
    groups = [free] if shared and free else [{func: inputs} for func, inputs in free.items()]
    for group in groups:
        numbers: dict[Hashable, int] = {}
        weighted = [
            # Value numbering: `transpose(w)` has one number in `prefill` and in `decode`, which
            # then share it.
            WeightedFunction(func, inputs, lambda key, n=numbers: n.setdefault(key, len(n)))
            for func, inputs in group.items()
        ]
        stem = SUFFIX if shared else f"{weighted[0].func.sym_name.data}_{SUFFIX}"
        candidates = (stem, *(f"{stem}_{i}" for i in range(1, len(used) + 2)))
        name = next(name for name in candidates if name not in used)
        if lift(weighted, name, actions):
            used.add(name)


def check_weights(functions: Mapping[FuncOp, int]) -> None:
    """Raise PassFailedException unless all functions have weights of the same types."""
    types = {f: f.function_type.inputs.data[inputs:] for f, inputs in functions.items()}
    for func in functions:
        first = next(iter(functions))
        if types[func] != types[first]:
            raise PassFailedException(
                f"functions @{first.sym_name.data} and @{func.sym_name.data} do not have the same "
                "weights, so that they cannot share a transformation"
            )


class WeightedFunction:
    """A function with the operations whose operands are weights, or depend on weights alone."""

    def __init__(self, func: FuncOp, inputs: int, number: Number) -> None:
        self.func = func
        self.weights = func.args[inputs:]
        self.values: dict[SSAValue, int] = {
            weight: number(("weight", i)) for i, weight in enumerate(self.weights)
        }
        self.dependent: set[SSAValue] = {*self.weights}
        """The weights, and the values that depend on one."""
        self.ops: dict[Operation, int] = {}
        """The operations that could be computed in advance, constants too."""
        self.liftable: set[Operation] = set()
        """The operations of `ops` that depend on a weight."""
        # One pass in order, as operands come first. Regions are not entered: what is computed in a
        # branch may never be, and only the entry block runs for sure.
        for op in func.body.blocks[0].ops:
            if is_computable(op) and all(operand in self.values for operand in op.operands):
                self.add(op, number)

    def add(self, op: Operation, number: Number) -> None:
        """Give `op`, and its results, the numbers of the computation."""
        operands = tuple(self.values[operand] for operand in op.operands)
        properties = (*keys_of(op.properties), None, *keys_of(op.attributes))
        self.ops[op] = n = number((type(op), operands, properties, tuple(op.result_types)))
        self.values |= {result: number((n, i)) for i, result in enumerate(op.results)}
        # What only constants compute is for `fold-constant`, unless a lifted operation needs it.
        if not self.dependent.isdisjoint(op.operands):
            self.liftable.add(op)
            self.dependent.update(op.results)

    def keep(self, common: set[int]) -> None:
        """Keep only operations with numbers in `common`; they are closed under operands."""
        # An operation in all functions has operands in all of them, by its number.
        self.ops = {op: n for op, n in self.ops.items() if n in common}
        self.liftable &= self.ops.keys()

    def needed(self) -> set[int]:
        """Return the weights and the values of liftable operations that other operations use."""
        sources = [*self.weights, *(value for op in self.liftable for value in op.results)]
        return {
            self.values[value]
            for value in sources
            # Not all values that could be lifted: those that only lifted ones use stay inside.
            if any(use.operation not in self.liftable for use in value.uses)
        }

    def replace(self, name: str, outputs: Sequence[int]) -> None:
        """Replace the weights by parameters with these numbers, the results of the function `name`;
        erase the lifted operations."""
        block = self.func.body.blocks[0]
        attributes = list(self.func.arg_attrs or [DictionaryAttr({})] * len(block.args))
        of_number: dict[int, list[SSAValue]] = {}
        for op in self.liftable:
            for result in op.results:
                of_number.setdefault(self.values[result], []).append(result)
        weights = {self.values[weight] for weight in self.weights}
        for n in outputs:
            if n not in weights:
                old = of_number[n]
                argument = block.insert_arg(old[0].type, len(block.args))
                argument.name_hint = old[0].name_hint
                attributes.append(DictionaryAttr({}))
                for value in old:
                    value.replace_all_uses_with(argument)
        # Constants stay where others use them.
        for op in reversed(self.ops):
            if all(result.first_use is None for result in op.results):
                erase(op)
        # From the last, as erasing an argument renumbers those after it.
        for weight in reversed(self.weights):
            if self.values[weight] not in outputs:
                del attributes[weight.index]
                block.erase_arg(weight)
        given = any(each.data for each in attributes)
        self.func.arg_attrs = ArrayAttr(attributes) if given else None
        self.func.update_function_type()
        self.func.attributes[TRANSFORM_PARAMS] = SymbolRefAttr(name)

    def transformation(self, name: str, outputs: Sequence[int]) -> FuncOp:
        """Return a function that computes the values with these numbers from the weights."""
        block = Block(arg_types=[weight.type for weight in self.weights])
        inside: dict[int, SSAValue] = {}
        for weight, argument in zip(self.weights, block.args, strict=True):
            inside[self.values[weight]] = argument
            argument.name_hint = weight.name_hint
        for op in self.computed(outputs):
            operands = {operand: inside[self.values[operand]] for operand in op.operands}
            block.add_op(copy := op.clone({**operands}))
            for old, new in zip(op.results, copy.results, strict=True):
                inside[self.values[old]] = new
        results = [inside[n] for n in outputs]
        block.add_op(ReturnOp(*results))
        types = (block.arg_types, [value.type for value in results])
        func = FuncOp(name, types, Region(block))
        if (given := self.func.arg_attrs) is not None:
            func.arg_attrs = ArrayAttr(given.data[len(given.data) - len(self.weights) :])
        func.location = self.func.location
        return func

    def computed(self, outputs: Sequence[int]) -> list[Operation]:
        """Return the operations that the values with these numbers need, in order, of equal ones
        the first."""
        needed = {*outputs}
        found: dict[int, Operation] = {}
        for op in reversed(self.ops):
            if any(self.values[result] in needed for result in op.results):
                needed |= {self.values[operand] for operand in op.operands}
                # The earliest of equal operations, so that its operands come before it.
                found.pop(self.ops[op], None)
                found[self.ops[op]] = op
        return [*reversed(found.values())]


def keys_of(attributes: Mapping[str, Attribute]) -> Iterator[tuple[str, object]]:
    """Return a key for each attribute, with its name."""
    return ((name, key_of(attribute)) for name, attribute in attributes.items())


def is_computable(op: Operation) -> bool:
    """Return whether `op` computes tensors, without regions and effects."""
    return (
        not op.regions
        and not is_kept[type(op)]
        and own_effects(op) == 0
        and all(is_tensor(type) for type in op.result_types)
    )


def lift(functions: Sequence[WeightedFunction], name: str, actions: Actions) -> bool:
    """Lift what all `functions` compute of their weights into a function `name`; return whether
    there is anything."""
    common = {*functions[0].ops.values()}
    for each in functions[1:]:
        common &= {*each.ops.values()}
    for each in functions:
        each.keep(common)
    first = functions[0]
    if not first.liftable or not actions.allowed(first.func):
        return False
    needed = set[int]().union(*(each.needed() for each in functions))
    outputs = [first.values[weight] for weight in first.weights]
    outputs += [first.values[result] for op in first.ops for result in op.results]
    # One order for all functions: the runtime binds the results to parameters by position.
    outputs = [n for n in dict.fromkeys(outputs) if n in needed]
    transformation = first.transformation(name, outputs)
    insert_before(first.func, transformation)
    for each in functions:
        each.replace(name, outputs)
    actions.count("lifted", len(first.liftable))
    actions.passed(
        transformation, "Lifted", "computes the weights in advance", Results=len(outputs)
    )
    return True


NUM_INPUT = "num_input"
"""The attribute of a function with the number of its parameters before the weights, as in TVM."""


@dataclass(frozen=True)
class LiftTransformParams(ModulePass):
    """Move computations that depend on weights alone into a function, to be run once.

    The attribute `num_input` of a function is the number of its parameters before the weights.
    `@<name>_transform_params` takes the weights and returns the last parameters of the function:
    the weights that it still uses, then the computed values; the attribute
    `relax.transform_params` names it. Constants alone are not moved. A
    function that is referenced in the module stays as it is. Source: `relax.LiftTransformParams`.

    Before:

        func.func @main(%x: tensor<5x8xf32>, %w: tensor<4x8xf32>) -> tensor<5x4xf32>
            attributes {num_input = 1} {
          %0 = relax.transpose %w : (tensor<4x8xf32>) -> tensor<8x4xf32>
          %1 = relax.matmul %x, %0 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
          func.return %1 : tensor<5x4xf32>
        }

    After:

        func.func @main_transform_params(%w: tensor<4x8xf32>) -> tensor<8x4xf32> {
          %0 = relax.transpose %w : (tensor<4x8xf32>) -> tensor<8x4xf32>
          func.return %0 : tensor<8x4xf32>
        }
        func.func @main(%x: tensor<5x8xf32>, %w: tensor<8x4xf32>) -> tensor<5x4xf32>
            attributes {num_input = 1, relax.transform_params = @main_transform_params} {
          %0 = relax.matmul %x, %w : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
          func.return %0 : tensor<5x4xf32>
        }
    """

    name = "lift-transform-params"
    preserves = ("infer-type",)

    functions: tuple[str, ...] = ()
    """The functions; by default all public ones with the attribute `num_input`."""
    num_input: int | None = field(default=None, metadata={"minimum": 0})
    """The number of parameters before the weights, of functions without the attribute."""
    shared_transform: bool = False
    """Make one function `@transform_params` of the computations that all functions have, which must
    have the same weights."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        graph = ctx.analyses.get(CallGraph, module)
        found = dict(self.weighted(module))
        lift_transform_params(
            module, found, shared=self.shared_transform, graph=graph, actions=ctx.actions
        )

    def weighted(self, module: ModuleOp) -> Iterator[tuple[FuncOp, int]]:
        """Yield the functions to transform, with the number of parameters before the weights."""
        functions = {
            op.sym_name.data: op
            for op in module.body.block.ops
            if isinstance(op, FuncOp) and not op.is_declaration
        }
        for name in self.functions:
            if name not in functions:
                hint = did_you_mean(name, functions)
                raise PassFailedException(f"there is no function @{name} with a body{hint}")
        for name, func in functions.items():
            if is_opaque(func) or (self.functions and name not in self.functions):
                continue
            # Without the second condition a second run would lift from what the first one made.
            by_default = func.sym_visibility != PRIVATE and not name.endswith(SUFFIX)
            if not self.functions and not by_default:
                continue
            if (inputs := self.inputs(func)) is not None:
                yield func, inputs

    def inputs(self, func: FuncOp) -> int | None:
        """Return the number of parameters of `func` before the weights; None if it is unknown."""
        name, known = func.sym_name.data, func.attributes.get(NUM_INPUT)
        inputs = known.value.data if isinstance(known, IntegerAttr) else self.num_input
        # Only a function that was named must have it; others are not meant.
        if inputs is None and self.functions:
            raise PassFailedException(
                f"function @{name} has no attribute '{NUM_INPUT}', and there is no option num-input"
            )
        if inputs is not None and not 0 <= inputs <= len(func.args):
            raise PassFailedException(
                f"function @{name} has {len(func.args)} parameters, not {inputs} before its weights"
            )
        return inputs
