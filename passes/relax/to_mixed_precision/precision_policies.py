"""The table of `to-mixed-precision`: which operations are computed in a narrower type of floats.

Source: the lists of Relay's `mixed_precision.py`, which follow TensorFlow's, and the attribute
`TMixedPrecisionPolicy` of Relax. Where the two differ, what can leave the range of f16 decides.
"""

from __future__ import annotations

from enum import Enum

__all__ = ["POLICIES", "Policy"]


class Policy(Enum):
    """When an operation is computed in the narrower type."""

    ALWAYS = "always: it takes most of the time, and gains most"
    FOLLOW = "if its operands are in that type, so that no conversion is needed"
    NEVER = "never: results may leave the range, or lose all precision"


_TABLE = {
    # Products are summed in f32, and the sums rounded once.
    Policy.ALWAYS: """
        einsum matmul
        nn.batch_matmul nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose nn.conv3d
        nn.conv3d_transpose nn.dense
    """,
    Policy.FOLLOW: """
        abs add ceil clip divide floor maximum minimum multiply negative round sign subtract trunc
        cos erf rsqrt sigmoid sin sqrt tanh where
        nn.bias_add nn.dropout nn.gelu nn.gelu_tanh nn.leaky_relu nn.prelu nn.relu nn.silu

        equal greater greater_equal less less_equal not_equal isfinite isinf isnan
        argmax argmin argsort max min sort topk

        broadcast_to concatenate expand_dims flatten flip gather gather_nd layout_transform repeat
        reshape reverse_sequence scatter_elements scatter_nd split squeeze stack strided_slice take
        tile transpose trilu
        nn.batch_flatten nn.depth_to_space nn.pad nn.space_to_depth nn.upsampling

        image.resize1d image.resize2d image.resize3d
        nn.adaptive_max_pool1d nn.adaptive_max_pool2d nn.adaptive_max_pool3d
        nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.global_max_pool2d
        nn.max_pool1d nn.max_pool2d nn.max_pool3d
        nn.batch_norm
    """,
    # Functions that grow, sums of many elements, and divisions by small numbers.
    Policy.NEVER: """
        cosh cumprod cumsum exp expm1 log log1p log2 log_add_exp mean power prod sinh square sum tan
        nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d nn.global_avg_pool2d
        nn.group_norm nn.instance_norm nn.l2_normalize nn.layer_norm nn.log_softmax nn.lrn
        nn.rms_norm nn.softmax nn.softplus
    """,
}

POLICIES = {f"relax.{name}": policy for policy, names in _TABLE.items() for name in names.split()}
"""The policies of operations by name; an operation without one is never converted."""
