"""Operations on images: resizing, and exchange of pixels and channels."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from .attributes import (
    bool_prop,
    check_choice,
    float_prop,
    int_prop,
    ints_prop,
    opt_floats_prop,
    string_prop,
)
from .base import OneResultOp
from .interfaces import Injective, InLayout
from .layout import Layout
from .shapes import computed_size, num_elements, scaled
from .types import TENSOR, Tensor, number_type, shape_of, tensor_type, with_shape
from .windows import per_dimension, spatial_op_definition

__all__ = [
    "COORDINATES",
    "METHODS",
    "ROUNDINGS",
    "DepthToSpaceOp",
    "ResampleOp",
    "Resize1dOp",
    "Resize2dOp",
    "Resize3dOp",
    "ResizeOp",
    "Sampling",
    "SpaceToDepthOp",
    "UpsamplingOp",
]

METHODS = ("nearest_neighbor", "linear", "cubic")
COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)
ROUNDINGS = ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


@dataclass(frozen=True)
class Sampling:
    """The properties of `ResampleOp` that say how it interpolates."""

    method: str
    mode: str
    rounding: str
    alpha: float = -0.75
    exclude: bool = False
    antialias: bool = False
    extrapolation: float = 0.0


class ResampleOp(OneResultOp, ABC):
    """A tensor resampled to another size along some dimensions (ONNX Resize).

    Each index of the result is mapped to a coordinate in the data, and the element is interpolated
    from the data around it. `coordinate_transformation_mode`, `cubic_alpha` (cubic_coeff_a),
    `cubic_exclude` (exclude_outside), `antialias` and `extrapolation_value` are ONNX's;
    `rounding_method` is its nearest_mode, where "round" rounds a half to even. `scales` are the
    scales if they are not the quotients of the sizes; `roi` has all starts, then all ends, of the
    dimensions that are resized.
    """

    data = operand_def(TENSOR)
    scales = opt_floats_prop()
    roi = opt_floats_prop()
    method = string_prop("linear")
    coordinate_transformation_mode = string_prop("half_pixel")
    rounding_method = string_prop("round")
    cubic_alpha = float_prop(-0.75)
    cubic_exclude = int_prop(0)
    antialias = bool_prop(False)
    extrapolation_value = float_prop(0.0)

    def sampling(self) -> Sampling:
        """Return the interpolation that the properties describe."""
        return Sampling(
            method=self.method,
            mode=self.coordinate_transformation_mode,
            rounding=self.rounding_method,
            alpha=self.cubic_alpha,
            exclude=bool(self.cubic_exclude),
            antialias=self.antialias,
            extrapolation=self.extrapolation_value,
        )

    def check_sampling(self, count: int) -> None:
        """Raise VerifyException unless the properties are valid for resizing `count` dimensions."""
        check_choice("method", self.method, METHODS)
        check_choice("rounding_method", self.rounding_method, ROUNDINGS)
        mode = check_choice(
            "coordinate_transformation_mode", self.coordinate_transformation_mode, COORDINATES
        )
        if self.roi is None and mode == "tf_crop_and_resize":
            raise VerifyException('coordinate_transformation_mode "tf_crop_and_resize" needs roi')
        _check_count("roi", self.roi, 2 * count)
        _check_count("scales", self.scales, count)
        if self.scales is not None and min(self.scales) <= 0:
            raise VerifyException(f"scales {[*self.scales]} are not all positive")


def _check_count(name: str, values: Sequence[float] | None, count: int) -> None:
    if values is not None and len(values) != count:
        raise VerifyException(f"{name} has {len(values)} numbers, expected {count}")


class ResizeOp(InLayout, Injective, ResampleOp, ABC):
    """A tensor resampled to the size `size` of its spatial dimensions.

    A size of -1 is the scale times the size of the data, rounded down.
    """

    SPATIAL: ClassVar[str]

    size = ints_prop()
    layout = string_prop()

    def data_layout(self) -> Layout:
        return Layout.of(self.layout, "NC" + self.SPATIAL)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        self.check_sampling(len(self.SPATIAL))
        layout = self.data_layout()
        extents = layout.extents(shape_of(type))
        for axis in self.SPATIAL:
            _check_pixels(axis, extents[axis])
        sizes = self.sizes([extents[axis] for axis in self.SPATIAL])
        extents |= zip(self.SPATIAL, sizes, strict=True)
        return (with_shape(type, layout.shape(extents)),)

    def sizes(self, extents: Sequence[int]) -> list[int]:
        """Return the sizes of the spatial dimensions for those of the data."""
        if self.scales is None or -1 not in self.size:
            return [*per_dimension("size", self.size, self.SPATIAL)]
        per_dimension("size", [1 if size == -1 else size for size in self.size], self.SPATIAL)
        rows = zip(self.size, self.scales, extents, strict=True)
        return [
            size if size != -1 else computed_size(partial(scaled, scale=scale), n)
            for size, scale, n in rows
        ]


def _check_pixels(axis: str, extent: int) -> None:
    if extent == 0:
        raise VerifyException(f"dimension {axis} is 0, but resizing needs at least one element")


@spatial_op_definition
class Resize1dOp(ResizeOp):
    """A tensor resized along one spatial dimension (Relay image.resize1d)."""

    name = "relax.image.resize1d"
    SPATIAL: ClassVar = "W"


@spatial_op_definition
class Resize2dOp(ResizeOp):
    """A tensor resized along two spatial dimensions."""

    name = "relax.image.resize2d"
    SPATIAL: ClassVar = "HW"


@spatial_op_definition
class Resize3dOp(ResizeOp):
    """A tensor resized along three spatial dimensions."""

    name = "relax.image.resize3d"
    SPATIAL: ClassVar = "DHW"


class ImageOp(InLayout, Injective, OneResultOp, ABC):
    """A function of a tensor with two spatial dimensions."""

    data = operand_def(TENSOR)
    layout = string_prop("NCHW")

    def data_layout(self) -> Layout:
        return Layout.of(self.layout, "NCHW")

    def extents(self) -> dict[str, int]:
        """Return the size of each axis of the data."""
        type = number_type(self.data)
        return self.data_layout().extents(shape_of(type))

    def image_type(self, **extents: int) -> Tensor:
        """Return the type of an image in the same layout whose axes have these sizes."""
        return with_shape(tensor_type(self.data), self.data_layout().shape(extents))


@irdl_op_definition
class UpsamplingOp(ImageOp):
    """An image resized by two factors (Relay nn.upsampling).

    Its size is rounded, ties to even. The coordinates are those of `relax.image.resize2d` with
    "align_corners", or else "asymmetric".
    """

    METHODS: ClassVar = {
        "nearest_neighbor": "nearest_neighbor",
        "bilinear": "linear",
        "bicubic": "cubic",
    }
    """Method of this operation -> method of `relax.image.resize2d`."""

    name = "relax.nn.upsampling"

    scale_h = float_prop(1.0)
    scale_w = float_prop(1.0)
    method = string_prop("nearest_neighbor")
    align_corners = bool_prop(False)

    def infer_types(self) -> Sequence[Attribute]:
        check_choice("method", self.method, [*self.METHODS])
        scales = {"H": self.scale_h, "W": self.scale_w}
        for axis, scale in scales.items():
            if not 0 < scale < float("inf"):
                raise VerifyException(
                    f"scale_{axis.lower()} is {scale}, expected a positive number"
                )
        extents = self.extents()
        for axis in "HW":
            _check_pixels(axis, extents[axis])
        extents["H"], extents["W"] = self.sizes((extents["H"], extents["W"]))
        return (self.image_type(**extents),)

    def sizes(self, extents: Sequence[int]) -> list[int]:
        """Return the height and width of the result for the height and width of an image."""
        scales = self.scale_h, self.scale_w
        pairs = zip(extents, scales, strict=True)
        return [DYNAMIC_INDEX if n == DYNAMIC_INDEX else round(n * scale) for n, scale in pairs]

    def sampling(self) -> Sampling:
        aligned = self.align_corners
        mode, rounding = ("align_corners", "round") if aligned else ("asymmetric", "floor")
        return Sampling(self.METHODS[self.method], mode, rounding, alpha=-0.5)


class BlockOp(ImageOp, ABC):
    """A conversion of blocks of pixels to channels, or the reverse."""

    block_size = int_prop()

    def block(self) -> int:
        """Return the height and width of a block; VerifyException if it is not positive."""
        if (block := self.block_size) < 1:
            raise VerifyException(f"block_size is {block}, expected at least 1")
        return block

    def quotient(self, axis: str, extent: int, by: int) -> int:
        """Return the size of an axis divided by `by`; VerifyException if there is a remainder."""
        if extent != DYNAMIC_INDEX and extent % by:
            raise VerifyException(
                f"dimension {axis} is {extent}, but block_size {self.block_size} requires a "
                f"multiple of {by}"
            )
        return computed_size(lambda size: size // by, extent)


@irdl_op_definition
class SpaceToDepthOp(BlockOp):
    """Blocks of pixels as channels of one pixel (ONNX SpaceToDepth).

    The position in the block is the outer part of the new channel's index.
    """

    name = "relax.nn.space_to_depth"

    def infer_types(self) -> Sequence[Attribute]:
        block, extents = self.block(), self.extents()
        extents["C"] = num_elements((extents["C"], block * block))
        for axis in "HW":
            extents[axis] = self.quotient(axis, extents[axis], block)
        return (self.image_type(**extents),)


@irdl_op_definition
class DepthToSpaceOp(BlockOp):
    """Channels as blocks of pixels (ONNX DepthToSpace).

    The position in the block is the outer part of a channel's index in mode "DCR", the inner part
    in mode "CRD".
    """

    MODES: ClassVar = ("DCR", "CRD")

    name = "relax.nn.depth_to_space"

    mode = string_prop("DCR")

    def infer_types(self) -> Sequence[Attribute]:
        check_choice("mode", self.mode, self.MODES)
        block, extents = self.block(), self.extents()
        extents["C"] = self.quotient("C", extents["C"], block * block)
        for axis in "HW":
            extents[axis] = num_elements((extents[axis], block))
        return (self.image_type(**extents),)
