"""CombineParallelConv2D, CombineParallelMatmul: operations on one tensor become one operation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import ConstantLike, Pure

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.contraction.convolution import Conv2dOp
from ...dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, MatmulOp
from ...dialects.relax.data.concatenation import ConcatenateOp, SplitOp
from ...dialects.relax.interfaces import Elementwise
from ...dialects.relax.shapes import Shape, replace_dimension
from ...dialects.relax.types import (
    is_number,
    is_tensor,
    make_tensor_type,
    shape_of,
    static_shape,
    tensor_type,
)
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.dominance import is_graph_region
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.ir.walk import walk
from ...passmanager.names import Rounding
from ..evaluation_code import load_constants
from ..generic.call_graph import is_opaque

# Combination of parallel branches: operations on one tensor with weights of their own become one
# operation with the concatenation of the weights, and so do the element-wise operations after
# them.
#
# The shared algorithm of `combine-parallel-conv2d` and `combine-parallel-matmul`. Source: TVM's
# `ParallelOpCombiner`.


MAX_ELEMENTS = 1 << 24
"""The most elements of a constant that is written out from fills."""


class Parallel(NamedTuple):
    """How an operation, with data and weight as operands, is combined with others on the data."""

    key: Hashable
    """Operations with equal keys can be combined."""
    weight_axis: int
    """The dimension along which the weights are concatenated, from 0."""
    result_axis: int
    """The dimension of the result that becomes longer, from 0."""


Describe: TypeAlias = Callable[[Operation], Parallel | None]
Check: TypeAlias = Callable[[Sequence[Operation]], bool]


def combine_parallel(
    root: Operation,
    describe: Describe,
    min_num_branches: int,
    check: Check | None = None,
    actions: Actions = SILENT,
) -> None:
    """Combine the operations nested in `root` that `describe` takes, at least `min_num_branches` on
    the same data in one block, and give their users the parts of the result.

    An operation takes part if its weight is a constant or is defined before the first operation.
    The element-wise operations after them are combined while all branches have the same one, whose
    other operands are the same value or have one element for each part of the result, such as a
    bias. `check` is asked about the operations of a group. Graph regions stay as they are.
    """
    for block in [block for op in walk(root) for region in op.regions for block in region.blocks]:
        if block.parent is not None and not is_graph_region(block.parent):
            BranchCombiner(block, describe, min_num_branches, check, actions).run()


@dataclass(frozen=True)
class CombineParallel(FunctionPass):
    """A pass that combines the operations on one tensor that `describe` takes.

    A subclass may refuse a group by overriding `check`.
    """

    rounds = Rounding(changes=())
    required = ("infer-type",)
    preserves = ("infer-type",)

    min_num_branches: int = field(default=2, metadata={"minimum": 2})
    """Combine at least this number of operations."""

    @abstractmethod
    def describe(self, op: Operation) -> Parallel | None:
        """Describe how `op` is combined with others, or return None."""

    def check(self, ops: Sequence[Operation]) -> bool:
        """Return whether these operations are to be combined."""
        return True

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_constants(ops)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not is_opaque(func):
            minimum = self.min_num_branches
            combine_parallel(func, self.describe, minimum, self.check, ctx.actions)


Branch: TypeAlias = list[Operation]
"""An operation, and the element-wise operations after it that are combined, too."""


@dataclass
class BranchCombiner:
    """Combines the parallel branches in one block."""

    block: Block
    describe: Describe
    min_num_branches: int
    check: Check | None
    actions: Actions
    positions: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """The places of the operations of the block; an inserted one has that of the next."""

    def run(self) -> None:
        """Combine each group of branches at the place of its first operation."""
        groups: dict[tuple[SSAValue, Hashable], tuple[Parallel, list[Operation]]] = {}
        for op in self.block.ops:
            if (parallel := self.describe(op)) is not None:
                found = groups.setdefault((op.operands[0], parallel.key), (parallel, []))
                found[1].append(op)
        groups = {key: group for key, group in groups.items() if len(group[1]) > 1}
        if not groups:
            return
        self.positions = {op: i for i, op in enumerate(self.block.ops)}
        for parallel, ops in groups.values():
            first = ops[0]
            ready = [op for op in ops if self.is_available(op.operands[1], first)]
            if len(ready) < max(2, self.min_num_branches):
                self.actions.missed(
                    first,
                    "TooFewBranches",
                    "is not combined with others on the same data",
                    Branches=len(ready),
                    Needed=self.min_num_branches,
                )
            elif (self.check is None or self.check(ready)) and self.actions.allowed(first):
                self.combine(parallel, ready)

    def is_available(self, value: SSAValue, first: Operation) -> bool:
        """Return whether `value` is defined before `first`, or a constant that may move there."""
        owner = value.owner
        if not isinstance(owner, Operation) or owner.parent is not self.block:
            return True
        return self.positions[owner] < self.positions[first] or owner.has_trait(
            ConstantLike, value_if_unregistered=False
        )

    def combine(self, parallel: Parallel, ops: Sequence[Operation]) -> None:
        """Replace the branches that begin with `ops`."""
        first, axis = ops[0], parallel.result_axis
        branches: list[Branch] = [[op] for op in ops]
        sizes = [_shape(op.results[0])[axis] for op in ops]
        weight = self.concatenated([op.operands[1] for op in ops], parallel.weight_axis, first)
        result = self.insert_like(ops, [first.operands[0], weight], axis, first)
        while (users := _common_users(branches)) is not None:
            index = [*users[0].operands].index(branches[0][-1].results[0])
            operands = self.other_operands(users, index, axis, sizes, first)
            if operands is None:
                break
            operands[index] = result
            result = self.insert_like(users, [o for o in operands if o is not None], axis, first)
            for branch, user in zip(branches, users, strict=True):
                branch.append(user)
        (*bounds, _) = accumulate(sizes)
        split = self.insert(SplitOp(result, indices=bounds, axis=axis), first)
        for branch, part in zip(branches, split.results, strict=True):
            branch[-1].results[0].replace_all_uses_with(part)
        self.actions.count("combined", len(branches))
        self.actions.passed(
            split, "Combined", "parallel branches", Branches=len(ops), Ops=len(branches[0])
        )
        self.erase_branches(branches)

    def other_operands(
        self,
        users: Sequence[Operation],
        index: int,
        axis: int,
        sizes: Sequence[int],
        first: Operation,
    ) -> list[SSAValue | None] | None:
        """Return the operands of the operation that combines `users`, None at `index`, where they
        use their branches; None if they cannot be combined."""
        rank = len(_shape(users[0].results[0]))
        plans: list[list[SSAValue] | None] = []
        for i, values in enumerate(zip(*(user.operands for user in users), strict=True)):
            if i == index:
                plans.append(None)
            elif not all(self.is_available(value, first) for value in values):
                return None
            elif _run_along(values, axis - rank, sizes):
                plans.append([*values])
            elif _is_same(values) and _is_constant_along(values[0], axis - rank):
                plans.append([values[0]])
            else:
                return None
        return [
            None
            if values is None
            else self.concatenated(values, len(_shape(values[0])) + axis - rank, first)
            for values in plans
        ]

    def concatenated(self, values: Sequence[SSAValue], axis: int, first: Operation) -> SSAValue:
        """Return the concatenation of `values`, defined before `first`."""
        if len(values) > 1 and (constant := _concatenated_constants(values, axis)) is not None:
            return self.insert(constant, first).results[0]
        for value in values:
            owner = value.owner
            if isinstance(owner, Operation) and owner.parent is self.block:
                if self.positions[owner] > self.positions[first]:  # a constant
                    owner.detach()
                    insert_before(first, owner)
                    self.positions[owner] = self.positions[first]
        if len(values) == 1:
            return values[0]
        return self.insert(ConcatenateOp(*values, axis=axis), first).results[0]

    def insert_like(
        self, ops: Sequence[Operation], operands: Sequence[SSAValue], axis: int, first: Operation
    ) -> SSAValue:
        """Insert the operation that combines `ops`; return its result."""
        like, shape = ops[0], _shape(ops[0].results[0])
        size = sum(_shape(op.results[0])[axis] for op in ops)
        element = tensor_type(like.results[0]).element_type
        op = type(like).create(
            operands=operands,
            result_types=[make_tensor_type(element, replace_dimension(shape, axis, size))],
            properties=like.properties,
            attributes=like.attributes,
        )
        return self.insert(op, first).results[0]

    def insert(self, op: Operation, first: Operation) -> Operation:
        op.location = first.location
        insert_before(first, op)
        self.positions[op] = self.positions[first]
        return op

    def erase_branches(self, branches: Sequence[Branch]) -> None:
        """Erase the replaced operations, and the constants that only they used."""
        for branch in branches:
            for op in reversed(branch):
                used = [operand.owner for operand in op.operands]
                erase(op)
                for owner in used:
                    if isinstance(owner, ConstantOp | FullOp) and owner.result.first_use is None:
                        if owner.parent is not None:
                            erase(owner)


def _shape(value: SSAValue) -> Shape:
    shape = shape_of(tensor_type(value))
    assert shape is not None
    return shape


def _common_users(branches: Sequence[Branch]) -> list[Operation] | None:
    """Return the only user of each branch if these are element-wise operations of one kind, which
    keep the shapes of the branches."""
    results = [branch[-1].results[0] for branch in branches]
    users = [user for result in results if (user := result.get_user_of_unique_use()) is not None]
    first = users[0] if users else None
    if len({*users}) != len(branches) or not isinstance(first, Elementwise):
        return None
    if not first.has_trait(Pure, value_if_unregistered=False) or len(first.results) != 1:
        return None
    index = [*first.operands].index(results[0])
    for user, result in zip(users, results, strict=True):
        if (
            type(user) is not type(first)
            or user.parent is not branches[0][0].parent
            or user.properties != first.properties
            or user.attributes != first.attributes
            or len(user.operands) != len(first.operands)
            or user.operands[index] is not result
            or not is_tensor(type_ := user.results[0].type)
            or shape_of(type_) != _shape(result)
            or type_ != make_tensor_type(type_.element_type, _shape(result))
        ):
            return None
    return users


def _run_along(values: Sequence[SSAValue], axis: int, sizes: Sequence[int]) -> bool:
    """Return whether each tensor has as many elements as its size says, all along `axis`, which is
    counted from the last one."""
    shapes = [static_shape(value.type) for value in values]
    return all(
        shape is not None
        and len(shape) >= -axis
        and shape[axis] == size
        and prod(shape) == size
        and len(shape) == len(shapes[0] or ())
        for shape, size in zip(shapes, sizes, strict=True)
    )


def _is_constant_along(value: SSAValue, axis: int) -> bool:
    """Return whether `value` is broadcast along `axis`, which is counted from the last one."""
    shape = static_shape(value.type)
    return shape is not None and (len(shape) < -axis or shape[axis] == 1)


def _is_same(values: Sequence[SSAValue]) -> bool:
    """Return whether all values are one, or equal constants."""
    first, *others = values
    return all(value is first or _is_equal_constant(value, first) for value in others)


def _is_equal_constant(a: SSAValue, b: SSAValue) -> bool:
    if not isinstance(a.owner, ConstantOp | FullOp) or not isinstance(b.owner, ConstantOp | FullOp):
        return False
    return a.type == b.type and a.owner.value == b.owner.value


def _concatenated_constants(values: Sequence[SSAValue], axis: int) -> Operation | None:
    """Return the concatenation of `values` as a constant; None if one is not a constant, or if
    fills would have to be written out to more than MAX_ELEMENTS."""
    if not all(isinstance(value.owner, ConstantOp | FullOp) for value in values):
        return None
    import numpy as np

    from ..arrays import Known, constant_of, known

    parts = [part for value in values if (part := known(value)) is not None]
    if len(parts) != len(values):
        return None
    element = tensor_type(values[0]).element_type
    assert is_number(element)
    size = sum(part.shape[axis] for part in parts)
    shape = replace_dimension(parts[0].shape, axis, size)
    fills = {part.array.tobytes() for part in parts if part.array.ndim < len(part.shape)}
    if len(fills) == 1 and all(part.array.ndim < len(part.shape) for part in parts):
        return constant_of(Known(parts[0].array, shape), element)
    if fills and prod(shape) > MAX_ELEMENTS:
        return None
    arrays = [np.broadcast_to(part.array, part.shape) for part in parts]
    return constant_of(Known(np.concatenate(arrays, axis), shape), element)


# CombineParallelConv2D: convolutions of one tensor become one convolution.


def parallel_conv2d(op: Operation) -> Parallel | None:
    """Describe a convolution of one group whose output channels are one dimension of weight and
    result."""
    if not isinstance(op, Conv2dOp) or op.groups != 1:
        return None
    weight, result = static_shape(op.weight.type), shape_of(tensor_type(op.result))
    data_layout, weight_layout, out_layout = op.layouts()
    outputs, channels = weight_layout.dimensions("O"), out_layout.dimensions("C")
    if weight is None or result is None or len(outputs) != 1 or len(channels) != 1:
        return None
    weight_axis, axis = outputs[0] % len(weight), channels[0] % len(result)
    if result[axis] != weight[weight_axis] or op.result.type not in op.inferred_types():
        return None
    padding, rank = op.padding, len(op.SPATIAL)
    key = (
        (data_layout.text, weight_layout.text, out_layout.text),
        (op.strides, op.dilation, padding[:rank], padding[-rank:]),
        (tensor_type(op.weight).element_type, tensor_type(op.result).element_type),
        replace_dimension(weight, weight_axis),
        tuple(op.attributes.items()),
    )
    return Parallel(key, weight_axis, axis)


@dataclass(frozen=True)
class CombineParallelConv2D(CombineParallel):
    """Combine convolutions of one tensor, with the element-wise operations after them, into one.

    The convolutions have one group and differ in their weights and numbers of output channels only,
    as in the blocks of Inception. A bias, or another operand of the following operations with an
    element for each channel, is concatenated as the weights are. A subclass may refuse a group by
    overriding `check`. Source: `relay.CombineParallelConv2D`.

    Before:

        func.func @f(%x: tensor<1x8x5x5xf32>, %v: tensor<2x8x1x1xf32>, %w: tensor<4x8x1x1xf32>)
            -> (tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>) {
          %0 = relax.nn.conv2d %x, %v
            : (tensor<1x8x5x5xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x5x5xf32>
          %1 = relax.nn.relu %0 : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
          %2 = relax.nn.conv2d %x, %w
            : (tensor<1x8x5x5xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x5x5xf32>
          %3 = relax.nn.relu %2 : (tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
          func.return %1, %3 : tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>
        }

    After {min-num-branches=2}:

        func.func @f(%x: tensor<1x8x5x5xf32>, %v: tensor<2x8x1x1xf32>, %w: tensor<4x8x1x1xf32>)
            -> (tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>) {
          %0 = relax.concatenate %v, %w
            : (tensor<2x8x1x1xf32>, tensor<4x8x1x1xf32>) -> tensor<6x8x1x1xf32>
          %1 = relax.nn.conv2d %x, %0
            : (tensor<1x8x5x5xf32>, tensor<6x8x1x1xf32>) -> tensor<1x6x5x5xf32>
          %2 = relax.nn.relu %1 : (tensor<1x6x5x5xf32>) -> tensor<1x6x5x5xf32>
          %3, %4 = relax.split %2 {indices = [2], axis = 1}
            : (tensor<1x6x5x5xf32>) -> (tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>)
          func.return %3, %4 : tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>
        }
    """

    name = "combine-parallel-conv2d"
    opt_level = 3
    acts_on = (Conv2dOp,)

    min_num_branches: int = field(default=3, metadata={"minimum": 2})
    """Combine at least this number of convolutions."""

    def describe(self, op: Operation) -> Parallel | None:
        return parallel_conv2d(op)


# CombineParallelMatmul: products of one tensor with several matrices become one product.


def parallel_matmul(op: Operation) -> Parallel | None:
    """Describe a product of data with matrices of known shape, on the right."""
    if not isinstance(op, MatmulOp | DenseOp | BatchMatmulOp):
        return None
    weight, result = static_shape(op.operands[1].type), shape_of(tensor_type(op.result))
    if weight is None or len(weight) < 2 or not result:
        return None
    match op:
        case MatmulOp():
            weight_axis = len(weight) - 1
        case DenseOp():
            weight_axis = 0
        case BatchMatmulOp():
            weight_axis = len(weight) - (2 if op.transpose_b else 1)
    axis = len(result) - 1
    if result[axis] != weight[weight_axis] or op.result.type not in op.inferred_types():
        return None
    key = (
        type(op),
        tuple(op.properties.items()),
        (tensor_type(op.operands[1]).element_type, replace_dimension(weight, weight_axis)),
        tuple(op.attributes.items()),
    )
    return Parallel(key, weight_axis, axis)


@dataclass(frozen=True)
class CombineParallelMatmul(CombineParallel):
    """Combine products of one tensor with several matrices, with the element-wise operations after
    them, into one.

    These are `relax.matmul`, `relax.nn.dense` and `relax.nn.batch_matmul`, as for the queries, keys
    and values of attention. The matrices differ in their elements and numbers of columns only. A
    bias, or another operand of the following operations with an element for each column, is
    concatenated as the matrices are. A subclass may refuse a group by overriding `check`. Source:
    `relax.CombineParallelMatmul`, `relay.CombineParallelDense` and `CombineParallelBatchMatmul`.

    Before:

        func.func @f(%x: tensor<5x8xf32>, %q: tensor<8x4xf32>, %k: tensor<8x4xf32>)
            -> (tensor<5x4xf32>, tensor<5x4xf32>) {
          %0 = relax.matmul %x, %q : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
          %1 = relax.matmul %x, %k : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
          func.return %0, %1 : tensor<5x4xf32>, tensor<5x4xf32>
        }

    After:

        func.func @f(%x: tensor<5x8xf32>, %q: tensor<8x4xf32>, %k: tensor<8x4xf32>)
            -> (tensor<5x4xf32>, tensor<5x4xf32>) {
          %0 = relax.concatenate %q, %k {axis = 1}
            : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
          %1 = relax.matmul %x, %0 : (tensor<5x8xf32>, tensor<8x8xf32>) -> tensor<5x8xf32>
          %2, %3 = relax.split %1 {indices = [4], axis = 1}
            : (tensor<5x8xf32>) -> (tensor<5x4xf32>, tensor<5x4xf32>)
          func.return %2, %3 : tensor<5x4xf32>, tensor<5x4xf32>
        }
    """

    name = "combine-parallel-matmul"
    opt_level = 4
    after = ("combine-parallel-conv2d",)
    acts_on = (BatchMatmulOp, DenseOp, MatmulOp)

    min_num_branches: int = field(default=2, metadata={"minimum": 2})
    """Combine at least this number of products."""

    def describe(self, op: Operation) -> Parallel | None:
        return parallel_matmul(op)
