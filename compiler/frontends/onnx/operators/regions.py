"""Converters of operators that read an image at coordinates that are inputs: regions of interest
and deformable convolution."""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import inf

import numpy as np
from xdsl.dialects.builtin import i64

from ..errors import Unsupported
from ..node import Converters, Node
from .expression import Expression, constant, extent_along, indices, inputs, total
from .linear_algebra import summation
from .windows import steps


def pixels(x: Expression, batch: Expression, y: Expression, z: Expression) -> Expression:
    """Return the channels of an image [N, H, W, C] at indices, which are clipped to it."""
    y, z = (
        places.clipped(0.0, extent_along(x, axis, places.element) - 1.0)
        for axis, places in ((1, y), (2, z))
    )
    places = batch.cast(i64).op("stack", *(v.cast(i64) for v in spread(batch, y, z)[1:]), axis=-1)
    return x.op("gather_nd", places)


def spread(*values: Expression) -> list[Expression]:
    """Broadcast values to their common shape."""
    zero = total([value.cast(i64) * 0 for value in values])
    return [value + zero.cast(value.element) for value in values]


# Regions of interest


def roi_align(node: Node) -> Expression:
    """Convert RoiAlign: the mean, or the maximum term, of bilinear samples in each bin."""
    x, rois, batch = inputs(node, 0, 1, 2)
    x = Expression(node, node.with_rank(x.value, 4))
    bins = node.int("output_height", 1), node.int("output_width", 1)
    mode = node.choice("mode", {"avg": "avg", "max": "max"}, "avg")
    modes = {"half_pixel": 0.5, "output_half_pixel": 0.0}
    default = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    offset = node.choice("coordinate_transformation_mode", modes, default)
    scaled = rois * node.float("spatial_scale", 1.0) - offset
    ratio = node.int("sampling_ratio")
    axes = [
        RoiAxis(
            scaled.at(1, 1 - i),
            scaled.at(1, 3 - i),
            bins[i],
            extent_along(x, 2 + i, rois.element),
            ratio,
            offset == 0,
        )
        for i in range(2)
    ]
    image = x.transpose(0, 2, 3, 1)
    # The axes are regions, bins and samples of rows, bins and samples of columns, channels.
    terms: list[Expression] = []
    (rows, columns), place = axes, batch.expand(1, 2, 3, 4)
    for row, column in product(rows.taps(), columns.taps()):
        y, y_weight = (v.expand(3, 4) for v in row)
        z, z_weight = (v.expand(1, 2) for v in column)
        places = spread(place, y, z)
        terms.append(pixels(image, *places) * (y_weight * z_weight).expand(5))
    if mode == "avg":
        result = total(terms).sum(2, 4) / (rows.count * columns.count).expand(1, 2, 3)
    else:
        maximum = reduce(lambda a, b: a.op("maximum", b), terms)
        for axis, others in ((rows, (3, 4, 5)), (columns, (2, 3, 5))):
            if axis.inside is not None:
                maximum = axis.inside.expand(*others).where(maximum, -inf)
        result = maximum.max(2, 4)
    return result.transpose(0, 3, 1, 2)


class RoiAxis:
    """The samples of regions along an axis of the image: [regions, bins, samples]."""

    def __init__(
        self,
        start: Expression,
        end: Expression,
        bins: int,
        size: int | Expression,
        ratio: int,
        at_least_one: bool,
    ) -> None:
        self.size = size
        extent = end - start
        if at_least_one:
            extent = extent.op("maximum", 1.0)
        each = (extent / bins).expand(1, 2)
        node = start.node
        self.inside: Expression | None = None
        """The samples of each region, if their number varies."""
        if ratio > 0:
            count, samples = start.scalar(ratio), indices(ratio, node)
        else:  # as many as a bin has pixels: padded to the maximum number
            count = each.op("ceil")
            samples = indices(count.max(0, 1, 2).op("maximum", 0.0).cast(i64), node)
        number = samples.cast(start.element)
        if ratio <= 0:
            self.inside = number < count
        count = count.op("maximum", 1.0)
        bin_start = indices(bins, node).cast(start.element).expand(1) * each
        self.places = start.expand(1, 2) + bin_start + (number + 0.5) * (each / count)
        self.count = count.squeeze(1, 2) if ratio <= 0 else count.expand(0)
        """The number of samples of each region, or of all."""

    def taps(self) -> list[tuple[Expression, Expression]]:
        """Return the index and the weight of the two elements around each sample; the weight of
        those that are not in the image, or are none, is 0."""
        places = self.places
        inside = (places >= -1.0) & (places <= self.size)
        if self.inside is not None:
            inside = inside & self.inside
        taps = linear_taps(places.clipped(0.0, self.size - 1.0))
        return [(index, inside.where(weight, 0.0)) for index, weight in taps]


def max_roi_pool(node: Node) -> Expression:
    """Convert MaxRoiPool: the maximum of the pixels in each bin, 0 in one without pixels."""
    x, rois = inputs(node, 0, 1)
    x = Expression(node, node.with_rank(x.value, 4))
    bins, scale = node.per_axis("pooled_shape", 2, 1), node.float("spatial_scale", 1.0)
    y = x.take(rois.at(1, 0).cast(i64), 0)
    filled: Expression | None = None
    corners = (rois * scale + 0.5).op("floor")
    for i, count in enumerate(bins):
        start, end = corners.at(1, 2 - i).expand(1), corners.at(1, 4 - i).expand(1)
        each = (end - start + 1.0).op("maximum", 1.0) / count
        number = indices(count, node).cast(x.element)
        low = (number * each).op("floor") + start
        high = ((number + 1.0) * each).op("ceil") + start
        pixel = indices(extent_along(x, 2 + i, i64), node).cast(x.element)
        inside = (pixel >= low.expand(2)) & (pixel < high.expand(2))
        axes = (1, 4) if i == 0 else (1, 2)
        y = inside.expand(*axes).where(y.expand(2 if i == 0 else 3), -inf).max(3 if i == 0 else 4)
        filled = inside if filled is None else filled
    empty = y.equals(-inf)
    return empty.where(0.0, y)


# Deformable convolution


def deform_conv(node: Node) -> Expression:
    """Convert DeformConv: a convolution of samples at places that are moved by offsets."""
    x, weight, offset = inputs(node, 0, 1, 2)
    batch, channels, *sizes = node.sizes(x.value, 4)
    filters, per_group, *window = node.sizes(weight.value, 4)
    strides, dilation = steps(node, "strides", 2), steps(node, "dilations", 2)
    pads = node.per_axis("pads", 4, 0)
    groups, parts = node.int("group", 1), node.int("offset_group", 1)
    *_, rows, columns = node.sizes(offset.value, 4)
    if channels % parts or per_group * groups != channels or filters % groups:
        raise Unsupported(f"{channels} channels in {groups} groups, and {parts} groups of offsets")
    count = window[0] * window[1]
    offset = offset.reshape(batch, parts, count, 2, rows, columns)
    taps: list[list[tuple[Expression, Expression]]] = []
    for i, extent in enumerate((rows, columns)):
        start = np.arange(extent) * strides[i] - pads[i]
        tap = np.arange(window[i]) * dilation[i]
        # The axes are the elements of the window, rows and columns of the result.
        grid = (
            start.reshape(-1, 1) + np.repeat(tap, window[1]).reshape(-1, 1, 1)
            if i == 0
            else start + np.tile(tap, window[0]).reshape(-1, 1, 1)
        )
        places = offset.at(3, i) + constant(node, grid, x.element)
        last = sizes[i] - 1.0
        taps.append(
            [
                (index, ((index >= 0.0) & (index <= last)).where(weight, 0.0))
                for index, weight in linear_taps(places)
            ]
        )
    # One image for each group of offsets: [N, parts, H, W, C / parts].
    image = x.reshape(batch * parts, channels // parts, *sizes).transpose(0, 2, 3, 1)
    planes = np.arange(batch * parts).reshape(batch, parts, 1, 1, 1)
    plane = constant(node, planes, i64).broadcast(batch, parts, count, rows, columns)
    samples = total(
        [
            pixels(image, plane, y, z) * (y_weight * z_weight).expand(5)
            for (y, y_weight), (z, z_weight) in product(*taps)
        ]
    )
    if node.has(4):
        mask = Expression(node, node.input(4)).reshape(batch, parts, count, rows, columns)
        samples = samples * mask.expand(5)
    # [N, C, elements, rows, columns], in groups.
    samples = samples.transpose(0, 1, 5, 2, 3, 4)
    samples = samples.reshape(batch, groups, per_group * count, rows * columns)
    kernel = weight.reshape(groups, filters // groups, per_group * count)
    y = Expression(node, summation(node, "gfk,ngkp->ngfp", kernel.value, samples.value))
    y = y.reshape(batch, filters, rows, columns)
    if node.has(3):
        y = y + node.along_channels(node.input(3), 4)
    return y


def linear_taps(places: Expression) -> list[tuple[Expression, Expression]]:
    """Return the index and the weight of the two elements around each place."""
    low = places.op("floor")
    fraction = places - low
    return [(low, 1.0 - fraction), (low + 1.0, fraction)]


REGIONS: Converters = {
    "DeformConv": deform_conv,
    "MaxRoiPool": max_roi_pool,
    "RoiAlign": roi_align,
}
