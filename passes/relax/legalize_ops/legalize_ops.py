"""LegalizeOps: operations on tensors become functions on buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.relax.base import TensorOp
from ....dialects.relax.concatenation import ConcatenateOp
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.convolution import ForwardConvolutionOp
from ....dialects.relax.interfaces import Elementwise, FusionKind, FusionPattern
from ....dialects.relax.kernels import CallTIROp
from ....dialects.relax.shapes import Shape
from ....dialects.relax.types import is_ranked, static_shape, tensor_type
from ....dialects.tir.builder import Index
from ....dialects.tir.ops import PrimFuncOp
from ....passmanager.base import ModulePass
from ....passmanager.context import PassContext
from ....passmanager.ir.walk import walk
from ...generic.dead_code_elimination import remove_dead_operations
from ...rewriting.outliner import Outliner, fusible_functions
from ..fuse_ops import fuse_operations, is_scalar_constant
from .contraction import is_plain, is_trivial, windows_of
from .kernel_builder import (
    At,
    Buffer,
    Concatenated,
    Contraction,
    Elements,
    KernelBuilder,
    Shifted,
    Tensor,
)
from .legalizations import legalization_of
from .pooling import takes_neighbours
from .tiles import write_contraction

__all__ = ["LegalizeOps", "kernel_of"]


def kernel_of(func: FuncOp, lanes: int = 16) -> PrimFuncOp:
    """The function on buffers that computes what a function of tensors does: the buffers of its
    operands, then those of its results.

    There is no buffer for what is computed element by element, at the place where it is used.
    NotImplementedError, naming the operation, if one has no definition.
    """
    *ops, end = func.body.block.ops
    assert isinstance(end, ReturnOp)
    merged = merged_dimensions(ops, end)
    types = [buffer_type(type) for type in func.function_type.inputs]
    results = [buffer_type(type) for type in func.function_type.outputs]
    kernel = PrimFuncOp(func.sym_name.data, [*types, *results], visibility="private")
    w = KernelBuilder(kernel, lanes=lanes, groups=merged)
    buffers = dict(zip(func.args, kernel.args))
    for old, new in buffers.items():
        new.name_hint = old.name_hint
    tensors: dict[SSAValue, Tensor] = {}
    for value, buffer in buffers.items():
        type = tensor_type(value)
        shape = static_shape(type)
        assert shape is not None
        tensors[value] = Buffer(shape, type.element_type, buffer)
    for op in ops:
        operands = [tensors[operand] for operand in op.operands]
        if merged is not None and isinstance(op, Elementwise | ConcatenateOp):
            outside = [is_outside(operand) for operand in op.operands]
            pairs = zip(operands, outside, strict=True)
            operands = [merge(w, tensor, merged) if o else tensor for tensor, o in pairs]
        tensors |= zip(op.results, define(op, w, operands), strict=True)
    for value, buffer in zip(end.operands, kernel.args[len(types) :], strict=True):
        tensor = tensors[value]
        result = Buffer(tensor.shape, tensor.element, w.view(buffer, tensor.shape))
        write(w, tensor, result, parts_of(value, ops, tensors), vectorized(ops))
        w.bound[tensor] = result
    return w.finish()


def parts_of(
    value: SSAValue, ops: Sequence[Operation], tensors: Mapping[SSAValue, Tensor]
) -> list[Tensor]:
    """What a result is computed of, and nothing else of the same: each element of the element at
    its place."""
    in_place = {value}
    for op in reversed(ops):
        for operand in op.results:
            users = [use.operation for use in operand.uses]
            users = [user for user in users if not isinstance(user, ReturnOp)]
            if users and all(u.results[0] in in_place and keeps_places(u, operand) for u in users):
                in_place.add(operand)
    elsewhere = {tensor for other, tensor in tensors.items() if other not in in_place}
    return [tensor for tensor in tensors.values() if tensor not in elsewhere]


def keeps_places(op: Operation, operand: SSAValue) -> bool:
    """Whether each element of the result depends on none of an operand but the one at its place."""
    if not isinstance(op, FusionPattern) or op.fusion_kind() > FusionKind.BROADCAST:
        return False
    return static_shape(operand.type) == static_shape(op.results[0].type)


def is_outside(value: SSAValue) -> bool:
    """Whether it is a parameter or a constant."""
    return not isinstance(value.owner, Operation) or isinstance(value.owner, FullOp | ConstantOp)


def vectorized(ops: Sequence[Operation]) -> bool:
    """Whether neighbours in the result are computed of neighbours."""
    plain = Elementwise | FullOp | ConstantOp | ConcatenateOp
    return all(isinstance(op, plain) or takes_neighbours(op) for op in ops)


def write(
    w: KernelBuilder, tensor: Tensor, result: Buffer, parts: Sequence[Tensor], vectorized: bool
) -> None:
    """Write loops that compute a result: those of the contraction that it is computed of, or of
    each part of what is concatenated in it."""
    lanes = w.lanes if vectorized else 1

    def finish(index: Sequence[Index], part: Tensor, value: Tensor) -> None:
        w.bound[part] = value
        w.store(w.read(tensor, index), result.buffer, index)
        del w.bound[part]

    for part in parts:
        if part.shape != tensor.shape or part in w.bound:
            continue
        if isinstance(part, Contraction):
            write_contraction(
                w, part, lambda i, v, p=part: finish(i, p, At(p.shape, p.element, i, v, p))
            )
            return
        if isinstance(part, Concatenated):
            for start, source in part.starts():
                with w.elements(source.shape, lanes) as index:
                    index[part.axis] = w.add(index[part.axis], start)
                    finish(index, part, Shifted(part.shape, part.element, source, part.axis, start))
            return
    with w.elements(tensor.shape, lanes) as index:
        w.store(w.read(tensor, index), result.buffer, index)


def buffer_type(type: Attribute) -> MemRefType[Attribute]:
    """The type of a buffer for a tensor; NotImplementedError if its shape is not known."""
    shape = static_shape(type)
    if not is_ranked(type) or shape is None:
        raise NotImplementedError(f"a tensor of type {type}, whose shape is not known")
    return MemRefType(type.element_type, shape)


def define(op: Operation, w: KernelBuilder, operands: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The results of an operation as tensors; NotImplementedError if it has no definition."""
    if isinstance(op, FullOp):
        return (filled(op, op.value.value.data),)
    if isinstance(op, ConstantOp) and op.value.is_splat():
        return (filled(op, op.value.get_values()[0]),)  # pyright: ignore[reportArgumentType]
    definition = legalization_of(op)
    if definition is None:
        raise NotImplementedError(f"'{op.name}', which has no definition for kernels")
    results = definition(op, w, *operands)
    return results if isinstance(results, tuple) else (results,)


def filled(op: FullOp | ConstantOp, value: float) -> Tensor:
    """A tensor whose elements are all the same number."""
    type = tensor_type(op.result)
    shape = static_shape(type)
    assert shape is not None
    return Elements(shape, type.element_type, lambda w, _: w.number(value, type.element_type))


def outline_others(func: FuncOp, outliner: Outliner) -> None:
    """Move operations that nothing is computed together with, but that have a definition, into
    functions of their own."""
    for op in [*walk(func)]:
        if legalization_of(op) is not None and not isinstance(op, FusionPattern):
            outliner.outline([op], {"relax.primitive": UnitAttr()})


# Dimensions that are one dimension for a kernel


def merged_dimensions(ops: Sequence[Operation], end: ReturnOp) -> list[list[int]] | None:
    """Dimensions of the result, counted from the last one, -1, that a kernel may run over as one;
    None if there are none.

    All that is element by element has to have, or not to have, all dimensions of a group; what is
    not, such as a convolution, has to let its result be seen so.
    """
    shapes = {static_shape(value.type) for value in end.operands}
    if len(shapes) != 1 or (frame := shapes.pop()) is None or len(frame) < 2:
        return None
    known = Elementwise | FullOp | ConstantOp | ForwardConvolutionOp | ConcatenateOp
    if not all(isinstance(op, known) for op in ops):
        return None
    together = [True] * (len(frame) - 1)  # of dimensions i and i + 1
    rows: list[list[bool | None]] = []
    for op in ops:
        if isinstance(op, Elementwise | FullOp | ConstantOp):
            rows += [extents(value, frame) for value in (*op.operands, *op.results)]
        elif isinstance(op, ForwardConvolutionOp):
            trivial = is_plain(op) and all(map(is_trivial, windows_of(op)))
            together = [i > 1 and trivial and ok for i, ok in enumerate(together)]
        elif isinstance(op, ConcatenateOp):
            axis = op.axis % len(frame)
            together = [ok and axis not in (i, i + 1) for i, ok in enumerate(together)]
    if not any(together):
        return None
    groups = [[0]]
    for i in range(1, len(frame)):
        if together[i - 1] and all(alike(row, [*groups[-1], i]) for row in rows):
            groups[-1].append(i)
        else:
            groups.append([i])
    convolves = any(isinstance(op, ForwardConvolutionOp) for op in ops)
    if len(groups) == len(frame) or (convolves and len(groups) != 3):
        return None
    return [[i - len(frame) for i in group] for group in groups]


def extents(value: SSAValue, frame: Shape) -> list[bool | None]:
    """For each dimension of the frame, whether a value has it; None if nothing depends on that."""
    shape = static_shape(value.type) or ()
    padded = (*[1] * (len(frame) - len(shape)), *shape)
    return [None if n == 1 else size == n for size, n in zip(padded, frame, strict=True)]


def alike(row: Sequence[bool | None], dimensions: Sequence[int]) -> bool:
    """Whether all of these dimensions are there, or none."""
    return len({row[i] for i in dimensions} - {None}) < 2


def merge(w: KernelBuilder, tensor: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """A tensor with groups of dimensions as one."""
    rank = len(tensor.shape)
    sizes = [
        [tensor.shape[i] for i in group if i >= -rank] for group in groups if group[-1] >= -rank
    ]
    shape = tuple(map(prod, sizes))
    if isinstance(tensor, Elements):  # all of them are the same
        return Elements(shape, tensor.element, tensor.compute)
    return w.reshaped(tensor, shape)


@dataclass(frozen=True)
class LegalizeOps(ModulePass):
    """Make a function on buffers of each primitive function, and of each other operation on
    tensors; equal ones are one; source: `relax.transform.LegalizeOps`.

    Calls of them are `relax.call_tir`. What is left as it is: views and constants, which need no
    kernel, tensors whose shape is not known, and operations that have no definition; a remark says
    which.
    """

    name = "legalize-ops"
    required = ("infer-type",)

    lanes: int = 16
    """Elements of a vector."""

    def __post_init__(self) -> None:
        if self.lanes < 1:
            raise ValueError(f"lanes is {self.lanes}: expected at least 1")

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        functions = fusible_functions(module)
        outliner = Outliner(module, is_scalar_constant)
        for func in functions:
            remove_dead_operations(func)  # plan-memory has no place for what is not legalized
            fuse_operations(func, outliner, fuse_opt_level=0)
            outline_others(func, outliner)
            for op in walk(func):
                if isinstance(op, TensorOp) and legalization_of(op) is None:
                    ctx.remarks.missed(op, "NoKernel", f"'{op.name}' has no definition for kernels")
        outliner.finish()
        kernels: dict[str, PrimFuncOp] = {}
        for func in module.body.block.ops:
            if not isinstance(func, FuncOp) or "relax.primitive" not in func.attributes:
                continue
            try:
                kernel = kernel_of(func, self.lanes)
            except NotImplementedError as error:
                ctx.remarks.missed(func, "NoKernel", f"no kernel computes {error}")
                continue
            kernels[func.sym_name.data] = kernel
            block = func.parent
            assert block is not None
            block.insert_op_after(kernel, func)
            func.detach()
            func.erase()
            ctx.count("kernels")
        for op in [op for op in walk(module) if isinstance(op, CallOp)]:
            if op.callee.root_reference.data in kernels:
                call = CallTIROp(op.callee, op.arguments, [r.type for r in op.results])
                call.location = op.location
                Rewriter.replace_op(op, call)
