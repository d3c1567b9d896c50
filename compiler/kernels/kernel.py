"""The kernel of a primitive function: loops over buffers that compute its results."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, FixedBitwidthType, FunctionType, MemRefType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.data.concatenation import ConcatenateOp
from ...dialects.relax.data.manipulation import TransposeOp
from ...dialects.relax.interfaces import Elementwise, FusionKind, FusionPattern
from ...dialects.relax.types import SmallFloat, is_integer, is_ranked, tensor_type, too_large
from ...dialects.relax.windows import AdaptivePoolOp, PoolOp
from ...dialects.sizes import TooComplex
from ...dialects.target import DEFAULT, Target
from ...dialects.tir.builder import Index
from ...dialects.tir.functions import Shape, UnknownExtent, extent_of
from ...dialects.tir.ops import PrimFuncOp
from ..analysis.symbolic_shapes import SymbolicShapes
from .builder import Buffer, Elements, KernelBuilder, KernelRemark, Preparation, Tensor, Winograd
from .call_sizes import KernelSizes
from .choices import Choice, Choices, NoKernel
from .contraction.contraction import Contraction
from .contraction.winograd import WinogradConvolution, write_winograd
from .legalizations import legalization_of
from .merged_dimensions import (
    AlongAxes,
    RowNorm,
    groups_before,
    is_outside,
    merge,
    merged_dimensions,
    merged_shape,
    order_of,
    reduced_dimensions,
)
from .scalars import fills_bytes, step_type
from .tensors import At, require_parameters
from .tiles.loop_nest import write_contraction

# Keys of kernels: equal for primitive functions of the same structure, whatever their names.


def kernel_key(func: FuncOp, constants: Collection[int], winograd: Winograd = "none") -> str:
    """Return the key of the kernel of `func`. `constants` are the numbers of the parameters that
    are constants in all calls of it.

    The key depends on the operations, their attributes, and the types of values; not on names,
    locations and the values of constants.
    """
    text = "\n".join([f"winograd {winograd}", f"constants {sorted(constants)}", *_lines(func)])
    # 128 bits: with as many kernels as are ever measured, a collision is out of the question, and
    # keys of two databases can be compared without the kernels.
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _lines(func: FuncOp) -> Iterator[str]:
    """Yield the operations of a function as text, values by their numbers."""
    numbers: dict[SSAValue, int] = {}

    def define(values: Sequence[SSAValue]) -> str:
        for value in values:
            numbers[value] = len(numbers)
        return " ".join(str(value.type) for value in values)

    def block_lines(block: Block) -> Iterator[str]:
        yield f"({define(block.args)})"
        for op in block.ops:
            operands = " ".join(str(numbers[value]) for value in op.operands)
            attributes = " ".join(f"{name}={value}" for name, value in _attributes(op))
            yield f"{op.name} ({operands}) <{attributes}> {define(op.results)}"
            for region in op.regions:
                for inner in region.blocks:
                    yield from block_lines(inner)
            if op.regions:
                yield "end"

    for block in func.body.blocks:
        yield from block_lines(block)


def _attributes(op: Operation) -> list[tuple[str, Attribute]]:
    """Return the attributes of an operation by name, without the value of a constant."""
    both = {**op.attributes, **op.properties}
    if isinstance(op, ConstantOp | FullOp):
        # The value of a constant influences at most which problem is solved, such as whether f32
        # holds all sums. A measured choice applies to its own problem only (`Choices`).
        both.pop("value", None)
    return sorted(both.items())


# Whether loops over the elements of a kernel's result can be vectorized, and if not, why.


TILES = "lanes of tiles compute them"
"""Why kernels for GPUs have no vectors."""


def obstacle_to_vectors(ops: Iterable[Operation], stored: Iterable[Attribute]) -> str | None:
    """Return why a kernel of `ops` computes its elements one by one; None if it may compute
    adjacent elements together. `stored` are the element types of its buffers.

    A vector is loaded from adjacent elements, so adjacent elements of the result must be computed
    from adjacent ones: true of `add`, not of `take` or of a transposition.
    """
    plain = Elementwise | FullOp | ConstantOp | ConcatenateOp
    for op in ops:
        if not isinstance(op, plain) and not keeps_neighbours(op):
            return f"{op.name} may compute adjacent elements from distant ones"
    for element in stored:
        if not fills_bytes(element):
            return f"no vectors of {element} are loaded or stored"
    return None


def keeps_neighbours(op: Operation) -> bool:
    """Return whether `op` is pooling of adjacent elements from adjacent ones."""
    if isinstance(op, AdaptivePoolOp):
        return op.data_layout().axes[-1] not in op.SPATIAL
    if not isinstance(op, PoolOp):
        return False
    layout, out_layout = op.layouts()
    return layout == out_layout and layout.axes[-1] not in op.SPATIAL


@dataclass(frozen=True)
class Kernel:
    """A kernel, and the constants that its callers have to prepare, by parameter."""

    source: FuncOp
    """The function that it computes."""
    func: PrimFuncOp
    prepared: Mapping[int, Preparation]
    remarks: Sequence[KernelRemark]
    """The choices of its schedule."""
    warnings: Sequence[tuple[Operation, str]]
    """The operations that will fail at run time, and why."""
    choices: Choices


def kernel_of(
    func: FuncOp,
    target: Target = DEFAULT,
    constants: Mapping[int, Sequence[ConstantOp | FullOp]] = MappingProxyType({}),
    winograd: Winograd = "none",
    measured: Sequence[Choice] | None = None,
) -> Kernel:
    """Return the function on buffers that computes `func` on a processor: its parameters are the
    buffers of the operands, then those of the results.

    Element-wise intermediate results have no buffer: they are computed where they are used.
    `constants` has, by the number of a parameter, the constants that the calls of `func` pass.
    Choices are made by estimates, except for those that were `measured`.

    Errors: NoKernel if kernels do not support an operation or a type.
    """
    try:
        return build_kernel(func, target, constants, winograd, measured)
    except (UnknownExtent, TooComplex) as error:
        raise NoKernel(f"it depends on a size that is not known: {error}") from error


def build_kernel(
    func: FuncOp,
    target: Target,
    constants: Mapping[int, Sequence[ConstantOp | FullOp]],
    winograd: Winograd,
    measured: Sequence[Choice] | None,
) -> Kernel:
    """Return the kernel of `func`; UnknownExtent if it needs an unknown size in a way that its
    loops do not support."""
    *ops, end = func.body.block.ops
    assert isinstance(end, ReturnOp)
    shapes = symbolic_shapes(func)
    sizes = sizes_of(func, shapes)
    inputs = [buffer_type(type) for type in func.function_type.inputs]
    outputs = [buffer_type(type) for type in func.function_type.outputs]
    kernel = PrimFuncOp(func.sym_name.data, [*inputs, *outputs], visibility="private")
    stored = [tensor_type(value).element_type for value in (*func.args, *end.operands)]
    groups = merged_dimensions(ops, end, sizes) or reduced_dimensions(ops, end, sizes)
    # Kernels of a GPU take constants as they are, but may know their elements.
    preparable = [] if target.is_cuda else constant_parameters(func, constants)
    # Callers pass a constant transposed, unless its dimensions are merged.
    computed = [
        op
        for op in ops
        if groups or not isinstance(op, TransposeOp) or op.operands[0] not in preparable
    ]
    b = KernelBuilder(
        kernel,
        target,
        # All vectors of a kernel have the same number of lanes, so that those of all values belong
        # to the same elements. With f64 and f32 it is the number of f64; f32 then fill half of a
        # register.
        bits=widest(ops),
        scalar=TILES if target.is_cuda else obstacle_to_vectors(computed, stored),
        groups=groups,
        winograd=winograd,
        measured=measured,
    )
    b.sizes = sizes
    b.in_place = computed_in_place(ops, end, sizes, groups)
    for value, buffer in zip((*func.args, *end.operands), kernel.args, strict=True):
        for axis, extent in enumerate(sizes[value]):
            if not isinstance(extent, int) and (symbol := extent.size.lone_symbol) is not None:
                b.read_size(symbol.name, buffer, axis)
        b.shapes[buffer] = sizes[value]
    if shapes is not None:
        b.unnamed = KernelSizes(func, shapes, b, dict(zip(func.args, kernel.args))).of_symbol
    tensors: dict[SSAValue, Tensor] = {}
    for old, new in zip(func.args, kernel.args):
        new.name_hint = old.name_hint
        tensors[old] = Buffer(sizes[old], tensor_type(old).element_type, new)
        if old in preparable:
            b.constants.add(new)
    b.constants_of = {
        **{old: constants.get(old.index, ()) for old in func.args},
        **{op.result: (op,) for op in ops if isinstance(op, ConstantOp | FullOp)},
    }
    for op in ops:
        results = legalize(op, b, operands_of(op, b, tensors))
        tensors |= zip(op.results, results, strict=True)
    for value, buffer in zip(end.operands, kernel.args[len(inputs) :], strict=True):
        tensor = tensors[value]
        result = Buffer(tensor.shape, tensor.element, b.view(buffer, tensor.shape))
        parts = in_place_parts(value, ops, tensors, sizes)
        # Two of several results may be the same tensor, which is in one buffer only.
        if len(end.operands) > 1 or not computed_in(b, tensor, result):
            write_result(b, tensor, result, parts)
        b.bound[tensor] = result
    b.finish()
    types = [argument.type for argument in kernel.args]
    kernel.function_type = FunctionType.from_lists(types, [])
    prepared = {v.index: p for v, p in b.prepared.items() if isinstance(v, BlockArgument)}
    return Kernel(func, kernel, prepared, b.remarks, b.warnings, b.choices)


def constant_parameters(
    func: FuncOp, constants: Mapping[int, Sequence[ConstantOp | FullOp]]
) -> list[SSAValue]:
    """Return the parameters that callers can prepare: those with one use, for which all callers
    pass constants."""
    return [
        arg
        for arg in func.args
        if (given := constants.get(arg.index))
        and arg.has_one_use()
        and all(isinstance(op, ConstantOp) for op in given)
    ]


def widest(ops: Sequence[Operation]) -> int:
    """Return the bits of the widest elements that `ops` read or compute."""
    types = [value.type for op in ops for value in (*op.operands, *op.results)]
    elements = [type.element_type for type in types if is_ranked(type)]
    return max((bits_of(type) for type in elements), default=32)


def bits_of(type: Attribute) -> int:
    """Return the bits in which elements of a type are computed: floats of up to 16 bits in f32."""
    if isinstance(type, SmallFloat):
        return 32
    wide = step_type(type) if not is_integer(type) else type
    assert isinstance(wide, FixedBitwidthType)
    return wide.bitwidth


def buffer_type(type: Attribute) -> MemRefType[Attribute]:
    """Return the type of the buffer of a tensor; NoKernel if its rank is not known, or it is larger
    than any memory."""
    if not is_ranked(type):
        raise NoKernel(f"the rank of {type} is not known")
    if (reason := too_large(type)) is not None:
        raise NoKernel(f"{type}: {reason}")
    return MemRefType(type.element_type, type.get_shape())


def symbolic_shapes(func: FuncOp) -> SymbolicShapes | None:
    """Return the shapes of all values of `func`, in the symbols of its parameters, or None if all
    are known; NoKernel for a tensor that has no buffer."""
    types = [
        *func.function_type.inputs,
        *(r.type for op in func.body.block.ops for r in op.results),
    ]
    if any([DYNAMIC_INDEX in buffer_type(type).get_shape() for type in types]):
        return SymbolicShapes.of_function(func)
    return None


def sizes_of(func: FuncOp, shapes: SymbolicShapes | None) -> dict[SSAValue, Shape]:
    """Return the sizes of all values of `func`. `shapes` has the shapes with unknown sizes; None if
    all sizes are known."""
    values = [*func.args, *(value for op in func.body.block.ops for value in op.results)]
    if shapes is None:
        return {value: buffer_type(value.type).get_shape() for value in values}
    return {value: tuple(map(extent_of, shapes.of(value) or ())) for value in values}


def operands_of(
    op: Operation, b: KernelBuilder, tensors: Mapping[SSAValue, Tensor]
) -> list[Tensor]:
    """Return the operands of `op`, in merged dimensions if the kernel merges some."""
    operands = [tensors[operand] for operand in op.operands]
    if b.groups is not None and isinstance(op, TransposeOp):
        return [merge(b, tensor, groups_before(order_of(op), b.groups)) for tensor in operands]
    if b.groups is None or not isinstance(op, Elementwise | ConcatenateOp | AlongAxes | RowNorm):
        return operands
    return [
        merge(b, tensor, b.groups) if is_outside(operand) else tensor
        for tensor, operand in zip(operands, op.operands, strict=True)
    ]


# Legalization of one operation


def legalize(op: Operation, b: KernelBuilder, operands: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return the results of `op` on `operands`; NoKernel if it has no legalization."""
    if isinstance(op, FullOp):
        return (filled(op, b, op.value.value.data),)
    if isinstance(op, ConstantOp) and op.value.is_splat():
        return (filled(op, b, op.value.get_values()[0]),)  # pyright: ignore[reportArgumentType]
    if (legalization := legalization_of(op)) is None:
        raise NoKernel(f"'{op.name}' has no legalization")
    require_parameters(op, b)
    results = legalization(op, b, *operands)
    return results if isinstance(results, tuple) else (results,)


def filled(op: FullOp | ConstantOp, b: KernelBuilder, value: float) -> Tensor:
    """Return a tensor whose elements are all `value`."""
    type, shape = tensor_type(op.result), b.shape_of(op.result)
    return Elements(shape, type.element_type, lambda b, _: b.number(value, type.element_type))


# Results


def in_place_values(
    value: SSAValue, ops: Sequence[Operation], sizes: Mapping[SSAValue, Shape]
) -> set[SSAValue]:
    """Return the values that only `value` uses, each element of it the one at the same index.

    The loops of such a value can compute `value` as they go. With `c = conv(x)` and `r = relu(c)`,
    each sum of the convolution goes through `relu` before it is stored.
    """
    # Backwards: users are decided before what they use. A value with two users is in place if both
    # are: with s = conv(x) and s * sigmoid(s), each sum is read twice, both times where it was
    # computed.
    in_place = {value}
    for op in reversed(ops):
        for operand in op.results:
            users = [use.operation for use in operand.uses]
            users = [user for user in users if not isinstance(user, ReturnOp)]
            if users and all(
                u.results[0] in in_place and is_in_place(u, operand, sizes) for u in users
            ):
                in_place.add(operand)
    return in_place


def in_place_parts(
    value: SSAValue,
    ops: Sequence[Operation],
    tensors: Mapping[SSAValue, Tensor],
    sizes: Mapping[SSAValue, Shape],
) -> list[Tensor]:
    """Return the tensors of `in_place_values`, except for tensors that other values have, too."""
    in_place = in_place_values(value, ops, sizes)
    elsewhere = {tensor for other, tensor in tensors.items() if other not in in_place}
    return [tensor for tensor in tensors.values() if tensor not in elsewhere]


def computed_in_place(
    ops: Sequence[Operation],
    end: ReturnOp,
    sizes: Mapping[SSAValue, Shape],
    groups: Sequence[Sequence[int]] | None,
) -> dict[SSAValue, Shape]:
    """Return the value whose loops compute the only result of a kernel, with its shape in merged
    dimensions. It is the result of the only operation that is not element-wise; empty if there is
    none."""
    others = [op for op in ops if not isinstance(op, Elementwise | FullOp | ConstantOp)]
    if len(others) != 1 or len(others[0].results) != 1 or len(end.operands) != 1:
        return {}
    (value,) = others[0].results
    if value not in in_place_values(end.operands[0], ops, sizes):
        return {}
    shape = sizes[value]
    return {value: merged_shape(shape, groups) if groups else shape}


def is_in_place(op: Operation, operand: SSAValue, sizes: Mapping[SSAValue, Shape]) -> bool:
    """Return whether an element of the result needs only the element of `operand` at its index."""
    if not isinstance(op, FusionPattern) or op.fusion_kind() > FusionKind.BROADCAST:
        return False
    return sizes[operand] == sizes[op.results[0]]


def computed_in(b: KernelBuilder, tensor: Tensor, result: Buffer) -> bool:
    """Replace the allocation that `tensor` is in by `result`; return False if `tensor` is not in an
    allocation of the same type. Nothing else may read `tensor` later."""
    source = b.bound.get(tensor, tensor)
    if not isinstance(source, Buffer) or source.buffer.type != result.buffer.type:
        return False
    if not isinstance(op := source.buffer.owner, memref.AllocOp):
        return False
    source.buffer.replace_all_uses_with(result.buffer)
    Rewriter.erase_op(op)
    return True


def write_result(b: KernelBuilder, tensor: Tensor, result: Buffer, parts: Sequence[Tensor]) -> None:
    """Write loops that store `tensor` into `result`: the loops of a contraction or of another
    scheduled tensor among `parts`, or else plain loops."""

    def finish(index: Sequence[Index], part: Tensor, value: SSAValue) -> None:
        # While the result is computed at this index, a read of `part` at this index returns the
        # value at hand. A read at another index goes to `part`, which computes the element again.
        b.bound[part] = At(part.shape, part.element, index, value, part)
        b.store(b.read(tensor, index), result.buffer, index)
        del b.bound[part]

    for part in parts:
        if part.shape != tensor.shape or part in b.bound:
            continue
        if isinstance(part, WinogradConvolution):
            write_winograd(b, part, lambda i, v, p=part: finish(i, p, v))
            return
        if isinstance(part, Contraction) and not b.target.is_cuda:
            write_contraction(b, part, lambda i, v, p=part: finish(i, p, v))
            return
        if b.has_own_loops(part):
            part.write(b, lambda i, v, p=part: finish(i, p, v))
            return
    if b.scalar not in (None, TILES):
        b.remark("missed", "Vectorize", f"elements are computed one by one: {b.scalar}")
    with b.elements(tensor.shape, b.element_lanes) as index:
        b.store(b.read(tensor, index), result.buffer, index)
