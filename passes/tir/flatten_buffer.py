"""FlattenBuffer: buffers of several dimensions become buffers of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.arith.linear_form import ONE, ZERO, LinearForm
from ...compiler.analysis.arith.materialize import FormBuilder
from ...compiler.analysis.arith.ranges import Range
from ...compiler.analysis.arith.scoped_walk import scoped_blocks
from ...compiler.analysis.memory.buffers import Access, buffer_type, mixed_shape
from ...compiler.analysis.memory.flat_layout import (
    FlatLayout,
    can_flatten,
    can_flatten_allocation,
    flat_type,
    is_contiguous_access,
    is_flat_view,
    is_in_bounds_transfer,
    is_whole_buffer,
    layout_of_view,
    one_group,
    rank_of,
    row_major_strides,
    static_strides,
)
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.effects import own_effects
from ...passmanager.releases.memref import dim_op, offset_of
from ..generic.purity import Allocation, View
from .base import PrimFuncPass

# Indices into flat buffers: an offset plus the sum of each index times its stride, simplified.


def build_flat_index(
    layout: FlatLayout, indices: Sequence[SSAValue], builder: FormBuilder
) -> SSAValue:
    """Return the index in the flat buffer of the element at `indices`.

    The sum is simplified with the facts of the analyzer (`i div 4 * 4 + i mod 4` is `i`). Where
    the simplified form costs more operations than the plain sum, the plain sum is built.
    """
    analyzer = builder.analyzer
    has_offset = layout.offset != ZERO
    total = layout.offset
    # n terms are added by n - 1 operations, and the offset is a term, too. The strides are not
    # counted: those of a buffer are constants, or computed once for all accesses.
    plain_cost = builder.cost(layout.offset) if has_offset else -1
    for index, stride in zip(indices, layout.strides, strict=True):
        analyzer.make_available(index)
        form = analyzer.linear(index)
        if form != ZERO:
            plain_cost += 1 + (stride != ONE)
        total = analyzer.add(total, analyzer.multiply(form, stride))
    # At equal cost the simplified sum: another access may have the same form, and reuses its value.
    if builder.cost(total) <= plain_cost:
        value = builder.build(total)
    else:
        value = _build_plain_sum(layout, indices, builder)
    analyzer.make_available(value)
    return value


def _build_plain_sum(
    layout: FlatLayout, indices: Sequence[SSAValue], builder: FormBuilder
) -> SSAValue:
    """Return `offset + i[0] * strides[0] + ...`, without terms that are 0 or factors of 1."""
    total = builder.build(layout.offset) if layout.offset != ZERO else None
    for index, stride in zip(indices, layout.strides, strict=True):
        if builder.analyzer.linear(index) == ZERO:
            continue
        term = index
        if stride != ONE:
            product = arith.MuliOp(index, builder.build(stride))
            Rewriter.insert_op(product, builder.at)
            term = product.result
        if total is not None:
            sum = arith.AddiOp(total, term)
            Rewriter.insert_op(sum, builder.at)
            term = sum.result
        total = term
    return builder.build(ZERO) if total is None else total


INDEX = IndexType()


def flatten_buffers(func: PrimFuncOp, *, actions: Actions = SILENT) -> None:
    """Turn the accesses of `func` to buffers of several dimensions into accesses to flat buffers.

    Other uses of such a buffer keep its shape: a parameter stays as it is, and an allocation gets a
    view of the flat allocation.
    """
    BufferFlattener(actions).run(func)


class BufferFlattener:
    """Flattens the buffers of one function, in program order.

    Each buffer and view gets a layout in a flat buffer, which is enough to rewrite an access. The
    old views, allocations and index operations are erased at the end if they have no uses left.
    """

    def __init__(self, actions: Actions) -> None:
        self.actions = actions
        self.analyzer = Analyzer()
        self._layouts: dict[SSAValue, FlatLayout] = {}
        self._flat_views: list[View] = []
        self._old_views: list[View] = []
        self._old_allocations: list[tuple[Allocation, Sequence[SSAValue | int]]] = []
        self._old_indices: list[SSAValue] = []

    def run(self, func: PrimFuncOp) -> None:
        """Flatten the buffers of `func`."""
        self._visit(func.body.block)
        # Views of views come first, as they use the others.
        for view in (*reversed(self._old_views), *self._flat_views):
            if not view.results[0].uses:
                self._old_indices += view.operands
                erase(view)
        for op, shape in self._old_allocations:
            replace_by_expanded(op, self._layouts[op.memref].buffer, shape)
        erase_unused(self._old_indices)

    def _visit(self, block: Block) -> None:
        ops = list(block.ops)  # without the operations that are inserted
        start = InsertPoint.at_start(block)
        for argument in block.args:
            if can_flatten(argument):
                self._add_flat_view(argument, start)
        for op in ops:
            self._visit_op(op)

    def _visit_op(self, op: Operation) -> None:
        match op:
            # The order matters: a view whose layout is known needs no flat view of its own, and
            # what defines a buffer in another way, as a call or a loop does, gets one after it.
            case memref.AllocOp() | memref.AllocaOp() if can_flatten_allocation(op.memref):
                self._add_flat_allocation(op)
            case memref.DimOp():
                self._replace_dim(op)
            case memref.CopyOp():
                self._flatten_copy(op)
            case _ if isinstance(op, Access):
                self._flatten_access(op)
            case vector.TransferReadOp() | vector.TransferWriteOp():
                if op.source in self._layouts and is_in_bounds_transfer(op):
                    self._flatten_access(replace_transfer(op))
            case _ if isinstance(op, View) and self._add_view_layout(op):
                self._old_views.append(op)
            case memref.ViewOp() if can_flatten_allocation(op.result):
                self._add_flat_byte_view(op)
            case _:
                for result in op.results:
                    if can_flatten(result):
                        self._add_flat_view(result, InsertPoint.after(op))
                    # Forms that are built later may use it: it dominates what comes after.
                    elif result.type == INDEX:
                        self.analyzer.make_available(result)
                for block, scope in scoped_blocks(op):
                    with scope(self.analyzer):
                        self._visit(block)

    # Flat buffers

    def _add_flat_view(self, buffer: SSAValue, at: InsertPoint) -> None:
        """Insert a flat view of `buffer`, whose definition keeps its shape."""
        type = buffer_type(buffer)
        if isinstance(type.layout, NoneAttr):
            self._add_collapsed_view(buffer, at)
        elif (strides := static_strides(type)) is not None:
            self._add_strided_view(buffer, strides, at)
        else:
            where = buffer.owner if isinstance(buffer.owner, Operation) else at.block.parent_op()
            assert where is not None
            self.actions.missed(
                where,
                "Layout",
                f"accesses to a buffer of type {type} are left as they are: its strides and its "
                "offset are not all known",
            )

    def _add_collapsed_view(self, buffer: SSAValue, at: InsertPoint) -> None:
        type, builder = buffer_type(buffer), FormBuilder(self.analyzer, at)
        rank = type.get_num_dims()
        # The first size has no influence on strides, so no `memref.dim` is made for it.
        sizes = [ZERO] + [self._size(buffer, axis, builder) for axis in range(1, rank)]
        strides = row_major_strides(sizes, self.analyzer)
        view = memref.CollapseShapeOp.build(
            operands=[buffer],
            result_types=[flat_type(type)],
            properties={"reassociation": one_group(rank)},
        )
        self._insert_flat_view(view, buffer, strides, 0, builder)

    def _add_strided_view(self, buffer: SSAValue, strides: Sequence[int], at: InsertPoint) -> None:
        """Insert a flat view over the span of a buffer with a strided layout.

        The span is `1 + (size - 1) * stride + ...` elements: it includes the gaps between the
        buffer's own elements.
        """
        type, builder = buffer_type(buffer), FormBuilder(self.analyzer, at)
        # `reinterpret_cast` counts from the start of the memory, so the offset is given once more.
        begin = offset_of(type) or 0
        span = ONE
        for axis, stride in enumerate(strides):
            size = self._size(buffer, axis, builder)
            span = self.analyzer.add(span, size - 1, stride)
        length = builder.build(span) if span.terms else span.constant
        extent = length if isinstance(length, int) else DYNAMIC_INDEX
        layout = StridedLayoutAttr([1], begin) if begin else NoneAttr()
        result = MemRefType(type.element_type, [extent], layout, type.memory_space)
        view = memref.ReinterpretCastOp.from_dynamic(buffer, [begin], [length], [1], result)
        forms = [LinearForm((), stride) for stride in strides]
        self._insert_flat_view(view, buffer, forms, begin, builder)

    def _insert_flat_view(
        self,
        view: memref.CollapseShapeOp | memref.ReinterpretCastOp,
        buffer: SSAValue,
        strides: Sequence[LinearForm],
        begin: int,
        builder: FormBuilder,
    ) -> None:
        Rewriter.insert_op(view, builder.at)
        self._flat_views.append(view)
        self._add_layout(buffer, view.result, strides, begin, builder, owned=False)

    def _add_flat_allocation(self, op: Allocation) -> None:
        """Insert a flat allocation before `op`, which is replaced or erased at the end."""
        type, builder = buffer_type(op.memref), FormBuilder(self.analyzer, InsertPoint.before(op))
        shape = mixed_shape(type, op.dynamic_sizes)
        strides, length = self._strides_and_length(shape, builder)
        flat = op.build(
            operands=[length, []],
            result_types=[flat_type(type)],
            properties={"alignment": op.alignment},
            attributes=dict(op.attributes),
        )
        insert_before(op, flat)
        self._old_allocations.append((op, shape))
        self._add_layout(op.memref, flat.results[0], strides, 0, builder, owned=True)

    def _add_flat_byte_view(self, op: memref.ViewOp) -> None:
        """Insert a flat `memref.view` of the same bytes before `op`."""
        type, builder = buffer_type(op.result), FormBuilder(self.analyzer, InsertPoint.before(op))
        strides, length = self._strides_and_length(mixed_shape(type, op.sizes), builder)
        flat = memref.ViewOp(op.source, op.byte_shift, length, flat_type(type))
        insert_before(op, flat)
        self._old_views.append(op)
        self._add_layout(op.result, flat.result, strides, 0, builder, owned=True)

    def _strides_and_length(
        self, shape: Sequence[SSAValue | int], builder: FormBuilder
    ) -> tuple[list[LinearForm], list[SSAValue]]:
        """Return the strides of a buffer of `shape`, and its length if that is dynamic."""
        sizes: list[LinearForm] = []
        for size in shape:
            if isinstance(size, int):
                sizes.append(LinearForm((), size))
            else:
                self.analyzer.make_available(size)
                # A size is not negative, which proves remainders like `i mod n`.
                self.analyzer.constraints.add(self.analyzer.linear(size), Range(0))
                sizes.append(self.analyzer.linear(size))
        strides = row_major_strides(sizes, self.analyzer)
        if all(isinstance(size, int) for size in shape):
            return strides, []
        # The first stride is the product of all sizes but the first.
        return strides, [builder.build(self.analyzer.multiply(strides[0], sizes[0]))]

    def _size(self, buffer: SSAValue, axis: int, builder: FormBuilder) -> LinearForm:
        """Return a size of `buffer`; a dynamic one is computed by a `memref.dim`."""
        size = buffer_type(buffer).get_shape()[axis]
        if size != DYNAMIC_INDEX:
            return LinearForm((), size)
        dim = dim_op(buffer, builder.constant(axis, INDEX))
        Rewriter.insert_op(dim, builder.at)
        self._old_indices.append(dim.result)
        self.analyzer.make_available(dim.result)
        return self.analyzer.linear(dim.result)

    def _add_layout(
        self,
        buffer: SSAValue,
        flat: SSAValue,
        strides: Iterable[LinearForm],
        begin: int,
        builder: FormBuilder,
        *,
        owned: bool,
    ) -> None:
        """Record the layout of `buffer` in the flat buffer `flat`."""
        if isinstance(flat.owner, Operation) and isinstance(buffer.owner, Operation):
            flat.owner.location = buffer.owner.location
        flat.name_hint = buffer.name_hint
        strides = tuple(strides)
        for stride in strides:
            if stride.terms:  # computed once here, not at each access
                value = builder.build(stride)
                self.analyzer.make_available(value)
                self._old_indices.append(value)
        self._layouts[buffer] = FlatLayout(flat, ZERO, strides, begin, owned)
        self.actions.count("flattened")

    def _add_view_layout(self, op: View) -> bool:
        """Record the layout of the result of `op`; return False if it is not known."""
        source, result = op.operands[0], op.results[0]
        layout = self._layouts.get(source)
        if layout is None and rank_of(source) == 1 and rank_of(result) > 1:
            layout = FlatLayout.of(source)
        # A flat view of a parameter is a flat buffer already, and stays; of an allocation that
        # becomes flat it would be a cast to itself.
        if layout is None or (not layout.owned and is_flat_view(op)):
            return False
        found = layout_of_view(op, layout, self.analyzer)
        if found is None:
            return False
        self._layouts[result] = found
        return True

    # Uses

    def _replace_dim(self, op: memref.DimOp) -> None:
        """Replace a size of an allocation by the value it was allocated with."""
        form = self.analyzer.linear(op.result)
        # The flat allocation does not have that dimension any more.
        if isinstance(op.source.owner, Allocation) and op.source in self._layouts:
            value = FormBuilder(self.analyzer, InsertPoint.before(op)).build(form)
            if value is not op.result:
                op.result.replace_all_uses_with(value)
                self._old_indices.append(op.result)
        else:
            self.analyzer.make_available(op.result)

    def _flatten_copy(self, op: memref.CopyOp) -> None:
        """Copy between the flat buffers if both operands are all of them."""
        layouts = [self._layouts.get(buffer) for buffer in op.operands]
        if all(
            layout is not None and is_whole_buffer(layout, buffer_type(buffer), self.analyzer)
            for layout, buffer in zip(layouts, op.operands, strict=True)
        ):
            op.operands = [layout.buffer for layout in layouts if layout is not None]
            self.actions.count("accesses")

    def _flatten_access(self, op: Access) -> None:
        # Stores have the value before the buffer, `vector.maskedstore` has it after the indices.
        at = 1 if isinstance(op, memref.AtomicRMWOp | memref.StoreOp | vector.StoreOp) else 0
        layout = self._layouts.get(op.operands[at])
        if layout is None:
            return
        if not is_contiguous_access(op, layout):
            self.actions.missed(op, "Vector", "the elements of the vector are not contiguous")
            return
        if not self.actions.allowed(op):
            return
        # Operands after the indices, such as a mask, stay.
        end = at + 1 + len(layout.strides)
        indices = list(op.operands[at + 1 : end])
        builder = FormBuilder(self.analyzer, InsertPoint.before(op))
        index = build_flat_index(layout, indices, builder)
        op.operands = [*op.operands[:at], layout.buffer, index, *op.operands[end:]]
        self._old_indices += indices
        self.actions.count("accesses")


def replace_transfer(op: vector.TransferReadOp | vector.TransferWriteOp) -> Access:
    """Replace an in-bounds transfer by a vector load or store, and return that."""
    if isinstance(op, vector.TransferReadOp):
        new = vector.LoadOp(op.source, op.indices, op.result.type)
    else:
        new = vector.StoreOp(op.vector, op.source, op.indices)
    new.location = op.location
    Rewriter.replace_op(op, new)
    return new


def replace_by_expanded(op: Allocation, flat: SSAValue, shape: Sequence[SSAValue | int]) -> None:
    """Replace the allocation `op` by a view of `flat` in its shape; erase it if it is unused."""
    if not op.memref.uses:
        erase(op)
        return
    type = buffer_type(op.memref)
    view = memref.ExpandShapeOp.build(
        operands=[flat, [size for size in shape if not isinstance(size, int)]],
        result_types=[type],
        properties={
            "reassociation": one_group(type.get_num_dims()),
            "static_output_shape": DenseArrayBase.from_list(i64, type.get_shape()),
        },
    )
    view.location = op.location
    Rewriter.replace_op(op, view)


def erase_unused(values: Iterable[SSAValue]) -> None:
    """Erase the pure operations that compute `values` if unused, and then their operands'."""
    # A chain of index arithmetic is dead from its last operation back.
    pending = list(dict.fromkeys(values))
    while pending:
        op = pending.pop().owner
        # An operation without a block was erased before.
        if not isinstance(op, Operation) or op.parent is None or op.regions:
            continue
        if not own_effects(op) and not any(result.uses for result in op.results):
            pending += op.operands
            erase(op)


@dataclass(frozen=True)
class FlattenBuffer(PrimFuncPass):
    """Turn buffers of several dimensions into buffers of one dimension, in row-major order.

    Source: `tir.FlattenBuffer`.

    Before:

        tir.prim_func @f(%x: memref<8x4xf32>, %i: index, %j: index) {
          %0 = memref.alloc() : memref<8x4xf32>
          %1 = memref.load %x[%i, %j] : memref<8x4xf32>
          memref.store %1, %0[%j, %i] : memref<8x4xf32>
        }

    After:

        tir.prim_func @f(%x: memref<8x4xf32>, %i: index, %j: index) {
          %x_1 = memref.collapse_shape %x [[0 : i64, 1 : i64]] : memref<8x4xf32> into memref<32xf32>
          %0 = memref.alloc() : memref<32xf32>
          %1 = arith.constant 4 : index
          %2 = arith.muli %i, %1 : index
          %3 = arith.addi %2, %j : index
          %4 = memref.load %x_1[%3] : memref<32xf32>
          %5 = arith.constant 4 : index
          %6 = arith.muli %j, %5 : index
          %7 = arith.addi %i, %6 : index
          memref.store %4, %0[%7] : memref<32xf32>
        }
    """

    name = "tir-flatten-buffer"
    before = ("tir-simplify",)

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        flatten_buffers(func, actions=ctx.actions)
