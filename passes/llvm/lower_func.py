"""LowerFunc: functions, calls and branches become those of the dialect llvm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import cf, func, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...compiler.releases import BrOp
from ...dialects.llvm_extension import PoisonOp
from ...passmanager.base import ModulePass
from ...passmanager.conditions import condition
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import insert_before
from .c_interface import EMIT_C_INTERFACE, define_c_interface
from .conversion import Lowering, Patterns, convert, integers32
from .fork import fork
from .types import lowered_types

FORK = "omp.fork"
"""The attribute of a call that is to run on several threads: their number. Each thread gets a part
of the range of numbers from the first operand up to the second."""
PASSTHROUGH = "passthrough"
"""The attribute that lists attributes of LLVM's functions, which MLIR does not model."""

INTERNAL, EXTERNAL = llvm.LinkageAttr("internal"), llvm.LinkageAttr("external")


def flat_types(types: Sequence[Attribute]) -> list[Attribute]:
    """Return the types of the values that stand for values of `types`."""
    return [new for type in types for new in lowered_types(type)]


def returned_type(types: Sequence[Attribute]) -> Attribute | None:
    """Return the one type that a function returns: a structure if it returns several values."""
    match flat_types(types):
        case []:
            return None
        case [type]:
            return type
        case several:
            return llvm.LLVMStructType.from_type_list(several)


def lowered_function_type(type: FunctionType) -> llvm.LLVMFunctionType:
    """Return the type of a function in the dialect llvm."""
    return llvm.LLVMFunctionType(flat_types(type.inputs.data), returned_type(type.outputs.data))


@condition("llvm-signatures", "the parameters and results of functions have a form in llvm")
def llvm_signatures(op: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield a function of a type that the dialect llvm lacks, as a tensor."""
    signature = op.function_type if isinstance(op, func.FuncOp) else FunctionType.from_lists([], [])
    for type in (*signature.inputs, *signature.outputs):
        try:
            llvm.LLVMFunctionType(lowered_types(type))
        except VerifyException:
            yield op, f"has {type} as a parameter or result: plan-memory makes buffers of tensors"
            return


def function(op: func.FuncOp, build: Lowering) -> None:
    """A private function with a body is internal, all others are external."""
    try:
        type = lowered_function_type(op.function_type)
    except VerifyException:
        raise build.error(llvm_signatures(op)[0].how) from None
    is_private = op.sym_visibility is not None and op.sym_visibility.data == "private"
    properties: dict[str, Attribute | None] = {
        "arg_attrs": parameter_attributes(op),
        PASSTHROUGH: op.attributes.get(PASSTHROUGH),
    }
    new = llvm.FuncOp(
        op.sym_name,
        type,
        # A private declaration names a function of another library: MLIR has no public ones.
        INTERNAL if is_private and not op.is_declaration else EXTERNAL,
        body=op.detach_region(op.body),
        other_props={k: v for k, v in properties.items() if v is not None},
        extra_attrs={k: v for k, v in op.attributes.items() if k != PASSTHROUGH},
    )
    new.location = op.location
    insert_before(op, new)
    # Before the arguments are converted, as it is made from the old types.
    if EMIT_C_INTERFACE in op.attributes:
        define_c_interface(op, returned_type(op.function_type.outputs.data), build)
    for block in new.body.blocks:
        convert_arguments(block, build)


def parameter_attributes(op: func.FuncOp) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of the parameters that LLVM knows; of a buffer, they are those of the
    pointer."""
    if op.arg_attrs is None:
        return None
    found: list[DictionaryAttr] = []
    for type, given in zip(op.function_type.inputs, op.arg_attrs, strict=True):
        known = {k: v for k, v in given.data.items() if k.startswith("llvm.")}
        found.append(DictionaryAttr(known))
        # `llvm.noalias` and the like are of pointers, not of the sizes after them.
        found += [DictionaryAttr({})] * (len(lowered_types(type)) - 1)
    return ArrayAttr(found) if any(each.data for each in found) else None


def convert_arguments(block: Block, build: Lowering) -> None:
    """Give a block arguments of the types of the dialect llvm."""
    for argument in [*block.args]:
        types = lowered_types(argument.type)
        if types == (argument.type,):
            continue
        new: list[BlockArgument] = []
        # After the old argument, which is removed in the end with its uses.
        for number, type in enumerate(types, argument.index + 1):
            new.append(block.insert_arg(type, number))
            new[-1].location = argument.location
        build.set(argument, new)


def branch(op: cf.BranchOp, build: Lowering) -> None:
    build.add_branch(BrOp, flat_values(op.arguments, build), [op.successor])


def conditional_branch(op: cf.ConditionalBranchOp, build: Lowering) -> None:
    condition = build.value(op.cond)
    then, otherwise = (flat_values(v, build) for v in (op.then_arguments, op.else_arguments))
    build.add_branch(
        llvm.CondBrOp,
        (condition, *then, *otherwise),
        [op.then_block, op.else_block],
        operandSegmentSizes=integers32(1, len(then), len(otherwise)),
    )


def flat_values(values: Sequence[SSAValue], build: Lowering) -> list[SSAValue]:
    """Return the values that stand for `values`."""
    return [new for value in values for new in build.values(value)]


def call(op: func.CallOp, build: Lowering) -> None:
    operands = flat_values(op.arguments, build)
    if isinstance(threads := op.attributes.get(FORK), IntegerAttr):
        fork(op.callee.string_value(), operands, threads.value.data, build)
        return
    type = returned_type(op.result_types)
    types = () if type is None else (type,)
    returned = build.call_defined(op.callee.string_value(), operands, *types)
    # One value stands for itself, without a structure.
    if not isinstance(type, llvm.LLVMStructType):
        for result in op.results:
            build.set(result, returned)
        return
    place = 0
    for result in op.results:
        values: list[SSAValue] = []
        for part in lowered_types(result.type):
            position = DenseArrayBase.from_list(i64, [place])
            values.append(build.add(llvm.ExtractValueOp, (returned,), part, position=position))
            place += 1
        build.set(result, values)


def return_(op: func.ReturnOp, build: Lowering) -> None:
    values = flat_values(op.operands, build)
    if len(values) > 1:
        type = llvm.LLVMStructType.from_type_list([value.type for value in values])
        # LLVM keeps the fields in registers as far as the calling convention has them.
        whole = build.add(PoisonOp, (), type)
        for place, value in enumerate(values):
            position = DenseArrayBase.from_list(i64, [place])
            whole = build.add(llvm.InsertValueOp, (whole, value), type, position=position)
        values = [whole]
    build.add(llvm.ReturnOp, values)


def assertion(op: cf.AssertOp, build: Lowering) -> None:
    """End the program if the condition does not hold."""
    block, following = op.parent, op.next_op
    assert block is not None and following is not None
    condition = build.value(op.arg)
    # `cf.assert` ends no block; a conditional branch does.
    rest = block.split_before(following)
    assert (region := block.parent) is not None
    region.insert_block_after(failed := Block(), rest)
    build.add_branch(
        llvm.CondBrOp,
        (condition,),
        [rest, failed],
        operandSegmentSizes=integers32(1, 0, 0),
    )
    failed.add_op(end := llvm.UnreachableOp())
    # Calls are inserted before the operation at hand.
    build.op = end
    build.call("abort", [])
    build.op = op


FUNC: Patterns = {
    func.FuncOp: function,
    func.CallOp: call,
    func.ReturnOp: return_,
    cf.BranchOp: branch,
    cf.ConditionalBranchOp: conditional_branch,
    cf.AssertOp: assertion,
}


@dataclass(frozen=True)
class LowerFunc(ModulePass):
    """Turn functions, calls and branches (`func`, `cf`) into the dialect llvm: a buffer is passed
    as a pointer to its first element, and an i64 for each size that its type leaves open; source:
    MLIR's convert-func-to-llvm with bare pointers.

    Before:

        func.func private @f(%x: memref<?x8xf32>) {
          func.return
        }

    After:

        llvm.func internal @f(%0: !llvm.ptr, %1: i64) {
          llvm.return
        }
    """

    name = "lower-func"
    requires = (llvm_signatures,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        convert(module, FUNC)
