"""Converters of Resize and Upsample."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ...errors import Unsupported
from ...node import Converters, Node
from .dynamic_resize import Resize, axis_by_axis

__all__ = ["RESIZE"]

_METHODS = {
    "nearest": "nearest_neighbor",
    "linear": "linear",
    "bilinear": "linear",
    "cubic": "cubic",
}
_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def resize(node: Node) -> Sequence[SSAValue]:
    """Convert Resize to `relax.image.resize` if the sizes are known, else axis by axis."""
    x, method = node.input(0), node.choice("mode", _METHODS, "nearest")
    rank = node.rank(x)
    axes = [node.axis(axis, x) for axis in node.ints("axes") or range(rank)]
    if node.opset < 11:
        given = Resize(node, axes, method, "asymmetric", "floor", None, 1, None)
    else:
        coordinates = node.string("coordinate_transformation_mode", "half_pixel")
        rounding = node.string("nearest_mode", "round_prefer_floor")
        policy = node.string("keep_aspect_ratio_policy", "stretch")
        given = Resize(node, axes, method, coordinates, rounding, 1, 2, 3, policy)
    return [resized(given, x)]


def upsample(node: Node) -> Sequence[SSAValue]:
    """Convert Upsample, Resize's form before opset 10; scales are an attribute before opset 9."""
    x, method = node.input(0), node.choice("mode", _METHODS, "nearest")
    axes = [*range(node.rank(x))]
    if node.opset >= 9:
        given = Resize(node, axes, method, "asymmetric", "floor", None, 1, None)
        return [resized(given, x)]
    if (scales := node.floats("scales")) is None:
        raise Unsupported("its form before opset 7")
    given = Resize(node, axes, method, "asymmetric", "floor", None, None, None)
    extents = node.static_shape(x)
    return [at_once(given, x, extents, scales, None)]


def resized(given: Resize, x: SSAValue) -> SSAValue:
    """Resize x to constant sizes or scales if they are known, else axis by axis."""
    node = given.node
    extents = [node.shape(x)[axis] for axis in given.axes]
    scales, sizes, roi = (
        given.floats(given.scales),
        given.floats(given.sizes),
        given.floats(given.roi, 2),
    )
    known = scales is not None or sizes is not None
    crops = given.coordinates == "tf_crop_and_resize"
    if not known or 0 in extents or (crops and roi is None):
        return axis_by_axis(given, x)
    if DYNAMIC_INDEX in extents and (crops or scales is None or given.policy != "stretch"):
        return axis_by_axis(given, x)
    if scales is None:
        assert sizes is not None
        scales = proportions(given, sizes, extents)
        if given.policy != "stretch":
            sizes = [floor(s * extent + 0.5) for s, extent in zip(scales, extents, strict=True)]
        whole = [int(size) for size in sizes]
        return at_once(given, x, extents, scales, roi, whole)
    return at_once(given, x, extents, scales, roi)


def proportions(given: Resize, sizes: Sequence[float], extents: Sequence[int]) -> list[float]:
    """Return the scales for given sizes: the same for all axes if proportions are kept."""
    scales = [size / extent for size, extent in zip(sizes, extents, strict=True)]
    if given.policy == "not_larger":
        return [min(scales)] * len(scales)
    if given.policy == "not_smaller":
        return [max(scales)] * len(scales)
    return scales


# Sizes that are known


def at_once(
    given: Resize,
    x: SSAValue,
    extents: Sequence[int],
    scales: Sequence[float],
    roi: Sequence[float] | None,
    sizes: Sequence[int] | None = None,
) -> SSAValue:
    """Resize the axes that change by one `relax.image.resize`."""
    node, count = given.node, len(given.axes)
    if sizes is None:
        pairs = zip(scales, extents, strict=True)
        sizes = [-1 if extent == DYNAMIC_INDEX else floor(s * extent) for s, extent in pairs]
    crops = given.coordinates == "tf_crop_and_resize"
    starts, ends = [0.0] * count, [1.0] * count
    if crops and roi is not None:
        starts, ends = list(roi[:count]), list(roi[count:])
    changed = [
        i
        for i in range(count)
        if scales[i] != 1
        or (sizes[i] != extents[i] and extents[i] != DYNAMIC_INDEX)
        or (starts[i], ends[i]) != (0, 1)
    ]
    if not changed:
        return x
    rank = node.rank(x)
    # Spatial are all but two dimensions: some may be so that do not change.
    same = [i for i in sorted(range(count), key=lambda i: given.axes[i]) if i not in changed]
    changed += same[len(same) - max(0, rank - len(changed) - 2) :]
    changed.sort(key=lambda i: given.axes[i])
    spatial = len(changed)
    if spatial > 3 or rank - spatial > 2:
        return axis_by_axis(given, x)
    missing = spatial + 2 - rank
    if missing:
        x = node.op("expand_dims", x, axis=[*range(missing)])
    places = [given.axes[i] + missing for i in changed]
    letters = iter(_SPATIAL[spatial])
    others = iter("NC")
    layout = "".join(next(letters if i in places else others) for i in range(rank + missing))
    exact = all(sizes[i] != -1 and sizes[i] / extents[i] == scales[i] for i in changed)
    y = node.op(
        f"image.resize{spatial}d",
        x,
        size=[sizes[i] for i in changed],
        scales=None if exact else [scales[i] for i in changed],
        roi=[*(starts[i] for i in changed), *(ends[i] for i in changed)] if crops else None,
        layout=layout,
        method=given.method,
        coordinate_transformation_mode=given.coordinates,
        rounding_method=given.rounding,
        cubic_alpha=node.float("cubic_coeff_a", -0.75),
        cubic_exclude=node.int("exclude_outside"),
        antialias=node.bool("antialias"),
        extrapolation_value=node.float("extrapolation_value"),
    )
    return node.op("squeeze", y, axis=[*range(missing)]) if missing else y


RESIZE: Converters = {"Resize": resize, "Upsample": upsample}
