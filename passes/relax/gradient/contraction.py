"""Gradients of products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects.relax.contraction import convolution as ops
from ....dialects.relax.contraction.linear_algebra import (
    BatchMatmulOp,
    DenseOp,
    EinsumOp,
    MatmulOp,
    Subscripts,
)
from ....dialects.relax.expression import by_operation
from ....dialects.relax.interfaces import NotDifferentiable
from ....dialects.relax.layout import Layout
from ....dialects.relax.windows import Window
from .tensors import Tensors, Traced


def matmul(op: MatmulOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Compute `g @ y^T` and `x^T @ g`; a vector is a matrix of one row or one column."""
    x, y = b.of(op.lhs), b.of(op.rhs)
    shape = g.shape
    if x.rank == 1:
        shape = (*shape[: len(shape) - (y.rank > 1)], 1, *shape[len(shape) - (y.rank > 1) :])
    if y.rank == 1:
        shape = (*shape, 1)
    rows = x.reshape(1, *x.shape) if x.rank == 1 else x
    columns = y.reshape(*y.shape, 1) if y.rank == 1 else y
    g = g.reshape(*shape)
    # Batch dimensions may have been broadcast: their adjoints are summed.
    d_rows = (g @ columns.swapped()).sum_to(rows.value)
    d_columns = (rows.swapped() @ g).sum_to(columns.value)
    return d_rows.reshape(*x.shape), d_columns.reshape(*y.shape)


def dense(op: DenseOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    x, w = b.of(op.data), b.of(op.weight)
    g = g.cast(x.element)
    outputs, inputs = w.shape
    # One product over all leading dimensions at once, in place of one for each and their sum.
    d_w = g.reshape(-1, outputs).swapped() @ x.reshape(-1, inputs)
    return g @ w, d_w


def batch_matmul(op: BatchMatmulOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Compute the adjoints of the matrices as they are multiplied, then transpose them back."""
    x, y = b.of(op.lhs), b.of(op.rhs)
    g = g.cast(x.element)
    rows = x.swapped() if op.transpose_a else x
    columns = y.swapped() if op.transpose_b else y
    d_rows = (g @ columns.swapped()).sum_to(rows.value)
    d_columns = (rows.swapped() @ g).sum_to(columns.value)
    return (
        d_rows.swapped() if op.transpose_a else d_rows,
        d_columns.swapped() if op.transpose_b else d_columns,
    )


def einsum(op: EinsumOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Sum the products of the adjoint and the other operands over all indices that an operand does
    not have; an index that nothing else has is broadcast."""
    subscripts = Subscripts.parse(op.subscripts)
    operands = [b.of(operand) for operand in op.args]
    names = [
        Subscripts.dimensions(term, x.rank)
        for term, x in zip(subscripts.terms, operands, strict=True)
    ]
    output = Subscripts.dimensions(subscripts.output, g.rank)
    letters = {name: _letter(i) for i, name in enumerate(dict.fromkeys(sum(names, output)))}
    adjoints: list[Traced] = []
    for i, own in enumerate(names):
        if len({*own}) < len(own):
            raise NotDifferentiable(
                f"operand {i} has an index twice, which takes a diagonal: take it with "
                "relax.gather_nd"
            )
        others = [output, *names[:i], *names[i + 1 :]]
        # For "ij,jk->ik" the adjoint of the first operand is einsum("ik,jk->ij") of g and the
        # second. An index that only the operand has was summed over: each of its elements gets the
        # same adjoint.
        kept = [name for name in own if any(name in other for other in others)]
        terms = ["".join(letters[name] for name in term) for term in (*others, kept)]
        product = g.op(
            "einsum",
            *operands[:i],
            *operands[i + 1 :],
            subscripts=f"{','.join(terms[:-1])}->{terms[-1]}",
        )
        sizes = iter(product.shape)
        spread = product.reshape(*[next(sizes) if name in kept else 1 for name in own])
        shape = operands[i].shape
        pairs = zip(spread.shape, shape, strict=True)
        wide = spread.broadcast(*(n if size == 1 else size for size, n in pairs))
        adjoints.append(wide.sum_to(op.args[i]))
    return adjoints


def _letter(index: int) -> str:
    """Return the letter of an index; einsum has 52."""
    if index >= 52:
        raise NotDifferentiable(f"has more than {index} indices, but there are 52 letters")
    return chr(ord("a") + index) if index < 26 else chr(ord("A") + index - 26)


# Gradients of convolutions: a convolution and its transpose are each other's adjoints.


def relayout(x: Traced, src: Layout | str, dst: Layout | str) -> Traced:
    """Transform a tensor to another layout."""
    old, new = (layout if isinstance(layout, str) else layout.text for layout in (src, dst))
    return x if old == new else x.op("layout_transform", src_layout=old, dst_layout=new)


def conv(op: ops.ForwardConvolutionOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Compute the adjoint of the data by the transposed convolution, and that of the weight by a
    convolution of the data with the adjoint of the result."""
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, kernel = "NC" + op.SPATIAL, "OI" + op.SPATIAL
    # In one layout, as the rules are those of axes.
    x = relayout(b.of(op.data), data_layout, plain)
    w = relayout(b.of(op.weight), kernel_layout, kernel)
    g = relayout(g.cast(x.element), out_layout, plain)
    # A result depends on elements `stride` apart: its adjoint goes back to these places, which is
    # what the transposed convolution does.
    windows = op.windows(w.shape[2:])
    # Elements behind the last window, which no result depends on, get zeros: first those of the
    # padding, which are not cut off then.
    rests = [
        window.before + size + window.after - window.covered(count)
        for window, size, count in zip(windows, x.shape[2:], g.shape[2:], strict=True)
    ]
    after = [max(w.after - rest, 0) for w, rest in zip(windows, rests, strict=True)]
    added = [max(rest - w.after, 0) for w, rest in zip(windows, rests, strict=True)]
    d_x = g.op(
        f"nn.conv{len(op.SPATIAL)}d_transpose",
        w,
        strides=op.strides,
        padding=[*(window.before for window in windows), *after],
        output_padding=added,
        dilation=op.dilation,
        groups=op.groups,
        data_layout=plain,
        kernel_layout="IO" + op.SPATIAL,
    )
    d_w = weight_gradient(x, g, windows, op.groups, op.SPATIAL)
    return (
        relayout(d_x, plain, data_layout),
        relayout(d_w.cast(w.element), kernel, kernel_layout),
    )


def conv_transpose(op: ops.TransposedConvolutionOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Compute the adjoint of the data by the convolution; that of the weight is that of the
    convolution, whose data is the adjoint of the result."""
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, kernel = "NC" + op.SPATIAL, "IO" + op.SPATIAL
    x = relayout(b.of(op.data), data_layout, plain)
    w = relayout(b.of(op.weight), kernel_layout, kernel)
    g = relayout(g.cast(x.element), out_layout, plain)
    windows = op.windows(w.shape[2:])
    for i, padding in enumerate(op.output_padding):
        # It keeps elements that the padding would cut off; those behind them are constant zeros.
        zeros = max(padding - windows[i].after, 0)
        windows[i] = replace(windows[i], after=max(windows[i].after - padding, 0))
        g = g.slice(i + 2, 0, g.shape[i + 2] - zeros)
    d_x = g.op(
        f"nn.conv{len(op.SPATIAL)}d",
        w,
        strides=op.strides,
        padding=[*(window.before for window in windows), *(window.after for window in windows)],
        dilation=op.dilation,
        groups=op.groups,
        data_layout=plain,
        kernel_layout="OI" + op.SPATIAL,
    )
    d_w = weight_gradient(g, x, windows, op.groups, op.SPATIAL)
    return (
        relayout(d_x, plain, data_layout),
        relayout(d_w.cast(w.element), kernel, kernel_layout),
    )


def weight_gradient(
    x: Traced, g: Traced, windows: Sequence[Window], groups: int, spatial: str
) -> Traced:
    """Return the adjoint of the weight of a convolution of `x`, in the layout OI and `spatial`.

    The sum over the batch and all windows is a convolution in which batch and channels have changed
    places, and strides and dilation too. Group by group, the channels of a group of `x` are a batch
    and the batches are its channels.
    """
    batch, channels, *sizes = x.shape
    if groups > 1:
        inner = channels // groups
        x = x.reshape(batch, groups, inner, *sizes)
        x = x.transpose(1, 0, *range(2, len(sizes) + 3))
        x = x.reshape(groups * batch, inner, *sizes)
    result = x.op(
        f"nn.conv{len(spatial)}d",
        g,
        # d_w[k] is the sum over i of x[stride * i + dilation * k] * g[i]: over i it is a
        # convolution whose steps are the old dilation, and whose dilation is the old stride.
        strides=[window.dilation for window in windows],
        dilation=[window.stride for window in windows],
        padding=[*(window.before for window in windows), *(window.after for window in windows)],
        groups=groups,
        data_layout="CN" + spatial,
        kernel_layout="IO" + spatial,
        out_layout="CN" + spatial,
    )
    # Behind the kernel there may be room for more windows, which no weight stands for.
    for axis, window in enumerate(windows, 2):
        result = result.slice(axis, 0, window.size)
    return result


GRADIENTS = by_operation(
    {
        batch_matmul: "nn.batch_matmul",
        dense: "nn.dense",
        einsum: "einsum",
        matmul: "matmul",
        conv: "nn.conv1d nn.conv2d nn.conv3d",
        conv_transpose: "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose",
    }
)
