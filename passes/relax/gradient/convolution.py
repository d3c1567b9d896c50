"""Gradients of convolutions: a convolution and its transpose are each other's adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects.relax.contraction import convolution as ops
from ....dialects.relax.expression import by_operation
from ....dialects.relax.layout import Layout
from ....dialects.relax.windows.windows import Window
from .tensors import Tensors, Traced

__all__ = ["GRADIENTS", "relayout"]


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
        conv: "nn.conv1d nn.conv2d nn.conv3d",
        conv_transpose: "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose",
    }
)
