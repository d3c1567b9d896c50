"""ExpandTupleArguments: parameters that are tuples become their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, TupleType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.relax.graph import TupleGetItemOp, TupleOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.dataflow.edges import ControlFlow
from ...passmanager.fast.edit import erase
from ..generic.remove_dead_values import may_change_signature


def expand_tuple_arguments(module: ModuleOp, actions: Actions = SILENT) -> None:
    """Replace each parameter of a private function that is a tuple by parameters for its elements,
    those of tuples in it, too. All references of the function must be calls."""
    flow = ControlFlow(module)
    for func, calls in flow.calls.items():
        if func in flow.exposed or not calls or not may_change_signature(func, calls):
            continue
        types = func.function_type.inputs.data
        tuples = [i for i, type in enumerate(types) if isinstance(type, TupleType)]
        if not tuples or not actions.allowed(func):
            continue
        expand_parameters(func)
        for call in calls:
            assert isinstance(call, CallOp)  # as the signature may change
            packed = [v.owner for v in call.arguments if isinstance(v.owner, TupleOp)]
            call.operands = elements_of(call)
            erase_unused(packed)
        actions.count("expanded", len(tuples))
        actions.passed(func, "Expanded", "parameters are no tuples", Parameters=len(tuples))


def expand_parameters(func: FuncOp) -> None:
    """Replace the parameters of `func` that are tuples by their elements."""
    block = func.body.block
    attributes: list[DictionaryAttr] = []
    for i, argument in enumerate([*block.args]):
        given = DictionaryAttr({}) if func.arg_attrs is None else func.arg_attrs.data[i]
        leaves = leaves_of(argument.type)
        # The attributes are those of the tuple, not of its elements.
        attributes += [DictionaryAttr({})] * len(leaves) if [argument.type] != leaves else [given]
        if not isinstance(argument.type, TupleType):
            continue
        hint = argument.name_hint
        new: list[SSAValue] = []
        for number, leaf in enumerate(leaves):
            new.append(block.insert_arg(leaf, argument.index))
            new[-1].name_hint = hint and f"{hint}_{number}"
        packed = pack(argument.type, new[::-1], block)
        argument.replace_all_uses_with(packed)
        block.erase_arg(argument)
        unpack_uses(packed)
    func.function_type = FunctionType.from_lists(
        [argument.type for argument in block.args], func.function_type.outputs.data
    )
    if func.arg_attrs is not None:
        func.arg_attrs = ArrayAttr(attributes)


def leaves_of(type: Attribute) -> list[Attribute]:
    """Return the types of the elements of a type that are no tuples, in order."""
    leaves: list[Attribute] = []
    pending = [type]
    while pending:
        last = pending.pop()
        if isinstance(last, TupleType):
            pending += reversed(last.types.data)
        else:
            leaves.append(last)
    return leaves


def pack(type: Attribute, leaves: list[SSAValue], block: Block) -> SSAValue:
    """Insert the tuple of `type` at the start of a block; take its elements from the end of
    `leaves`."""
    ops: list[Operation] = []

    def build(type: Attribute) -> SSAValue:
        if not isinstance(type, TupleType):
            return leaves.pop()
        ops.append(new := TupleOp(*map(build, type.types.data)))
        return new.result

    value = build(type)
    Rewriter.insert_op(ops, InsertPoint.at_start(block))
    return value


def unpack_uses(value: SSAValue) -> None:
    """Replace the elements that are taken of a tuple, and of tuples in it, by the operands of the
    operations that make them; erase these operations where nothing else uses them."""
    pending = [value]
    made: list[TupleOp] = []
    while pending:
        current = pending.pop()
        if isinstance(current.owner, TupleOp):
            made.append(current.owner)
        for user in [use.operation for use in current.uses]:
            if isinstance(user, TupleGetItemOp) and (element := user.element()) is not None:
                user.result.replace_all_uses_with(element)
                erase(user)
                pending.append(element)
    erase_unused(made)


def erase_unused(tuples: list[TupleOp]) -> None:
    """Erase the tuples without uses, and those that only they use."""
    for op in tuples:
        if op.parent is not None and op.result.first_use is None:
            fields = [*op.operands]
            erase(op)
            tuples += [value.owner for value in fields if isinstance(value.owner, TupleOp)]


def elements_of(call: CallOp) -> Sequence[SSAValue]:
    """Insert what takes the elements of the tuples that a call passes; return these."""
    elements: list[SSAValue] = []
    pending = [*reversed(call.arguments)]
    while pending:
        value = pending.pop()
        if not isinstance(value.type, TupleType):
            elements.append(value)
        elif isinstance(value.owner, TupleOp) and value.type == value.owner.inferred_types()[0]:
            pending += reversed(value.owner.operands)
        else:
            parts = [TupleGetItemOp(value, index=i) for i in range(len(value.type.types))]
            for part in parts:
                part.location = call.location
            Rewriter.insert_op(parts, InsertPoint.before(call))
            pending += [part.result for part in reversed(parts)]
    return elements


@dataclass(frozen=True)
class ExpandTupleArguments(ModulePass):
    """Replace the parameters of private functions that are tuples by their elements; source:
    `relax.ExpandTupleArguments`.

    Before:

        func.func private @g(%t: tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32> {
          %0 = relax.tuple_get_item %t {index = 1}
            : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
          func.return %0 : tensor<2xf32>
        }
        func.func @f(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
          %0 = relax.tuple %x, %y
            : (tensor<4xf32>, tensor<2xf32>) -> tuple<tensor<4xf32>, tensor<2xf32>>
          %1 = func.call @g(%0) : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
          func.return %1 : tensor<2xf32>
        }

    After:

        func.func private @g(%t: tensor<4xf32>, %t_1: tensor<2xf32>) -> tensor<2xf32> {
          func.return %t_1 : tensor<2xf32>
        }
        func.func @f(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
          %0 = func.call @g(%x, %y) : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
          func.return %0 : tensor<2xf32>
        }
    """

    name = "expand-tuple-arguments"
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        expand_tuple_arguments(module, ctx.actions)
