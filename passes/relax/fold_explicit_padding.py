"""FoldExplicitPadding: merge `relax.nn.pad` into the padding of a convolution or pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import copysign

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.exceptions import VerifyException

from ...dialects.relax.attributes import PropertyValue, properties_of
from ...dialects.relax.contraction.convolution import ForwardConvolutionOp
from ...dialects.relax.layout import Layout
from ...dialects.relax.reduction.nn import PadOp
from ...dialects.relax.types import is_number, static_shape, tensor_type
from ...dialects.relax.windows import AvgPoolOp, MaxPoolOp
from ...passmanager.fast.pattern_driver import actions_of
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.rewriting import PatternPass


class FoldPadding(RewritePattern):
    """Replace an operation on windows of a padded tensor by one that pads the tensor itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: ForwardConvolutionOp | MaxPoolOp | AvgPoolOp, rewriter: PatternRewriter, /
    ) -> None:
        if not isinstance(pad := op.data.owner, PadOp):
            return
        try:
            properties = folded_properties(op, pad)
        except VerifyException as error:
            actions_of(rewriter).missed(op, "NotFolded", f"the padding is not folded: {error}")
            return
        new = type(op).create(
            operands=[pad.data, *op.operands[1:]],
            result_types=op.result_types,
            properties=op.properties | properties_of(type(op), properties),
            attributes=op.attributes,
        )
        # Asked of the new operation, as the rule of the last window is that of `Window.count`.
        if isinstance(op, MaxPoolOp | AvgPoolOp) and op.ceil_mode and not _has_same_windows(new):
            actions_of(rewriter).missed(
                op, "NotFolded", "the padding is not folded: with ceil_mode there are fewer windows"
            )
            return
        rewriter.replace(op, new)


def folded_properties(
    op: ForwardConvolutionOp | MaxPoolOp | AvgPoolOp, pad: PadOp
) -> dict[str, PropertyValue]:
    """Return the properties of `op` that change if it pads the operand of `pad` itself.

    VerifyException if its padding cannot have the widths or the elements of `pad`.
    """
    if pad.pad_mode != "constant":
        raise VerifyException(f'pad_mode is "{pad.pad_mode}"')
    # -0.0 is not 0.0: a sum of padding alone would have another sign.
    if pad.pad_value != (expected := _padding_of(op)) or (
        copysign(1, pad.pad_value) != copysign(1, expected)
    ):
        raise VerifyException(f"pad_value is {pad.pad_value}, but {op.name} pads {expected}")
    before, after = _spatial_widths(pad.pad_width, op.layouts()[0], op.SPATIAL)
    own, axes = op.padding, len(op.SPATIAL)
    padding = [
        new + old for new, old in zip((*before, *after), (*own[:axes], *own[-axes:]), strict=True)
    ]
    if not isinstance(op, AvgPoolOp) or op.count_include_pad:
        return {"padding": padding}
    # Its own padding is not counted and the new one is: no single flag says that.
    if any(own):
        raise VerifyException("a mean that does not count its own padding would not count this")
    return {"padding": padding, "count_include_pad": True}


def _padding_of(op: ForwardConvolutionOp | MaxPoolOp | AvgPoolOp) -> float:
    """Return the number that `op` pads with."""
    if not isinstance(op, MaxPoolOp):
        return 0.0
    from ...compiler.interpreters.arrays import bounds

    element = tensor_type(op.data).element_type
    assert is_number(element)
    return bounds(element)[0]


def _spatial_widths(
    widths: Sequence[int], layout: Layout, spatial: str
) -> tuple[list[int], list[int]]:
    """Return the widths before and after each of the `spatial` axes.

    VerifyException if a width is negative or of another dimension.
    """
    pairs = dict(zip(layout.axes, zip(widths[::2], widths[1::2], strict=True), strict=True))
    for axis, pair in pairs.items():
        # A blocked axis (NCHW4c) is padded in blocks, which a window does not see.
        if pair != (0, 0) and (axis not in spatial or axis.lower() in pairs):
            raise VerifyException(f"dimension {axis} of {layout.text} is padded")
        if min(pair) < 0:
            raise VerifyException(f"dimension {axis} is padded by {pair[0]} and {pair[1]}")
    return [pairs[axis][0] for axis in spatial], [pairs[axis][1] for axis in spatial]


def _has_same_windows(new: Operation) -> bool:
    """Return whether a pooling is known to have as many windows as its result type says.

    The last window of `ceil_mode` begins before the padding at the end, which has grown.
    """
    assert isinstance(new, MaxPoolOp | AvgPoolOp)
    (inferred,) = new.inferred_types()
    return inferred == new.result.type and static_shape(inferred) is not None


@dataclass(frozen=True)
class FoldExplicitPadding(PatternPass):
    """Merge `relax.nn.pad` into the padding of the convolution or pooling that reads it.

    A convolution and a mean pad zeros, a maximum the minimum number: -inf for floats. A mean that
    does not count its padding must have none of its own. Source: `relay.FoldExplicitPadding`.

    Before:

        func.func @f(%x: tensor<1x3x5x4xf32>, %w: tensor<2x3x3x3xf32>) -> tensor<1x2x5x4xf32> {
          %0 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]}
            : (tensor<1x3x5x4xf32>) -> tensor<1x3x7x6xf32>
          %1 = relax.nn.conv2d %0, %w
            : (tensor<1x3x7x6xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x4xf32>
          func.return %1 : tensor<1x2x5x4xf32>
        }

    After:

        func.func @f(%x: tensor<1x3x5x4xf32>, %w: tensor<2x3x3x3xf32>) -> tensor<1x2x5x4xf32> {
          %0 = relax.nn.conv2d %x, %w {padding = [1, 1, 1, 1]}
            : (tensor<1x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x4xf32>
          func.return %0 : tensor<1x2x5x4xf32>
        }
    """

    name = "fold-explicit-padding"
    opt_level = 1
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (PadOp,)
    remove_dead = True

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        import_module("...compiler.interpreters.arrays", __package__)

    def patterns(self) -> Sequence[RewritePattern]:
        return (FoldPadding(),)
