"""PreallocateCollections: what a loop collects is written into a tensor of its final size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.relax.constant import FullOp, Number
from ...dialects.relax.data.concatenation import ConcatenateOp
from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.kernels import CallTIRInplaceOp
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import (
    is_element,
    is_integer,
    is_tensor,
    shape_of,
    static_shape,
    tensor_type,
)
from ...dialects.tir.builder import TirBuilder
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import insert_before
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.ir.walk import free_name, symbol_of, walk
from ..evaluation_code import load_semantics
from .infer_type import infer_types
from .unroll_loops import iterations_of, without_cast


class Collection(NamedTuple):
    """A tensor that a loop extends by one row in each iteration."""

    start: int
    """The number of its initial value."""
    result: int
    """The number of the result, and of the argument of the second region."""
    append: ConcatenateOp
    """The operation that appends a row."""

    @property
    def row(self) -> SSAValue:
        return self.append.tensors[1]

    @property
    def row_shape(self) -> Shape:
        """The shape of a row, without its first dimension of one element."""
        shape = static_shape(self.row.type)
        assert shape is not None
        return shape[1:]


def preallocate_collections(
    module: ModuleOp, max_iterations: int, actions: Actions = SILENT
) -> bool:
    """Let each `scf.while` in `module` that runs a known number of times, at most `max_iterations`,
    store the rows that it collects in tensors of their final size; return whether there was one."""
    kernels: dict[Attribute, str] = {}
    names = {symbol_of(op) for op in module.ops}
    loops = [op for op in walk(module) if isinstance(op, scf.WhileOp)]
    changed = False
    for loop in reversed(loops):  # inner loops first
        if not (found := [*collections(loop)]):
            continue
        if (count := iterations_of(loop, max_iterations)) is None:
            message = "the collected rows are appended: how often the loop runs is not known"
            actions.missed(loop, "NotPreallocated", message, Limit=max_iterations)
        elif count and actions.allowed(loop):
            for collection in found:
                # One kernel for each type of buffer, however many loops there are.
                type = buffer_type(collection, count)
                if type not in kernels:
                    kernels[type] = name = free_name("store_row", names)
                    names.add(name)
                    module.body.block.add_op(store_kernel(name, type))
            preallocate(loop, found, count, kernels)
            actions.passed(loop, "Preallocated", "stores what it collects", Rows=count)
            actions.count("collections", len(found))
            changed = True
    return changed


# What a loop collects


def collections(loop: scf.WhileOp) -> Iterator[Collection]:
    """Yield the tensors that `loop` extends by one row in each iteration, from none, and that it
    does not read."""
    condition, end = loop.before_region.block.last_op, loop.after_region.block.last_op
    assert isinstance(condition, scf.ConditionOp) and isinstance(end, scf.YieldOp)
    for argument in loop.before_region.block.args:
        # Only `scf.condition` reads the argument, and passes it on: its value in between is free.
        if not is_empty(loop.arguments[argument.index]) or not argument.has_one_use():
            continue
        (use,) = argument.uses
        if use.operation is not condition or not use.index:
            continue
        append = end.operands[argument.index].owner
        carried = loop.after_region.block.args[use.index - 1]
        if isinstance(append, ConcatenateOp) and appends(append, carried):
            yield Collection(argument.index, use.index - 1, append)


def is_empty(value: SSAValue) -> bool:
    """Return whether `value` is a tensor that has no rows, and whose type does not say so:
    tensor<0x4xf32>, perhaps cast to tensor<?x4xf32>."""
    if not is_tensor(value.type):
        return False
    shape = static_shape(without_cast(value).type)
    known = shape_of(tensor_type(value))
    return bool(shape) and not shape[0] and known is not None and known[:1] == (DYNAMIC_INDEX,)


def appends(op: ConcatenateOp, carried: BlockArgument) -> bool:
    """Return whether `op` does nothing but append a row to `carried`, for the next iteration."""
    shape = shape_of(tensor_type(carried))
    if shape is None or len(op.tensors) != 2 or op.tensors[0] is not carried:
        return False
    row = static_shape(op.tensors[1].type)
    return (
        op.axis % len(shape) == 0
        and row == (1, *shape[1:])
        and op.parent is carried.owner
        and carried.has_one_use()
        and op.result.has_one_use()
        and op.result.type == carried.type
    )


# The new loop


def preallocate(
    loop: scf.WhileOp, found: Sequence[Collection], count: int, kernels: dict[Attribute, str]
) -> None:
    """Let `loop` store the rows of what it collects, counting its iterations."""
    before, after = loop.before_region.block, loop.after_region.block
    condition, end = before.last_op, after.last_op
    assert condition is not None and end is not None
    arguments, results = [*loop.arguments], [*loop.result_types]
    zero, one = (arith.ConstantOp(IntegerAttr(n, IndexType())) for n in (0, 1))
    insert_before(loop, zero, one)
    before_count = before.insert_arg(IndexType(), len(before.args))
    turn = after.insert_arg(IndexType(), len(after.args))
    turn.name_hint = "turn"
    for collection in found:
        start, result, append = collection
        buffer = buffer_type(collection, count)
        whole = TensorType(buffer.element_type, buffer.get_shape())
        # Rows that are not stored are never read; zeros are a value that every pass understands.
        zeros = FullOp(zero_of(whole.element_type), whole)
        zeros.location = loop.location
        insert_before(loop, zeros)
        arguments[start], results[result] = zeros.result, whole
        Rewriter.replace_value_with_new_type(before.args[start], whole)
        carried = Rewriter.replace_value_with_new_type(after.args[result], whole)
        operands = [carried, collection.row, turn]
        # n rows are n stores of a row, where n concatenations copy n * n / 2 rows.
        store = CallTIRInplaceOp(kernels[buffer], operands, [whole], [0])
        store.location = append.location
        store.res[0].name_hint = append.result.name_hint
        Rewriter.replace_op(append, store, store.res)
    next_turn = arith.AddiOp(turn, one)
    Rewriter.insert_op(next_turn, InsertPoint.before(end))
    end.operands = [*end.operands, next_turn.result]
    condition.operands = [*condition.operands, before_count]
    regions = [loop.detach_region(region) for region in [*loop.regions]]
    new = scf.WhileOp([*arguments, zero], [*results, IndexType()], *regions)
    new.attributes, new.location = loop.attributes, loop.location
    Rewriter.insert_op(new, InsertPoint.before(loop))
    for old, result in zip(loop.results, new.results, strict=False):
        result.name_hint = old.name_hint
        replace_uses(old, result)
    Rewriter.erase_op(loop)


def replace_uses(old: SSAValue, new: OpResult) -> None:
    """Replace `old` by `new`, whose shape may be more precise: operations that infer their type
    take it as it is, others a cast."""
    if old.type == new.type:
        old.replace_all_uses_with(new)
        return
    for use in [*old.uses]:
        user = use.operation
        if isinstance(user, CastOp) and user.dest.type == new.type:
            Rewriter.replace_op(user, [], [new])
        # Its result type is inferred again by the pass.
        elif isinstance(user, InfersType):
            user.operands[use.index] = new
    if old.first_use is not None:
        cast = CastOp.create(operands=[new], result_types=[old.type])
        assert isinstance(new.owner, scf.WhileOp)
        cast.location = new.owner.location
        Rewriter.insert_op(cast, InsertPoint.after(new.owner))
        old.replace_all_uses_with(cast.dest)


def zero_of(type: Attribute) -> Number:
    """Return the number 0 of an element type."""
    assert is_element(type)
    return IntegerAttr(0, type) if is_integer(type) else FloatAttr(0.0, type)


def buffer_type(collection: Collection, count: int) -> MemRefType[Attribute]:
    """Return the type of the buffer of a collection of `count` rows."""
    element = tensor_type(collection.row).element_type
    return MemRefType(element, (count, *collection.row_shape))


def store_kernel(name: str, type: MemRefType[Attribute]) -> PrimFuncOp:
    """Return the kernel that stores a row in a buffer."""
    count, *shape = type.get_shape()
    row = MemRefType(type.element_type, (1, *shape))
    func = PrimFuncOp(name, [type, row, IndexType()], visibility="private")
    for argument, hint in zip(func.args, ("all", "row", "turn"), strict=True):
        argument.name_hint = hint
    b = TirBuilder(func)
    whole, source, turn = func.args
    # The number was computed by running the condition; a store beyond the buffer must not be
    # possible even if that was wrong.
    b.require(b.less(b.index_of(turn), count), f"more than {count} rows are collected", func)
    with b.elements(shape) as index:
        b.store(b.load(source, [0, *index]), whole, [b.index_of(turn), *index])
    return b.finish()


@dataclass(frozen=True)
class PreallocateCollections(ModulePass):
    """Let loops whose number of iterations is known store the rows that they collect in a tensor of
    the final size, in place of appending each to those before.

    The outputs of a recurrent layer, of `Scan` and of `Loop` of ONNX are such rows.

    Before:

        func.func @main(%row: tensor<1x2xf32>) -> tensor<3x2xf32> {
          %zero = relax.full 0 : tensor<i64>
          %step = relax.full 1 : tensor<i64>
          %three = relax.full 3 : tensor<i64>
          %none = relax.full 0.0 : tensor<0x2xf32>
          %empty = tensor.cast %none : tensor<0x2xf32> to tensor<?x2xf32>
          %0:2 = scf.while (%i = %zero, %y = %empty) : (tensor<i64>, tensor<?x2xf32>)
              -> (tensor<i64>, tensor<?x2xf32>) {
            %l = relax.less %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
            %c = tensor.extract %l[] : tensor<i1>
            scf.condition(%c) %i, %y : tensor<i64>, tensor<?x2xf32>
          } do {
          ^bb0(%i: tensor<i64>, %y: tensor<?x2xf32>):
            %j = relax.add %i, %step : (tensor<i64>, tensor<i64>) -> tensor<i64>
            %z = relax.concatenate %y, %row : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
            scf.yield %j, %z : tensor<i64>, tensor<?x2xf32>
          }
          %r = tensor.cast %0#1 : tensor<?x2xf32> to tensor<3x2xf32>
          func.return %r : tensor<3x2xf32>
        }

    After:

        func.func @main(%row: tensor<1x2xf32>) -> tensor<3x2xf32> {
          %zero = relax.full 0 : tensor<i64>
          %step = relax.full 1 : tensor<i64>
          %three = relax.full 3 : tensor<i64>
          %none = relax.full 0.0 : tensor<0x2xf32>
          %empty = tensor.cast %none : tensor<0x2xf32> to tensor<?x2xf32>
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %all = relax.full 0.0 : tensor<3x2xf32>
          %0:3 = scf.while (%i = %zero, %y = %all, %n = %c0) : (tensor<i64>, tensor<3x2xf32>, index)
              -> (tensor<i64>, tensor<3x2xf32>, index) {
            %l = relax.less %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
            %c = tensor.extract %l[] : tensor<i1>
            scf.condition(%c) %i, %y, %n : tensor<i64>, tensor<3x2xf32>, index
          } do {
          ^bb0(%i: tensor<i64>, %y: tensor<3x2xf32>, %turn: index):
            %j = relax.add %i, %step : (tensor<i64>, tensor<i64>) -> tensor<i64>
            %z = relax.call_tir_inplace @store_row(%y, %row, %turn)
                {inplace_indices = array<i64: 0>}
                : (tensor<3x2xf32>, tensor<1x2xf32>, index) -> tensor<3x2xf32>
            %m = arith.addi %turn, %c1 : index
            scf.yield %j, %z, %m : tensor<i64>, tensor<3x2xf32>, index
          }
          func.return %0#1 : tensor<3x2xf32>
        }
        tir.prim_func private @store_row(
            %all: memref<3x2xf32>, %row: memref<1x2xf32>, %turn: index) {
          %c3 = arith.constant 3 : index
          %c0 = arith.constant 0 : index
          %c2 = arith.constant 2 : index
          %0 = arith.cmpi slt, %turn, %c3 : index
          cf.assert %0, "more than 3 rows are collected"
          tir.for %i = %c0 extent %c2 {
            %1 = memref.load %row[%c0, %i] : memref<1x2xf32>
            memref.store %1, %all[%turn, %i] : memref<3x2xf32>
          }
        }
    """

    name = "preallocate-collections"
    required = ("infer-type",)
    acts_on = (scf.WhileOp,)

    max_iterations: int = field(default=1 << 14, metadata={"minimum": 0})
    """The most iterations of a loop; to know their number, its condition is computed."""

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_semantics(ops)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        if preallocate_collections(module, self.max_iterations, ctx.actions):
            infer_types(module, actions=ctx.actions)
