"""Turn buffers of several dimensions into buffers of one, their elements in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    ShapedType,
    StridedLayoutAttr,
    VectorType,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from ...analysis.arith.analyzer import Analyzer
from ...analysis.arith.linear_form import ONE, ZERO, LinearForm
from ...analysis.arith.materialize import FormBuilder
from ...analysis.arith.ranges import Range
from ...analysis.memory.buffers import (
    Access,
    Allocation,
    Buffer,
    View,
    buffer_type,
    is_static,
    mixed_shape,
)
from ...analysis.memory.flat_views import (
    Flat,
    flat_type,
    flat_view,
    row_major,
    static_strides,
    whole_dimension,
)
from ...dialects.tir.ops import ForOp, PrimFuncOp
from ...passmanager.context import PassContext
from ...passmanager.remarks import Remarks
from .base import PrimFuncPass

__all__ = ["FlattenBuffer", "Flattening"]

Reshaping: TypeAlias = (
    memref.CastOp
    | memref.CollapseShapeOp
    | memref.ExpandShapeOp
    | memref.ReinterpretCastOp
    | memref.SubviewOp
)
"""A view whose elements are known to be ones of what it is a view of."""

INDEX = IndexType()


class Flattening:
    """The accesses of a function to buffers of several dimensions, made ones to flat buffers.

    What else uses such a buffer is left as it is; if the buffer is allocated in the function, on a
    view of the flat one. `buffers` and `accesses` count what was flattened.
    """

    def __init__(self, remarks: Remarks) -> None:
        self.remarks = remarks
        self.buffers = 0
        self.accesses = 0
        self.analyzer = Analyzer()
        self._flats: dict[SSAValue, Flat] = {}
        self._made: list[View] = []
        self._views: list[View] = []
        self._allocations: list[tuple[Allocation, Sequence[SSAValue | int]]] = []
        self._old_indices: list[SSAValue] = []

    def run(self, func: PrimFuncOp) -> None:
        """Flatten the buffers of a function."""
        self._visit(func.body.block)
        for view in (*reversed(self._views), *self._made):
            if not view.results[0].uses:
                self._old_indices += view.operands
                Rewriter.erase_op(view)
        for op, shape in self._allocations:
            expand(op, self._flats[op.memref].buffer, shape)
        erase_unused(self._old_indices)

    def _visit(self, block: Block) -> None:
        ops = list(block.ops)  # not what is inserted
        start = InsertPoint.at_start(block)
        for argument in block.args:
            if is_wanted(argument):
                self._add_view(argument, start)
        for op in ops:
            match op:
                case memref.AllocOp() | memref.AllocaOp() if is_owned(op.memref):
                    self._add_allocation(op)
                case memref.DimOp():
                    self._replace_dim(op)
                case memref.CopyOp():
                    self._flatten_copy(op)
                case _ if isinstance(op, Access):
                    self._flatten_access(op)
                case vector.TransferReadOp() | vector.TransferWriteOp():
                    if op.source in self._flats and is_plain_transfer(op):
                        self._flatten_access(as_access(op))
                case _ if isinstance(op, View) and self._looks_through(op):
                    self._views.append(op)
                case memref.ViewOp() if is_owned(op.result):
                    self._flatten_view(op)
                case _:
                    for result in op.results:
                        if is_wanted(result):
                            self._add_view(result, InsertPoint.after(op))
                        elif result.type == INDEX:
                            self.analyzer.make_available(result)
                    self._visit_regions(op)

    def _visit_regions(self, op: Operation) -> None:
        for number, region in enumerate(op.regions):
            for block in region.blocks:
                if isinstance(op, ForOp):
                    scope = self.analyzer.inside(op)
                elif isinstance(op, scf.IfOp):
                    scope = self.analyzer.assuming(op.cond, number == 0)
                else:
                    scope = self.analyzer.scope()
                with scope:
                    self._visit(block)

    # Buffers

    def _add_view(self, buffer: SSAValue, at: InsertPoint) -> None:
        """Make a flat view of a buffer that keeps its dimensions."""
        type = buffer_type(buffer)
        rank = type.get_num_dims()
        builder = FormBuilder(self.analyzer, at)
        view: View
        if isinstance(type.layout, NoneAttr):
            sizes = [ZERO] + [self._size(buffer, axis, builder) for axis in range(1, rank)]
            strides, begin = row_major(sizes, self.analyzer), 0
            view = memref.CollapseShapeOp.build(
                operands=[buffer],
                result_types=[flat_type(type)],
                properties={"reassociation": whole_dimension(rank)},
            )
        else:
            known = static_strides(type)
            if known is None:
                self._miss_layout(buffer, at)
                return
            begin = type.get_offset() or 0
            span = ONE
            for axis, stride in enumerate(known):
                size = self._size(buffer, axis, builder)
                span = self.analyzer.add(span, size.shifted(-1), stride)
            strides = [LinearForm((), stride) for stride in known]
            length = builder.build(span) if span.terms else span.constant
            extent = length if isinstance(length, int) else DYNAMIC_INDEX
            layout = StridedLayoutAttr([1], begin) if begin else NoneAttr()
            result = MemRefType(type.element_type, [extent], layout, type.memory_space)
            view = memref.ReinterpretCastOp.from_dynamic(buffer, [begin], [length], [1], result)
        Rewriter.insert_op(view, at)
        self._made.append(view)
        self._add(buffer, view.results[0], strides, begin, builder, owned=False)

    def _miss_layout(self, buffer: SSAValue, at: InsertPoint) -> None:
        where = buffer.owner if isinstance(buffer.owner, Operation) else at.block.parent_op()
        assert where is not None
        self.remarks.missed(
            where,
            "Layout",
            f"accesses to a buffer of type {buffer.type} are left as they are: its strides and its "
            "offset are not all known",
        )

    def _add_allocation(self, op: Allocation) -> None:
        """Make a flat allocation beside one; `expand` makes the old one of it."""
        type, builder = buffer_type(op.memref), FormBuilder(self.analyzer, InsertPoint.before(op))
        shape = mixed_shape(type, op.dynamic_sizes)
        strides, length = self._product(shape, builder)
        flat = op.build(
            operands=[length, []],
            result_types=[flat_type(type)],
            properties={"alignment": op.alignment},
            attributes=dict(op.attributes),
        )
        Rewriter.insert_op(flat, InsertPoint.before(op))
        self._allocations.append((op, shape))
        self._add(op.memref, flat.results[0], strides, 0, builder, owned=True)

    def _flatten_view(self, op: memref.ViewOp) -> None:
        """Make a flat view of bytes beside one of several dimensions."""
        type, builder = buffer_type(op.result), FormBuilder(self.analyzer, InsertPoint.before(op))
        strides, length = self._product(mixed_shape(type, op.sizes), builder)
        flat = memref.ViewOp(op.source, op.byte_shift, length, flat_type(type))
        Rewriter.insert_op(flat, InsertPoint.before(op))
        self._views.append(op)
        self._add(op.result, flat.result, strides, 0, builder, owned=True)

    def _product(
        self, shape: Sequence[SSAValue | int], builder: FormBuilder
    ) -> tuple[list[LinearForm], list[SSAValue]]:
        """The strides of a buffer of that shape, and its length if that is not known."""
        sizes: list[LinearForm] = []
        for size in shape:
            if isinstance(size, int):
                sizes.append(LinearForm((), size))
            else:
                self.analyzer.make_available(size)
                self.analyzer.constraints.add(self.analyzer.linear(size), Range(0))
                sizes.append(self.analyzer.linear(size))
        strides = row_major(sizes, self.analyzer)
        if all(isinstance(size, int) for size in shape):
            return strides, []
        return strides, [builder.build(self.analyzer.multiply(strides[0], sizes[0]))]

    def _size(self, buffer: SSAValue, axis: int, builder: FormBuilder) -> LinearForm:
        size = buffer_type(buffer).get_shape()[axis]
        if size != DYNAMIC_INDEX:
            return LinearForm((), size)
        dim = memref.DimOp(buffer, builder.constant(axis, INDEX))
        Rewriter.insert_op(dim, builder.at)
        self._old_indices.append(dim.result)
        self.analyzer.make_available(dim.result)
        return self.analyzer.linear(dim.result)

    def _add(
        self,
        buffer: SSAValue,
        flat: SSAValue,
        strides: Iterable[LinearForm],
        begin: int,
        builder: FormBuilder,
        *,
        owned: bool,
    ) -> None:
        if isinstance(flat.owner, Operation) and isinstance(buffer.owner, Operation):
            flat.owner.location = buffer.owner.location
        flat.name_hint = buffer.name_hint
        strides = tuple(strides)
        for stride in strides:
            if stride.terms:  # computed once, not at each access
                value = builder.build(stride)
                self.analyzer.make_available(value)
                self._old_indices.append(value)
        self._flats[buffer] = Flat(flat, ZERO, strides, begin, owned)
        self.buffers += 1

    # Uses

    def _looks_through(self, op: View) -> bool:
        """Whether the elements of a view are known to be ones of a flat buffer."""
        source, result = op.operands[0], op.results[0]
        flat = self._flats.get(source)
        if flat is None and rank_of(source) == 1 and rank_of(result) > 1:
            flat = Flat.of(source)
        if flat is None or (not flat.owned and stays_flat(op)):
            return False
        found = flat_view(op, flat, self.analyzer)
        if found is None:
            return False
        self._flats[result] = found
        return True

    def _replace_dim(self, op: memref.DimOp) -> None:
        form = self.analyzer.linear(op.result)
        if isinstance(op.source.owner, Allocation) and op.source in self._flats:
            value = FormBuilder(self.analyzer, InsertPoint.before(op)).build(form)
            if value is not op.result:
                op.result.replace_all_uses_with(value)
                self._old_indices.append(op.result)
        else:
            self.analyzer.make_available(op.result)

    def _flatten_copy(self, op: memref.CopyOp) -> None:
        """Copy from flat to flat what is all of both."""
        flats = [self._flats.get(buffer) for buffer in op.operands]
        if all(
            flat is not None and is_whole(flat, buffer_type(buffer), self.analyzer)
            for flat, buffer in zip(flats, op.operands, strict=True)
        ):
            op.operands = [flat.buffer for flat in flats if flat is not None]
            self.accesses += 1

    def _flatten_access(self, op: Access) -> None:
        at = 1 if isinstance(op, memref.AtomicRMWOp | memref.StoreOp | vector.StoreOp) else 0
        flat = self._flats.get(op.operands[at])
        if flat is None:
            return
        if not is_in_a_row(op, flat):
            self.remarks.missed(op, "Vector", "the elements of the vector are not in a row")
            return
        end = at + 1 + len(flat.strides)
        indices = list(op.operands[at + 1 : end])
        index = self._index(flat, indices, FormBuilder(self.analyzer, InsertPoint.before(op)))
        op.operands = [*op.operands[:at], flat.buffer, index, *op.operands[end:]]
        self._old_indices += indices
        self.accesses += 1

    def _index(self, flat: Flat, indices: Sequence[SSAValue], builder: FormBuilder) -> SSAValue:
        """The index in the flat buffer: simplified, or the plain sum if that costs less."""
        analyzer = self.analyzer
        total, parts = flat.offset, [flat.offset] if flat.offset != ZERO else []
        plain_cost = -1 + (builder.cost(flat.offset) + 1 if parts else 0)
        for index, stride in zip(indices, flat.strides, strict=True):
            analyzer.make_available(index)
            form = analyzer.linear(index)
            if form != ZERO:
                plain_cost += 1 + (stride != ONE)
            total = analyzer.add(total, analyzer.multiply(form, stride))
        if builder.cost(total) <= plain_cost:
            value = builder.build(total)
        else:
            value = self._plain_sum(flat, indices, builder)
        analyzer.make_available(value)
        return value

    def _plain_sum(self, flat: Flat, indices: Sequence[SSAValue], builder: FormBuilder) -> SSAValue:
        value = builder.build(flat.offset) if flat.offset != ZERO else None
        for index, stride in zip(indices, flat.strides, strict=True):
            form = self.analyzer.linear(index)
            if form == ZERO:
                continue
            part = index
            if stride != ONE:
                product = arith.MuliOp(index, builder.build(stride))
                Rewriter.insert_op(product, builder.at)
                part = product.result
            if value is not None:
                total = arith.AddiOp(value, part)
                Rewriter.insert_op(total, builder.at)
                part = total.result
            value = part
        return builder.build(ZERO) if value is None else value


# Which buffers and accesses


def rank_of(buffer: SSAValue) -> int:
    """The number of dimensions of a value that is a buffer, 0 for another."""
    return buffer_type(buffer).get_num_dims() if isinstance(buffer.type, MemRefType) else 0


def is_owned(buffer: SSAValue) -> bool:
    """Whether what makes a buffer may make a flat one: it has no layout, and is accessed."""
    return isinstance(buffer_type(buffer).layout, NoneAttr) and is_wanted(buffer, owned=True)


def is_wanted(buffer: SSAValue, *, owned: bool = False) -> bool:
    """Whether a buffer has several dimensions, and elements of it or of its views are accessed."""
    if rank_of(buffer) < 2:
        return False
    pending = [buffer]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, Access) or is_plain_transfer(user):
                return True
            if isinstance(user, Reshaping) and use.index == 0 and (owned or not stays_flat(user)):
                pending.append(user.results[0])
    return False


def stays_flat(op: View) -> bool:
    """Whether a view of a buffer that keeps its dimensions is the flat buffer that is wanted."""
    flattening = isinstance(op, memref.CollapseShapeOp | memref.ReinterpretCastOp)
    return flattening and rank_of(op.results[0]) == 1


def is_row(vector: SSAValue) -> bool:
    """Whether a vector has one dimension."""
    return isinstance(vector.type, ShapedType) and vector.type.get_num_dims() == 1


def is_plain_transfer(op: Operation) -> bool:
    """Whether a transfer is known to be an access to elements of the last dimension of a buffer."""
    if not isinstance(op, vector.TransferReadOp | vector.TransferWriteOp):
        return False
    plain = op.mask is None and op.permutation_map.data.is_minor_identity()
    inside = all(dimension.value.data for dimension in op.in_bounds)
    value = op.result if isinstance(op, vector.TransferReadOp) else op.vector
    return plain and inside and is_row(value) and rank_of(op.source) > 0


def as_access(op: vector.TransferReadOp | vector.TransferWriteOp) -> Access:
    """Put the access in the place of a transfer that is one."""
    if isinstance(op, vector.TransferReadOp):
        new = vector.LoadOp(op.source, op.indices, op.result.type)
    else:
        new = vector.StoreOp(op.vector, op.source, op.indices)
    new.location = op.location
    Rewriter.replace_op(op, new)
    return new


def is_in_a_row(op: Access, flat: Flat) -> bool:
    """Whether the elements that are accessed are next to each other in the flat buffer."""
    match op:
        case vector.LoadOp() | vector.MaskedLoadOp():
            value = op.result
        case vector.StoreOp():
            value = op.vector
        case vector.MaskedStoreOp():
            value = op.value_to_store
        case _:
            return True
    if isinstance(buffer_type(flat.buffer).element_type, VectorType):
        return False
    return is_row(value) and bool(flat.strides) and flat.strides[-1] == ONE


def is_whole(flat: Flat, type: Buffer, analyzer: Analyzer) -> bool:
    """Whether a buffer of the type is all of the flat one, in order."""
    sizes = [LinearForm((), size) for size in type.get_shape()]
    whole = buffer_type(flat.buffer).get_shape() == flat_type(type).get_shape()
    in_order = list(flat.strides) == row_major(sizes, analyzer)
    return is_static(type) and whole and in_order and flat.offset == ZERO


# Making and erasing


def expand(op: Allocation, flat: SSAValue, shape: Sequence[SSAValue | int]) -> None:
    """Put a view of a flat buffer in the place of an allocation, if that still has uses."""
    if not op.memref.uses:
        Rewriter.erase_op(op)
        return
    type = buffer_type(op.memref)
    view = memref.ExpandShapeOp.build(
        operands=[flat, [size for size in shape if not isinstance(size, int)]],
        result_types=[type],
        properties={
            "reassociation": whole_dimension(type.get_num_dims()),
            "static_output_shape": DenseArrayBase.from_list(i64, type.get_shape()),
        },
    )
    view.location = op.location
    Rewriter.replace_op(op, view)


def erase_unused(values: Iterable[SSAValue]) -> None:
    """Erase the pure operations that give these values, and all that only they use."""
    pending = list(dict.fromkeys(values))
    erased: set[Operation] = set()
    while pending:
        op = pending.pop().owner
        if not isinstance(op, Operation) or op in erased or op.regions:
            continue
        if is_side_effect_free(op) and not any(result.uses for result in op.results):
            pending += op.operands
            erased.add(op)
            Rewriter.erase_op(op)


@dataclass(frozen=True)
class FlattenBuffer(PrimFuncPass):
    """Turn buffers of several dimensions into buffers of one; source: `tir.FlattenBuffer`."""

    name = "tir-flatten-buffer"

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        flattening = Flattening(ctx.remarks)
        flattening.run(func)
        ctx.count("flattened", flattening.buffers)
        ctx.count("accesses", flattening.accesses)
